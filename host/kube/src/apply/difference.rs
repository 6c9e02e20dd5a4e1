//! The smallest patches that bring an object to what it is to be. What is not ours is never in them.

use std::sync::Arc;

use kube::ResourceExt;
use kube::core::DynamicObject;
use plimsoll_api::convert::{condition, condition_value};
use plimsoll_api::kinds;
use plimsoll_api::write::{amounts, instant, map, taints};
use plimsoll_api::{Kind, keys};
use plimsoll_base::labels::Labels;
use plimsoll_base::time::Timestamp;
use plimsoll_model::action::{ClaimChange, Finalizer, NodeChange, StatusChange};
use plimsoll_model::{ConditionType, Conditions, DesiredCondition, Stamp};
use serde_json::{Map, Value, json};

use super::{Preconditions, written};

/// The patch of a claim's metadata; `None` where nothing differs.
pub(super) fn claim_metadata(claim: &DynamicObject, change: &ClaimChange) -> Option<Value> {
    let mut metadata = Map::new();
    let machine = change.machine.iter().flat_map(|machine| &machine.labels);
    let labels = machine.chain(&change.labels);
    let labels = labels.map(|(key, value)| (Arc::clone(key), Arc::clone(value)));
    // The claim's own values win.
    let missing = |key: &str, _: &str| !claim.labels().contains_key(key);
    put_some(&mut metadata, "labels", &labels.collect(), missing);
    let differs = |key: &str, value: &str| {
        let own = claim.annotations().get(key);
        own.is_none_or(|own| own != value)
    };
    let deadline = change.drained_by.map(instant);
    let deadline = deadline.map(|at| (keys::TERMINATION_TIMESTAMP.into(), at.into()));
    let told = change
        .machine
        .iter()
        .flat_map(|machine| machine.annotations.clone());
    let annotations = told.chain(change.annotations.clone()).chain(deadline);
    put_some(
        &mut metadata,
        "annotations",
        &annotations.collect(),
        differs,
    );
    if let Some(finalizers) = finalizers(claim, change.finalizer) {
        metadata.insert("finalizers".to_owned(), finalizers.into());
    }
    if metadata.is_empty() {
        return None;
    }
    // Lists are replaced: they must not have changed meanwhile.
    metadata.extend(as_seen(claim));
    Some(json!({ "metadata": metadata }))
}

/// What says that an object is the one that was read, and as it was then.
fn as_seen(object: &DynamicObject) -> Map<String, Value> {
    let version = object.resource_version().map(Value::from);
    let uid = object.uid().map(Value::from);
    let fields = [("resourceVersion", version), ("uid", uid)].into_iter();
    fields
        .filter_map(|(field, value)| Some((field.to_owned(), value?)))
        .collect()
}

fn put_some(
    metadata: &mut Map<String, Value>,
    field: &str,
    wanted: &Labels,
    is_due: impl Fn(&str, &str) -> bool,
) {
    let due = wanted.iter().filter(|(key, value)| is_due(key, value));
    let due: Map<String, Value> = due
        .map(|(key, value)| (key.to_string(), value.as_ref().into()))
        .collect();
    if !due.is_empty() {
        metadata.insert(field.to_owned(), due.into());
    }
}

/// All finalizers as they are to be; `None` where they are so already.
fn finalizers(object: &DynamicObject, ours: Finalizer) -> Option<Vec<String>> {
    let mut all = object.finalizers().to_vec();
    let is_there = all.iter().any(|finalizer| finalizer == keys::FINALIZER);
    match ours {
        Finalizer::Set if !is_there => all.push(keys::FINALIZER.to_owned()),
        Finalizer::Removed if is_there => all.retain(|finalizer| finalizer != keys::FINALIZER),
        Finalizer::Kept | Finalizer::Set | Finalizer::Removed => return None,
    }
    Some(all)
}

/// The patch of a claim's status; `None` where nothing differs.
pub(super) fn claim_status(
    claim: &DynamicObject,
    change: &ClaimChange,
    now: Timestamp,
) -> Option<Value> {
    let have = &claim.data["status"];
    let mut status = Map::new();
    let mut want = |field: &str, value: Value| {
        if have[field] != value {
            status.insert(field.to_owned(), value);
        }
    };
    if let Some(machine) = &change.machine {
        want("providerID", machine.provider_id.as_str().into());
        want("capacity", amounts(&machine.capacity));
        want("allocatable", amounts(&machine.allocatable));
        if let Some(image) = &machine.image {
            want("imageID", image.as_ref().into());
        }
    }
    if let Some(node) = &change.node {
        want("nodeName", node.as_str().into());
    }
    if let Some(at) = change.last_pod_event {
        want("lastPodEventTime", instant(at).into());
    }
    let wanted = (&*change.conditions, &*change.cleared);
    if let Some(conditions) = conditions(claim, wanted, ConditionType::OF_CLAIMS, now) {
        want("conditions", conditions);
    }
    (!status.is_empty()).then(|| {
        json!({
            "metadata": as_seen(claim),
            "status": status,
        })
    })
}

