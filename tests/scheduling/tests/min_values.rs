//! Distinct values that a claim must leave its launch to choose from.

use plimsoll_base::requirement::Requirement;
use plimsoll_model::PackingMode;
use plimsoll_model::plan::NoteKind;
use plimsoll_model::snapshot::MinValuesPolicy;
use plimsoll_oracles::fixture::*;
use plimsoll_scheduling_tests::{Outcome, bare_market, check};

const RELAXED: &str = "karpenter.sh/nodeclaim-min-values-relaxed";

fn web() -> PodFixture {
    pod("web").cpu(900)
}

/// Types of 1 and 4 cores, and a pool that wants this many of them.
fn two_types(minimum: u32) -> ClusterFixture {
    cluster()
        .sells(instance_type("one").no_overhead().cpu(1000).pods(10))
        .sells(instance_type("four").no_overhead().cpu(4000).pods(10))
        .pool(pool("general").min_values(INSTANCE_TYPE, minimum))
}

fn best_effort(cluster: ClusterFixture) -> ClusterFixture {
    cluster.settings(|settings| settings.min_values = MinValuesPolicy::BestEffort)
}

/// Distinct types, the minimum written and the mark, of every claim.
fn claims(outcome: &Outcome) -> Vec<(usize, Option<u32>, Option<String>)> {
    outcome.agreed(|run| {
        let claims = run.plan().claims.iter();
        claims
            .map(|claim| {
                let own = claim
                    .requirements
                    .get(INSTANCE_TYPE)
                    .expect("types are named");
                let types = own.listed().map_or(0, std::collections::BTreeSet::len);
                let mark = claim.annotations.get(RELAXED).map(ToString::to_string);
                (types, own.min_values(), mark)
            })
            .collect()
    })
}

#[test]
fn minimum_keeps_pods_apart_that_one_type_would_hold() {
    let pair = || [web(), pod("db").cpu(900)];
    let outcome = check(two_types(2).pods(pair()));
    assert!(outcome.apart(&["web", "db"]));
    assert_eq!(
        claims(&outcome)
            .iter()
            .map(|claim| claim.0)
            .collect::<Vec<_>>(),
        [2, 2]
    );
    let outcome = check(two_types(1).pods(pair()));
    assert_eq!(
        outcome.under(PackingMode::Compatible).plan().claims.len(),
        1
    );
}

#[test]
fn strict_minimum_that_the_pool_cannot_meet_refuses_and_is_named() {
    let outcome = check(two_types(3).pod(web()));
    assert_eq!(outcome.unplaced(), 1);
    let reason = outcome.reason("web");
    assert!(
        reason.contains("at least 3") && reason.contains(INSTANCE_TYPE),
        "{reason}"
    );
}

#[test]
fn strict_minimum_that_the_pod_leaves_unmet_refuses() {
    let outcome = check(two_types(2).pod(pod("web").cpu(2000)));
    assert_eq!(outcome.unplaced(), 1);
    let outcome = check(two_types(2).pod(web().select(INSTANCE_TYPE, "four")));
    assert_eq!(outcome.unplaced(), 1);
}

#[test]
fn minimum_of_several_requirements_on_a_key_is_the_largest() {
    let both = || {
        bare_market().pool(
            pool("general")
                .needs(exists(INSTANCE_TYPE).with_min_values(Some(1)))
                .needs(
                    is_in(
                        INSTANCE_TYPE,
                        &["small-instance-type", "default-instance-type"],
                    )
                    .with_min_values(Some(2)),
                ),
        )
    };
    assert_eq!(claims(&check(both().pod(web())))[0].1, Some(2));
    assert_eq!(
        check(both().pod(web().select(INSTANCE_TYPE, "small-instance-type"))).unplaced(),
        1
    );
}

#[test]
fn minimum_holds_with_bounds() {
    let bounded = |minimum: u32| {
        cluster().types(ladder(5)).pool(
            pool("general")
                .needs(above("integer", 2).with_min_values(Some(minimum)))
                .needs(below("integer", 5)),
        )
    };
    assert_eq!(check(bounded(2).pod(web())).unplaced(), 0);
    assert_eq!(check(bounded(3).pod(web())).unplaced(), 1);
}

