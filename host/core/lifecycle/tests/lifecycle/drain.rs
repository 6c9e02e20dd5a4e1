//! Drains that have a deadline: who is asked to go in time, how long each has, and what the deadline is.

use std::sync::Arc;

use plimsoll_base::time::{Span, Timestamp};
use plimsoll_model::action::{NodeChange, Purpose, Request, Write};
use plimsoll_model::{ConditionType, Effect, Node, Owner, OwnerKind, Pod, Stamp};
use plimsoll_oracles::fixture::{node, pod};

use super::{Scene, second};

const HOUR: i64 = 3600;

/// A node that drains since second 0, with pods of these names, after a change of each. One called `critical` is that.
fn draining(pods: &[&str], change: impl Fn(&str, &mut Pod)) -> Scene {
    let fixture = node("n1").managed("general");
    let fixture = fixture.taint("karpenter.sh/disrupted", "", Effect::NoSchedule);
    let own = |name: &&str| {
        let own = pod(name).on("n1").with(|pod| change(name, pod));
        own.with_spec(|spec| {
            if *name == "critical" {
                spec.priority = 2_000_000_000;
            }
        })
    };
    let mut scene = Scene::of(fixture, pods.iter().map(own));
    if let Some(node) = &mut scene.node {
        Arc::make_mut(node).deleting = Some(second(0));
    }
    scene.claim(|claim| {
        claim.deleting = Some(second(0));
        claim.termination_grace = Some(Span::from_secs(HOUR));
    })
}

/// Pods that are asked to go at a second, each with the seconds that it gets where it is hurried.
fn evicted(scene: &mut Scene, at: i64) -> Vec<(String, Option<i64>)> {
    scene.now = second(at);
    let wants = scene.step().wants.into_iter();
    let evictions = wants.filter_map(|want| match want.request {
        Request::Write(Write::Evict { pod, within, .. }) => Some((
            pod.name.to_string(),
            within.map(|span| span.millis() / 1000),
        )),
        _ => None,
    });
    evictions.collect()
}

fn named(name: &str, within: Option<i64>) -> Vec<(String, Option<i64>)> {
    vec![(name.to_owned(), within)]
}

fn graceful(seconds: i64) -> impl Fn(&str, &mut Pod) {
    move |_, pod| pod.grace = Some(Span::from_secs(seconds))
}

fn protected(pod: &mut Pod) {
    pod.do_not_disrupt = plimsoll_model::DoNotDisrupt::Always;
}

#[test]
fn a_pod_is_asked_to_go_in_time_to_end_by_the_deadline() {
    let mut scene = draining(&["web"], graceful(300));
    assert_eq!(evicted(&mut scene, 10), named("web", None));
    assert_eq!(scene.step().wake, Some(second(HOUR - 300)));
    assert_eq!(evicted(&mut scene, HOUR - 301), named("web", None));
    assert_eq!(evicted(&mut scene, HOUR - 300), named("web", Some(300)));
    assert_eq!(evicted(&mut scene, HOUR - 100), named("web", Some(100)));
    // Never at once: another of its name might run while it still does.
    assert_eq!(evicted(&mut scene, HOUR + 100), named("web", Some(1)));
}

#[test]
fn a_pod_that_names_no_time_has_that_of_kubernetes() {
    let mut scene = draining(&["web"], |_, _| {});
    assert_eq!(evicted(&mut scene, HOUR - 31), named("web", None));
    assert_eq!(evicted(&mut scene, HOUR - 30), named("web", Some(30)));
}

#[test]
fn a_pod_with_more_time_than_the_drain_gets_what_there_is_at_once() {
    let mut scene = draining(&["web"], graceful(2 * HOUR));
    assert_eq!(evicted(&mut scene, 10), named("web", Some(HOUR - 10)));
}

#[test]
fn the_wish_to_be_left_alone_holds_until_it_must_go() {
    let mut scene = draining(&["web"], |_, pod| {
        pod.grace = Some(Span::from_secs(60));
        protected(pod);
    });
    assert_eq!(evicted(&mut scene, HOUR - 61), []);
    assert_eq!(evicted(&mut scene, HOUR - 60), named("web", Some(60)));
}

#[test]
fn who_must_go_does_not_wait_for_its_turn_and_holds_up_nobody() {
    let mut scene = draining(&["critical", "web"], |name, pod| {
        if name == "critical" {
            pod.grace = Some(Span::from_secs(600));
        }
    });
    assert_eq!(evicted(&mut scene, 10), named("web", None));
    let both = [named("critical", Some(600)), named("web", None)].concat();
    assert_eq!(evicted(&mut scene, HOUR - 600), both);
    let mut scene = draining(&["critical", "web"], |name, pod| {
        if name == "web" {
            pod.grace = Some(Span::from_secs(600));
            protected(pod);
        }
    });
    assert_eq!(evicted(&mut scene, 10), [], "the critical one waits");
    let both = [named("critical", None), named("web", Some(600))].concat();
    assert_eq!(evicted(&mut scene, HOUR - 600), both);
}

#[test]
fn a_pod_that_is_going_is_hurried_only_where_it_would_be_late() {
    let going = |at: i64| draining(&["web"], move |_, pod| pod.deleting = Some(second(at)));
    assert_eq!(evicted(&mut going(HOUR), HOUR - 500), []);
    assert_eq!(
        evicted(&mut going(HOUR + 1), HOUR - 500),
        named("web", Some(500))
    );
    assert_eq!(
        evicted(&mut going(HOUR + 10), HOUR + 9),
        [],
        "it ends in a moment"
    );
    assert_eq!(
        evicted(&mut going(HOUR + 11), HOUR + 9),
        named("web", Some(1))
    );
}

