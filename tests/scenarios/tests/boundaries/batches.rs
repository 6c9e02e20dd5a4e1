//! Launches in batches of 1, 5 and 50: six claims that ask for the same, where the first zone has instances for four of them.
//!
//! Whatever happens between the token on the first claim and the last instance, each claim has one instance in the end, and no instance
//! is without a claim.

use plimsoll_base::labels;
use plimsoll_base::time::Span;
use plimsoll_model::action::Purpose;
use plimsoll_model::plan::Plan;
use plimsoll_model::provider::{LaunchWindow, ProviderFacts};
use plimsoll_model::snapshot::Snapshot;
use plimsoll_oracles::fixture::{Amounts, OnDemand, ZONE_1, ZONE_2, cluster, machine, pod, pool};
use plimsoll_scenarios::stage;
use plimsoll_sim::{Change, Recording, Run, TimedChange, Which};

use super::fault::Fault;
use super::world::{Course, Simulated, at, behaviour, quick, scale};
use super::{DRAWN, differs, play_on};

/// A run whose launches are gathered to so many.
const fn course(start: fn() -> Simulated) -> Course {
    Course {
        start,
        last: at(9 * 60),
        rests: at(40 * 60),
        stays: at(50 * 60),
        wish: &[("wide", 2)],
        boundaries: 60,
    }
}

const COURSES: [(&str, Course); 3] = [
    ("batches of 1", course(|| start(1))),
    ("batches of 5", course(|| start(5))),
    ("batches of 50", course(|| start(50))),
];

fn recording(size: usize) -> Recording {
    let facts = ProviderFacts {
        launch: LaunchWindow {
            idle: Span::from_millis(100),
            longest: Span::from_secs(1),
            size,
        },
        ..ProviderFacts::default()
    };
    let listed = machine("small", 2, 0.1).pods(58);
    let sold = listed.offered(ZONE_1, OnDemand).offered(ZONE_2, OnDemand);
    let fixture = cluster()
        .provider(facts)
        .pool(quick(pool("general")))
        .sells(sold);
    let scarce = Which {
        instance_type: "small".into(),
        zone: Some(ZONE_1.into()),
        capacity_type: OnDemand,
    };
    let apart = pod("wide").cpu(900).memory_mib(700).label("app", "wide");
    let apart = stage::deployment(&apart.anti_affinity(labels::HOSTNAME), 6);
    let now = |change: Change| TimedChange { at: at(0), change };
    let changes = vec![
        now(Change::Stock(scarce, Some(4))),
        now(Change::Deploy(apart)),
        scale(6, "wide", 2),
    ];
    stage::recording(fixture.parts(), at(0), Some(at(50 * 60)), changes)
}

fn start(size: usize) -> Simulated {
    let plan = plimsoll_schedule::plan as fn(&Snapshot) -> Plan;
    let mut run = Run::new(recording(size), behaviour(), plan);
    run.keep_history();
    run
}

/// At every boundary.
#[test]
fn batches_that_are_stopped_or_unheard_buy_nothing_twice() {
    let faults = [
        Fault::StopBefore,
        Fault::StopAfter,
        Fault::Lost,
        Fault::AnswerLost,
        Fault::Late(3),
    ];
    for (name, course) in COURSES {
        play_on(&course, name, &faults, 1, differs);
    }
}

#[test]
fn batches_leave_nothing_behind_whatever_becomes_of_their_claims_and_processes() {
    let faults = [
        Fault::StopBeforeTheRestArrives,
        Fault::StopAfterFor(90),
        Fault::StaleBefore(5, 5),
        Fault::StaleAfter(60, 30),
        Fault::CutAndLost(5),
        Fault::ClaimGone,
        Fault::ClaimAgain(0),
        Fault::Paused(20),
        Fault::TwoActive(20),
    ];
    for (name, course) in COURSES {
        play_on(&course, name, &faults, DRAWN, differs);
    }
}

/// Instances launched, and calls that launched them.
fn launches(size: usize) -> (u32, usize) {
    let mut run = start(size);
    let mut calls = 0;
    while run.now() < at(5 * 60) && run.next_at().is_some() {
        let order = run.next_order();
        calls += usize::from(order.is_some_and(|order| order.purpose == Purpose::Launch));
        run.step_event();
    }
    assert!(run.pods().all(|pod| pod.node.is_some()));
    (run.counts().launches, calls)
}

#[test]
fn claims_that_ask_for_the_same_share_calls_as_far_as_the_setting_goes() {
    assert_eq!(launches(1), (6, 6));
    assert_eq!(launches(5), (6, 2));
    assert_eq!(launches(50), (6, 1));
}
