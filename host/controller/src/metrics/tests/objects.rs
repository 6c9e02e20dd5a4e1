//! Gauges: what is told of the objects that there are, and of what can be bought.

#![expect(clippy::float_cmp, reason = "amounts are written as exactly as read")]

use plimsoll_oracles::fixture::*;

use super::*;

#[test]
fn a_node_is_told_with_its_well_known_labels_room_and_requests() {
    let world = World::of(busy());
    let of = |name: &str, node: &str, resource: &str| {
        let labels = [("node_name", node), ("resource_type", resource)];
        world.sum(name, &labels)
    };
    assert_eq!(of("karpenter_nodes_allocatable", "n1", "cpu"), 3.9);
    let memory = of("karpenter_nodes_allocatable", "n1", "memory");
    assert_eq!(memory, 8.0 * 1024.0 * 1024.0 * 1024.0);
    assert!((of("karpenter_nodes_system_overhead", "n1", "cpu") - 0.1).abs() < 1e-9);
    assert_eq!(of("karpenter_nodes_total_pod_requests", "n1", "cpu"), 1.75);
    assert_eq!(of("karpenter_nodes_total_pod_requests", "n1", "pods"), 2.0);
    assert_eq!(
        of("karpenter_nodes_total_daemon_requests", "n1", "cpu"),
        0.25
    );
    assert_eq!(
        of("karpenter_nodes_total_pod_requests", "theirs", "cpu"),
        0.0
    );
    let labels = [
        ("node_name", "n1"),
        ("nodepool", "general"),
        ("zone", ZONE_1),
        ("arch", "amd64"),
        ("capacity_type", "on-demand"),
        ("instance_type", "small"),
        ("managed", "true"),
    ];
    let age = "karpenter_nodes_current_lifetime_seconds";
    assert_eq!(world.sum(age, &labels), 1000.0);
    let others = [
        ("node_name", "theirs"),
        ("managed", "false"),
        ("nodepool", ""),
    ];
    assert_eq!(world.sum(age, &others), 1000.0);
    let share = "karpenter_cluster_utilization_percent";
    let share = world.sum(share, &[("resource_type", "cpu")]);
    assert!((share - 100.0 * 1.75 / 7.9).abs() < 1e-9, "{share}");
}

#[test]
fn a_pod_is_told_with_its_node_and_owner_until_it_is_gone() {
    let mut world = World::of(busy());
    let labels = [
        ("name", "web"),
        ("namespace", "default"),
        ("owner", "/apis/apps/v1/namespaces/default/replicasets/web"),
        ("node", "n1"),
        ("scheduled", "true"),
        ("nodepool", "general"),
        ("zone", ZONE_1),
        ("arch", "amd64"),
        ("capacity_type", "on-demand"),
        ("instance_type", "small"),
        ("phase", "Running"),
        ("ready", "true"),
        ("managed", "true"),
    ];
    assert_eq!(world.sum("karpenter_pods_state", &labels), 1.0);
    let pods = objects(busy()).pods;
    for pod in pods {
        world.miss(pod);
    }
    assert!(!world.told().contains_key("karpenter_pods_state"));
}

#[test]
fn a_pool_is_told_with_limits_usage_cost_and_budgets() {
    let world = World::of(busy().node(ours("n2").deleting()));
    let cpu = [("nodepool", "general"), ("resource_type", "cpu")];
    assert_eq!(world.sum("karpenter_nodepools_limit", &cpu), 100.0);
    assert_eq!(world.sum("karpenter_nodepools_usage", &cpu), 4.0);
    let nodes = [("nodepool", "general"), ("resource_type", "nodes")];
    assert_eq!(world.sum("karpenter_nodepools_usage", &nodes), 1.0);
    let cost = world.sum("karpenter_nodepools_cost_total", &[("nodepool", "general")]);
    assert!((cost - 0.2).abs() < 1e-9, "both still cost: {cost}");
    let drifted = [("nodepool", "general"), ("reason", "Drifted")];
    let of = |name: &str| world.sum(name, &drifted);
    assert_eq!(of("karpenter_nodepools_allowed_disruptions"), 1.0);
    assert_eq!(of("karpenter_nodepools_nodes_consuming_budgets"), 1.0);
}

#[test]
fn gauges_of_objects_are_left_out_where_they_are_not_wanted() {
    let world = World::of(busy());
    let text = world.text(StateMetrics::Disabled);
    let told = exposition::read(&text).unwrap();
    for name in [
        "karpenter_pods_state",
        "karpenter_nodes_allocatable",
        "karpenter_nodepools_usage",
        "karpenter_cluster_utilization_percent",
    ] {
        assert!(!told.contains_key(name), "{name}");
        assert!(world.told().contains_key(name), "{name}");
    }
    assert!(told.contains_key("karpenter_nodepools_allowed_disruptions"));
    assert!(told.contains_key("karpenter_pods_startup_duration_seconds"));
}

#[test]
fn offerings_and_types_are_told() {
    let world = World::of(sold());
    let spot = [
        ("instance_type", "small"),
        ("capacity_type", "spot"),
        ("zone", ZONE_2),
    ];
    let prefix = "karpenter_cloudprovider_instance_type_";
    let of = |name: &str, labels: &[(&str, &str)]| world.sum(&format!("{prefix}{name}"), labels);
    assert_eq!(of("offering_available", &spot), 1.0);
    assert_eq!(of("offering_price_estimate", &spot), 0.1);
    let small = [("instance_type", "small")];
    assert_eq!(of("cpu_cores", &small), 4.0);
    assert_eq!(of("memory_bytes", &small), 8.0 * 1024.0 * 1024.0 * 1024.0);
}
