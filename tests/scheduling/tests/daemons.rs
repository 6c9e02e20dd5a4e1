//! Daemons on new nodes. Those of nodes there are have their place in `existing_nodes`.

use std::collections::BTreeMap;

use plimsoll_base::resources::ResourceName;
use plimsoll_model::{OwnerKind, TolerationOperator};
use plimsoll_oracles::fixture::*;
use plimsoll_scheduling_tests::{Outcome, bare_market, check, market};

fn agent() -> PodFixture {
    pod("agent").cpu(1000)
}

fn web() -> PodFixture {
    pod("web").cpu(1500)
}

fn chosen_type(outcome: &Outcome) -> String {
    outcome.agreed(|run| run.plan().claims[0].options[0].instance_type.to_string())
}

/// Milli-cores that the only claim asks for beyond its pod's.
fn reserved(cluster: ClusterFixture) -> i64 {
    let outcome = check(cluster.pod(web()));
    outcome.agreed(|run| {
        assert_eq!(run.plan().claims.len(), 1, "one node is bought");
        run.plan().claims[0].requests.get(&ResourceName::Cpu) - 1500
    })
}

#[test]
fn daemons_make_the_node_larger() {
    assert_eq!(
        chosen_type(&check(market().pod(web()))),
        "small-instance-type"
    );
    let outcome = check(market().daemon(&agent()).pod(web()));
    assert_ne!(chosen_type(&outcome), "small-instance-type");
}

/// K11: five daemons, one of which belongs to other nodes; requests are the pod's and the matching daemons', pods included.
#[test]
fn claim_asks_for_its_pod_and_the_daemons_that_match() {
    let on_fargate = pod("fargate")
        .cpu(900)
        .needs(is_in("eks.amazonaws.com/compute-type", &["fargate"]));
    let outcome = check(
        cluster()
            .sells(instance_type("m").cpu(4000).pods(58).zones(&[ZONE_1]))
            .pool(pool("general"))
            .daemon(&pod("aws-node").cpu(50))
            .daemon(&pod("kube-proxy").cpu(100))
            .daemon(&pod("ebs-csi").cpu(30).memory_mib(120))
            .daemon(
                &pod("fluent-bit")
                    .cpu(50)
                    .memory_mib(50)
                    .needs(not_in("eks.amazonaws.com/compute-type", &["fargate"])),
            )
            .daemon(&pod("arm").cpu(700).select(ARCH, "arm64"))
            .daemon(&on_fargate)
            .pod(pod("web").cpu(1245).memory_mib(1516)),
    );
    let requests = outcome.agreed(|run| run.plan().claims[0].requests.clone());
    assert_eq!(requests.get(&ResourceName::Cpu), 1475);
    assert_eq!(requests.get(&ResourceName::Memory), 1686 * MEBIBYTE);
    assert_eq!(requests.get(&ResourceName::Pods), 5);
}

#[test]
fn daemons_count_once_however_many_pods_share_the_node() {
    let outcome = check(
        market()
            .daemon(&agent())
            .pods(pod("web").cpu(500).replicas(4)),
    );
    let requests = outcome.agreed(|run| {
        assert_eq!(run.plan().claims.len(), 1, "one node is bought");
        run.plan().claims[0].requests.clone()
    });
    assert_eq!(requests.get(&ResourceName::Cpu), 3000);
    assert_eq!(requests.get(&ResourceName::Pods), 5);
}

#[test]
fn daemons_too_large_for_every_type_leave_pods_waiting() {
    let outcome = check(market().daemon(&pod("agent").cpu(10_000_000)).pod(web()));
    assert_eq!(outcome.unplaced(), 1);
    let together = market()
        .daemon(&pod("a").cpu(8000))
        .daemon(&pod("b").cpu(8000));
    assert_eq!(check(together.pod(web())).unplaced(), 1);
}

#[test]
fn daemon_without_requests_takes_a_place_for_a_pod() {
    let outcome = check(
        cluster()
            .sells(instance_type("m").pods(2))
            .pool(pool("general"))
            .daemon(&pod("agent"))
            .pods(pod("web").cpu(10).replicas(2)),
    );
    assert_eq!(outcome.bought(), 2);
}

#[test]
fn daemon_that_does_not_tolerate_the_pool_is_not_counted() {
    let tainted = |daemon: PodFixture| {
        let outcome = check(
            bare_market()
                .pool(pool("general").taint("team", "blue", NoSchedule))
                .daemon(&daemon)
                .pod(web().tolerates_all()),
        );
        outcome.agreed(|run| run.plan().claims[0].requests.get(&ResourceName::Cpu) - 1500)
    };
    assert_eq!(tainted(agent()), 0);
    assert_eq!(
        tainted(agent().toleration("", TolerationOperator::Exists, "", None)),
        1000
    );
}

