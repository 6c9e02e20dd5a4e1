//! Pods as they are written: trimmed to one container that asks for what the whole pod needs.

use plimsoll_base::resources::{ResourceName, Resources};
use plimsoll_model::{
    AffinityTerm, DoNotDisrupt, HostPort, NamespaceScope, NodeTerm, Owner, OwnerKind, Pod, PodSpec,
    PodVolume, Preferred, SpreadConstraint, Toleration,
};
use serde_json::{Map, Value, json};

use super::spec::{RESTART_ALL, RESTART_ALL_ACTION, USERS_ON_HOST};
use crate::convert::{requirement, selector};
use crate::object::Kind;
use crate::{duration, keys, write};

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

/// A pod.
pub(crate) fn to_value(pod: &Pod) -> Value {
    let mut meta = write::namespaced(&pod.name, Some(&pod.uid), pod.created);
    write::put(&mut meta, "labels", write::map(&pod.labels));
    write::put(&mut meta, "annotations", annotations(pod));
    if let Some(at) = pod.deleting {
        meta.insert("deletionTimestamp".to_owned(), write::instant(at).into());
    }
    if let Some(owner) = &pod.owner {
        meta.insert(
            "ownerReferences".to_owned(),
            json!([owner_reference(owner)]),
        );
    }
    let mut spec = write_spec(&pod.spec);
    if let Some(node) = &pod.node {
        spec.insert("nodeName".to_owned(), node.as_str().into());
    }
    if let Some(grace) = pod.grace {
        let seconds = grace.millis() / 1000;
        spec.insert("terminationGracePeriodSeconds".to_owned(), seconds.into());
    }
    let mut conditions = Vec::new();
    let reason = match (pod.unschedulable, pod.untried || pod.node.is_some()) {
        (true, _) => Some("Unschedulable"),
        (false, false) => Some("SchedulingGated"),
        (false, true) => None,
    };
    if let Some(reason) = reason {
        let mut condition = json!({"type": "PodScheduled", "status": "False", "reason": reason});
        if let Some(message) = &pod.scheduler_message {
            condition["message"] = (&**message).into();
        }
        conditions.push(condition);
    }
    if let Some(ready) = pod.ready {
        let status = if ready { "True" } else { "False" };
        conditions.push(json!({"type": "Ready", "status": status}));
    }
    let mut status = Map::new();
    status.insert("phase".to_owned(), format!("{:?}", pod.phase).into());
    write::put(&mut status, "conditions", Value::Array(conditions));
    if let Some(started) = pod.started {
        status.insert("startTime".to_owned(), write::instant(started).into());
    }
    if let Some(nominated) = &pod.nominated {
        status.insert("nominatedNodeName".to_owned(), nominated.as_str().into());
    }
    write::framed(
        Kind::Pod,
        Value::Object(meta),
        json!({"spec": spec, "status": status}),
    )
}

fn annotations(pod: &Pod) -> Value {
    let mut annotations = write_problem(&pod.spec);
    match &pod.do_not_disrupt {
        DoNotDisrupt::No => None,
        DoNotDisrupt::Always => Some("true".to_owned()),
        DoNotDisrupt::For(span) => Some(duration::write(*span)),
        DoNotDisrupt::Malformed(text) => Some(text.to_string()),
    }
    .map(|text| annotations.insert(keys::DO_NOT_DISRUPT.to_owned(), text.into()));
    if pod.deletion_cost != 0 {
        let cost = pod.deletion_cost.to_string();
        annotations.insert(keys::POD_DELETION_COST.to_owned(), cost.into());
    }
    Value::Object(annotations)
}

/// The annotation that keeps a problem across a file.
pub(in crate::convert) fn write_problem(spec: &PodSpec) -> Map<String, Value> {
    let mut annotations = Map::new();
    if let Some(problem) = &spec.problem {
        annotations.insert(keys::PROBLEM.to_owned(), problem.as_ref().into());
    }
    annotations
}

fn owner_reference(owner: &Owner) -> Value {
    let (version, kind) = match owner.kind {
        OwnerKind::ReplicaSet => ("apps/v1", "ReplicaSet"),
        OwnerKind::ReplicationController => ("v1", "ReplicationController"),
        OwnerKind::StatefulSet => ("apps/v1", "StatefulSet"),
        OwnerKind::DaemonSet => ("apps/v1", "DaemonSet"),
        OwnerKind::Job => ("batch/v1", "Job"),
        OwnerKind::Node => ("v1", "Node"),
        OwnerKind::Other => ("plimsoll.dev/v1alpha1", "Other"),
        OwnerKind::CapacityBuffer => ("autoscaling.x-k8s.io/v1beta1", "CapacityBuffer"),
    };
    json!({
        "apiVersion": version, "kind": kind, "name": owner.name, "uid": owner.uid.as_str(),
        "controller": true,
    })
}

