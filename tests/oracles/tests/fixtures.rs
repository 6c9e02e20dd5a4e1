//! The fixtures say what they seem to say.

use std::sync::Arc;

use plimsoll_base::time::Timestamp;
use plimsoll_model::ClaimPhase;
use plimsoll_model::snapshot::Snapshot;
use plimsoll_oracles::fixture::*;

#[test]
fn replicas_share_their_needs_and_labels() {
    let snapshot = cluster()
        .pods(pod("web").cpu(500).spread(ZONE, 1).replicas(3))
        .snapshot();
    let names: Vec<&str> = snapshot
        .pods
        .iter()
        .map(|pod| pod.name.name.as_ref())
        .collect();
    assert_eq!(names, ["web-0", "web-1", "web-2"]);
    assert!(Arc::ptr_eq(&snapshot.pods[0].spec, &snapshot.pods[2].spec));
    assert!(Arc::ptr_eq(
        &snapshot.pods[0].labels,
        &snapshot.pods[2].labels
    ));
    let constraint = &snapshot.pods[0].spec.spread[0];
    assert!(constraint.selector.matches(&snapshot.pods[1].labels));
}

#[test]
fn a_term_speaks_of_whom_it_is_told() {
    let snapshot = cluster()
        .pod(pod("web").affinity(ZONE).to("db").anti_affinity(HOSTNAME))
        .pod(pod("db"))
        .snapshot();
    let web = &snapshot.pods[pod_row(&snapshot, "web")];
    let db = &snapshot.pods[pod_row(&snapshot, "db")];
    assert!(web.spec.affinity[0].selector.matches(&db.labels));
    assert!(web.spec.anti_affinity[0].selector.matches(&web.labels));
    assert!(!web.spec.anti_affinity[0].selector.matches(&db.labels));
}

#[test]
fn managed_nodes_have_claims_as_far_as_their_phase() {
    let snapshot = cluster()
        .node(node("alien"))
        .node(node("ready").managed("general"))
        .node(
            node("joined")
                .managed("general")
                .phase(ClaimPhase::Registered)
                .of_type("x"),
        )
        .node(
            node("coming")
                .managed("general")
                .phase(ClaimPhase::Launched),
        )
        .node(node("asked").managed("general").phase(ClaimPhase::Created))
        .snapshot();
    let seen = |name: &str| {
        let node = &snapshot.nodes[node_row(&snapshot, name)];
        (
            node.node.is_some(),
            node.is_launched(),
            node.is_initialized(),
        )
    };
    assert_eq!(seen("alien"), (true, true, true));
    assert_eq!(seen("ready"), (true, true, true));
    assert_eq!(seen("joined"), (true, true, false));
    assert_eq!(seen("coming"), (false, true, false));
    assert_eq!(seen("asked"), (false, false, false));
}

#[test]
fn the_ladder_climbs_by_a_core_two_gibibytes_and_ten_pods() {
    let types = ladder(3);
    let last = &types[2];
    assert_eq!(last.name.as_str(), "fake-it-2");
    assert_eq!(last.capacity.to_string(), "cpu 3, memory 6Gi, pods 30");
    assert_eq!(last.offerings.len(), 5);
    assert_eq!(
        last.offerings[0].price.nanos(),
        300_000_000 + (6 << 30) / 10
    );
}

#[test]
fn an_unstated_offering_is_sold_in_the_default_places() {
    let stated = instance_type("one")
        .price(0.5)
        .offered(ZONE_2, Spot)
        .build();
    assert_eq!(stated.offerings.len(), 1);
    assert_eq!(stated.offerings[0].price.nanos(), 500_000_000);
    assert_eq!(instance_type("five").build().offerings.len(), 5);
}

/// Equal worlds give equal snapshots, whatever the order in which their objects arrived.
#[test]
fn permuted_objects_give_an_equal_snapshot() {
    let world = || {
        cluster()
            .types(ladder(4))
            .pool(pool("general"))
            .pool(pool("batch").weight(5))
            .node(node("n2").managed("general"))
            .node(node("n1"))
            .node(node("n3").managed("batch").phase(ClaimPhase::Created))
            .daemon(&pod("log").cpu(10))
            .daemon(&pod("agent").cpu(20))
            .namespace("b", &[])
            .namespace("a", &[])
            .pods(pod("web").replicas(4))
            .pod(pod("db").on("n1"))
    };
    let (mut objects, catalogues, settings) = world().parts();
    let catalogue = catalogues.of_others();
    let mut types: Vec<_> = catalogue
        .types()
        .iter()
        .map(|t| t.as_ref().clone())
        .collect();
    types.reverse();
    objects.pools.reverse();
    objects.nodes.reverse();
    objects.claims.reverse();
    objects.pods.rotate_left(2);
    objects.daemon_sets.reverse();
    objects.namespaces.reverse();
    let permuted = Snapshot::new(
        Timestamp::from_millis(1_000_000_000),
        0,
        Arc::new(settings),
        Arc::new(catalogue.with_types(types).into()),
        objects,
    );
    let first = world().snapshot();
    assert_eq!(format!("{first:?}"), format!("{permuted:?}"));
}