#[test]
fn pools_that_differ_in_a_taint_or_in_a_label_alone_have_daemons_of_their_own() {
    let tainted = pool("other").taint("team", "blue", NoSchedule);
    let labelled = agent().select("team", "plain");
    for (other, daemon) in [(tainted, agent()), (pool("other"), labelled)] {
        let own = |team: &str| pod(team).cpu(1500).select("team", team).tolerates_all();
        let outcome = check(
            bare_market()
                .pool(pool("plain").label("team", "plain"))
                .pool(other.label("team", "other"))
                .daemon(&daemon)
                .pod(own("plain"))
                .pod(own("other")),
        );
        let reserved = outcome.agreed(|run| {
            let claims = run.plan().claims.iter();
            let of_claim = claims.map(|claim| {
                let asked = claim.requests.get(&ResourceName::Cpu);
                (claim.pool.to_string(), asked - 1500)
            });
            of_claim.collect::<BTreeMap<_, _>>()
        });
        assert_eq!(reserved["plain"], 1000);
        assert_eq!(reserved["other"], 0);
    }
}

#[test]
fn soft_and_startup_taints_do_not_keep_daemons_away() {
    let soft = bare_market().pool(pool("general").taint("team", "blue", PreferNoSchedule));
    assert_eq!(reserved(soft.daemon(&agent())), 1000);
    let startup = bare_market().pool(pool("general").startup_taint("team", "blue", NoSchedule));
    assert_eq!(reserved(startup.daemon(&agent())), 1000);
}

#[test]
fn daemon_that_no_node_of_the_pool_satisfies_is_not_counted() {
    for elsewhere in [
        agent().select("node", "invalid"),
        agent().select(INSTANCE_TYPE, "no-such-type"),
        agent().needs(is_in(ZONE, &["nowhere"])),
        agent().dynamic_resources(),
    ] {
        assert_eq!(reserved(market().daemon(&elsewhere)), 0);
    }
}

#[test]
fn daemon_of_a_custom_label_counts_where_the_pool_has_it() {
    let labelled = bare_market().pool(pool("general").label("team", "blue"));
    assert_eq!(
        reserved(labelled.daemon(&agent().select("team", "blue"))),
        1000
    );
    let other = bare_market().pool(pool("general").label("team", "red"));
    assert_eq!(reserved(other.daemon(&agent().select("team", "blue"))), 0);
}

#[test]
fn daemon_that_avoids_an_unknown_label_counts() {
    assert_eq!(
        reserved(market().daemon(&agent().needs(not_in("team", &["blue"])))),
        1000
    );
}

#[test]
fn daemon_counts_when_any_of_its_alternatives_agrees() {
    let daemon = agent()
        .needs(is_in(ZONE, &["nowhere"]))
        .or_needs(exists(ZONE));
    assert_eq!(reserved(market().daemon(&daemon)), 1000);
}

#[test]
fn preferences_of_daemons_do_not_count() {
    assert_eq!(
        reserved(market().daemon(&agent().prefers(1, is_in(ZONE, &["nowhere"])))),
        1000
    );
}

#[test]
fn daemon_counts_only_on_types_it_runs_on() {
    let arm = || agent().select(ARCH, "arm64");
    let outcome = check(market().daemon(&arm()).pod(web()));
    assert_eq!(chosen_type(&outcome), "small-instance-type");
    let outcome = check(market().daemon(&arm()).pod(web().select(ARCH, "arm64")));
    let requests = outcome.agreed(|run| run.plan().claims[0].requests.get(&ResourceName::Cpu));
    assert_eq!(requests, 2500);
}

#[test]
fn daemon_of_one_zone_takes_nothing_of_nodes_elsewhere() {
    let daemon = agent().select(ZONE, ZONE_2);
    for (zone, taken) in [(ZONE_1, 0), (ZONE_2, 1000)] {
        let narrowed = bare_market().pool(pool("general").zones(&[zone]));
        assert_eq!(reserved(narrowed.daemon(&daemon)), taken, "{zone}");
    }
}

#[test]
fn ports_of_a_daemon_of_one_zone_are_free_elsewhere() {
    let daemon = pod("agent").select(ZONE, ZONE_2).port(8080);
    let outcome = check(market().daemon(&daemon).pod(web().port(8080)));
    assert_eq!(outcome.unplaced(), 0);
    let there = market()
        .daemon(&daemon)
        .pod(web().port(8080).select(ZONE, ZONE_2));
    assert_eq!(check(there).unplaced(), 1);
}

#[test]
fn ports_of_daemons_are_taken_on_types_they_run_on() {
    let everywhere = market().daemon(&pod("agent").port(8080));
    assert_eq!(check(everywhere.pod(web().port(8080))).unplaced(), 1);
    let on_arm = market().daemon(&pod("agent").select(ARCH, "arm64").port(8080));
    let outcome = check(on_arm.pod(web().port(8080)));
    assert_eq!(outcome.unplaced(), 0);
}

#[test]
fn daemon_pods_that_wait_are_not_planned_for() {
    let waiting = pod("agent-x")
        .cpu(1000)
        .owned_by(OwnerKind::DaemonSet, "agent");
    let outcome = check(market().daemon(&agent()).pod(waiting));
    assert_eq!((outcome.bought(), outcome.unplaced()), (0, 0));
}
