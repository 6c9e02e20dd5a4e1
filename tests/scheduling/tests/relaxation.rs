//! Relaxation: what a pod gives up, and in which order, before it is left waiting.

use plimsoll_model::snapshot::PreferencePolicy;
use plimsoll_model::{PackingMode, TolerationOperator};
use plimsoll_oracles::fixture::*;
use plimsoll_scheduling_tests::{bare_market, check, market};

/// Where `web` went, when it is one pod on one new node.
fn zone_of_web(pod: PodFixture) -> Option<String> {
    let outcome = check(market().pod(pod));
    outcome
        .agreed(|run| run.domains(ZONE, "web"))
        .into_keys()
        .next()
}

fn web() -> PodFixture {
    pod("web").cpu(100)
}

fn ignoring(cluster: ClusterFixture) -> ClusterFixture {
    cluster.settings(|settings| settings.preferences = PreferencePolicy::Ignore)
}

#[test]
fn last_required_term_is_never_given_up() {
    assert_eq!(zone_of_web(web().needs(is_in(ZONE, &["nowhere"]))), None);
    let two = web()
        .needs(is_in(ZONE, &["nowhere"]))
        .or_needs(is_in(ZONE, &["neither"]));
    assert_eq!(zone_of_web(two), None);
}

#[test]
fn required_terms_are_tried_in_order_until_one_can_be_met() {
    let pod = web()
        .needs(is_in(ZONE, &["nowhere"]))
        .or_needs(is_in(ZONE, &["neither"]))
        .or_needs(is_in(ZONE, &[ZONE_1]))
        .or_needs(is_in(ZONE, &[ZONE_2]));
    assert_eq!(zone_of_web(pod).as_deref(), Some(ZONE_1));
}

#[test]
fn preferences_that_nothing_meets_are_all_given_up() {
    let pod = web()
        .prefers(1, is_in(ZONE, &["nowhere"]))
        .prefers(1, is_in(INSTANCE_TYPE, &["neither"]));
    assert_eq!(check(market().pod(pod)).unplaced(), 0);
}

/// K02.
#[test]
fn heaviest_preference_is_tried_first_and_the_next_one_after_it() {
    let pod = web()
        .prefers(50, is_in(ZONE, &[ZONE_2]))
        .prefers(100, is_in(ZONE, &[ZONE_3]))
        .prefers(1, is_in(ZONE, &[ZONE_1]));
    assert_eq!(zone_of_web(pod).as_deref(), Some(ZONE_3));
    let pod = web()
        .prefers(50, is_in(ZONE, &[ZONE_2]))
        .prefers(100, is_in(ZONE, &["nowhere"]))
        .prefers(1, is_in(ZONE, &[ZONE_1]));
    assert_eq!(zone_of_web(pod).as_deref(), Some(ZONE_2));
}

#[test]
fn preference_against_a_requirement_is_given_up() {
    let pod = web()
        .needs(is_in(ZONE, &[ZONE_3]))
        .prefers(1, is_in(ZONE, &[ZONE_1]));
    assert_eq!(zone_of_web(pod).as_deref(), Some(ZONE_3));
}

#[test]
fn preference_that_contradicts_itself_is_given_up() {
    let pod = web()
        .prefers(1, is_in(ZONE, &[]))
        .prefers(1, not_in(ZONE, &ZONES));
    assert_eq!(check(market().pod(pod)).unplaced(), 0);
}

#[test]
fn every_alternative_is_tried_before_a_preference_is_given_up_and_again_after() {
    let pod = web()
        .needs(is_in(ZONE, &[ZONE_1]))
        .or_needs(is_in(ZONE, &[ZONE_2]))
        .prefers(100, is_in(ZONE, &["nowhere"]))
        .prefers(50, exists(ARCH));
    assert_eq!(zone_of_web(pod).as_deref(), Some(ZONE_1));
    let only_second = web()
        .needs(is_in(ZONE, &[ZONE_1]))
        .or_needs(is_in(ZONE, &[ZONE_2]))
        .prefers(100, is_in(ZONE, &[ZONE_2]));
    assert_eq!(zone_of_web(only_second).as_deref(), Some(ZONE_2));
}

/// The kube-scheduler takes a node that any alternative allows, whatever else the pod wishes for.
#[test]
fn preference_never_costs_a_pod_its_other_alternatives() {
    let of = |terms: [&str; 2]| {
        let [first, second] = terms.map(|zone| is_in(ZONE, &[zone]));
        let pod = web().needs(first).or_needs(second);
        pod.prefers(1, is_in(ZONE, &["nowhere"]))
    };
    assert_eq!(zone_of_web(of([ZONE_1, "never"])).as_deref(), Some(ZONE_1));
    assert_eq!(zone_of_web(of(["never", ZONE_1])).as_deref(), Some(ZONE_1));
}

/// Two zones with two `db` each, where only the node of the first zone, which has an SSD, has room for `web`.
fn among_disks(web: PodFixture) -> ClusterFixture {
    let db = |name: &str| pod(name).only_labels(&[("app", "db")]).cpu(100);
    let elsewhere = pool("elsewhere")
        .zones(&[ZONE_1, ZONE_2])
        .taint("elsewhere", "", NoSchedule);
    bare_market()
        .pool(elsewhere)
        .node(node("n1").zone(ZONE_1).label("disk", "ssd"))
        .node(node("n2").cpu(200).zone(ZONE_2).label("disk", "hdd"))
        .pods(db("near").on("n1").replicas(2))
        .pods(db("far").on("n2").replicas(2))
        .pod(web.spread(ZONE, 1).to("db"))
}

