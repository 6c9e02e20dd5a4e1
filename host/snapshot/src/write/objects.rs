//! Objects as Kubernetes writes them: nodes, claims, pools, overlays, and what every object has.

use std::io;

use plimsoll_api::write::{all_expressions, amounts, claim_spec, class, map, or_never, taints};
use plimsoll_api::{Kind, Object, duration, keys};
use plimsoll_core::ids::{ObjectName, Uid};
use plimsoll_core::model::{
    BudgetNodes, Ceilings, ClaimPhase, Node, NodeClaim, NodeOverlay, NodePool, PackingMode,
    PriceChange, Readiness,
};
use plimsoll_core::snapshot::Snapshot;
use plimsoll_core::time::Timestamp;
use plimsoll_core::units::PricePerHour;
use serde_json::{Map, Value, json};

use super::{buffers, pod, workloads};
use crate::resolve::written_instant;

/// Millionths in one percent.
const PER_PERCENT: f64 = 10_000.0;

/// Every object of a snapshot, in an order that depends on nothing else.
pub(super) fn each(
    snapshot: &Snapshot,
    sink: &mut dyn FnMut(&Value) -> io::Result<()>,
) -> io::Result<()> {
    for pool in &snapshot.pools {
        sink(&node_pool(pool))?;
    }
    for overlay in &snapshot.overlays {
        sink(&node_overlay(overlay))?;
    }
    for buffer in &snapshot.buffers {
        sink(&buffers::capacity_buffer(buffer))?;
    }
    for template in &snapshot.templates {
        sink(&buffers::pod_template(template))?;
    }
    for row in &snapshot.nodes {
        if let Some(claim) = &row.claim {
            sink(&node_claim(claim))?;
        }
        if let Some(known) = &row.node {
            sink(&node(known))?;
        }
    }
    workloads::each(snapshot, sink)?;
    // Room that is only kept is made anew from the buffers.
    let mut pods = snapshot.pods.iter().filter(|pod| !pod.is_spare());
    pods.try_for_each(|known| sink(&pod::pod(known)))
}

/// One object.
pub(super) fn object(object: &Object) -> Value {
    match object {
        Object::Pod(known) => pod::pod(known),
        Object::Node(known) => node(known),
        Object::NodePool(known) => node_pool(known),
        Object::NodeClaim(known) => node_claim(known),
        Object::NodeOverlay(known) => node_overlay(known),
        Object::PodTemplate(known) => buffers::pod_template(known),
        Object::CapacityBuffer(known) => buffers::capacity_buffer(known),
        other => workloads::object(other),
    }
}

/// An object's frame: version, kind, metadata and the fields given.
pub(super) fn framed(kind: Kind, metadata: Value, fields: Value) -> Value {
    let mut object = Map::new();
    object.insert("apiVersion".to_owned(), kind.api_version().into());
    object.insert("kind".to_owned(), kind.as_str().into());
    object.insert("metadata".to_owned(), metadata);
    if let Value::Object(fields) = fields {
        object.extend(fields);
    }
    Value::Object(object)
}

/// Metadata of a cluster-wide object.
pub(super) fn metadata(name: &str, uid: Option<&Uid>, created: Timestamp) -> Map<String, Value> {
    let mut metadata = Map::new();
    metadata.insert("name".to_owned(), name.into());
    if let Some(uid) = uid {
        metadata.insert("uid".to_owned(), uid.as_str().into());
    }
    if created != Timestamp::default() {
        metadata.insert(
            "creationTimestamp".to_owned(),
            written_instant(created).into(),
        );
    }
    metadata
}

/// Metadata of a namespaced object.
pub(super) fn namespaced(
    name: &ObjectName,
    uid: Option<&Uid>,
    created: Timestamp,
) -> Map<String, Value> {
    let mut metadata = metadata(&name.name, uid, created);
    metadata.insert("namespace".to_owned(), name.namespace.as_ref().into());
    metadata
}

