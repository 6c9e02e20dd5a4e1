//! Bounds of plans: of what pools may buy while guards hold, of all that they may buy, and of whole nodes.

use plimsoll_base::units::PricePerHour;
use plimsoll_oracles::fixture::*;
use plimsoll_schedule::{PlanBounds, bound_from_nothing, bounds_of_plan, plan, prepare};

use crate::guards::{family, spot};

/// The cost of a cluster's plan, and its bounds.
fn measured(cluster: ClusterFixture) -> (PricePerHour, PlanBounds) {
    let snapshot = cluster.snapshot();
    let plan = plan(&snapshot);
    assert_eq!(plan.unplaced, []);
    let bounds = bounds_of_plan(&prepare(&snapshot), &plan);
    (plan.cost.list, bounds)
}

fn dollars(value: f64) -> PricePerHour {
    PricePerHour::from_dollars(value).expect("a price")
}

/// Two cores at $0.12, a third of that as spot; old ones at half the price.
fn shop() -> ClusterFixture {
    let cluster = cluster().sells(family("m6i.large", 2, 0.12));
    cluster.sells(family("m2.large", 2, 0.06))
}

fn one() -> PodFixture {
    pod("web").cpu(500).memory_mib(512)
}

#[test]
fn one_pod_costs_at_least_one_node_of_those_that_guards_let_its_pool_buy() {
    let (cost, bounds) = measured(shop().pool(pool("general")).pod(one()));
    assert_eq!(cost, dollars(0.12));
    assert_eq!(
        bounds.within_guards, cost,
        "on-demand, of a present generation"
    );
    assert_eq!(bounds.without_guards, dollars(0.02), "spot, of an old one");
}

#[test]
fn a_pool_that_names_spot_is_bounded_by_spot() {
    let (cost, bounds) = measured(shop().pool(spot()).pod(one()));
    assert_eq!((cost, bounds.within_guards), (dollars(0.04), dollars(0.04)));
}

#[test]
fn a_guard_that_yields_bounds_nothing() {
    let old = is_in("karpenter.k8s.aws/instance-generation", &["2"]);
    let cluster = shop().pool(pool("general")).pod(one().needs(old));
    let (cost, bounds) = measured(cluster);
    assert_eq!(bounds.within_guards, bounds.without_guards);
    assert!(bounds.within_guards <= cost, "{bounds:?} of {cost}");
}

#[test]
fn a_pod_that_prefers_what_guards_keep_back_is_not_bounded_by_the_rest() {
    let prefers = is_in("karpenter.sh/capacity-type", &["spot"]);
    let cluster = shop().pool(pool("general")).pod(one().prefers(1, prefers));
    let (cost, bounds) = measured(cluster);
    assert_eq!(bounds.within_guards, bounds.without_guards);
    assert!(bounds.within_guards <= cost, "{bounds:?} of {cost}");
}

#[test]
fn many_pods_are_bounded_by_what_they_fill() {
    let pods = one().replicas(40);
    let (cost, bounds) = measured(shop().pool(pool("general")).pods(pods));
    // Forty half cores are ten nodes of two cores.
    assert_eq!((cost, bounds.within_guards), (dollars(1.2), dollars(1.2)));
}

/// Alternatives of a node affinity, the cheaper one first: the last is not what the pod asks in the end.
#[test]
fn every_alternative_of_a_node_affinity_counts() {
    let of = |name: &str| is_in(INSTANCE_TYPE, &[name]);
    let world = || {
        let dear = family("m6i.xlarge", 4, 0.24);
        let cluster = cluster().sells(family("m6i.large", 2, 0.12)).sells(dear);
        let either = one().needs(of("m6i.large")).or_needs(of("m6i.xlarge"));
        cluster.pool(pool("general")).pod(either)
    };
    let (cost, bounds) = measured(world());
    assert_eq!((cost, bounds.within_guards), (dollars(0.12), dollars(0.12)));
    let cheapest = bound_from_nothing(&world().snapshot());
    assert!(cheapest <= dollars(0.04), "{cheapest}, a part of spot");

    let there = node("there").label(INSTANCE_TYPE, "m6i.large").cpu(2000);
    let (cost, bounds) = measured(world().node(there.memory_mib(8192)));
    assert_eq!((cost, bounds), (dollars(0.0), PlanBounds::default()));
}