#[test]
fn spread_counts_nodes_of_every_alternative_whichever_was_given_up() {
    let of = |disks: [&str; 2]| {
        let [first, second] = disks.map(|disk| is_in("disk", &[disk]));
        web().needs(first).or_needs(second)
    };
    let place = |cluster| check(cluster).place("web");
    let ssd_first = of(["ssd", "hdd"]);
    let n1 = Some("n1".to_owned());
    assert_eq!(place(among_disks(ssd_first.clone())), n1);
    assert_eq!(place(among_disks(of(["hdd", "ssd"]))), n1);
    let wishful = ssd_first.prefers(1, is_in("disk", &["tape"]));
    assert_eq!(place(among_disks(wishful.clone())), n1);
    assert_eq!(place(ignoring(among_disks(wishful))), n1);
}

#[test]
fn soft_spread_goes_after_preferred_affinity() {
    let pods = web()
        .prefers_spread(HOSTNAME, 1)
        .prefers(1, is_in(ZONE, &["nowhere"]));
    let outcome = check(market().pods(pods.replicas(3)));
    assert_eq!(outcome.skew(HOSTNAME, "web"), [1, 1, 1]);
}

#[test]
fn preference_may_ask_for_a_new_node_although_one_is_there() {
    let cluster = market().node(node("n1").zone(ZONE_1));
    let pod = web().prefers(1, is_in(ZONE, &[ZONE_2]));
    assert_eq!(check(cluster.clone().pod(pod.clone())).bought(), 1);
    let ignored = check(ignoring(cluster).pod(pod));
    assert_eq!(ignored.place("web").as_deref(), Some("n1"));
}

#[test]
fn taint_that_only_prefers_is_avoided_while_there_is_another_pool() {
    let soft = pool("a-soft")
        .weight(50)
        .taint("soft", "yes", PreferNoSchedule);
    let outcome = check(
        bare_market()
            .pool(soft.clone())
            .pool(pool("plain"))
            .pod(web()),
    );
    assert_eq!(
        outcome.agreed(|run| run.plan().claims[0].pool.to_string()),
        "plain"
    );
    let outcome = check(bare_market().pool(soft).pod(web()));
    assert_eq!(outcome.unplaced(), 0);
}

#[test]
fn soft_taint_is_tolerated_only_after_preferences_are_given_up() {
    let soft = pool("soft")
        .zones(&[ZONE_1])
        .taint("soft", "yes", PreferNoSchedule);
    let plain = pool("plain").zones(&[ZONE_2]);
    let pod = web().prefers(1, is_in(ZONE, &[ZONE_1]));
    let outcome = check(bare_market().pool(soft).pool(plain).pod(pod));
    assert_eq!(outcome.domains(ZONE, "web")[ZONE_2], 1);
}

#[test]
fn preferences_that_nothing_meets_do_not_split_nodes() {
    for key in [ZONE, HOSTNAME] {
        let pods = web().prefers_affinity(10, key).to("missing");
        let outcome = check(market().pods(pods.replicas(3)));
        assert_eq!((outcome.unplaced(), outcome.bought()), (0, 1));
    }
}

#[test]
fn every_retry_starts_with_all_preferences() {
    let follower = web()
        .cpu(500)
        .prefers_affinity(1, HOSTNAME)
        .to("late")
        .affinity(ZONE)
        .to("late");
    let outcome = check(market().pod(follower).pod(pod("late").cpu(100)));
    assert!(outcome.together(&["web", "late"]));
}

#[test]
fn ignored_preferences_have_no_effect() {
    let pods = [
        web().prefers(100, is_in(ZONE, &[ZONE_3])),
        web().prefers_spread(HOSTNAME, 1),
        web().prefers_spread(ZONE, 1),
        web().prefers_anti_affinity(10, HOSTNAME),
        web().prefers_anti_affinity(10, ZONE),
        web().prefers_affinity(10, HOSTNAME).to("missing"),
    ];
    for pod in pods {
        let outcome = check(ignoring(market()).pods(pod.replicas(3)));
        assert_eq!((outcome.unplaced(), outcome.bought()), (0, 1));
        assert!(outcome.runs().iter().all(|run| {
            run.plan()
                .placements
                .iter()
                .all(|placement| placement.relaxed == 0)
        }));
    }
}

#[test]
fn volume_zone_survives_the_giving_up_of_alternatives() {
    let pod = web()
        .needs(is_in(ZONE, &["nowhere"]))
        .or_needs(is_in(ZONE, &[ZONE_2, ZONE_3]))
        .volume("data");
    let outcome = check(
        market()
            .bound_volume("data", "ebs.csi.aws.com", &[ZONE_3])
            .pod(pod),
    );
    assert_eq!(outcome.domains(ZONE, "web")[ZONE_3], 1);
}

#[test]
fn plan_tells_how_much_was_given_up() {
    let pod = web()
        .prefers(1, is_in(ZONE, &["nowhere"]))
        .prefers_spread("unknown", 1);
    let outcome = check(market().pod(pod));
    let given_up = outcome.under(PackingMode::Price).plan().placements[0].relaxed;
    assert_eq!(given_up, 2);
}

#[test]
fn own_toleration_of_a_soft_taint_gives_nothing_up() {
    let outcome = check(
        bare_market()
            .pool(pool("soft").taint("soft", "yes", PreferNoSchedule))
            .pod(web().toleration("soft", TolerationOperator::Exists, "", None)),
    );
    assert_eq!(outcome.agreed(|run| run.plan().placements[0].relaxed), 0);
}
