//! Lists and watches as they come, made up, and the inputs, troubles and gaps that follow from them.

use super::*;
use plimsoll_base::resources::ResourceName;
use serde_json::{Value, json};

const KINDS: [Kind; 3] = [Kind::Node, Kind::Pod, Kind::StorageClass];

fn object(value: Value) -> DynamicObject {
    serde_json::from_value(value).unwrap()
}

fn node(name: &str, version: &str) -> DynamicObject {
    object(json!({"metadata": {"name": name, "resourceVersion": version}}))
}

/// A list of one kind, as a watch gives it.
fn list(index: &mut Index, kind: Kind, objects: Vec<DynamicObject>) -> Vec<String> {
    let mut events = vec![Change::ListBegun];
    events.extend(objects.into_iter().map(|it| Change::Listed(Box::new(it))));
    events.push(Change::ListDone(Version(0)));
    let inputs = events
        .into_iter()
        .flat_map(|event| index.take((kind, event)));
    inputs.collect::<Vec<_>>().iter().map(show).collect()
}

fn show(input: &Input) -> String {
    match input {
        Input::Applied(plimsoll_model::Object::Node(node), version) => {
            format!("+{} {}", node.name, version.0)
        }
        Input::Deleted(plimsoll_model::Object::Node(node), version) => {
            format!("-{} {}", node.name, version.0)
        }
        Input::Applied(plimsoll_model::Object::Volumes(volumes), _) => {
            format!("{} classes", volumes.classes.len())
        }
        other => format!("{other:?}"),
    }
}

fn flushed(index: &mut Index) -> Vec<String> {
    index.flush().iter().map(show).collect()
}

#[test]
fn what_a_new_list_no_longer_has_is_gone() {
    let mut index = Index::new(&KINDS);
    let first = vec![node("a", "5"), node("b", "6")];
    assert_eq!(list(&mut index, Kind::Node, first), ["+a 5", "+b 6"]);
    let second = vec![node("b", "9")];
    assert_eq!(list(&mut index, Kind::Node, second), ["+b 9", "-a 5"]);
}

#[test]
fn a_deletion_has_the_version_of_the_deletion() {
    let mut index = Index::new(&KINDS);
    list(&mut index, Kind::Node, vec![node("a", "5")]);
    let event = Change::Deleted(Box::new(node("a", "8")));
    let inputs = index.take((Kind::Node, event));
    assert_eq!(inputs.iter().map(show).collect::<Vec<_>>(), ["-a 8"]);
}

#[test]
fn the_engine_is_told_once_that_every_kind_has_been_listed() {
    let mut index = Index::new(&KINDS);
    for kind in KINDS {
        assert_eq!(flushed(&mut index), [""; 0]);
        list(&mut index, kind, Vec::new());
    }
    assert_eq!(flushed(&mut index), ["Synced"]);
    list(&mut index, Kind::Node, Vec::new());
    assert_eq!(flushed(&mut index), [""; 0]);
}

#[test]
fn volumes_are_handed_in_together() {
    let mut index = Index::new(&KINDS);
    let class = |name: &str| object(json!({"metadata": {"name": name}, "provisioner": "p"}));
    list(&mut index, Kind::Node, Vec::new());
    list(&mut index, Kind::Pod, Vec::new());
    let classes = vec![class("fast"), class("slow")];
    assert_eq!(list(&mut index, Kind::StorageClass, classes), [""; 0]);
    assert_eq!(flushed(&mut index), ["2 classes", "Synced"]);
    list(&mut index, Kind::StorageClass, vec![class("slow")]);
    assert_eq!(flushed(&mut index), ["1 classes"]);
}

#[test]
fn volumes_are_held_back_while_they_are_listed() {
    let mut index = Index::new(&[Kind::StorageClass]);
    let class = |name: &str| object(json!({"metadata": {"name": name}, "provisioner": "p"}));
    list(&mut index, Kind::StorageClass, vec![class("fast")]);
    assert_eq!(flushed(&mut index), ["1 classes", "Synced"]);
    for event in [
        Change::ListBegun,
        Change::Listed(Box::new(class("slow"))),
        Change::Listed(Box::new(class("slower"))),
    ] {
        index.take((Kind::StorageClass, event));
        assert_eq!(flushed(&mut index), [""; 0]);
    }
    index.take((Kind::StorageClass, Change::ListDone(Version(9))));
    assert_eq!(flushed(&mut index), ["2 classes"]);
}

fn daemon_set() -> DynamicObject {
    object(json!({
        "metadata": {"name": "logs", "namespace": "d", "uid": "s1", "resourceVersion": "3"},
        "spec": {"template": {"spec": {"containers": []}}},
    }))
}

