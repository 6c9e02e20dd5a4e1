//! Every boundary of a run: the point before each order, whether a write to the API server or a call to the cloud.
//!
//! At each of them a copy of the run is disturbed: its process ends before or after the order, answers are lost, another
//! process starts from an older list, the watch skips what happened, a second process acts meanwhile. Then nothing more goes
//! wrong, and the copy must come to rest where the calm run does: no instance without a claim, no pod that does not run, no
//! finalizer that holds an object for ever, no instance bought twice, the same price, and nothing that changes any more.
//!
//! What is played at every boundary is said beside each test. What is played at a part of them is drawn by a fixed seed;
//! `PLIMSOLL_BOUNDARIES=all` plays the whole product, `PLIMSOLL_BOUNDARY=NUMBER` one boundary. How many there are is written to
//! standard error.

mod batches;
mod fault;
mod memory;
mod verdict;
mod world;

use std::fmt::Write as _;
use std::io::Write as _;

use plimsoll_base::units::PricePerHour;
use plimsoll_sim::Random;

use fault::Fault;
use verdict::{Verdict, rest};
use world::{COURSE, Course, Simulated};

/// A rest is the same where it costs at most so much more: what is worth less is not moved for.
const LEAST_SAVING: PricePerHour = PricePerHour::from_nanos(20_000_000);
/// Faults that are not played at every boundary are at one of so many.
const DRAWN: u64 = 4;

/// Hands out the run at each boundary, before the order is carried out; how many there are.
fn boundaries(course: &Course, mut visit: impl FnMut(usize, &Simulated)) -> usize {
    let mut run = (course.start)();
    let mut number = 0;
    while run.next_at().is_some_and(|at| at <= course.last) {
        if run.next_order().is_some() {
            visit(number, &run);
            number += 1;
        }
        run.step_event();
    }
    number
}

/// The boundaries to play: all, one, or those drawn.
#[derive(Clone, Copy, Debug)]
enum Part {
    All,
    One(usize),
    Drawn(u64),
}

impl Part {
    fn of_environment(drawn: u64) -> Self {
        let number = std::env::var("PLIMSOLL_BOUNDARY").ok();
        if let Some(number) = number.and_then(|number| number.parse().ok()) {
            return Self::One(number);
        }
        match std::env::var("PLIMSOLL_BOUNDARIES").as_deref() {
            Ok("all") => Self::All,
            _ => Self::Drawn(drawn),
        }
    }

    fn has(self, number: usize, fault: Fault) -> bool {
        match self {
            Self::All => true,
            Self::One(one) => one == number,
            Self::Drawn(of) => {
                Random::new(7).below("boundary", (number, format!("{fault:?}")), of) == 0
            }
        }
    }
}

/// Rests after faults at boundaries that are not as they must be.
#[derive(Debug, Default)]
struct Findings {
    runs: usize,
    launches_beyond: u32,
    words: String,
}

/// Plays faults at boundaries, one of so many; `is_wrong` holds a rest against that of the calm run.
fn play(
    name: &str,
    faults: &[Fault],
    drawn: u64,
    is_wrong: impl Fn(Fault, &Verdict, &Verdict) -> bool,
) {
    play_on(&COURSE, name, faults, drawn, is_wrong);
}

/// The same on a course.
fn play_on(
    course: &Course,
    name: &str,
    faults: &[Fault],
    drawn: u64,
    is_wrong: impl Fn(Fault, &Verdict, &Verdict) -> bool,
) {
    let calm = rest(course, (course.start)());
    assert!(calm.is_clean(), "{calm}");
    let part = Part::of_environment(drawn);
    let mut found = Findings::default();
    let count = boundaries(course, |number, run| {
        for fault in faults.iter().copied() {
            if !part.has(number, fault) {
                continue;
            }
            let verdict = rest(course, fault.befalls(run));
            found.runs += 1;
            let beyond = verdict.launches.saturating_sub(calm.launches);
            found.launches_beyond += beyond;
            if is_wrong(fault, &verdict, &calm) {
                let order = run.next_order().expect("an order is next");
                let (purpose, object) = (order.purpose, &order.object);
                let _ = writeln!(
                    found.words,
                    "boundary {number}, {purpose:?} of {object:?}, {fault:?}: {verdict}"
                );
            }
        }
    });
    let (runs, beyond) = (found.runs, found.launches_beyond);
    let line = format!(
        "{name}: {count} boundaries, {runs} runs, {beyond} instances launched beyond a calm run's\n"
    );
    let _ = std::io::stderr().write_all(line.as_bytes());
    assert!(count >= course.boundaries, "{count} boundaries");
    assert!(
        found.words.is_empty(),
        "a calm run: {calm}\n{}",
        found.words
    );
}