#[test]
fn minimum_of_several_keys_holds_for_each() {
    let both = |zones: u32, types: u32| {
        bare_market()
            .pool(
                pool("general")
                    .min_values(ZONE, zones)
                    .min_values(INSTANCE_TYPE, types),
            )
            .pod(web())
    };
    assert_eq!(check(both(3, 2)).unplaced(), 0);
    assert_eq!(check(both(4, 2)).unplaced(), 1);
    assert_eq!(check(both(3, 7)).unplaced(), 1);
}

/// A pool that wants this many zones to choose from.
fn zones(minimum: u32) -> ClusterFixture {
    bare_market().pool(pool("general").min_values(ZONE, minimum))
}

/// Zones of every claim, and the minimum written.
fn zones_kept(outcome: &Outcome) -> Vec<(usize, Option<u32>)> {
    outcome.agreed(|run| {
        let claims = run.plan().claims.iter();
        let own = claims.map(|claim| claim.requirements.get(ZONE).expect("zones are named"));
        own.map(|own| {
            let listed = own.listed().map_or(0, std::collections::BTreeSet::len);
            (listed, own.min_values())
        })
        .collect()
    })
}

#[test]
fn zones_that_the_pod_excludes_do_not_count() {
    let outcome = check(zones(3).pod(web().needs(is_in(ZONE, &[ZONE_1, ZONE_2]))));
    assert_eq!(outcome.unplaced(), 1);
    let reason = outcome.reason("web");
    let said = "at least 3 values of topology.kubernetes.io/zone, the pod leaves 2 (minValues)";
    assert!(reason.contains(said), "{reason}");
    let outcome = check(zones(2).pod(web().needs(is_in(ZONE, &[ZONE_1, ZONE_2]))));
    assert_eq!(zones_kept(&outcome), [(2, Some(2))]);
}

#[test]
fn zones_that_a_volume_excludes_do_not_count() {
    let stored = |cluster: ClusterFixture| {
        let outcome = cluster.bound_volume("data", "ebs.csi.aws.com", &[ZONE_3]);
        check(outcome.pod(web().volume("data")))
    };
    assert_eq!(stored(zones(2)).unplaced(), 1);
    let lowered = stored(best_effort(zones(2)));
    assert_eq!(zones_kept(&lowered), [(1, Some(1))]);
    let notes = lowered.agreed(|run| run.plan().notes.clone());
    let said = "minValues of topology.kubernetes.io/zone is lowered from 2 to 1 on 1 new node(s)";
    assert!(
        notes.iter().any(|note| note.text.starts_with(said)),
        "{notes:?}"
    );
}

/// A node in the zone that a spread has chosen leaves that zone alone.
#[test]
fn pods_that_spread_over_zones_never_meet_a_minimum_of_zones() {
    let spread = || web().spread(ZONE, 1).replicas(3);
    let outcome = check(zones(2).pods(spread()));
    assert_eq!(outcome.unplaced(), 3);
    let reason = outcome.reason("web-0");
    assert!(reason.contains("minValues"), "{reason}");
    let lowered = check(best_effort(zones(2)).pods(spread()));
    assert_eq!(zones_kept(&lowered), [(1, Some(1)); 3]);
}

/// A zone where only another capacity type is sold is none to choose from.
#[test]
fn zones_in_which_nothing_is_left_to_buy_do_not_count() {
    let sold = instance_type("a").cpu(4000);
    let sold = sold.offered(ZONE_1, Spot).offered(ZONE_2, OnDemand);
    let cluster = || {
        let pool = pool("general").min_values(ZONE, 2);
        cluster().sells(sold.clone()).pool(pool)
    };
    assert_eq!(check(cluster().pod(web())).unplaced(), 0);
    let spot = web().select(CAPACITY_TYPE, "spot");
    assert_eq!(check(cluster().pod(spot)).unplaced(), 1);
}

