//! Claims of access mode `ReadWriteOncePod`: one pod has such a claim, on any node, until it has ended.

use plimsoll_base::time::Timestamp;
use plimsoll_model::PodPhase;
use plimsoll_oracles::fixture::*;
use plimsoll_scheduling_tests::{check, market};

const EBS: &str = "ebs.csi.aws.com";

/// A market with a claim `only` for one pod at a time.
fn one_at_a_time() -> ClusterFixture {
    let claims_of_one = |cluster: ClusterFixture| {
        cluster.with_volumes(|volumes| {
            let claims = volumes.claims.values_mut();
            claims.for_each(|claim| claim.single_pod = true);
        })
    };
    claims_of_one(market().bound_volume("only", EBS, &[]))
}

fn user(name: &str) -> PodFixture {
    pod(name).cpu(100).volume("only")
}

#[test]
fn claim_in_use_keeps_another_pod_waiting_and_nothing_is_bought() {
    let outcome = check(
        one_at_a_time()
            .node(node("n1"))
            .node(node("n2"))
            .pod(user("first").on("n1"))
            .pod(user("second")),
    );
    assert_eq!(
        (outcome.waiting(), outcome.bought()),
        (vec!["second".to_owned()], 0)
    );
    let words = outcome.reason("second");
    let holder = "default/first has it on n1";
    assert!(
        words.contains("default/only") && words.contains(holder),
        "{words}"
    );
}

#[test]
fn pod_on_its_way_out_still_has_its_claim() {
    let leaving = user("first").on("n1").with(|pod| {
        pod.deleting = Some(Timestamp::from_millis(999_999_000));
    });
    let outcome = check(
        one_at_a_time()
            .node(node("n1"))
            .pod(leaving)
            .pod(user("second")),
    );
    assert_eq!(outcome.waiting(), ["second"]);
    assert!(outcome.reason("second").contains("until it has ended"));
}

#[test]
fn pod_that_has_ended_leaves_its_claim_to_the_next() {
    for phase in [PodPhase::Succeeded, PodPhase::Failed] {
        let ended = user("first").on("n1").with(|pod| pod.phase = phase);
        let outcome = check(
            one_at_a_time()
                .node(node("n1"))
                .pod(ended)
                .pod(user("second")),
        );
        assert_eq!(outcome.place("second").as_deref(), Some("n1"));
    }
}

#[test]
fn pod_with_a_promised_place_has_its_claim() {
    let promised = user("first").with(|pod| pod.nominated = Some("n1".into()));
    let outcome = check(
        one_at_a_time()
            .node(node("n1"))
            .node(node("n2"))
            .pod(promised)
            .pod(user("second")),
    );
    assert_eq!(outcome.waiting(), ["second"]);
}

#[test]
fn one_of_several_that_wait_for_a_claim_is_placed() {
    let outcome = check(one_at_a_time().pods(user("web").replicas(3)));
    assert_eq!((outcome.placed("web"), outcome.bought()), (1, 1));
    assert_eq!(outcome.waiting(), ["web-1", "web-2"]);
    assert!(outcome.reason("web-1").contains("web-0"));
}

#[test]
fn pod_whose_node_goes_takes_its_claim_along() {
    let outcome = check(
        one_at_a_time()
            .node(node("n1").managed("general").deleting())
            .pod(user("first").on("n1"))
            .pod(user("second")),
    );
    assert_eq!(
        (outcome.waiting(), outcome.bought()),
        (vec!["second".to_owned()], 1)
    );
    assert!(outcome.place("first").is_some());
}

#[test]
fn claim_of_other_access_modes_is_shared() {
    let cluster = market().bound_volume("only", EBS, &[]).node(node("n1"));
    let outcome = check(cluster.pod(user("first").on("n1")).pod(user("second")));
    assert_eq!(outcome.place("second").as_deref(), Some("n1"));
}