/// Adds a field unless it is empty.
pub(super) fn put(fields: &mut Map<String, Value>, name: &str, value: Value) {
    let is_empty = match &value {
        Value::Null => true,
        Value::Array(values) => values.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    };
    if !is_empty {
        fields.insert(name.to_owned(), value);
    }
}

fn deleting(metadata: &mut Map<String, Value>, deleting: Option<Timestamp>) {
    if let Some(at) = deleting {
        metadata.insert("deletionTimestamp".to_owned(), written_instant(at).into());
    }
}

fn node(node: &Node) -> Value {
    let mut meta = metadata(node.name.as_str(), None, node.created);
    put(&mut meta, "labels", map(&node.labels));
    put(&mut meta, "annotations", map(&node.annotations));
    deleting(&mut meta, node.deleting);
    let mut spec = Map::new();
    put(&mut spec, "taints", taints(&node.taints));
    if let Some(id) = &node.provider_id {
        spec.insert("providerID".to_owned(), id.as_str().into());
    }
    let ready = match node.ready {
        Readiness::Ready => "True",
        Readiness::NotReady => "False",
        Readiness::Unknown => "Unknown",
    };
    let status = json!({
        "capacity": amounts(&node.capacity),
        "allocatable": amounts(&node.allocatable),
        "conditions": [{"type": "Ready", "status": ready}],
    });
    framed(
        Kind::Node,
        Value::Object(meta),
        json!({"spec": spec, "status": status}),
    )
}

/// Annotations for the ceilings that a pool sets.
fn ceilings(ceilings: &Ceilings, annotations: &mut Map<String, Value>) {
    let nodes = |most: Option<u32>| most.map(|most| most.to_string());
    let dollars = ceilings.dollars_per_hour.map(PricePerHour::dollars);
    let written = [
        (Ceilings::NODES_IN_FLIGHT, nodes(ceilings.nodes_in_flight)),
        (Ceilings::NODES_PER_MINUTE, nodes(ceilings.nodes_per_minute)),
        (
            Ceilings::DOLLARS_PER_HOUR,
            dollars.map(|most| most.to_string()),
        ),
    ];
    for (key, most) in written {
        if let Some(most) = most {
            annotations.insert(key.to_owned(), most.into());
        }
    }
}

fn node_pool(pool: &NodePool) -> Value {
    let mut meta = metadata(pool.name.as_str(), Some(&pool.uid), Timestamp::default());
    deleting(&mut meta, pool.deleting);
    let mut annotations = Map::new();
    if pool.packing == PackingMode::Compatible {
        annotations.insert(keys::PACKING.to_owned(), "compatible".into());
    }
    ceilings(&pool.ceilings, &mut annotations);
    if let Some((hash, version)) = &pool.hash {
        annotations.insert(keys::NODEPOOL_HASH.to_owned(), hash.as_ref().into());
        annotations.insert(
            keys::NODEPOOL_HASH_VERSION.to_owned(),
            version.as_ref().into(),
        );
    }
    put(&mut meta, "annotations", Value::Object(annotations));
    let mut inner = json!({
        "nodeClassRef": class(&pool.class),
        "requirements": all_expressions(&pool.requirements),
        "taints": taints(&pool.taints),
        "startupTaints": taints(&pool.startup_taints),
        "expireAfter": or_never(pool.expire_after),
    });
    if let Some(grace) = pool.termination_grace {
        inner["terminationGracePeriod"] = duration::write(grace).into();
    }
    let mut spec = json!({
        "template": {
            "metadata": {"labels": map(&pool.labels), "annotations": map(&pool.annotations)},
            "spec": inner,
        },
        "disruption": disruption(pool),
    });
    if pool.weight > 0 {
        spec["weight"] = pool.weight.into();
    }
    if let Some(replicas) = pool.replicas {
        spec["replicas"] = replicas.into();
    }
    if let Some(limits) = &pool.limits {
        spec["limits"] = amounts(limits);
    }
    let ready = if pool.ready { "True" } else { "False" };
    let status = json!({"conditions": [{"type": "Ready", "status": ready}]});
    framed(
        Kind::NodePool,
        Value::Object(meta),
        json!({"spec": spec, "status": status}),
    )
}