/// A pod of the daemon set, created in a second of the day.
fn daemon(name: &str, second: u32, cpu: &str) -> Box<DynamicObject> {
    let owner = json!({
        "apiVersion": "apps/v1", "kind": "DaemonSet", "name": "logs", "uid": "s1",
        "controller": true,
    });
    let container = json!({"name": "c", "resources": {"requests": {"cpu": cpu}}});
    Box::new(object(json!({
        "metadata": {
            "name": name, "namespace": "d", "uid": name, "ownerReferences": [owner],
            "creationTimestamp": format!("2026-01-01T00:00:{second:02}Z"),
        },
        "spec": {"containers": [container]},
    })))
}

/// Processors that daemon sets which are handed in ask for, in thousandths.
fn daemon_sets(inputs: &[Input]) -> Vec<i64> {
    let sets = inputs.iter().filter_map(|input| match input {
        Input::Applied(plimsoll_model::Object::DaemonSet(set), _) => Some(set),
        _ => None,
    });
    sets.map(|set| set.pod.requests.get(&ResourceName::Cpu))
        .collect()
}

#[test]
fn a_daemon_set_is_shown_once_for_all_its_listed_pods() {
    let mut index = Index::new(&[Kind::DaemonSet, Kind::Pod]);
    let pods = ["a", "b"].map(|name| *daemon(name, 1, "100m"));
    list(&mut index, Kind::Pod, pods.to_vec());
    list(&mut index, Kind::DaemonSet, vec![daemon_set()]);
    assert_eq!(daemon_sets(&index.flush()), [100]);
    index.take((Kind::Pod, Change::ListBegun));
    for (name, cpu) in [("a", "100m"), ("b", "200m"), ("c", "300m")] {
        let event = Change::Listed(daemon(name, 1, cpu));
        assert_eq!(daemon_sets(&index.take((Kind::Pod, event))), [0; 0]);
        assert_eq!(daemon_sets(&index.flush()), [0; 0]);
    }
    index.take((Kind::Pod, Change::ListDone(Version(9))));
    assert_eq!(daemon_sets(&index.flush()), [300]);
}

#[test]
fn a_daemon_set_is_shown_anew_when_its_newest_pod_says_something_else() {
    let mut index = Index::new(&[Kind::DaemonSet, Kind::Pod]);
    let pods = [daemon("a", 1, "100m"), daemon("b", 2, "200m")];
    list(&mut index, Kind::Pod, pods.map(|pod| *pod).to_vec());
    list(&mut index, Kind::DaemonSet, vec![daemon_set()]);
    assert_eq!(daemon_sets(&index.flush()), [200]);
    let mut after = |change| {
        let inputs = index.take((Kind::Pod, change));
        assert_eq!(daemon_sets(&inputs), [0; 0]);
        daemon_sets(&index.flush())
    };
    let applied = |name, second, cpu| Change::Applied(daemon(name, second, cpu));
    assert_eq!(after(applied("a", 1, "150m")), [0; 0], "not the newest");
    assert_eq!(after(applied("b", 2, "200m")), [0; 0], "nothing new");
    assert_eq!(after(applied("c", 3, "200m")), [0; 0], "nothing new");
    assert_eq!(after(applied("d", 4, "300m")), [300]);
    assert_eq!(after(Change::Deleted(daemon("d", 4, "300m"))), [200]);
    assert_eq!(after(applied("b", 5, "400m")), [400], "made again");
    assert_eq!(after(Change::Deleted(daemon("b", 5, "400m"))), [200]);
    assert_eq!(after(Change::Deleted(daemon("c", 3, "200m"))), [150]);
}

/// Limits of a namespace that give containers this much processor.
fn limit_range(namespace: &str, cpu: &str) -> Box<DynamicObject> {
    let limit = json!({"type": "Container", "defaultRequest": {"cpu": cpu}});
    Box::new(object(json!({
        "metadata": {"name": "defaults", "namespace": namespace},
        "spec": {"limits": [limit]},
    })))
}