#[test]
fn the_deadline_that_is_written_on_a_claim_counts() {
    let by = |claim_says: Option<Timestamp>, grace: Option<i64>| {
        let scene = draining(&["web"], graceful(100));
        scene.claim(|claim| {
            claim.drained_by = claim_says;
            claim.termination_grace = grace.map(Span::from_secs);
        })
    };
    let mut early = by(Some(second(500)), Some(HOUR));
    assert_eq!(evicted(&mut early, 450), named("web", Some(50)));
    let mut late = by(Some(second(2 * HOUR)), Some(HOUR));
    assert_eq!(evicted(&mut late, HOUR + 10), named("web", None));
    let mut alone = by(Some(second(500)), None);
    assert_eq!(evicted(&mut alone, 400), named("web", Some(100)));
    let mut none = by(None, None);
    assert_eq!(evicted(&mut none, 30 * HOUR), named("web", None));
}

#[test]
fn the_deadline_is_written_once_before_anybody_is_asked_to_go() {
    let written = |scene: &Scene| {
        let changes = scene.changes().into_iter();
        let deadlines = changes.filter_map(|change| change.drained_by);
        deadlines.collect::<Vec<_>>()
    };
    let mut scene = draining(&["web"], |_, _| {});
    if let Some(node) = &mut scene.node {
        Arc::make_mut(node).deleting = None;
    }
    assert_eq!(written(&scene), [second(HOUR)]);
    let scene = scene.claim(|claim| claim.drained_by = Some(second(500)));
    assert_eq!(written(&scene), [], "it stays as it is");
    let unbounded = draining(&["web"], |_, _| {}).claim(|claim| claim.termination_grace = None);
    assert_eq!(written(&unbounded), []);
}

/// Changes of the node that are asked for, each with whether the node must be as it was seen.
fn of_node(scene: &Scene) -> Vec<(NodeChange, bool)> {
    let wants = scene.step().wants.into_iter();
    let changes = wants.filter_map(|want| match want.request {
        Request::Write(Write::ChangeNode(_, change)) if want.purpose == Purpose::Taint => {
            Some((*change, want.version.is_some()))
        }
        _ => None,
    });
    changes.collect()
}

#[test]
fn load_balancers_are_told_with_the_taint_and_nobody_leaves_before_that() {
    const KEY: &str = "node.kubernetes.io/exclude-from-external-load-balancers";
    let mut scene = draining(&["web"], |_, _| {});
    let node = |scene: &mut Scene, change: fn(&mut Node)| {
        change(Arc::make_mut(scene.node.as_mut().expect("it is there")));
    };
    node(&mut scene, |node| node.taints.clear());
    let [(change, as_seen)] = of_node(&scene).try_into().expect("one change");
    assert_eq!(change.labels.get(KEY).map(AsRef::as_ref), Some("karpenter"));
    assert_eq!(change.taints.map(|taints| taints.len()), Some(1));
    assert!(as_seen, "all taints are written at once");
    assert_eq!(evicted(&mut scene, 10), []);

    // A command has tainted it before.
    let mut scene = draining(&["web"], |_, _| {});
    let [(change, _)] = of_node(&scene).try_into().expect("one change");
    assert_eq!((change.labels.len(), change.taints), (1, None));
    assert_eq!(evicted(&mut scene, 10), named("web", None));
    node(&mut scene, |node| {
        node.labels.insert(KEY.into(), "karpenter".into());
    });
    assert_eq!(of_node(&scene), []);
}

#[test]
fn the_deadline_is_told_of_claim_and_node() {
    let scene = draining(&["web"], |_, _| {});
    let reason = "TerminationGracePeriodExpiring";
    assert_eq!(scene.told(), [("node", reason), ("claim", reason)]);
}

#[test]
fn a_drain_that_waits_for_pods_that_ask_to_stay_is_told_once() {
    let mut scene = draining(&["web", "batch"], |name, pod| {
        if name == "batch" {
            protected(pod);
        }
    })
    .claim(|claim| claim.drained_by = Some(second(HOUR)));
    assert_eq!(scene.told(), [("node", "FailedDraining")]);
    let words = &scene.step().reports[0].words;
    assert!(words.ends_with("waited for: default/batch"), "{words}");
    let said = scene.changes().into_iter().flat_map(|it| it.conditions);
    let said: Vec<_> = said.collect();
    scene = scene.claim(|claim| {
        let stamp = Stamp {
            created: second(0),
            now: second(1),
            generation: 1,
            deleting: true,
        };
        claim
            .conditions
            .say(&said, ConditionType::OF_CLAIMS, &stamp);
    });
    assert_eq!(scene.told(), []);
}

#[test]
fn pods_leave_in_four_waves() {
    let names = ["web", "logs", "critical", "proxy"];
    let left = |gone: usize| {
        let daemon = |name: &str| name == "logs" || name == "proxy";
        let mut scene = draining(&names[gone..], |name, pod| {
            if daemon(name) {
                let owner = Owner {
                    kind: OwnerKind::DaemonSet,
                    name: name.into(),
                    uid: name.into(),
                };
                pod.owner = Some(owner);
            }
        });
        let proxies = scene.pods.iter_mut();
        for proxy in proxies.filter(|pod| &*pod.name.name == "proxy") {
            let spec = &mut Arc::make_mut(proxy).spec;
            Arc::make_mut(spec).priority = 2_000_001_000;
        }
        evicted(&mut scene, 10)
    };
    for (gone, name) in names.into_iter().enumerate() {
        assert_eq!(left(gone), named(name, None), "after {gone}");
    }
}