/// A type that runs several systems counts for those alone that the pod leaves.
#[test]
fn values_of_a_type_count_as_far_as_the_pod_leaves_them() {
    let cluster = || bare_market().pool(pool("general").min_values(OS, 2));
    assert_eq!(check(cluster().pod(web())).unplaced(), 0);
    let bound = || web().select(OS, "linux");
    assert_eq!(check(cluster().pod(bound())).unplaced(), 1);
    let lowered = check(best_effort(cluster()).pod(bound()));
    let kept = lowered.agreed(|run| run.plan().claims[0].requirements.get(OS).cloned());
    assert_eq!(kept.and_then(|own| own.min_values()), Some(1));
}

#[test]
fn best_effort_lowers_the_minimum_and_says_so() {
    let outcome = check(best_effort(two_types(3)).pod(web()));
    assert_eq!(claims(&outcome), [(2, Some(2), Some("true".to_owned()))]);
}

#[test]
fn best_effort_leaves_a_minimum_alone_that_is_met() {
    let outcome = check(best_effort(two_types(2)).pod(web()));
    assert_eq!(claims(&outcome), [(2, Some(2), Some("false".to_owned()))]);
}

/// The pool that serves a pod when the heavier one wants more types than there are.
fn pool_beside_a_minimum_of_nine(market: ClusterFixture) -> Vec<String> {
    let outcome = check(
        market
            .pool(pool("heavy").weight(10).min_values(INSTANCE_TYPE, 9))
            .pool(pool("light"))
            .pod(web()),
    );
    outcome.domain_names(NODEPOOL, "web")
}

#[test]
fn best_effort_keeps_the_heavier_pool() {
    let market = best_effort(bare_market());
    assert_eq!(pool_beside_a_minimum_of_nine(market), ["heavy"]);
}

#[test]
fn strict_falls_to_the_lighter_pool() {
    assert_eq!(pool_beside_a_minimum_of_nine(bare_market()), ["light"]);
}

#[test]
fn best_effort_never_lowers_a_minimum_for_a_second_pod() {
    let outcome = check(best_effort(two_types(2)).pod(web()).pod(pod("db").cpu(900)));
    assert!(outcome.apart(&["web", "db"]));
    assert!(claims(&outcome).iter().all(|claim| claim.1 == Some(2)));
}

#[test]
fn best_effort_lowers_every_key_that_needs_it() {
    let outcome = check(
        best_effort(bare_market())
            .pool(
                pool("general")
                    .min_values(ZONE, 5)
                    .min_values(INSTANCE_TYPE, 50),
            )
            .pod(web()),
    );
    let written = outcome.agreed(|run| {
        let own = &run.plan().claims[0].requirements;
        [ZONE, INSTANCE_TYPE].map(|key| own.get(key).and_then(Requirement::min_values))
    });
    assert_eq!(written[0], Some(3));
    assert!(written[1].is_some_and(|types| types >= 2));
}

#[test]
fn best_effort_keeps_the_list_of_zones_with_a_lowered_minimum() {
    let outcome = check(
        best_effort(bare_market())
            .pool(pool("general").needs(is_in(ZONE, &[ZONE_1, ZONE_2]).with_min_values(Some(5))))
            .pod(web()),
    );
    let zones = outcome.agreed(|run| run.plan().claims[0].requirements.get(ZONE).cloned());
    let zones = zones.expect("zones are listed");
    assert_eq!(zones.listed().map(std::collections::BTreeSet::len), Some(2));
    assert!(zones.min_values().is_some_and(|minimum| minimum < 5));
}

#[test]
fn minimum_holds_beside_a_limit() {
    let outcome = check(
        cluster()
            .sells(instance_type("small").cpu(1000).price(1.0))
            .sells(instance_type("large").cpu(2000).price(2.0))
            .pool(pool("general").min_values(INSTANCE_TYPE, 2).limit_cpu(2000))
            .pod(pod("web").cpu(100)),
    );
    let named = outcome.agreed(|run| run.plan().claims[0].options.len());
    assert!(named >= 2, "{named} types are named");
}

