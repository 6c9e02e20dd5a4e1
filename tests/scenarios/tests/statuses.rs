//! Statuses of overlays and buffers as people read them, which change with what they speak of.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_base::ids::ObjectName;
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_engine::Input;
use plimsoll_model::action::{Action, Answer, ObjectKey, Outcome, Request, StatusChange, Write};
use plimsoll_model::{ConditionStatus, Object, Version};
use plimsoll_oracles::fixture::{
    Amounts, ClusterFixture, INSTANCE_TYPE, OnDemand, ZONE_1, buffer, cluster, instance_type,
    is_in, overlay, pod, pool,
};

use super::driven::Driven;

/// Longer than statuses are gathered for.
const A_WHILE: Span = Span::from_secs(20);

fn sold() -> ClusterFixture {
    let four = instance_type("four").cpu(4000).memory_mib(16_384).pods(110);
    let four = four.no_overhead().price(0.2).offered(ZONE_1, OnDemand);
    let fixture = cluster().pool(pool("general")).sells(four);
    fixture.settings(|settings| {
        settings.node_overlays = true;
        settings.capacity_buffers = true;
    })
}

fn start(fixture: ClusterFixture) -> Driven {
    Driven::start(fixture, Timestamp::from_millis(1_000_000_000))
}

impl Driven {
    /// The last status that each object is given within a while, in which whatever is asked is planned.
    fn statuses(&mut self) -> BTreeMap<ObjectKey, StatusChange> {
        let end = self.now + A_WHILE;
        let mut told = BTreeMap::new();
        loop {
            for action in std::mem::take(&mut self.actions) {
                match action {
                    Action::Solve(request) => {
                        let plan = Box::new(plimsoll_schedule::plan(&request.snapshot));
                        self.hand_in(Input::Solved(request.id, plan));
                    }
                    Action::Do(order) => {
                        if let Request::Write(Write::ChangeStatus(object, change)) = order.request {
                            told.insert(object, *change);
                            // The change of the object is not seen, so that it is written again a second later.
                            let done = Outcome::Done(Answer::Nothing);
                            self.hand_in(Input::Outcome(order.id, done));
                        }
                    }
                    _ => {}
                }
            }
            if !self.actions.is_empty() {
                continue;
            }
            match self.engine.next_wake() {
                Some(wake) if wake <= end => {
                    self.now = wake.max(self.now + Span::from_millis(1));
                    self.hand_in(Input::Tick);
                }
                _ => return told,
            }
        }
    }
}

/// Conditions as `TYPE=STATUS REASON`.
fn said(change: &StatusChange) -> Vec<String> {
    let said = change.conditions.iter();
    said.map(|said| format!("{}={} {}", said.kind, said.status, said.reason))
        .collect()
}

fn of_overlay(name: &str) -> ObjectKey {
    ObjectKey::Overlay(name.into())
}

fn of_buffer(name: &str) -> ObjectKey {
    ObjectKey::Buffer(ObjectName::new("default", name))
}

#[test]
fn an_overlay_says_whether_it_holds_and_names_the_one_that_it_is_at_odds_with() {
    let four = || is_in(INSTANCE_TYPE, &["four"]);
    let cheap = overlay("cheap").needs(four()).price(0.1);
    let dear = overlay("dear").needs(four()).price(0.3);
    let mut driven = start(sold().overlay(cheap).overlay(dear.clone()));
    let told = driven.statuses();
    let [first, second] = ["cheap", "dear"].map(|name| &told[&of_overlay(name)]);
    let holds = |change: &StatusChange| change.conditions[0].status == ConditionStatus::True;
    assert_ne!(holds(first), holds(second), "one of them holds");
    let (refused, kept) = if holds(first) {
        (second, "cheap")
    } else {
        (first, "dear")
    };
    assert_eq!(said(refused), ["ValidationSucceeded=False Conflict"]);
    let words = &refused.conditions[0].message;
    let sets = format!("overlay {kept} of the same weight sets the price of four");
    assert!(words.starts_with(&sets), "{words}");

    // The heavier one wins, and neither is at odds with anything.
    let (objects, ..) = sold().overlay(dear.weight(9)).parts();
    let heavier = Object::Overlay(Arc::clone(&objects.overlays[0]));
    driven.hand_in(Input::Applied(heavier, Version(2)));
    let told = driven.statuses();
    let told = &told[&of_overlay(if kept == "cheap" { "dear" } else { "cheap" })];
    assert_eq!(said(told), ["ValidationSucceeded=True ValidationSucceeded"]);
}

#[test]
fn a_buffer_says_what_it_refers_to_how_much_that_is_and_whether_it_is_there() {
    let room = buffer("room").of_template("unit").replicas(3);
    let mut driven = start(sold().buffer(room));
    let told = driven.statuses();
    let waits = &told[&of_buffer("room")];
    let missing = [
        "ReadyForProvisioning=False PodTemplateNotFound",
        "Provisioning=False NotReadyForProvisioning",
    ];
    assert_eq!(said(waits), missing);
    assert_eq!(waits.units, None);

    let unit = pod("unit").cpu(1000).memory_mib(512);
    let (objects, ..) = sold().template(&unit).parts();
    let template = |generation: i64| {
        let mut template = Arc::clone(&objects.templates[0]);
        Arc::make_mut(&mut template).generation = generation;
        Object::Template(template)
    };
    driven.hand_in(Input::Applied(template(7), Version(2)));
    let told = driven.statuses();
    let planned = &told[&of_buffer("room")];
    let bought = [
        "ReadyForProvisioning=True Resolved",
        "Provisioning=False RequiresNewCapacity",
    ];
    assert_eq!(said(planned), bought);
    assert_eq!(planned.units, Some(3));
    let used = |told: &StatusChange| {
        let used = told.template.as_ref().expect("a template");
        (used.name.to_string(), used.generation)
    };
    assert_eq!(used(planned), ("unit".to_owned(), 7));

    driven.hand_in(Input::Applied(template(8), Version(3)));
    let told = driven.statuses();
    assert_eq!(used(&told[&of_buffer("room")]), ("unit".to_owned(), 8));
}
