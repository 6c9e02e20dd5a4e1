//! Limits of pools.

use plimsoll_base::resources::ResourceName;
use plimsoll_base::units::PricePerHour;
use plimsoll_model::PackingMode;
use plimsoll_model::catalogue::Offering;
use plimsoll_oracles::fixture::*;
use plimsoll_scheduling_tests::{bare_market, check};

fn web() -> PodFixture {
    pod("web").cpu(1000)
}

/// Pods with a node each.
fn alone(name: &str, count: usize) -> impl Iterator<Item = PodFixture> + use<> {
    pod(name).cpu(1000).anti_affinity(HOSTNAME).replicas(count)
}

fn ours(name: &str, milli: i64) -> NodeFixture {
    node(name).managed("general").cpu(milli).pods(0)
}

/// A pool that buys types of 2,000m, up to a limit.
fn small_types_within(milli: i64) -> ClusterFixture {
    let small = pool("general").only_types(&["small-instance-type"]);
    bare_market().pool(small.limit_cpu(milli))
}

/// A pool that buys any of eight sizes, up to a limit.
fn ladder_within(milli: i64) -> ClusterFixture {
    let any = pool("general").limit_cpu(milli);
    cluster().types(ladder(8)).pool(any)
}

/// A pool that may have so many nodes.
fn at_most(nodes: i64) -> ClusterFixture {
    bare_market().pool(pool("general").limit_nodes(nodes))
}

/// K22: at the limit nothing is launched, and the reason names the limit; raised, it is.
#[test]
fn nothing_is_bought_at_the_limit_and_the_reason_names_it() {
    let limited = |cpu: i64| {
        bare_market()
            .pool(pool("general").limit_cpu(cpu).limit_memory_mib(1 << 30))
            .node(ours("old", 100_000))
            .pod(web())
    };
    let outcome = check(limited(100_000));
    assert_eq!((outcome.unplaced(), outcome.bought()), (1, 0));
    let reason = outcome.reason("web");
    assert!(
        reason.contains("limit") && reason.contains("cpu"),
        "{reason}"
    );
    assert_eq!(check(limited(200_000)).unplaced(), 0);
}

#[test]
fn limit_may_be_met_exactly() {
    let outcome = check(small_types_within(4000).pods(alone("web", 2)));
    assert_eq!((outcome.placed("web"), outcome.bought()), (2, 2));
}

#[test]
fn pods_are_served_as_far_as_the_limit_goes() {
    let outcome = check(small_types_within(3000).pods(alone("web", 2)));
    assert_eq!((outcome.placed("web"), outcome.unplaced()), (1, 1));
}

#[test]
fn one_node_above_the_limit_is_not_bought() {
    let limited = bare_market().pool(pool("general").limit_cpu(1999));
    assert_eq!(check(limited.pod(web())).unplaced(), 1);
}

#[test]
fn limit_leaves_smaller_types() {
    let outcome = check(ladder_within(2000).pod(web()));
    let largest = outcome.agreed(|run| {
        let options = run.plan().claims[0].options.iter();
        options.map(|option| option.instance_type.to_string()).max()
    });
    assert_eq!(largest.as_deref(), Some("fake-it-1"));
}

#[test]
fn every_resource_may_be_limited() {
    let device = || pod("web").device("fake.com/vendor-a", 1);
    let limited =
        |amount: i64| bare_market().pool(pool("general").limit("fake.com/vendor-a".into(), amount));
    assert_eq!(check(limited(1).pod(device())).unplaced(), 1);
    assert_eq!(check(limited(2).pod(device())).unplaced(), 0);
    assert_eq!(
        check(limited(0).pod(web())).unplaced(),
        0,
        "types without the device are free"
    );
}

#[test]
fn number_of_nodes_may_be_limited_within_one_decision() {
    let outcome = check(at_most(2).pods(alone("web", 5)));
    assert_eq!((outcome.placed("web"), outcome.bought()), (2, 2));
    assert_eq!(check(at_most(0).pod(web())).unplaced(), 1);
}