#[test]
fn a_daemon_set_without_pods_has_the_defaults_of_its_namespace() {
    let mut index = Index::new(&[Kind::DaemonSet, Kind::Pod, Kind::LimitRange]);
    let mut set = daemon_set();
    set.data["spec"]["template"]["spec"]["containers"] = json!([{"name": "c"}]);
    list(&mut index, Kind::DaemonSet, vec![set]);
    list(&mut index, Kind::Pod, Vec::new());
    let limits = ["d", "e"].map(|namespace| *limit_range(namespace, "200m"));
    list(&mut index, Kind::LimitRange, limits.to_vec());
    assert_eq!(daemon_sets(&index.flush()), [200]);
    let mut after = |event| {
        index.take(event);
        daemon_sets(&index.flush())
    };
    let limited = |namespace, cpu| {
        (
            Kind::LimitRange,
            Change::Applied(limit_range(namespace, cpu)),
        )
    };
    assert_eq!(after(limited("d", "300m")), [300]);
    assert_eq!(after(limited("e", "400m")), [0; 0], "another namespace");
    let pod = || daemon("a", 1, "100m");
    assert_eq!(after((Kind::Pod, Change::Applied(pod()))), [100]);
    assert_eq!(after(limited("d", "500m")), [100], "its pod counts");
    assert_eq!(after((Kind::Pod, Change::Deleted(pod()))), [500]);
    let gone = Change::Deleted(limit_range("d", "500m"));
    assert_eq!(after((Kind::LimitRange, gone)), [0]);
}

#[test]
fn templates_wait_for_a_list_of_defaults_to_end() {
    let mut index = Index::new(&[Kind::PodTemplate, Kind::LimitRange]);
    let container = json!({"name": "c"});
    let template = object(json!({
        "metadata": {"name": "spare", "namespace": "d", "resourceVersion": "3"},
        "template": {"spec": {"containers": [container]}},
    }));
    list(&mut index, Kind::PodTemplate, vec![template]);
    list(&mut index, Kind::LimitRange, Vec::new());
    index.flush();
    index.take((Kind::LimitRange, Change::ListBegun));
    let listed = Change::Listed(limit_range("d", "200m"));
    index.take((Kind::LimitRange, listed));
    assert_eq!(flushed(&mut index), [""; 0]);
    index.take((Kind::LimitRange, Change::ListDone(Version(9))));
    let inputs = index.flush();
    let [Input::Applied(plimsoll_model::Object::Template(template), Version(3))] =
        inputs.as_slice()
    else {
        unreachable!("a template: {inputs:?}");
    };
    let requests = &template.shape.spec.requests;
    assert_eq!(requests.get(&ResourceName::Cpu), 200);
}

#[test]
fn an_object_that_cannot_be_read_leaves_what_was_known() {
    let mut index = Index::new(&KINDS);
    list(&mut index, Kind::Node, vec![node("a", "5")]);
    let odd = json!({
        "metadata": {"name": "a", "resourceVersion": "6"},
        "status": {"capacity": {"cpu": "-2"}},
    });
    let relisted = vec![object(odd)];
    assert_eq!(list(&mut index, Kind::Node, relisted), [""; 0]);
    assert_eq!(index.unreadable(), [(Kind::Node, 1)].into());
    let told = index.take_unreadable();
    let named = |it: &Unreadable| format!("{} {}", it.key.1, it.problem);
    let told: Vec<String> = told.iter().map(named).collect();
    assert_eq!(
        told,
        ["a status.capacity.cpu is \"-2\"; a quantity must not be negative"]
    );
    assert_eq!(list(&mut index, Kind::Node, Vec::new()), ["-a 5"]);
    assert_eq!(index.unreadable(), [].into());
}

#[test]
fn the_same_version_that_cannot_be_read_is_told_of_once() {
    let mut index = Index::new(&KINDS);
    let odd = |version: &str| {
        object(json!({
            "metadata": {"name": "a", "resourceVersion": version},
            "status": {"capacity": {"cpu": "-2"}},
        }))
    };
    for (version, told) in [("6", 1), ("6", 0), ("7", 1)] {
        list(&mut index, Kind::Node, vec![odd(version)]);
        assert_eq!(index.take_unreadable().len(), told, "{version}");
    }
    list(&mut index, Kind::Node, vec![node("a", "8")]);
    assert_eq!(index.unreadable(), [].into());
}

/// A pool with one requirement by this operator, of a class of this name.
fn pool(version: &str, operator: &str, class: Option<&str>) -> DynamicObject {
    object(json!({
        "metadata": {"name": "general", "resourceVersion": version},
        "spec": {"template": {"spec": {
            "nodeClassRef": {"group": "g", "kind": "k", "name": class},
            "requirements": [{"key": "a", "operator": operator}],
        }}},
    }))
}

/// Whether a pool may be launched from, and the problem that it has, after a change.
fn pool_after(index: &mut Index, change: Change) -> (bool, String) {
    let inputs = index.take((Kind::NodePool, change));
    let [Input::Applied(plimsoll_model::Object::Pool(pool), _)] = inputs.as_slice() else {
        unreachable!("a pool: {inputs:?}");
    };
    let problem = pool.unread.problem.as_deref().unwrap_or_default();
    (pool.ready, problem.to_owned())
}