/// The patch of a pool's annotations for the next process; `None` where nothing differs.
pub(super) fn memory(object: &DynamicObject, change: &StatusChange) -> Option<Value> {
    let have = |key: &str| object.annotations().get(key).map_or("", String::as_str);
    let wanted = change.memory.iter();
    let wanted: Map<String, Value> = wanted
        .filter(|(key, text)| have(key) != &***text)
        .map(|(key, text)| {
            let value = (!text.is_empty()).then(|| text.to_string());
            (key.to_string(), json!(value))
        })
        .collect();
    (!wanted.is_empty()).then(|| {
        let mut metadata = as_seen(object);
        metadata.insert("annotations".to_owned(), wanted.into());
        json!({ "metadata": metadata })
    })
}

/// The patch of the status of a pool, overlay or buffer, whose `Ready` depends on these types; `None` where nothing differs.
pub(super) fn status(
    object: &DynamicObject,
    change: &StatusChange,
    dependents: &[ConditionType],
    now: Timestamp,
) -> Option<Value> {
    let have = &object.data["status"];
    let mut status = Map::new();
    let mut want = |field: &str, value: Value| {
        if have[field] != value {
            status.insert(field.to_owned(), value);
        }
    };
    if let Some(nodes) = change.nodes() {
        want("nodes", nodes.into());
    }
    if let Some(generation) = change.class_generation {
        want("nodeClassObservedGeneration", generation.into());
    }
    if let Some(units) = change.units {
        want("replicas", units.into());
    }
    if let Some(template) = &change.template {
        want("podTemplateRef", json!({ "name": template.name }));
        want("podTemplateGeneration", template.generation.into());
    }
    if let Some(resources) = change.resources.as_ref().map(amounts) {
        let gone = have["resources"].as_object().into_iter().flatten();
        let gone = gone.filter(|(name, _)| resources.get(name).is_none());
        let gone: Map<String, Value> = gone.map(|(name, _)| (name.clone(), Value::Null)).collect();
        if have["resources"] != resources {
            let mut resources = resources;
            resources.as_object_mut()?.extend(gone);
            status.insert("resources".to_owned(), resources);
        }
    }
    if let Some(conditions) = conditions(object, (&change.conditions, &[]), dependents, now) {
        status.insert("conditions".to_owned(), conditions);
    }
    (!status.is_empty()).then(|| {
        json!({
            "metadata": as_seen(object),
            "status": status,
        })
    })
}

/// All conditions of an object with these said and those cleared, sorted by transition with `Ready` last, as Karpenter stores them;
/// `None` where that is so already. Those of others stay as they are written.
fn conditions(
    object: &DynamicObject,
    (desired, cleared): (&[DesiredCondition], &[ConditionType]),
    dependents: &[ConditionType],
    now: Timestamp,
) -> Option<Value> {
    let stamp = stamp(object, now);
    let list = object.data["status"]["conditions"].as_array();
    let list: &[Value] = list.map_or(&[], Vec::as_slice);
    let kind = |value: &Value| ConditionType::parse(value["type"].as_str()?);
    let read = |value: &Value| {
        let written: kinds::Condition = serde_json::from_value(value.clone()).ok()?;
        Some((kind(value)?, condition(&written, stamp.created)))
    };
    let mut own: Conditions = list.iter().filter_map(read).collect();
    let generation = stamp.generation;
    let is_said = |desired| own.says_of(desired, generation);
    let is_said = desired.iter().all(is_said);
    if !own.clear(cleared) && is_said {
        return None;
    }
    own.say(desired, dependents, &stamp);
    let own = own
        .iter()
        .map(|(kind, own)| condition_value(kind.as_str(), own));
    let others = list.iter().filter(|value| kind(value).is_none());
    let mut all: Vec<Value> = own.chain(others.cloned()).collect();
    all.sort_by_cached_key(|value| {
        let since = value["lastTransitionTime"].as_str().unwrap_or_default();
        (
            value["type"] == ConditionType::Ready.as_str(),
            since.to_owned(),
        )
    });
    Some(all.into())
}

/// Times are whole seconds, as the API server writes them.
fn stamp(claim: &DynamicObject, now: Timestamp) -> Stamp {
    let metadata = &claim.metadata;
    let created = metadata.creation_timestamp.as_ref();
    Stamp {
        created: created.map_or(now, |time| Timestamp::from_millis(time.0.as_millisecond())),
        now: Timestamp::from_millis(now.millis() / 1000 * 1000),
        generation: metadata.generation.unwrap_or_default(),
        deleting: metadata.deletion_timestamp.is_some(),
    }
}

