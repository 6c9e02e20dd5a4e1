//! Topology spread over zones and hosts: who counts, what is known, and how far a domain may be ahead.

use plimsoll_base::time::Timestamp;
use plimsoll_base::units::PricePerHour;
use plimsoll_model::{LabelExpression, LabelSelector, PackingMode, PodPhase, SelectorOperator};
use plimsoll_oracles::fixture::*;
use plimsoll_scheduling_tests::{bare_market, check, market, of_web};

/// A node that has room for nothing that asks for cpu.
fn full_node(name: &str, zone: &str) -> NodeFixture {
    node(name).zone(zone).cpu(0)
}

/// A pod called `web` by its label, running on a node.
fn running_web(name: &str, on: &str) -> PodFixture {
    pod(name).only_labels(&[("app", "web")]).on(on)
}

fn web() -> PodFixture {
    pod("web").cpu(100).spread(ZONE, 1)
}

#[test]
fn unknown_topology_key_keeps_only_its_own_pod_waiting() {
    let outcome = check(
        market()
            .pod(pod("lost").spread("unknown", 1))
            .pod(pod("plain")),
    );
    assert_eq!(outcome.waiting(), ["lost"]);
}

#[test]
fn missing_selector_does_not_spread() {
    let pods = pod("web").cpu(100).spread(ZONE, 1);
    let outcome = check(market().pods(pods.selector(LabelSelector::Nothing).replicas(4)));
    assert_eq!((outcome.unplaced(), outcome.bought()), (0, 1));
}

#[test]
fn selector_without_conditions_counts_no_pod() {
    let every = || LabelSelector::all(vec![]);
    for key in [HOSTNAME, ZONE] {
        let pods = pod("web").cpu(100).spread(key, 1).selector(every());
        let outcome = check(market().pods(pods.replicas(5)));
        assert_eq!((outcome.unplaced(), outcome.bought()), (0, 1), "{key}");
    }
    let revision = pod("web").cpu(100).label("revision", "1");
    let narrowed = revision
        .spread(HOSTNAME, 1)
        .selector(every())
        .match_label_keys(&["revision"]);
    let outcome = check(market().pods(narrowed.replicas(3)));
    assert_eq!(
        outcome.bought(),
        3,
        "a label that is matched is a condition"
    );
}

#[test]
fn key_of_a_constraint_that_counts_no_pod_must_be_on_the_node() {
    for selector in [LabelSelector::Nothing, LabelSelector::all(vec![])] {
        let pods = pod("web").cpu(100).spread("unknown", 1).selector(selector);
        let outcome = check(market().pod(pods));
        assert_eq!(outcome.unplaced(), 1);
    }
}

/// K02.
#[test]
fn zones_are_balanced() {
    let outcome = check(market().pods(web().replicas(4)));
    assert_eq!(outcome.skew(ZONE, "web"), [1, 1, 2]);
}

#[test]
fn cheaper_zone_within_the_skew_comes_before_the_emptiest() {
    let priced = instance_type("m")
        .price(1.0)
        .offered(ZONE_1, OnDemand)
        .price(3.0)
        .offered(ZONE_2, OnDemand);
    for (skew, price) in [(1, 3.0), (2, 1.0)] {
        let outcome = check(
            cluster()
                .sells(priced.clone())
                .pool(pool("general"))
                .node(full_node("old", ZONE_1))
                .pod(running_web("running", "old"))
                .pod(pod("web").cpu(100).spread(ZONE, skew)),
        );
        let plan = outcome.under(PackingMode::Price).plan();
        let expected = PricePerHour::from_dollars(price);
        assert_eq!(Some(plan.cost.list), expected, "skew {skew}");
    }
}

#[test]
fn expressions_select_as_labels_do() {
    let selector = LabelSelector::all(vec![LabelExpression {
        key: "app".into(),
        operator: SelectorOperator::In,
        values: vec!["other".into(), "web".into()],
    }]);
    let outcome = check(market().pods(web().selector(selector).replicas(4)));
    assert_eq!(outcome.skew(ZONE, "web"), [1, 1, 2]);
}