fn disruption(pool: &NodePool) -> Value {
    let budget = |budget: &plimsoll_core::model::Budget| {
        let nodes = match budget.nodes {
            BudgetNodes::Count(count) => count.to_string(),
            BudgetNodes::Percent(percent) => format!("{percent}%"),
        };
        let reasons: Vec<String> = budget.reasons.iter().map(|r| format!("{r:?}")).collect();
        let mut entry = json!({"nodes": nodes, "reasons": reasons});
        if let (Some(schedule), Some(length)) = (&budget.schedule, budget.duration) {
            entry["schedule"] = schedule.as_ref().into();
            entry["duration"] = duration::write(length).into();
        }
        entry
    };
    json!({
        "consolidationPolicy": format!("{:?}", pool.disruption.policy),
        "consolidateAfter": or_never(pool.disruption.consolidate_after),
        "budgets": pool.disruption.budgets.iter().map(budget).collect::<Vec<_>>(),
    })
}

fn node_claim(claim: &NodeClaim) -> Value {
    let mut meta = metadata(claim.name.as_str(), Some(&claim.uid), claim.created);
    put(&mut meta, "labels", map(&claim.labels));
    put(&mut meta, "annotations", map(&claim.annotations));
    deleting(&mut meta, claim.deleting);
    let owner = json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodePool", "name": claim.pool.as_str(), "uid": "",
    });
    meta.insert("ownerReferences".to_owned(), json!([owner]));
    let since = written_instant(claim.phase_since);
    let reached = |(kind, phase): (&str, ClaimPhase)| {
        (claim.phase >= phase)
            .then(|| json!({"type": kind, "status": "True", "lastTransitionTime": since}))
    };
    let mut conditions: Vec<Value> = [
        ("Launched", ClaimPhase::Launched),
        ("Registered", ClaimPhase::Registered),
        ("Initialized", ClaimPhase::Initialized),
    ]
    .into_iter()
    .filter_map(reached)
    .collect();
    if claim.instance_terminating {
        conditions.push(json!({"type": "InstanceTerminating", "status": "True"}));
    }
    let status = json!({
        "providerID": claim.provider_id.as_ref().map(plimsoll_core::ids::ProviderId::as_str),
        "nodeName": claim.node.as_ref().map(plimsoll_core::ids::NodeName::as_str),
        "capacity": amounts(&claim.capacity),
        "allocatable": amounts(&claim.allocatable),
        "conditions": conditions,
    });
    framed(
        Kind::NodeClaim,
        Value::Object(meta),
        json!({"spec": claim_spec(claim), "status": status}),
    )
}

fn node_overlay(overlay: &NodeOverlay) -> Value {
    let meta = metadata(&overlay.name, None, Timestamp::default());
    let mut spec = json!({
        "requirements": all_expressions(overlay.requirements.iter()),
        "capacity": amounts(&overlay.capacity),
    });
    if overlay.weight > 0 {
        spec["weight"] = overlay.weight.into();
    }
    match overlay.price {
        None => {}
        Some(PriceChange::Set(price)) => {
            spec["price"] = format!("{:.9}", price.dollars()).into();
        }
        Some(PriceChange::Add(change)) => {
            spec["priceAdjustment"] = format!("{:+.9}", change.dollars()).into();
        }
        Some(PriceChange::Scale(millionths)) => {
            let percent = millionths as f64 / PER_PERCENT;
            spec["priceAdjustment"] = format!("{percent:+.4}%").into();
        }
    }
    framed(
        Kind::NodeOverlay,
        Value::Object(meta),
        json!({"spec": spec}),
    )
}
