//! Pods without a node that a plan leaves alone, each with its reason, and pods that only prefer what no pool has.

use plimsoll_base::time::Timestamp;
use plimsoll_model::{Owner, OwnerKind, Pod};
use plimsoll_oracles::fixture::*;
use plimsoll_schedule::Outside;
use plimsoll_scheduling_tests::{check, market};

fn web() -> PodFixture {
    pod("web").cpu(100)
}

#[test]
fn pod_that_requires_nodes_of_no_pool_is_told_as_not_ours() {
    let none = || web().needs(absent(NODEPOOL));
    let outcome = check(market().pod(none()));
    assert_eq!((outcome.unplaced(), outcome.bought()), (0, 0));
    assert_eq!(
        outcome.outside(),
        [("web".to_owned(), Outside::AvoidsPools)]
    );
    let both = none().or_needs(absent(NODEPOOL));
    assert_eq!(check(market().pod(both)).outside().len(), 1);
}

#[test]
fn wish_for_nodes_of_no_pool_is_given_up() {
    let wishes = web().prefers(100, absent(NODEPOOL));
    assert_eq!(check(market().pod(wishes)).placed("web"), 1);
    let first = web()
        .needs(absent(NODEPOOL))
        .or_needs(is_in(OS, &["linux"]));
    assert_eq!(check(market().pod(first)).placed("web"), 1);
    let second = web()
        .needs(is_in(OS, &["linux"]))
        .or_needs(absent(NODEPOOL));
    assert_eq!(check(market().pod(second)).placed("web"), 1);
}

#[test]
fn one_alternative_that_no_pool_takes_spoils_no_other() {
    let borrowed = is_in(CAPACITY_TYPE, &["borrowed"]);
    let either = web().needs(borrowed).or_needs(is_in(OS, &["linux"]));
    assert_eq!(check(market().pod(either)).placed("web"), 1);
}

#[test]
fn pods_that_are_not_ours_are_told_each_with_its_reason() {
    let of_daemon = Owner {
        kind: OwnerKind::DaemonSet,
        name: "agent".into(),
        uid: "agent".into(),
    };
    let changed = |name: &str, change: &dyn Fn(&mut Pod)| pod(name).cpu(100).with(change);
    let outcome = check(market().pods([
        changed("gated", &|pod| pod.unschedulable = false),
        changed("untried", &|pod| {
            (pod.unschedulable, pod.untried) = (false, true);
        }),
        changed("daemon", &|pod| pod.owner = Some(of_daemon.clone())),
        changed("leaving", &|pod| {
            pod.deleting = Some(Timestamp::from_millis(1));
        }),
    ]));
    let told = [
        ("daemon", Outside::Daemon),
        ("gated", Outside::Gated),
        ("leaving", Outside::Deleting),
        ("untried", Outside::Untried),
    ];
    assert_eq!(
        outcome.outside(),
        told.map(|(name, why)| (name.to_owned(), why))
    );
}