#[test]
fn nodes_there_are_count_and_leaving_ones_do_not() {
    let limited = |old: NodeFixture| at_most(1).node(old).pod(web());
    assert_eq!(check(limited(ours("old", 100))).unplaced(), 1);
    assert_eq!(check(limited(ours("old", 100).deleting())).unplaced(), 0);
    assert_eq!(check(limited(node("others").cpu(100))).unplaced(), 0);
}

#[test]
fn second_decision_sees_what_the_first_has_bought() {
    let first = check(small_types_within(4000).pods(alone("web", 1)));
    let outcome = first.then(alone("db", 2).map(|pod| pod.cpu(1500)));
    assert_eq!((outcome.placed("db"), outcome.unplaced()), (1, 1));
}

#[test]
fn pods_beyond_the_limit_of_one_pool_go_to_the_next() {
    let outcome = check(
        bare_market()
            .pool(pool("heavy").weight(10).limit_nodes(1))
            .pool(pool("light"))
            .pods(alone("web", 3)),
    );
    let pools: Vec<(String, usize)> = outcome.domains(NODEPOOL, "web").into_iter().collect();
    assert_eq!(pools, [("heavy".to_owned(), 1), ("light".to_owned(), 2)]);
}

#[test]
fn limits_do_not_keep_pods_from_nodes_there_are() {
    let old = node("old").managed("general");
    let outcome = check(at_most(0).node(old).pod(web()));
    assert_eq!(outcome.place("web").as_deref(), Some("old"));
}

#[test]
fn used_up_limit_is_not_made_worse_by_a_resource_that_the_type_lacks() {
    let outcome = check(
        bare_market()
            .pool(pool("general").limit("fake.com/vendor-a".into(), 1))
            .node(ours("old", 100).amount("fake.com/vendor-a".into(), 2))
            .pod(web()),
    );
    assert_eq!(
        outcome.unplaced(),
        1,
        "what is overdrawn refuses every type"
    );
}

/// Packing by price fills a limit at once; first fit, charged at the largest type, may need several decisions.
#[test]
fn price_packing_uses_a_limit_at_least_as_well() {
    let outcome = check(ladder_within(10_000).pods(alone("web", 5)));
    let placed = |mode| outcome.under(mode).placed("web");
    assert!(placed(PackingMode::Price) >= placed(PackingMode::Compatible));
    assert_eq!(placed(PackingMode::Price), 5);
}

#[test]
fn a_limit_counts_what_the_offering_brings_not_what_its_type_has() {
    let mut roomy = Offering::new(ZONE_1, OnDemand, PricePerHour::from_nanos(1_000_000_000));
    roomy.capacity_override.set(ResourceName::Cpu, 8000);
    let sold = cluster()
        .sells(instance_type("roomy").cpu(2000).offering(roomy))
        .pool(pool("general").limit_cpu(8000));
    let outcome = check(sold.pods(alone("web", 2)));
    assert_eq!((outcome.bought(), outcome.unplaced()), (1, 1));
}

/// Where pods that a spread counts go is an open choice of zone for those without a rule of their own.
#[test]
fn limit_of_a_pool_does_not_push_counted_pods_past_its_equals() {
    let machine = instance_type("m").offered(ZONE_1, OnDemand);
    let machine = machine.offered(ZONE_2, OnDemand).cpu(4000);
    let outcome = check(
        cluster()
            .sells(machine)
            .pool(pool("limited").weight(20).limit_nodes(1))
            .pool(pool("zonal").weight(20).zones(&[ZONE_2]))
            .pool(pool("light").weight(10))
            .pods(web().cpu(3500).replicas(6))
            .pod(pod("other").cpu(100).spread(ZONE, 9).to("web")),
    );
    let pools = outcome.under(PackingMode::Price).domains(NODEPOOL, "web");
    assert_eq!(pools.get("light"), None, "{pools:?}");
    assert_eq!(outcome.unplaced(), 0);
}
