//! CSI drivers that tell where they have room for new volumes, and those without which no pod with their volumes is started.

use std::collections::BTreeSet;
use std::sync::Arc;

use plimsoll_base::ids::ObjectName;
use plimsoll_base::time::Timestamp;
use plimsoll_model::{ClaimPhase, CsiDriver, CsiNode, StorageCapacity, Volumes};
use plimsoll_oracles::fixture::*;
use plimsoll_scheduling_tests::{check, market};

const LOCAL: &str = "local.csi.example.com";
const GIBIBYTE: i64 = 1 << 30;

fn web() -> PodFixture {
    pod("web").cpu(100).volume("data")
}

/// A market whose class `fast` has a driver that tells where it has room; the claim `data` asks for 10 GiB of it.
fn telling() -> ClusterFixture {
    market()
        .storage_class("fast", LOCAL, &[])
        .unbound_claim("data", "fast")
        .with_volumes(|volumes| {
            let driver = CsiDriver {
                tells_capacity: true,
                must_run: false,
            };
            volumes.drivers.insert(LOCAL.into(), driver);
            let claims = volumes.claims.values_mut();
            claims.for_each(|claim| claim.size = Some(10 * GIBIBYTE));
        })
}

/// Room for a volume of so many GiB of class `fast` on nodes with one of these values of a label.
fn room(name: &str, gibibytes: i64, key: &str, values: &[&str]) -> impl FnOnce(&mut Volumes) {
    let room = StorageCapacity {
        class: "fast".into(),
        topology: Some([is_in(key, values)].into_iter().collect()),
        largest: Some(gibibytes * GIBIBYTE),
    };
    let name = ObjectName::new("kube-system", name);
    move |volumes| drop(volumes.capacities.insert(name, room))
}

#[test]
fn no_node_is_bought_for_a_volume_that_finds_no_room() {
    let small = telling().with_volumes(room("a", 9, ZONE, &[ZONE_1]));
    let other = telling().with_volumes(|volumes| {
        room("a", 99, ZONE, &[ZONE_1])(volumes);
        volumes
            .capacities
            .values_mut()
            .for_each(|own| own.class = "slow".into());
    });
    for cluster in [telling(), small, other] {
        let outcome = check(cluster.node(node("n1").zone(ZONE_1)).pod(web()));
        assert_eq!(
            (outcome.waiting(), outcome.bought()),
            (vec!["web".to_owned()], 0)
        );
        let words = outcome.reason("web");
        assert!(
            words.contains("CSIStorageCapacity") && words.contains("fast"),
            "{words}"
        );
    }
}

#[test]
fn room_in_a_zone_is_reached_by_nodes_to_buy_there() {
    let cluster = telling()
        .with_volumes(room("a", 10, ZONE, &[ZONE_3]))
        .with_volumes(room("b", 5, ZONE, &[ZONE_1]));
    let outcome = check(cluster.node(node("n1").zone(ZONE_1)).pod(web()));
    assert_eq!(outcome.domains(ZONE, "web")[ZONE_3], 1);
}

#[test]
fn room_on_disks_of_nodes_is_reached_by_those_nodes_alone() {
    let disk = "topology.local.csi.example.com/node";
    let cluster = || {
        telling()
            .with_volumes(room("a", 50, disk, &["n2"]))
            .with_volumes(room("b", 5, disk, &["n1"]))
            .node(node("n1").label(disk, "n1"))
    };
    assert_eq!(check(cluster().pod(web())).unplaced(), 1);
    let outcome = check(cluster().node(node("n2").label(disk, "n2")).pod(web()));
    assert_eq!(outcome.place("web").as_deref(), Some("n2"));
}

#[test]
fn room_does_not_matter_to_claims_that_need_none() {
    let bound = telling().bound_volume("data", LOCAL, &[]);
    let sizeless = telling().with_volumes(|volumes| {
        volumes
            .claims
            .values_mut()
            .for_each(|claim| claim.size = None);
    });
    let silent = telling().with_volumes(|volumes| {
        let drivers = volumes.drivers.values_mut();
        drivers.for_each(|driver| driver.tells_capacity = false);
    });
    for cluster in [bound, sizeless, silent] {
        assert_eq!(check(cluster.pod(web())).bought(), 1);
    }
}

/// A market with a driver that must run where its volume `data` is used, and an old node on which these drivers do.
fn must_run(on_n1: &[&str]) -> ClusterFixture {
    let unlimited: BTreeSet<Arc<str>> = on_n1.iter().map(|driver| Arc::from(*driver)).collect();
    market()
        .bound_volume("data", LOCAL, &[])
        .with_volumes(|volumes| {
            let driver = CsiDriver {
                tells_capacity: false,
                must_run: true,
            };
            volumes.drivers.insert(LOCAL.into(), driver);
            let own = CsiNode {
                unlimited,
                ..CsiNode::default()
            };
            volumes.nodes.insert("n1".into(), own);
        })
}

#[test]
fn node_without_a_driver_that_must_run_is_no_place() {
    let outcome = check(must_run(&["other"]).node(node("n1")).pod(web()));
    assert_eq!((outcome.unplaced(), outcome.bought()), (0, 1));
    let outcome = check(must_run(&[LOCAL]).node(node("n1")).pod(web()));
    assert_eq!(outcome.place("web").as_deref(), Some("n1"));
    let plain = must_run(&[]).node(node("n1")).pod(pod("plain").cpu(100));
    assert_eq!(check(plain).place("plain").as_deref(), Some("n1"));
}

#[test]
fn node_of_which_no_driver_is_known_is_no_place() {
    let outcome = check(must_run(&[]).node(node("n2")).pod(web()));
    assert_ne!(outcome.place("web").as_deref(), Some("n2"));
    assert_eq!(outcome.bought(), 1);
}

#[test]
fn node_that_has_just_come_may_still_get_its_driver() {
    // Every run is at a million seconds.
    let young = node("n1").with(|node| node.created = Timestamp::from_millis(999_900_000));
    let outcome = check(must_run(&[]).node(young).pod(web()));
    assert_eq!(outcome.place("web").as_deref(), Some("n1"));
    let coming = node("n1").managed("general").phase(ClaimPhase::Registered);
    let outcome = check(must_run(&[]).node(coming).pod(web()));
    assert_eq!(outcome.bought(), 0);
}

#[test]
fn driver_that_need_not_run_keeps_no_pod_off() {
    let cluster = must_run(&[]).with_volumes(|volumes| {
        let drivers = volumes.drivers.values_mut();
        drivers.for_each(|driver| driver.must_run = false);
    });
    let outcome = check(cluster.node(node("n1")).pod(web()));
    assert_eq!(outcome.place("web").as_deref(), Some("n1"));
}
