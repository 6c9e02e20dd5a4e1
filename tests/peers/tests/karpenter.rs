//! Facts about the peer that the comparison rests on: it sees the problem that we see, and is charged what it would launch.

use std::path::Path;

use plimsoll_peers::{Figures, Mix, Peer, Preferences};
use serde_json::{Value, json};

fn instance_type(name: &str, cpu: u32, labels: &Value, offerings: &Value) -> Value {
    let mut all = json!({ "kubernetes.io/arch": "amd64", "kubernetes.io/os": ["linux"] });
    for (key, value) in labels.as_object().expect("labels are an object") {
        all[key] = value.clone();
    }
    json!({ "name": name, "labels": all, "capacity": { "cpu": cpu.to_string(), "memory": "64Gi", "pods": "110" },
        "overhead": { "cpu": "100m" }, "offerings": offerings })
}

fn offering(zone: &str, price: f64, available: bool) -> Value {
    json!({ "zone": zone, "capacityType": "on-demand", "price": price, "available": available })
}

fn pod(name: &str, cpu: &str, rest: &Value) -> Value {
    let mut spec = rest.clone();
    spec["containers"] = json!([{ "name": "main", "image": "pause", "resources": { "requests": { "cpu": cpu, "memory": "1Gi" } } }]);
    json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": name, "namespace": "default" }, "spec": spec,
        "status": { "phase": "Pending" } })
}

fn problem(items: &[Value], types: &[Value]) -> Value {
    json!({ "apiVersion": "v1", "kind": "List", "items": items, "plimsoll": { "apiVersion": "plimsoll.dev/v1alpha1",
        "kind": "Snapshot", "time": "2026-01-01T00:00:00Z", "seed": 0, "catalogue": { "instanceTypes": types } } })
}

fn solve(content: &[u8], preferences: Preferences) -> Figures {
    let file = tempfile::Builder::new()
        .suffix(".json")
        .tempfile()
        .expect("a temporary file");
    std::fs::write(file.path(), content).expect("a writable temporary file");
    let peer = Peer::build().expect("the peer builds");
    peer.solve(file.path(), preferences, true)
        .expect("the peer solves")
}

fn check(items: &[Value], types: &[Value]) -> Figures {
    solve(
        problem(items, types).to_string().as_bytes(),
        Preferences::Respect,
    )
}

fn cost_is(figures: &Figures, expected: f64) -> bool {
    (figures.cost_per_hour - expected).abs() < 1e-9
}

#[test]
fn a_claim_costs_its_cheapest_offering_that_is_to_be_had() {
    let types = [
        instance_type("small", 2, &json!({}), &json!([offering("a", 0.1, true)])),
        instance_type(
            "large",
            8,
            &json!({}),
            &json!([
                offering("a", 0.9, true),
                offering("b", 0.3, false),
                offering("c", 0.7, true)
            ]),
        ),
    ];
    let figures = check(&[pod("one", "4", &json!({}))], &types);
    assert!(cost_is(&figures, 0.7), "{figures:?}");
    assert_eq!(
        (
            figures.claims[0].instance_type.as_str(),
            figures.claims[0].zone.as_str()
        ),
        ("large", "c")
    );
    let zone = json!({ "nodeSelector": { "topology.kubernetes.io/zone": "a" } });
    assert!(cost_is(&check(&[pod("one", "4", &zone)], &types), 0.9));
}

#[test]
fn overhead_leaves_less_than_the_capacity() {
    let types = [
        instance_type("small", 2, &json!({}), &json!([offering("a", 0.1, true)])),
        instance_type("large", 8, &json!({}), &json!([offering("a", 0.9, true)])),
    ];
    assert!(cost_is(
        &check(&[pod("one", "1900m", &json!({}))], &types),
        0.1
    ));
    assert!(cost_is(
        &check(&[pod("one", "1901m", &json!({}))], &types),
        0.9
    ));
}

#[test]
fn a_type_without_a_label_does_not_answer_for_it() {
    let label = "karpenter.k8s.aws/instance-gpu-name";
    let types = [
        instance_type("plain", 8, &json!({}), &json!([offering("a", 0.1, true)])),
        instance_type(
            "gpu",
            8,
            &json!({ label: "t4" }),
            &json!([offering("a", 0.9, true)]),
        ),
    ];
    let figures = check(
        &[pod("one", "1", &json!({ "nodeSelector": { label: "t4" } }))],
        &types,
    );
    assert_eq!(figures.claims[0].instance_type, "gpu");
}