#[test]
fn only_zones_of_the_pool_count() {
    let pools = [
        (pool("all").zones(&ZONES), vec![1, 1, 2]),
        (pool("two").zones(&[ZONE_1, ZONE_2]), vec![2, 2]),
        (pool("one").label(ZONE, ZONE_1), vec![4]),
        (
            pool("both").zones(&[ZONE_1, ZONE_2]).label(ZONE, ZONE_1),
            vec![4],
        ),
    ];
    for (pool, skew) in pools {
        let outcome = check(bare_market().pool(pool).pods(web().replicas(4)));
        assert_eq!(outcome.skew(ZONE, "web"), skew);
        assert_eq!(outcome.unplaced(), 0);
    }
}

#[test]
fn zones_of_several_pools_add_up() {
    let pools = ZONES.map(|zone| pool(zone).label(ZONE, zone));
    let cluster = pools.into_iter().fold(bare_market(), ClusterFixture::pool);
    let outcome = check(cluster.pods(web().replicas(4)));
    assert_eq!(outcome.skew(ZONE, "web"), [1, 1, 2]);
}

#[test]
fn zone_no_longer_offered_still_counts() {
    let outcome = check(
        bare_market()
            .pool(pool("rest").zones(&[ZONE_2, ZONE_3]))
            .node(full_node("n1", ZONE_1))
            .pod(running_web("old", "n1"))
            .pods(web().replicas(10)),
    );
    assert_eq!(outcome.skew(ZONE, "web"), [1, 2, 2]);
    assert_eq!(outcome.unplaced(), 6);
}

#[test]
fn zone_of_a_leaving_node_counts_while_a_pod_holds_it() {
    let protected = running_web("held", "n1").with(|pod| {
        pod.do_not_disrupt = plimsoll_model::DoNotDisrupt::Always;
    });
    let outcome = check(
        bare_market()
            .pool(pool("rest").zones(&[ZONE_2]))
            .node(full_node("n1", ZONE_1).deleting())
            .pod(protected)
            .pods(web().replicas(5)),
    );
    assert_eq!(outcome.skew(ZONE, "web"), [1, 2]);
}

#[test]
fn large_skew_fills_the_only_zone_left() {
    let outcome = check(
        bare_market()
            .pool(pool("rest").zones(&[ZONE_3]))
            .node(full_node("n1", ZONE_1))
            .node(full_node("n2", ZONE_2))
            .pod(running_web("first", "n1"))
            .pod(running_web("second", "n2"))
            .pods(pod("web").cpu(100).spread(ZONE, 5).replicas(10)),
    );
    assert_eq!(outcome.skew(ZONE, "web"), [1, 1, 6]);
}

#[test]
fn skewed_cluster_recovers_into_emptier_zones() {
    let old = ["old-a", "old-b", "old-c"].map(|name| running_web(name, "n1"));
    let cluster = market().node(full_node("n1", ZONE_1)).pods(old);
    let outcome = check(cluster.clone().pods(web().replicas(3)));
    assert_eq!(outcome.skew(ZONE, "web"), [1, 2, 3]);
    assert_eq!(outcome.agreed(|run| run.domains(ZONE, "web")[ZONE_1]), 3);
    let outcome = check(cluster.pods(web().replicas(6)));
    assert_eq!(outcome.skew(ZONE, "web"), [3, 3, 3]);
}

#[test]
fn pods_without_the_constraint_count_too() {
    let crowd = pod("crowd")
        .only_labels(&[("app", "web")])
        .cpu(500)
        .select(ZONE, ZONE_1);
    let outcome = check(market().pods(crowd.replicas(3)).pods(web().replicas(6)));
    assert_eq!(outcome.skew(ZONE, "web"), [3, 3, 3]);
}