/// The specification of a pod.
pub(crate) fn write_spec(spec: &PodSpec) -> Map<String, Value> {
    let requests: Resources = spec
        .requests
        .iter()
        .filter(|(name, _)| **name != ResourceName::Pods)
        .map(|(name, amount)| (name.clone(), amount))
        .collect();
    let mut container = Map::new();
    container.insert("name".to_owned(), "main".into());
    write::put(&mut container, "ports", list(&spec.host_ports, host_port));
    container.insert(
        "resources".to_owned(),
        json!({"requests": write::amounts(&requests)}),
    );
    let needs = |feature: &str| spec.features.iter().any(|own| own.as_ref() == feature);
    if needs(RESTART_ALL) {
        let rules = json!([{"action": RESTART_ALL_ACTION}]);
        container.insert("restartPolicyRules".to_owned(), rules);
    }
    let mut result = Map::new();
    result.insert("containers".to_owned(), json!([container]));
    if needs(USERS_ON_HOST) {
        result.insert("hostUsers".to_owned(), false.into());
    }
    if spec.host_network {
        result.insert("hostNetwork".to_owned(), true.into());
    }
    let selector = spec.node_selector.iter().filter_map(|requirement| {
        let value = requirement.single()?;
        Some((requirement.key().to_string(), Value::from(value.as_ref())))
    });
    write::put(
        &mut result,
        "nodeSelector",
        Value::Object(selector.collect()),
    );
    write::put(&mut result, "affinity", affinity(spec));
    write::put(
        &mut result,
        "tolerations",
        list(&spec.tolerations, toleration),
    );
    write::put(
        &mut result,
        "topologySpreadConstraints",
        list(&spec.spread, spread),
    );
    let volumes = spec
        .volumes
        .iter()
        .enumerate()
        .map(|(at, volume)| match volume {
            PodVolume::Claim(name) => {
                json!({"name": format!("claim-{at}"), "persistentVolumeClaim": {"claimName": name}})
            }
            PodVolume::Ephemeral(name) => json!({"name": name, "ephemeral": {}}),
        });
    write::put(&mut result, "volumes", volumes.collect());
    if spec.dynamic_resources {
        result.insert("resourceClaims".to_owned(), json!([{"name": "devices"}]));
    }
    if spec.priority != 0 {
        result.insert("priority".to_owned(), spec.priority.into());
    }
    result
}

fn list<T>(values: &[T], one: impl Fn(&T) -> Value) -> Value {
    Value::Array(values.iter().map(one).collect())
}

fn host_port(port: &HostPort) -> Value {
    json!({
        "containerPort": port.port, "hostPort": port.port, "hostIP": port.address,
        "protocol": format!("{:?}", port.protocol).to_uppercase(),
    })
}

fn toleration(toleration: &Toleration) -> Value {
    json!({
        "key": toleration.key, "operator": format!("{:?}", toleration.operator),
        "value": toleration.value,
        "effect": toleration.effect.map(|effect| effect.to_string()),
    })
}

fn spread(spread: &SpreadConstraint) -> Value {
    json!({
        "maxSkew": spread.max_skew,
        "topologyKey": spread.topology_key.as_str(),
        "whenUnsatisfiable": format!("{:?}", spread.when_unsatisfiable),
        "labelSelector": selector::to_value(&spread.selector),
        "matchLabelKeys": spread.match_label_keys,
        "minDomains": spread.min_domains,
        "nodeAffinityPolicy": format!("{:?}", spread.node_affinity),
        "nodeTaintsPolicy": format!("{:?}", spread.node_taints),
    })
}

fn affinity(spec: &PodSpec) -> Value {
    let mut node = Map::new();
    if !spec.node_required.is_empty() {
        let terms = list(&spec.node_required, requirement::term_to_value);
        node.insert(REQUIRED.to_owned(), json!({"nodeSelectorTerms": terms}));
    }
    let preferred = |wish: &Preferred<NodeTerm>| json!({"weight": wish.weight, "preference": requirement::term_to_value(&wish.term)});
    write::put(&mut node, PREFERRED, list(&spec.node_preferred, preferred));
    let mut result = Map::new();
    write::put(&mut result, "nodeAffinity", Value::Object(node));
    let together = pods(&spec.affinity, &spec.affinity_preferred);
    write::put(&mut result, "podAffinity", together);
    let apart = pods(&spec.anti_affinity, &spec.anti_affinity_preferred);
    write::put(&mut result, "podAntiAffinity", apart);
    Value::Object(result)
}

fn pods(required: &[AffinityTerm], wishes: &[Preferred<AffinityTerm>]) -> Value {
    let preferred = |wish: &Preferred<AffinityTerm>| json!({"weight": wish.weight, "podAffinityTerm": pod_term(&wish.term)});
    let mut result = Map::new();
    write::put(&mut result, REQUIRED, list(required, pod_term));
    write::put(&mut result, PREFERRED, list(wishes, preferred));
    Value::Object(result)
}

fn pod_term(term: &AffinityTerm) -> Value {
    let (names, namespaces) = match &term.namespaces {
        NamespaceScope::Own => (Value::Null, Value::Null),
        NamespaceScope::Named {
            names,
            selector: by,
        } => (json!(names), selector::to_value(by)),
    };
    json!({
        "topologyKey": term.topology_key.as_str(),
        "labelSelector": selector::to_value(&term.selector),
        "namespaces": names,
        "namespaceSelector": namespaces,
        "matchLabelKeys": term.match_label_keys,
        "mismatchLabelKeys": term.mismatch_label_keys,
    })
}