#[test]
fn room_on_an_existing_node_is_used_first() {
    let labels = json!({ "karpenter.sh/nodepool": "default", "karpenter.sh/initialized": "true", "karpenter.sh/registered": "true",
        "kubernetes.io/hostname": "n1", "kubernetes.io/os": "linux", "topology.kubernetes.io/zone": "a" });
    let room = json!({ "cpu": "4", "memory": "64Gi", "pods": "110" });
    let node = json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": "n1", "labels": labels },
        "spec": { "providerID": "fake:///n1" }, "status": { "allocatable": room, "capacity": room,
            "conditions": [{ "type": "Ready", "status": "True" }] } });
    let bound = json!({ "nodeName": "n1" });
    let types = [instance_type(
        "large",
        8,
        &json!({}),
        &json!([offering("a", 0.9, true)]),
    )];
    let figures = check(
        &[
            node,
            pod("there", "2", &bound),
            pod("fits", "2", &json!({})),
            pod("waits", "2", &json!({})),
        ],
        &types,
    );
    assert_eq!(
        (figures.pods, figures.scheduled, figures.nodes),
        (2, 2, 1),
        "{figures:?}"
    );
    assert_eq!(
        (figures.existing.len(), figures.existing[0].node.as_str()),
        (1, "n1")
    );
}

#[test]
fn daemons_take_their_part_of_a_new_node() {
    let template = pod("ignored", "200m", &json!({}))["spec"].clone();
    let daemons = json!({ "apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": { "name": "agent", "namespace": "kube-system" },
        "spec": { "selector": {}, "template": { "metadata": {}, "spec": template } } });
    let types = [
        instance_type("small", 2, &json!({}), &json!([offering("a", 0.1, true)])),
        instance_type("large", 8, &json!({}), &json!([offering("a", 0.9, true)])),
    ];
    assert!(cost_is(
        &check(&[daemons, pod("one", "1800m", &json!({}))], &types),
        0.9
    ));
}

#[test]
fn a_bound_volume_keeps_its_pod_in_its_zone() {
    let zone = json!({ "matchExpressions": [{ "key": "topology.kubernetes.io/zone", "operator": "In", "values": ["b"] }] });
    let volume = json!({ "apiVersion": "v1", "kind": "PersistentVolume", "metadata": { "name": "disk" },
        "spec": { "capacity": { "storage": "1Gi" }, "csi": { "driver": "ebs.csi.aws.com", "volumeHandle": "disk" },
            "nodeAffinity": { "required": { "nodeSelectorTerms": [zone] } } } });
    let claim = json!({ "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": { "name": "data", "namespace": "default" },
        "spec": { "volumeName": "disk" } });
    let mounts = json!({ "volumes": [{ "name": "data", "persistentVolumeClaim": { "claimName": "data" } }] });
    let types = [instance_type(
        "small",
        2,
        &json!({}),
        &json!([offering("a", 0.1, true), offering("b", 0.2, true)]),
    )];
    let figures = check(&[volume, claim, pod("one", "1", &mounts)], &types);
    assert_eq!(figures.claims[0].zone, "b", "{figures:?}");
}

#[test]
fn a_pod_that_nothing_holds_is_counted() {
    let types = [instance_type(
        "small",
        2,
        &json!({}),
        &json!([offering("a", 0.1, true)]),
    )];
    let figures = check(
        &[pod("one", "64", &json!({})), pod("two", "1", &json!({}))],
        &types,
    );
    assert_eq!(
        (figures.scheduled, figures.unscheduled, figures.nodes),
        (1, 1, 1),
        "{figures:?}"
    );
}

#[test]
fn the_benchmark_is_drawn_from_its_seed_and_can_be_placed_whole() {
    let peer = Peer::build().expect("the peer builds");
    let draw = |seed| {
        peer.benchmark(Mix::Diverse, 103, 40, seed)
            .expect("a benchmark")
    };
    let drawn = draw(7);
    assert!(drawn == draw(7) && drawn != draw(8));
    let figures = solve(&drawn, Preferences::Respect);
    assert_eq!((figures.pods, figures.unscheduled), (103, 0), "{figures:?}");
    assert!(
        figures.nodes >= 20,
        "anti-affinity asks for a node for each fifth pod: {figures:?}"
    );
}

#[test]
fn preferences_count_only_where_they_are_respected() {
    let peer = Peer::build().expect("the peer builds");
    let drawn = peer
        .benchmark(Mix::Preferences, 30, 40, 7)
        .expect("a benchmark");
    let respected = solve(&drawn, Preferences::Respect);
    let ignored = solve(&drawn, Preferences::Ignore);
    assert_eq!(
        respected.nodes, 30,
        "each pod prefers a node of its own: {respected:?}"
    );
    assert!(ignored.nodes < 30, "{ignored:?}");
}

#[test]
fn a_broken_file_is_refused_with_its_place() {
    let peer = Peer::build().expect("the peer builds");
    let file = tempfile::Builder::new()
        .suffix(".json")
        .tempfile()
        .expect("a temporary file");
    let broken = problem(&[pod("one", "two", &json!({}))], &[]);
    std::fs::write(file.path(), broken.to_string()).expect("a writable temporary file");
    let refused = peer
        .solve(file.path(), Preferences::Respect, false)
        .expect_err("a quantity that is none");
    assert!(refused.to_string().contains("items[0]"), "{refused}");
    assert!(
        peer.solve(Path::new("/nowhere.json"), Preferences::Respect, false)
            .is_err()
    );
}
