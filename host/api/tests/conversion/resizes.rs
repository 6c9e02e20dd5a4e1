//! Pods that are being resized: what the scheduler of either version counts. The amounts are those that `PodRequests` of
//! k8s.io/component-helpers v0.36.3 and v0.37.2 gives.

use plimsoll_api::{Interner, Kind, Object, ResizeRule, read};
use plimsoll_base::resources::ResourceName;
use serde_json::{Value, json};

/// Cores that a pod counts by each rule: up to 1.36, from 1.37 on, and where the version is not known.
fn cores(spec: &Value, status: &Value) -> [i64; 3] {
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": spec, "status": status,
    });
    let by = |rule: ResizeRule| {
        let mut interner = Interner::default();
        interner.resizes = rule;
        let read = read(Kind::Pod, &pod, &mut interner, &mut |_| {}).expect("it can be read");
        let (_, Object::Whole(plimsoll_model::Object::Pod(pod))) = read else {
            unreachable!("a pod");
        };
        pod.spec.requests.get(&ResourceName::Cpu) / 1000
    };
    [
        ResizeRule::ByContainer,
        ResizeRule::ByPod,
        ResizeRule::Larger,
    ]
    .map(by)
}

fn container(name: &str, cores: u32) -> Value {
    json!({"name": name, "resources": {"requests": {"cpu": cores.to_string()}}})
}

/// The status of a container that holds so many cores.
fn holds(name: &str, cores: u32) -> Value {
    let held = json!({"cpu": cores.to_string()});
    json!({"name": name, "allocatedResources": held, "resources": {"requests": held}})
}

fn pending(reason: &str) -> Value {
    json!([{"type": "PodResizePending", "status": "True", "reason": reason}])
}

#[test]
fn containers_resized_in_opposite_directions_count_by_the_schedulers_version() {
    let spec = json!({"containers": [container("a", 2), container("b", 1)]});
    let status = json!({"containerStatuses": [holds("a", 1), holds("b", 2)]});
    assert_eq!(cores(&spec, &status), [4, 3, 4]);
}

#[test]
fn a_resize_that_the_node_refuses_does_not_count() {
    let spec = json!({"containers": [container("a", 8)]});
    let status =
        |reason: &str| json!({"containerStatuses": [holds("a", 2)], "conditions": pending(reason)});
    assert_eq!(cores(&spec, &status("Infeasible")), [2; 3]);
    assert_eq!(cores(&spec, &status("Deferred")), [8; 3]);
}

#[test]
fn a_refused_resize_of_the_whole_pod_does_not_count() {
    let spec = json!({
        "containers": [{"name": "a"}],
        "resources": {"requests": {"cpu": "8"}},
    });
    let held = json!({"cpu": "2"});
    let status = |reason: &str| {
        json!({
            "allocatedResources": held, "resources": {"requests": held},
            "conditions": pending(reason),
        })
    };
    assert_eq!(cores(&spec, &status("Infeasible")), [2; 3]);
    assert_eq!(cores(&spec, &status("Deferred")), [8; 3]);
    let nothing_yet = json!({"conditions": pending("Infeasible")});
    assert_eq!(cores(&spec, &nothing_yet), [8; 3]);
}

#[test]
fn steps_of_the_start_are_resized_for_later_schedulers_alone() {
    let spec = json!({
        "initContainers": [container("step", 1)], "containers": [container("main", 1)],
    });
    let status = json!({"initContainerStatuses": [holds("step", 3)]});
    assert_eq!(cores(&spec, &status), [1, 3, 3]);
}

#[test]
fn what_a_pod_holds_as_a_whole_replaces_its_containers_for_later_schedulers() {
    let spec = json!({"containers": [container("a", 1)]});
    let status = json!({
        "containerStatuses": [holds("a", 4)],
        "allocatedResources": {"cpu": "2"}, "resources": {"requests": {"cpu": "2"}},
    });
    assert_eq!(cores(&spec, &status), [4, 2, 4]);
}