#[test]
fn a_pool_of_a_newer_version_is_known_but_for_what_is_not_understood() {
    let mut index = Index::new(&[Kind::NodePool]);
    let mut after = |pool: DynamicObject| pool_after(&mut index, Change::Applied(Box::new(pool)));
    let (ready, problem) = after(pool("5", "Near", Some("c")));
    assert!(
        !ready && problem.contains("requirements[0].operator is \"Near\""),
        "{problem}"
    );
    assert_eq!(after(pool("6", "Exists", Some("c"))), (true, String::new()));
    // Nothing can be read without its class: what was known stays, and is not launched from any more.
    let (ready, problem) = after(pool("7", "Exists", None));
    assert!(!ready && problem.contains("nodeClassRef"), "{problem}");
    assert_eq!(index.unreadable(), [(Kind::NodePool, 1)].into());
    let told = index.take_unreadable();
    assert!(told.iter().all(|it| it.is_known), "{told:?}");
    assert_eq!(told.len(), 2);
}

#[test]
fn claims_of_which_nothing_can_be_read_are_counted_until_something_can() {
    let mut index = Index::new(&[Kind::NodeClaim]);
    let claim = |version: &str, spec: Value| {
        object(json!({"metadata": {"name": "a", "resourceVersion": version}, "spec": spec}))
    };
    let class = json!({"group": "g", "kind": "k", "name": "n"});
    let odd = json!({"nodeClassRef": class, "requirements": "none"});
    for (version, spec, unknown) in [
        ("5", json!({"nodeClassRef": "c"}), 1),
        ("6", odd, 0),
        ("7", json!({"nodeClassRef": class}), 0),
        ("8", json!({"nodeClassRef": "c"}), 0),
    ] {
        list(&mut index, Kind::NodeClaim, vec![claim(version, spec)]);
        assert_eq!(index.unknown(Kind::NodeClaim), unknown, "{version}");
    }
}

#[test]
fn a_field_that_is_ignored_is_told_of_once_in_its_kind() {
    let mut index = Index::new(&[Kind::NodePool]);
    for (version, told) in [("5", 1), ("6", 0)] {
        let mut pool = pool(version, "Exists", Some("c"));
        pool.data["spec"]["pace"] = json!(1);
        list(&mut index, Kind::NodePool, vec![pool]);
        assert_eq!(index.take_ignored().len(), told, "{version}");
    }
}

/// A read at a version that found these nodes.
fn found(version: u64, nodes: &[(&str, u64)]) -> Read {
    let object =
        |(name, version): &(&str, u64)| ((String::new(), (*name).to_owned()), Version(*version));
    Read {
        version: Version(version),
        objects: Some(nodes.iter().map(object).collect()),
    }
}

#[test]
fn a_read_is_caught_up_with_by_version_or_object_by_object() {
    let mut index = Index::new(&KINDS);
    let lacks = |index: &Index, read: &Read| index.lacks(Kind::Node, read);
    assert!(lacks(&index, &found(0, &[])), "nothing has been listed");
    list(&mut index, Kind::Node, vec![node("a", "5"), node("b", "6")]);
    assert!(!lacks(&index, &found(9, &[("a", 5), ("b", 6)])), "equal");
    assert!(
        !lacks(&index, &found(9, &[("a", 4), ("b", 6)])),
        "newer here"
    );
    assert!(lacks(&index, &found(9, &[("a", 7), ("b", 6)])), "changed");
    assert!(
        lacks(&index, &found(9, &[("a", 5), ("b", 6), ("c", 8)])),
        "made"
    );
    assert!(lacks(&index, &found(9, &[("a", 5)])), "deleted");
    let only_version = Read {
        objects: None,
        ..found(9, &[])
    };
    assert!(lacks(&index, &only_version));
    index.take((Kind::Node, Change::Reached(Version(8))));
    assert!(lacks(&index, &only_version));
    index.take((Kind::Node, Change::Applied(Box::new(node("c", "10")))));
    assert!(!lacks(&index, &only_version), "its version is passed");
    assert!(!lacks(&index, &found(11, &[("a", 5), ("b", 6), ("c", 10)])));
    index.take((Kind::Node, Change::ListBegun));
    assert!(lacks(&index, &only_version), "a list is under way");
}

#[test]
fn an_object_made_after_a_read_is_not_one_that_is_gone() {
    let mut index = Index::new(&KINDS);
    list(&mut index, Kind::Node, vec![node("a", "5")]);
    let read = found(7, &[]);
    assert!(index.lacks(Kind::Node, &read));
    let mut later = Index::new(&KINDS);
    list(&mut later, Kind::Node, Vec::new());
    later.take((Kind::Node, Change::Listed(Box::new(node("b", "8")))));
    assert!(!later.lacks(Kind::Node, &read));
}