#[test]
fn pods_that_do_not_run_in_a_domain_do_not_count() {
    let other = |name: &str| pod(name).label("team", "x").on("n2");
    let ignored = [
        pod("no-label").on("n2"),
        other("elsewhere").namespace("other"),
        other("ending").with(|pod| pod.deleting = Some(Timestamp::from_millis(1))),
        other("failed").with(|pod| pod.phase = PodPhase::Failed),
        other("done").with(|pod| pod.phase = PodPhase::Succeeded),
        other("nowhere").on("no-zone"),
        pod("unseen")
            .label("team", "x")
            .with(|pod| pod.unschedulable = false),
    ];
    let fresh = pod("fresh")
        .cpu(100)
        .label("team", "x")
        .spread(ZONE, 1)
        .selecting(&[("team", "x")]);
    let outcome = check(
        market()
            .node(full_node("n1", ZONE_1))
            .node(full_node("n2", ZONE_2))
            .node(node("no-zone").cpu(0))
            .pod(pod("counted").label("team", "x").on("n1"))
            .pods(ignored)
            .pods(fresh.replicas(2)),
    );
    let zones: Vec<String> = outcome.domains(ZONE, "fresh").into_keys().collect();
    assert_eq!(zones, [ZONE_2, ZONE_3]);
}

#[test]
fn owner_that_does_not_select_itself_packs_onto_one_node() {
    let outcome = check(market().pods(web().to("other").replicas(5)));
    assert_eq!((outcome.unplaced(), outcome.bought()), (0, 1));
}

/// K02.
#[test]
fn fewer_domains_than_the_minimum_hold_one_skew_each() {
    let outcome = check(
        bare_market()
            .pool(pool("two").zones(&[ZONE_1, ZONE_2]))
            .pods(web().min_domains(3).replicas(3)),
    );
    assert_eq!(outcome.skew(ZONE, "web"), [1, 1]);
    assert_eq!(outcome.unplaced(), 1);
}

#[test]
fn enough_domains_spread_as_without_a_minimum() {
    for minimum in [2, 3] {
        let outcome = check(market().pods(web().min_domains(minimum).replicas(11)));
        assert_eq!(outcome.skew(ZONE, "web"), [3, 4, 4]);
    }
}

#[test]
fn minimum_of_domains_differs_between_pods_of_one_selector() {
    let strict = of_web("strict", |pod| pod.spread(ZONE, 1)).min_domains(3);
    let outcome = check(
        bare_market()
            .pool(pool("two").zones(&[ZONE_1, ZONE_2]))
            .pods(web().cpu(200).replicas(4))
            .pod(strict),
    );
    let waiting = |packing| outcome.under(packing).waiting();
    assert_eq!(waiting(PackingMode::Compatible), ["strict"]);
    assert_eq!(
        waiting(PackingMode::Price),
        [""; 0],
        "it is tried again, first"
    );
}

#[test]
fn hosts_hold_as_many_as_the_skew() {
    let outcome = check(market().pods(pod("web").spread(HOSTNAME, 1).replicas(4)));
    assert_eq!(outcome.skew(HOSTNAME, "web"), [1, 1, 1, 1]);
    let outcome = check(market().pods(pod("web").spread(HOSTNAME, 4).replicas(4)));
    assert_eq!(outcome.skew(HOSTNAME, "web"), [4]);
}

#[test]
fn two_workloads_spread_over_hosts_share_them() {
    let pods = |app: &str| pod(app).spread(HOSTNAME, 1).cpu(100);
    let outcome = check(
        market()
            .pods(pods("blue").replicas(2))
            .pods(pods("green").replicas(2)),
    );
    assert_eq!((outcome.unplaced(), outcome.bought()), (0, 2));
    let outcome = check(
        market()
            .pods(pods("blue").select(ARCH, "amd64").replicas(2))
            .pods(pods("green").select(ARCH, "arm64").replicas(2)),
    );
    assert_eq!((outcome.unplaced(), outcome.bought()), (0, 4));
}

#[test]
fn zone_in_which_nothing_is_sold_for_the_pod_is_no_domain() {
    let spot = web().select(CAPACITY_TYPE, "spot");
    let outcome = check(market().pods(spot.replicas(4)));
    assert_eq!(outcome.skew(ZONE, "web"), [2, 2]);
    assert_eq!(outcome.unplaced(), 0);
}

