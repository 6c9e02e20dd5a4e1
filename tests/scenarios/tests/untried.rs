//! Pods that the scheduler has not tried yet are planned with those of their group that it has found unschedulable.

use std::sync::Arc;

use plimsoll_base::ids::NodeName;
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_engine::Input;
use plimsoll_model::{Object, OwnerKind, Pod, Version};
use plimsoll_oracles::fixture::{
    Amounts, OnDemand, PodFixture, ZONE_1, cluster, instance_type, node, pod, pool,
};

use super::driven::{Driven, solve};

const START: Timestamp = Timestamp::from_millis(1_000_000_000);
const SOON: Span = Span::from_secs(3);

/// A pod of a workload that the scheduler has not looked at.
fn fresh(name: &str, app: &str) -> PodFixture {
    let pod = pod(name).cpu(1000).owned_by(OwnerKind::ReplicaSet, app);
    pod.with(|pod| (pod.unschedulable, pod.untried) = (false, true))
}

fn world(pods: impl IntoIterator<Item = PodFixture>) -> Driven {
    let sold = instance_type("four").cpu(4000).memory_mib(16_384).pods(110);
    let sold = sold.no_overhead().price(0.2);
    let fixture = cluster().pool(pool("general"));
    let fixture = fixture.sells(sold.offered(ZONE_1, OnDemand));
    // A node of others, to be nominated to.
    let fixture = fixture.node(node("other")).pods(pods);
    Driven::start(fixture, START)
}

impl Driven {
    /// The scheduler has tried a pod and found it unschedulable, after a change.
    fn tried(&mut self, name: &str, version: u64, change: impl FnOnce(&mut Pod)) {
        let pods = self.engine.cluster().pods.objects().into_iter();
        let mut pods = pods.filter(|pod| &*pod.name.name == name);
        let mut pod = Pod::clone(&pods.next().expect("it is there"));
        (pod.unschedulable, pod.untried) = (true, false);
        change(&mut pod);
        self.hand_in(Input::Applied(Object::Pod(Arc::new(pod)), Version(version)));
    }

    /// Plans for the next question; the pods that have a place in the plan. `None` where nothing is asked.
    fn planned(&mut self) -> Option<Vec<String>> {
        let request = self.next(SOON, solve)?;
        let plan = plimsoll_schedule::plan(&request.snapshot);
        let name = |row: usize| request.snapshot.pods[row].name.name.to_string();
        let placed = plan.placements.iter();
        let mut placed: Vec<String> = placed.map(|placed| name(placed.pod)).collect();
        placed.sort();
        self.hand_in(Input::Solved(request.id, Box::new(plan)));
        Some(placed)
    }
}

#[test]
fn one_that_has_no_room_speaks_for_all_of_its_group_and_for_no_other() {
    let web = ["web-1", "web-2", "web-3"].map(|name| fresh(name, "web"));
    let gated = fresh("web-4", "web").with(|pod| pod.untried = false);
    let others = [gated, fresh("api-1", "api")];
    let mut driven = world(web.into_iter().chain(others));
    assert_eq!(driven.planned(), None, "the scheduler has tried nobody");
    driven.tried("web-2", 2, |_| {});
    let placed = driven.planned().expect("a plan is asked for");
    assert_eq!(placed, ["web-1", "web-2", "web-3"]);
    // What the scheduler finds of the others afterwards is nothing new.
    driven.tried("web-1", 3, |_| {});
    driven.tried("web-3", 4, |_| {});
    assert_eq!(driven.planned(), None);
    driven.tried("api-1", 5, |_| {});
    assert_eq!(driven.planned().as_deref(), Some(&["api-1".to_owned()][..]));
}

#[test]
fn one_that_preempts_others_speaks_for_nobody() {
    let mut driven = world(["web-1", "web-2"].map(|name| fresh(name, "web")));
    driven.tried("web-1", 2, |pod| {
        pod.nominated = Some(NodeName::from("other"));
    });
    assert_eq!(driven.planned(), None);
}

#[test]
fn what_is_found_of_one_after_the_other_does_not_put_the_plan_off() {
    let names: Vec<String> = (1..=40).map(|number| format!("web-{number:02}")).collect();
    let mut driven = world(names.iter().map(|name| fresh(name, "web")));
    let began = driven.now;
    let mut planned = None;
    for (version, name) in (2..).zip(&names) {
        driven.tried(name, version, |_| {});
        let tick = driven.now + Span::from_millis(200);
        if let Some(request) = driven.next(Span::from_millis(200), solve) {
            planned = Some(request);
            break;
        }
        driven.now = tick;
    }
    let request = planned.expect("a plan is asked for");
    // A window of one second without pods that are new.
    assert!(driven.now.since(began) <= Span::from_millis(1200));
    let plan = plimsoll_schedule::plan(&request.snapshot);
    assert_eq!(plan.placements.len(), names.len());
}

/// A workload's pod in which the scheduler finds no room, and another's, made at this instant, that it has not tried.
fn behind(made: Timestamp) -> Driven {
    let pods = [("web-1", "web", START), ("api-1", "api", made)];
    let mut driven =
        world(pods.map(|(name, app, made)| fresh(name, app).with(|pod| pod.created = made)));
    driven.tried("web-1", 2, |_| {});
    driven
}

#[test]
fn while_the_scheduler_is_behind_a_plan_waits_for_what_it_has_yet_to_try() {
    let mut driven = behind(START);
    assert!(
        driven.next(SOON, solve).is_none(),
        "api-1 is yet to be tried"
    );
    driven.now = driven.now + SOON;
    driven.tried("api-1", 3, |_| {});
    let placed = driven.planned().expect("both have been tried");
    assert_eq!(placed, ["api-1", "web-1"]);
}

#[test]
fn what_the_scheduler_leaves_alone_holds_a_plan_up_for_one_batch_only() {
    let mut driven = behind(START);
    let longest = Span::from_secs(10);
    assert!(driven.next(longest, solve).is_some());
    assert_eq!(driven.now, START + longest);

    let mut driven = behind(Timestamp::default());
    assert!(driven.next(SOON, solve).is_some(), "nobody tries api-1");
}
