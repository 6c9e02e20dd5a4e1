//! Objects behind pods: daemon sets, workloads, services, namespaces, budgets, volumes.

use std::io;
use std::sync::Arc;

use plimsoll_api::write::map;
use plimsoll_api::{Kind, Object, keys};
use plimsoll_core::ids::{NodeName, ObjectName};
use plimsoll_core::model::{
    BindingMode, CsiNode, DaemonSet, DisruptionLimit, LabelSelector, Namespace, PersistentVolume,
    PodDisruptionBudget, Replicated, Service, StorageClass, VolumeClaim, VolumeKind, WorkloadKind,
};
use plimsoll_core::snapshot::Snapshot;
use plimsoll_core::time::Timestamp;
use serde_json::{Map, Value, json};

use super::buffers;
use super::objects::{framed, metadata, namespaced, put};
use super::pod::{node_term, problem, selector, spec};

/// Every such object of a snapshot.
pub(super) fn each(
    snapshot: &Snapshot,
    sink: &mut dyn FnMut(&Value) -> io::Result<()>,
) -> io::Result<()> {
    let Snapshot { volumes, .. } = snapshot;
    all(&snapshot.namespaces, namespace, sink)?;
    all(&snapshot.services, service, sink)?;
    all(&snapshot.workloads, replicated, sink)?;
    all(&snapshot.daemon_sets, daemon_set, sink)?;
    all(&snapshot.disruption_budgets, budget, sink)?;
    let mut classes = volumes.classes.iter();
    classes.try_for_each(|(name, known)| sink(&storage_class(name, known)))?;
    let mut bound = volumes.volumes.iter();
    bound.try_for_each(|(name, known)| sink(&persistent_volume(name, known)))?;
    let mut claims = volumes.claims.iter();
    claims.try_for_each(|(name, known)| sink(&volume_claim(name, known)))?;
    let mut nodes = volumes.nodes.iter();
    nodes.try_for_each(|(name, known)| sink(&csi_node(name, known)))
}

/// Every object of a list.
fn all<T>(
    known: &[Arc<T>],
    written: impl Fn(&T) -> Value,
    sink: &mut dyn FnMut(&Value) -> io::Result<()>,
) -> io::Result<()> {
    known.iter().try_for_each(|known| sink(&written(known)))
}

/// One object of these kinds; null for others.
pub(super) fn object(object: &Object) -> Value {
    match object {
        Object::Namespace(known) => namespace(known),
        Object::Service(known) => service(known),
        Object::Workload(known) => replicated(known),
        Object::DaemonSet(known) => daemon_set(known),
        Object::DisruptionBudget(known) => budget(known),
        Object::StorageClass(name, known) => storage_class(name, known),
        Object::PersistentVolume(name, known) => persistent_volume(name, known),
        Object::VolumeClaim(name, known) => volume_claim(name, known),
        Object::CsiNode(name, known) => csi_node(name, known),
        Object::Pod(_)
        | Object::Node(_)
        | Object::NodePool(_)
        | Object::NodeClaim(_)
        | Object::NodeOverlay(_)
        | Object::PodTemplate(_)
        | Object::CapacityBuffer(_) => Value::Null,
    }
}

fn namespace(namespace: &Namespace) -> Value {
    let mut meta = metadata(&namespace.name, None, Timestamp::default());
    put(&mut meta, "labels", map(&namespace.labels));
    framed(Kind::Namespace, Value::Object(meta), json!({}))
}

fn service(service: &Service) -> Value {
    let meta = namespaced(&service.name, None, Timestamp::default());
    let selector = service.selector.as_ref().map(map);
    framed(
        Kind::Service,
        Value::Object(meta),
        json!({"spec": {"selector": selector}}),
    )
}

fn replicated(workload: &Replicated) -> Value {
    let meta = Value::Object(namespaced(
        &workload.name,
        Some(&workload.uid),
        Timestamp::default(),
    ));
    let mut fields = json!({"spec": {"replicas": workload.replicas}});
    let kind = match workload.kind {
        WorkloadKind::Deployment => Kind::Deployment,
        WorkloadKind::ReplicaSet => Kind::ReplicaSet,
        WorkloadKind::StatefulSet => Kind::StatefulSet,
        WorkloadKind::ReplicationController => {
            if let LabelSelector::All(conditions) = &workload.selector {
                let pairs = conditions.iter().filter_map(|condition| {
                    let value = condition.values.first()?;
                    Some((condition.key.to_string(), Value::from(value.as_ref())))
                });
                fields["spec"]["selector"] = Value::Object(pairs.collect());
            }
            return framed(Kind::ReplicationController, meta, fields);
        }
    };
    match selector(&workload.selector) {
        // Only a workload without any specification selects nothing.
        Value::Null => fields = json!({}),
        written => {
            fields["spec"]["selector"] = written;
            let template = workload.shape.as_ref().map(buffers::shape);
            fields["spec"]["template"] = template.unwrap_or_else(|| json!({}));
        }
    }
    framed(kind, meta, fields)
}

