//! Features that kubelets declare: nodes without those that a pod needs are no place for it, and none like them is bought.

use plimsoll_base::time::Timestamp;
use plimsoll_model::ClaimPhase;
use plimsoll_oracles::fixture::*;
use plimsoll_scheduling_tests::{check, market};

const RESTART_ALL: &str = "RestartAllContainersOnContainerExits";

fn web() -> PodFixture {
    let needs = |spec: &mut plimsoll_model::PodSpec| spec.features = vec![RESTART_ALL.into()];
    pod("web").cpu(100).with_spec(needs)
}

/// A node that declares these features, created at a second.
fn declaring(name: &str, features: &[&str], second: i64) -> NodeFixture {
    node(name).with(|node| {
        node.features = features.iter().map(|name| (*name).into()).collect();
        node.created = Timestamp::from_millis(second * 1000);
    })
}

#[test]
fn node_that_does_not_declare_a_feature_is_no_place() {
    let outcome = check(market().node(node("n1")).pod(web()));
    assert_eq!((outcome.unplaced(), outcome.bought()), (0, 1));
    let both = declaring("n1", &["Other", RESTART_ALL], 0);
    let outcome = check(market().node(both).pod(web()));
    assert_eq!(outcome.place("web").as_deref(), Some("n1"));
    let outcome = check(market().node(node("n1")).pod(pod("plain").cpu(100)));
    assert_eq!(outcome.place("plain").as_deref(), Some("n1"));
}

#[test]
fn no_node_is_bought_in_a_pool_whose_youngest_does_not_declare_it() {
    let cluster = || market().node(declaring("n1", &[], 20).managed("general").pods(0));
    let outcome = check(cluster().pod(web()));
    assert_eq!(
        (outcome.waiting(), outcome.bought()),
        (vec!["web".to_owned()], 0)
    );
    let words = outcome.reason("web");
    assert!(
        words.contains("n1") && words.contains(RESTART_ALL),
        "{words}"
    );
    let older = declaring("n0", &[RESTART_ALL], 10)
        .managed("general")
        .pods(0);
    assert_eq!(check(cluster().node(older).pod(web())).unplaced(), 1);
    let younger = declaring("n2", &[RESTART_ALL], 30)
        .managed("general")
        .pods(0);
    assert_eq!(check(cluster().node(younger).pod(web())).bought(), 1);
}

#[test]
fn nodes_of_another_pool_and_of_no_pool_say_nothing_of_new_ones() {
    let cluster = market().pool(pool("other"));
    let cluster = cluster.node(declaring("n1", &[], 20).managed("other"));
    let outcome = check(cluster.node(declaring("n2", &[], 20)).pod(web()));
    assert_eq!((outcome.unplaced(), outcome.bought()), (0, 1));
}

#[test]
fn node_that_is_coming_up_counts_as_its_pool_does() {
    let coming = || node("n1").managed("general").phase(ClaimPhase::Launched);
    let outcome = check(market().node(coming()).pod(web()));
    assert_eq!((outcome.unplaced(), outcome.bought()), (0, 0));
    let lacking = declaring("n2", &[], 20).managed("general").pods(0);
    let outcome = check(market().node(coming()).node(lacking).pod(web()));
    assert_eq!((outcome.unplaced(), outcome.bought()), (1, 0));
}