/// Anything that must not be; instances bought beyond a calm run's where the fault excuses none.
fn differs(fault: Fault, verdict: &Verdict, calm: &Verdict) -> bool {
    let excess = fault.excess();
    let beyond = excess.is_some_and(|excess| verdict.launches > calm.launches + excess);
    !verdict.is_clean() || beyond || verdict.price > calm.price + LEAST_SAVING
}

/// At every boundary.
#[test]
fn a_process_that_ends_before_or_after_any_order_is_followed_by_one_that_goes_on() {
    let faults = [
        Fault::StopBefore,
        Fault::StopBeforeTheRestArrives,
        Fault::StopAfter,
    ];
    play("stopped", &faults, 1, differs);
}

/// At every boundary.
#[test]
fn an_answer_that_is_lost_or_late_changes_nothing_in_the_end() {
    let faults = [Fault::Lost, Fault::AnswerLost, Fault::Late(3)];
    play("lost answers", &faults, 1, differs);
}

/// No process acts for a while: what happened meanwhile is found in the objects.
#[test]
fn a_process_that_starts_late_goes_on_all_the_same() {
    let faults = [90, 600].map(Fault::StopAfterFor);
    play("started late", &faults, DRAWN, differs);
}

/// What is decided on an old list may buy what is not needed any more; it goes as empty.
#[test]
fn a_process_that_begins_with_an_older_list_comes_to_the_same_rest() {
    let faults = [
        Fault::StaleBefore(0, 5),
        Fault::StaleAfter(0, 5),
        Fault::StaleBefore(5, 5),
        Fault::StaleAfter(60, 5),
        Fault::StaleAfter(60, 60),
        Fault::StaleAfter(300, 30),
        Fault::StaleAfter(900, 5),
    ];
    play("stale", &faults, DRAWN, differs);
}

#[test]
fn a_watch_that_skips_what_happened_changes_nothing_in_the_end() {
    let faults = [
        Fault::Cut(5),
        Fault::Cut(60),
        Fault::CutAndLost(5),
        Fault::CutAndLost(60),
        Fault::CutAndLost(200),
    ];
    play("cut watches", &faults, DRAWN, differs);
}

#[test]
fn objects_that_come_back_under_their_names_are_others() {
    let faults = [
        Fault::PodsAgain(0),
        Fault::PodsAgain(30),
        Fault::NodeAgain(0),
        Fault::NodeAgain(30),
        Fault::NodeDeleted,
    ];
    play("made anew", &faults, DRAWN, differs);
}

/// An instance whose claim was taken away is found by the list of all instances, and ended.
#[test]
fn a_claim_taken_away_by_hand_leaves_nothing_behind() {
    let faults = [
        Fault::ClaimGone,
        Fault::ClaimAgain(0),
        Fault::ClaimAgain(30),
    ];
    play("claims by hand", &faults, DRAWN, differs);
}

#[test]
fn the_last_order_of_a_process_that_lost_its_lease_buys_nothing_twice() {
    let faults = [20, 120, 600].map(Fault::Paused);
    play("paused", &faults, DRAWN, differs);
}

/// Without a lease two processes undo each other's work while both act; what they buy too much goes as empty.
#[test]
fn two_processes_without_a_lease_leave_nothing_behind() {
    let faults = [20, 600].map(Fault::TwoActive);
    play("two active", &faults, 2 * DRAWN, differs);
}

/// Orders of every kind are among the boundaries, and each part of a claim's life is.
#[test]
fn boundaries_are_of_every_purpose() {
    let mut purposes = std::collections::BTreeSet::new();
    boundaries(&COURSE, |_, run| {
        purposes.extend(run.next_order().map(|order| format!("{:?}", order.purpose)));
    });
    for purpose in [
        "Create",
        "MarkLaunching",
        "Launch",
        "MarkLaunched",
        "MarkRegistered",
        "MarkInitialized",
        "MarkTerminating",
        "MarkWaiting",
        "MarkPodEvent",
        "MarkStatus",
        "Register",
        "Initialize",
        "Taint",
        "Nominate",
        "DeleteClaim",
        "DeleteNode",
        "Evict",
        "Terminate",
        "ReleaseNode",
        "ReleaseClaim",
    ] {
        assert!(purposes.contains(purpose), "{purpose} in {purposes:?}");
    }
}