fn daemon_set(set: &DaemonSet) -> Value {
    let meta = namespaced(&set.name, Some(&set.uid), set.created);
    let template = json!({
        "metadata": {"labels": map(&set.labels), "annotations": problem(&set.pod)},
        "spec": spec(&set.pod),
    });
    let fields =
        json!({"spec": {"selector": {"matchLabels": map(&set.labels)}, "template": template}});
    framed(Kind::DaemonSet, Value::Object(meta), fields)
}

fn budget(budget: &PodDisruptionBudget) -> Value {
    let meta = namespaced(&budget.name, None, Timestamp::default());
    let mut spec = Map::new();
    let (field, value) = match budget.limit {
        DisruptionLimit::MaxUnavailable(count) => ("maxUnavailable", json!(count)),
        DisruptionLimit::MaxUnavailablePercent(share) => {
            ("maxUnavailable", json!(format!("{share}%")))
        }
        DisruptionLimit::MinAvailable(count) => ("minAvailable", json!(count)),
        DisruptionLimit::MinAvailablePercent(share) => ("minAvailable", json!(format!("{share}%"))),
    };
    spec.insert(field.to_owned(), value);
    spec.insert("selector".to_owned(), selector(&budget.selector));
    if budget.always_allow_unhealthy {
        spec.insert(
            "unhealthyPodEvictionPolicy".to_owned(),
            "AlwaysAllow".into(),
        );
    }
    let allowed = budget.disruptions_allowed;
    let status = json!({
        "disruptionsAllowed": allowed, "currentHealthy": 0, "desiredHealthy": 0, "expectedPods": 0,
    });
    let fields = json!({"spec": spec, "status": status});
    framed(Kind::PodDisruptionBudget, Value::Object(meta), fields)
}

fn storage_class(name: &Arc<str>, class: &StorageClass) -> Value {
    let since = class
        .default_since
        .map_or_else(Timestamp::default, Timestamp::from_millis);
    let mut meta = metadata(name, None, since);
    if class.default_since.is_some() {
        meta.insert(
            "annotations".to_owned(),
            json!({keys::DEFAULT_CLASS: "true"}),
        );
    }
    let binding = match class.binding {
        BindingMode::Immediate => "Immediate",
        BindingMode::WaitForFirstConsumer => "WaitForFirstConsumer",
    };
    let term = |term: &plimsoll_core::requirement::Requirements| {
        let one = |requirement: &plimsoll_core::requirement::Requirement| json!({"key": requirement.key().as_str(), "values": requirement.named()});
        json!({"matchLabelExpressions": term.iter().map(one).collect::<Vec<_>>()})
    };
    let terms: Vec<Value> = class.allowed_topologies.iter().map(term).collect();
    let fields = json!({
        "provisioner": class.driver, "volumeBindingMode": binding, "allowedTopologies": terms,
    });
    framed(Kind::StorageClass, Value::Object(meta), fields)
}

fn persistent_volume(name: &Arc<str>, volume: &PersistentVolume) -> Value {
    let mut meta = metadata(name, None, Timestamp::default());
    gone(&mut meta, volume.deleting);
    let mut spec = Map::new();
    match &volume.kind {
        VolumeKind::Csi(driver) => {
            spec.insert(
                "csi".to_owned(),
                json!({"driver": driver, "volumeHandle": ""}),
            );
        }
        VolumeKind::Host => {
            spec.insert("hostPath".to_owned(), json!({"path": "/"}));
        }
        VolumeKind::Other => {}
    }
    if !volume.affinity.is_empty() {
        let terms: Vec<Value> = volume.affinity.iter().map(node_term).collect();
        let required = json!({"required": {"nodeSelectorTerms": terms}});
        spec.insert("nodeAffinity".to_owned(), required);
    }
    framed(
        Kind::PersistentVolume,
        Value::Object(meta),
        json!({"spec": spec}),
    )
}

fn volume_claim(name: &ObjectName, claim: &VolumeClaim) -> Value {
    let mut meta = namespaced(name, None, Timestamp::default());
    gone(&mut meta, claim.deleting);
    if claim.bound {
        meta.insert(
            "annotations".to_owned(),
            json!({keys::BIND_COMPLETED: "yes"}),
        );
    }
    let spec = json!({"storageClassName": claim.class, "volumeName": claim.volume});
    let phase = if claim.lost { "Lost" } else { "Bound" };
    let fields = json!({"spec": spec, "status": {"phase": phase}});
    framed(Kind::PersistentVolumeClaim, Value::Object(meta), fields)
}

/// Marks what was asked to go; when is not kept.
fn gone(metadata: &mut Map<String, Value>, is_deleting: bool) {
    if is_deleting {
        metadata.insert(
            "deletionTimestamp".to_owned(),
            "1970-01-01T00:00:00Z".into(),
        );
    }
}

fn csi_node(name: &NodeName, node: &CsiNode) -> Value {
    let meta = metadata(name.as_str(), None, Timestamp::default());
    let driver = |(name, count): (&Arc<str>, &u32)| json!({"name": name, "nodeID": "", "allocatable": {"count": count}});
    let drivers: Vec<Value> = node.limits.iter().map(driver).collect();
    framed(
        Kind::CsiNode,
        Value::Object(meta),
        json!({"spec": {"drivers": drivers}}),
    )
}