/// A pod that a spread merely counts may go to any zone; one that sells too few types is none of those.
#[test]
fn counted_pods_go_to_the_zone_that_meets_the_minimum() {
    let one = instance_type("one").no_overhead().cpu(1000).pods(10);
    let four = instance_type("four").no_overhead().cpu(4000).pods(10);
    let minimum = pool("heavy").weight(10).min_values(INSTANCE_TYPE, 2);
    let outcome = check(
        cluster()
            .sells(one.offered(ZONE_1, OnDemand).sold_out(ZONE_2, OnDemand))
            .sells(four.offered(ZONE_1, OnDemand).offered(ZONE_2, OnDemand))
            .pool(minimum)
            .pool(pool("light"))
            .pods(web().replicas(3))
            .pod(pod("other").cpu(50).spread(ZONE, 3).to("web")),
    );
    let pools = outcome.domains(NODEPOOL, "web");
    assert_eq!(
        pools.into_iter().collect::<Vec<_>>(),
        [("heavy".to_owned(), 3)]
    );
}

/// A spread counts on nodes of its pods' own kind: whether a node will be of that kind stays open where the minimum needs
/// types of both, and the pod then takes a place of the skew all the same.
#[test]
fn counted_pods_leave_open_whether_they_count_where_the_minimum_needs_both() {
    let sold = |name: &str, arch: &str| {
        let sold = instance_type(name).no_overhead().cpu(4000).arch(arch);
        sold.pods(10).offered(ZONE_1, OnDemand)
    };
    let minimum = pool("heavy").weight(10).min_values(INSTANCE_TYPE, 2);
    let of_own_kind = pod("other").cpu(100).needs(is_in(ARCH, &["arm64"]));
    let outcome = check(
        cluster()
            .sells(sold("x", "amd64"))
            .sells(sold("y", "arm64"))
            .pool(minimum)
            .pool(pool("light"))
            .pod(web())
            .pod(of_own_kind.spread(ZONE, 1).to("web")),
    );
    let pools = outcome.domains(NODEPOOL, "web");
    assert_eq!(pools.into_keys().collect::<Vec<_>>(), ["heavy"]);
    let pools = outcome.domains(NODEPOOL, "other");
    assert_eq!(pools.into_keys().collect::<Vec<_>>(), ["light"]);
}

/// Pools of which a plan says that nothing can be bought.
fn unsold(cluster: ClusterFixture) -> Vec<(String, String)> {
    check(cluster.pod(web())).agreed(|run| {
        let notes = run.plan().notes.iter();
        let unsold = notes.filter(|note| note.kind == NoteKind::NoCompatibleInstanceTypes);
        let said =
            unsold.filter_map(|note| Some((note.pool.as_ref()?.to_string(), note.text.clone())));
        said.collect()
    })
}

#[test]
fn a_pool_whose_requirements_leave_too_few_types_says_so_and_no_other() {
    assert_eq!(unsold(two_types(2)), []);
    let none = two_types(1).pool(pool("none").needs(is_in(ARCH, &["s390x"])));
    let said = "no available instance type satisfies its requirements and has room for its daemons";
    assert_eq!(unsold(none), [("none".to_owned(), said.to_owned())]);
    let few = two_types(1).pool(pool("few").min_values(INSTANCE_TYPE, 3));
    let said = "its requirements want 3 values of node.kubernetes.io/instance-type to choose from (minValues), and the 2 available instance types that satisfy them have 2";
    assert_eq!(unsold(few), [("few".to_owned(), said.to_owned())]);
    let relaxed = two_types(1).pool(pool("few").min_values(INSTANCE_TYPE, 3));
    assert_eq!(unsold(best_effort(relaxed)), []);
}

#[test]
fn types_on_a_reservation_are_no_choice_beside_those_off_it() {
    let sold = |name: &str, cpu: i64| instance_type(name).no_overhead().cpu(cpu).pods(10);
    let world = cluster()
        .sells(sold("reserved", 4000).reserved(ZONE_1, "r-1", 2))
        .sells(sold("large", 4000).offered(ZONE_1, OnDemand).price(0.5))
        .sells(sold("small", 2000).offered(ZONE_1, OnDemand).price(0.3))
        .pool(pool("general").min_values(INSTANCE_TYPE, 2));
    let outcome = check(world.pods(web().replicas(3)));
    assert_eq!(outcome.unplaced(), 0, "two share a node, the third has one");
}