/// The patch of a node. Lists that others write to as well (finalizers, owners) are merged by the server, entry by entry, and
/// what is as it is to be already is no change to it.
pub(super) fn node(change: &NodeChange, only: Preconditions<'_>) -> Value {
    let mut metadata = Map::new();
    let mut put = |field: &str, value: Value| metadata.insert(field.to_owned(), value);
    if let Some(version) = written(only.version) {
        put("resourceVersion", version.into());
    }
    if let Some(uid) = only.uid {
        put("uid", uid.as_str().into());
    }
    match change.finalizer {
        Finalizer::Kept => None,
        Finalizer::Set => put("finalizers", json!([keys::FINALIZER])),
        Finalizer::Removed => put(
            "$deleteFromPrimitiveList/finalizers",
            json!([keys::FINALIZER]),
        ),
    };
    if let Some((claim, uid)) = &change.owner {
        let owner = json!({
            "apiVersion": Kind::NodeClaim.api_version(),
            "kind": Kind::NodeClaim.as_str(),
            "name": claim.as_str(),
            "uid": uid.as_str(),
            "blockOwnerDeletion": true,
        });
        put("ownerReferences", json!([owner]));
    }
    for (field, entries) in [
        ("labels", &change.labels),
        ("annotations", &change.annotations),
    ] {
        if !entries.is_empty() {
            put(field, map(entries));
        }
    }
    let mut patch = json!({ "metadata": metadata });
    if let Some(all) = &change.taints {
        patch["spec"] = json!({"taints": taints(all)});
    }
    patch
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_base::ids::{NodeName, ProviderId, Uid};
    use plimsoll_base::resources::{ResourceName, Resources};
    use plimsoll_model::Version;
    use plimsoll_model::action::LaunchedInstance;

    /// A launched claim that others have written to as well.
    fn claim() -> DynamicObject {
        let condition = |kind: &str, status: &str, since: &str| {
            json!({
                "type": kind, "status": status, "reason": kind, "message": "",
                "lastTransitionTime": since, "observedGeneration": 1,
            })
        };
        let foreign = json!({"type": "example.com/Audited", "status": "Maybe", "by": "them"});
        let object = json!({
            "apiVersion": "karpenter.sh/v1",
            "kind": "NodeClaim",
            "metadata": {
                "name": "general-a", "uid": "u1", "resourceVersion": "7", "generation": 1,
                "creationTimestamp": "2026-01-31T09:00:00Z",
                "labels": {"topology.kubernetes.io/zone": "own", "team": "a"},
                "annotations": {"example.com/note": "theirs"},
                "finalizers": ["example.com/theirs", keys::FINALIZER],
            },
            "status": {
                "providerID": "kwok://a",
                "capacity": {"cpu": "2"},
                "allocatable": {"cpu": "1900m"},
                "conditions": [foreign, condition("Launched", "True", "2026-01-31T09:00:05Z")],
            },
        });
        serde_json::from_value(object).unwrap()
    }

    fn now() -> Timestamp {
        Timestamp::from_millis(1_769_850_010_250)
    }

    fn launched() -> ClaimChange {
        let cpu = |milli| Resources::new().with(ResourceName::Cpu, milli);
        let labels = [("topology.kubernetes.io/zone", "b"), ("team", "a")];
        let labels = labels.map(|(key, value)| (Arc::from(key), Arc::from(value)));
        let machine = LaunchedInstance {
            provider_id: ProviderId::from("kwok://a"),
            labels: labels.into(),
            annotations: Labels::new(),
            capacity: cpu(2000),
            allocatable: cpu(1900),
            image: None,
            launched: None,
        };
        ClaimChange {
            machine: Some(Box::new(machine)),
            conditions: vec![DesiredCondition::holds(ConditionType::Launched)],
            finalizer: Finalizer::Set,
            ..ClaimChange::default()
        }
    }

    #[test]
    fn what_is_as_it_is_to_be_needs_no_patch() {
        let (claim, change) = (claim(), launched());
        assert_eq!(claim_metadata(&claim, &change), None);
        assert_eq!(claim_status(&claim, &change, now()), None);
    }

    #[test]
    fn a_patch_of_metadata_has_what_differs_and_no_more() {
        let mut change = launched();
        let machine = change.machine.as_mut().unwrap();
        machine.labels.insert(Arc::from("size"), Arc::from("large"));
        let hash = (Arc::from("example.com/hash"), Arc::from("7"));
        machine.annotations = [hash].into();
        let note = (Arc::from("plimsoll.dev/note"), Arc::from("x"));
        change.annotations = [note].into();
        change.finalizer = Finalizer::Removed;
        let expected = json!({"metadata": {
            "labels": {"size": "large"},
            "annotations": {"example.com/hash": "7", "plimsoll.dev/note": "x"},
            "finalizers": ["example.com/theirs"],
            "resourceVersion": "7",
            "uid": "u1",
        }});
        assert_eq!(claim_metadata(&claim(), &change), Some(expected));
    }

    #[test]
    fn a_patch_of_conditions_keeps_those_of_others_as_they_are_written() {
        let tainted = "StartupTaintsExist";
        let said = DesiredCondition::unknown(ConditionType::Initialized, tainted, "a taint");
        let change = ClaimChange {
            node: Some(NodeName::from("n1")),
            ..ClaimChange::saying(vec![said])
        };
        let patch = claim_status(&claim(), &change, now()).unwrap();
        assert_eq!(
            patch["metadata"],
            json!({"resourceVersion": "7", "uid": "u1"})
        );
        let status = patch["status"].as_object().unwrap();
        assert_eq!(
            status.keys().collect::<Vec<_>>(),
            ["conditions", "nodeName"]
        );
        let all = status["conditions"].as_array().unwrap();
        let kinds: Vec<&Value> = all.iter().map(|one| &one["type"]).collect();
        let sorted = [
            "example.com/Audited",
            "Registered",
            "Initialized",
            "Launched",
            "Ready",
        ];
        assert_eq!(kinds, sorted);
        assert_eq!(all[0], claim().data["status"]["conditions"][0]);
        let initialized = json!({
            "type": "Initialized", "status": "Unknown", "reason": tainted, "message": "a taint",
            "lastTransitionTime": "2026-01-31T09:00:00Z", "observedGeneration": 1,
        });
        assert_eq!(all[2], initialized);
        assert_eq!(all[4]["message"], "Registered=Unknown, Initialized=Unknown");
    }

    #[test]
    fn a_patch_of_a_status_keeps_what_is_others_and_takes_off_what_is_no_more() {
        let foreign = json!({"type": "example.com/Audited", "status": "True"});
        let pool = json!({
            "apiVersion": "karpenter.sh/v1", "kind": "NodePool",
            "metadata": {
                "name": "general", "uid": "u1", "resourceVersion": "7", "generation": 2,
                "creationTimestamp": "2026-01-31T09:00:00Z",
            },
            "status": {
                "nodes": 1, "resources": {"cpu": "2", "nodes": "1", "nvidia.com/gpu": "1"},
                "conditions": [foreign],
            },
        });
        let pool: DynamicObject = serde_json::from_value(pool).unwrap();
        let resources = Resources::new().with(ResourceName::Cpu, 0);
        let kind = ConditionType::NodeClassReady;
        let change = StatusChange {
            resources: Some(resources.with(ResourceName::Nodes, 0)),
            conditions: vec![DesiredCondition::fails(kind, "NodeClassNotFound", "none")],
            ..StatusChange::default()
        };
        let patch = status(&pool, &change, ConditionType::OF_POOLS, now()).unwrap();
        let of = &patch["status"];
        assert_eq!(of["nodes"], 0);
        let counted = json!({"cpu": "0", "nodes": "0", "nvidia.com/gpu": null});
        assert_eq!(of["resources"], counted);
        let conditions = of["conditions"].as_array().unwrap();
        assert_eq!(conditions[0], foreign);
        let last = conditions.last().unwrap();
        assert_eq!(last["type"], "Ready");
        assert_eq!(last["status"], "False");
        assert_eq!(last["observedGeneration"], 2);
        let mut written = pool.clone();
        written.data["status"]["conditions"] = of["conditions"].clone();
        written.data["status"]["nodes"] = 0.into();
        written.data["status"]["resources"] = json!({"cpu": "0", "nodes": "0"});
        assert_eq!(
            status(&written, &change, ConditionType::OF_POOLS, now()),
            None
        );
        written.metadata.generation = Some(3);
        let again = status(&written, &change, ConditionType::OF_POOLS, now());
        assert!(again.is_some(), "of another generation it is said anew");
    }

    #[test]
    fn a_patch_of_a_node_names_only_what_is_asked_for() {
        let change = NodeChange {
            finalizer: Finalizer::Removed,
            ..NodeChange::default()
        };
        let expected = json!({"metadata": {
            "$deleteFromPrimitiveList/finalizers": ["karpenter.sh/termination"],
        }});
        assert_eq!(node(&change, Preconditions::default()), expected);
        let change = NodeChange {
            taints: Some(Vec::new()),
            ..NodeChange::default()
        };
        let expected = json!({
            "metadata": {"resourceVersion": "7", "uid": "n1"},
            "spec": {"taints": []},
        });
        let only = Preconditions {
            uid: Some(&Uid::from("n1")),
            version: Some(Version(7)),
        };
        assert_eq!(node(&change, only), expected);
    }
}
