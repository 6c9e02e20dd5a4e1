//! Volumes planned on a new node: a guard of pools packed by price.

use plimsoll_model::plan::Target;
use plimsoll_model::snapshot::Guard;
use plimsoll_model::{ClaimPhase, PackingMode};
use plimsoll_oracles::fixture::*;
use plimsoll_schedule::{guard_costs, prepare};
use plimsoll_scheduling_tests::{Outcome, Run, check};

const EBS: &str = "ebs.csi.aws.com";

/// An instance with room for hundreds of small pods that attaches so many volumes.
fn machine(name: &str, cores: i64, slots: u32, dollars: f64) -> TypeFixture {
    let fixture = instance_type(name)
        .cpu(cores * 1000)
        .memory_mib(cores * 4096)
        .pods(500)
        .no_overhead()
        .attaches(EBS, slots)
        .price(dollars);
    fixture.zones(&ZONES)
}

fn shop() -> ClusterFixture {
    cluster()
        .pool(pool("general"))
        .sells(machine("small", 4, 10, 0.2))
}

/// Pods with as many volumes of their own each.
fn pods_with(cluster: ClusterFixture, pods: usize, volumes: usize) -> ClusterFixture {
    let cluster = cluster.storage_class("fast", EBS, &[]);
    (0..pods).fold(cluster, |cluster, at| {
        let claims: Vec<String> = (0..volumes).map(|v| format!("data-{at}-{v}")).collect();
        let one = claims
            .iter()
            .fold(pod(&format!("db-{at}")).cpu(10), |pod, claim| {
                pod.volume(claim)
            });
        let cluster = claims.iter().fold(cluster, |cluster, claim| {
            cluster.unbound_claim(claim, "fast")
        });
        cluster.pod(one)
    })
}

fn bought(outcome: &Outcome, packing: PackingMode) -> usize {
    outcome.under(packing).plan().claims.len()
}

#[test]
fn new_node_gets_no_more_volumes_than_its_type_attaches() {
    let outcome = check(pods_with(shop(), 25, 1));
    assert_eq!(bought(&outcome, PackingMode::Price), 3);
    let first_fit = bought(&outcome, PackingMode::Compatible);
    assert_eq!(first_fit, 1, "as Karpenter does");
    let lifted = pods_with(shop(), 25, 1).settings(|settings| settings.guards.attach_slots = false);
    assert_eq!(bought(&check(lifted), PackingMode::Price), 1);
}

#[test]
fn types_with_slots_for_all_volumes_are_bought_where_that_is_cheaper() {
    // Three small ones are 60 cents; one of the others has slots for all.
    for (dollars, expected) in [(0.5, vec!["roomy"]), (0.7, vec!["small"; 3])] {
        let cluster = shop().sells(machine("roomy", 4, 30, dollars));
        let outcome = check(pods_with(cluster, 25, 1));
        let plan = outcome.under(PackingMode::Price).plan();
        let names: Vec<&str> = plan
            .claims
            .iter()
            .map(|claim| claim.options[0].instance_type.as_str())
            .collect();
        assert_eq!(names, expected);
    }
}

#[test]
fn claims_name_only_types_that_attach_what_their_pods_use() {
    let cluster = shop()
        .sells(machine("twin", 4, 10, 0.21))
        .sells(machine("poor", 4, 9, 0.21));
    let outcome = check(pods_with(cluster, 10, 1));
    let plan = outcome.under(PackingMode::Price).plan();
    let mut named: Vec<&str> = plan.claims[0]
        .options
        .iter()
        .map(|option| option.instance_type.as_str())
        .collect();
    named.dedup();
    assert_eq!(named, ["small", "twin"]);
}

#[test]
fn volume_that_many_pods_share_takes_one_slot_of_a_new_node() {
    let shared = pod("web").cpu(10).volume("shared").replicas(30);
    let cluster = shop().bound_volume("shared", EBS, &[]).pods(shared);
    assert_eq!(bought(&check(cluster), PackingMode::Price), 1);
}