#[test]
fn zone_that_only_the_pool_names_is_no_domain() {
    let outcome = check(
        market()
            .pool(pool("misconfigured").zones(&["zone-nowhere"]))
            .pods(web().replicas(6)),
    );
    assert_eq!(outcome.skew(ZONE, "web"), [2, 2, 2]);
    assert_eq!(outcome.unplaced(), 0);
}

#[test]
fn zone_whose_types_are_too_small_for_the_pod_is_no_domain() {
    let sold = |name: &str, cpu, zones: &[&str]| instance_type(name).cpu(cpu).zones(zones);
    let cluster = || {
        cluster()
            .sells(sold("large", 4000, &[ZONE_1, ZONE_2]))
            .sells(sold("small", 1000, &[ZONE_3]))
            .pool(pool("general"))
    };
    let large = || pod("web").cpu(2000).spread(ZONE, 1).replicas(4);
    let outcome = check(cluster().pods(large()));
    assert_eq!(outcome.skew(ZONE, "web"), [2, 2]);
    let there = node("n3").zone(ZONE_3).cpu(0);
    let outcome = check(cluster().node(there).pods(large()));
    assert_eq!(outcome.skew(ZONE, "web"), [1, 1], "a node there counts");
}

#[test]
fn zone_that_is_sold_out_is_no_domain() {
    let sold = instance_type("m").zones(&[ZONE_1, ZONE_2]);
    let out = instance_type("out").sold_out(ZONE_3, OnDemand);
    let outcome = check(
        cluster()
            .sells(sold)
            .sells(out)
            .pool(pool("general"))
            .pods(web().replicas(4)),
    );
    assert_eq!(outcome.skew(ZONE, "web"), [2, 2]);
}

#[test]
fn pods_of_a_team_are_spread_over_the_zones_of_its_own_pool() {
    let team = |name: &str, zones: &[&str]| pool(name).label("team", name).zones(zones);
    let outcome = check(
        bare_market()
            .pool(team("a", &[ZONE_1, ZONE_2]))
            .pool(team("b", &ZONES))
            .pods(web().select("team", "a").replicas(4)),
    );
    assert_eq!(outcome.skew(ZONE, "web"), [2, 2]);
    assert_eq!(outcome.unplaced(), 0);
}

#[test]
fn zone_of_a_node_that_the_plan_buys_for_others_is_a_domain() {
    let cluster = || {
        bare_market()
            .pool(pool("open").zones(&[ZONE_1, ZONE_2]))
            .pool(
                pool("closed")
                    .zones(&[ZONE_3])
                    .taint("closed", "yes", NoSchedule),
            )
            .pods(web().replicas(4))
    };
    let outcome = check(cluster());
    assert_eq!(outcome.skew(ZONE, "web"), [2, 2]);
    let other = pod("other").tolerates("closed", "yes", NoSchedule);
    let outcome = check(cluster().pod(other.select(ZONE, ZONE_3)));
    assert_eq!(outcome.skew(ZONE, "web"), [1, 1]);
    assert_eq!(outcome.unplaced(), 2);
}

#[test]
fn required_alternatives_that_are_given_up_still_tell_which_domains_count() {
    let pods = web()
        .needs(is_in(ZONE, &[ZONE_1]))
        .or_needs(is_in(ZONE, &[ZONE_2]));
    let outcome = check(market().pods(pods.replicas(5)));
    assert_eq!(outcome.skew(ZONE, "web"), [2, 3]);
}

#[test]
fn tied_zone_that_cannot_be_had_gives_way_to_another() {
    let only = |zone| web().needs(is_in(INSTANCE_TYPE, &[zone]));
    let sold = |zone| instance_type(zone).offered(zone, OnDemand);
    for zone in ZONES {
        let cluster = ZONES
            .into_iter()
            .fold(cluster(), |all, zone| all.sells(sold(zone)));
        let outcome = check(cluster.pool(pool("general")).pod(only(zone)));
        assert_eq!(outcome.unplaced(), 0);
    }
}