#[test]
fn shared_and_own_volumes_together_stay_within_the_slots() {
    let shared = pod("web").cpu(10).volume("shared").replicas(30);
    let cluster = pods_with(shop(), 25, 1)
        .bound_volume("shared", EBS, &[])
        .pods(shared);
    // Nine of their own beside the shared one.
    assert_eq!(bought(&check(cluster), PackingMode::Price), 3);
}

#[test]
fn volumes_of_other_drivers_take_no_slot() {
    let files = pods_with(shop(), 25, 1).with_volumes(|volumes| {
        for class in volumes.classes.values_mut() {
            class.driver = "efs.csi.aws.com".into();
        }
    });
    assert_eq!(bought(&check(files), PackingMode::Price), 1);
}

#[test]
fn pod_with_more_volumes_than_anything_attaches_waits_and_is_told_why() {
    let outcome = check(pods_with(shop(), 2, 12));
    let plan = outcome.under(PackingMode::Price).plan();
    assert_eq!((plan.unplaced.len(), plan.claims.len()), (2, 0));
    let told = plan.unplaced[0].reason.to_string();
    assert!(
        told.contains(
            "attach fewer volumes than the 12 that it brings (guard on volumes per node)"
        ),
        "{told}"
    );
}

#[test]
fn limit_of_a_pool_puts_no_more_volumes_on_a_node() {
    let one_node = pool("general").limit_cpu(4000);
    let cluster = cluster().pool(one_node).sells(machine("small", 4, 10, 0.2));
    let outcome = check(pods_with(cluster, 25, 1));
    let plan = outcome.under(PackingMode::Price).plan();
    assert_eq!((plan.unplaced.len(), plan.claims.len()), (15, 1));
}

#[test]
fn node_on_its_way_takes_no_more_volumes_than_its_type_attaches() {
    let coming = node("coming")
        .managed("general")
        .of_type("small")
        .pods(110)
        .phase(ClaimPhase::Launched);
    let outcome = check(pods_with(shop().node(coming), 12, 1));
    assert_eq!((outcome.unplaced(), outcome.bought()), (0, 1));
    let on_it = |run: &Run| {
        let plan = run.plan();
        let placed = plan.placements.iter();
        placed
            .filter(|placed| matches!(placed.target, Target::Existing(_)))
            .count()
    };
    assert_eq!(outcome.agreed(on_it), 10);
}

#[test]
fn a_pod_that_others_follow_keeps_its_node_where_no_type_has_room_and_slots_for_all() {
    let cluster = cluster()
        .pool(pool("general"))
        .sells(machine("slots", 8, 30, 0.4))
        .sells(machine("room", 16, 1, 0.8))
        .storage_class("fast", EBS, &[])
        .pod(pod("cache").cpu(2750));
    let near = |name: &str| {
        let near = pod(name).cpu(3000).affinity(HOSTNAME);
        near.to("cache").volume(&format!("data-{name}"))
    };
    let cluster = ["first", "second"].into_iter().fold(cluster, |all, name| {
        let claim = format!("data-{name}");
        all.unbound_claim(&claim, "fast").pod(near(name))
    });
    let outcome = check(cluster);
    let run = outcome.under(PackingMode::Price);
    assert_eq!(run.waiting().len(), 1, "{:?}", run.waiting());
    assert!(run.place("cache").is_some());
}

#[test]
fn cost_of_the_guard_is_told() {
    let snapshot = pods_with(shop(), 25, 1).snapshot();
    let prepared = prepare(&snapshot);
    let plan = plimsoll_schedule::finish(&prepared, None);
    let costs = guard_costs(&prepared, None, &plan);
    let of_slots = costs
        .iter()
        .find(|cost| cost.guard == Some(Guard::AttachSlots));
    assert_eq!(of_slots.unwrap().cost.nanos(), 400_000_000);
}
