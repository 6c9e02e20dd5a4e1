//! Plans of random clusters before the scheduler of each minor, with the simulator's own scheduler beside it, and rules taken out of the
//! planner, which the judge must notice.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;

use plimsoll_judge::feature::Features;
use plimsoll_judge::generate::cluster;
use plimsoll_judge::mutation::{Mutation, RULES};
use plimsoll_judge::run::{OpenRules, Tally, examine};
use plimsoll_judge::scheduler::{Minor, Scheduler, SchedulerError};
use plimsoll_oracles::skip::not_run;

/// Clusters within which a rule that was taken out must be noticed.
const NOTICED_WITHIN: u64 = 2_000;

/// The seed that `.ci/run` draws from the tree; elsewhere every run has its own.
fn seed() -> u64 {
    let given = std::env::var("PROPTEST_RNG_SEED").ok();
    let given = given.and_then(|seed| seed.parse().ok());
    // Far from the end of the numbers, since clusters are counted from it.
    given.unwrap_or_else(|| RandomState::new().hash_one(0)) >> 8
}

/// The scheduler of a minor; `None`, with a line that says so, where there is no Go to build it with.
#[expect(clippy::panic, reason = "a judge that cannot be built ends the test")]
fn scheduler(test: &str, minor: Minor) -> Option<Scheduler> {
    match Scheduler::start(minor) {
        Ok(scheduler) => Some(scheduler),
        Err(SchedulerError::Build { reason, .. }) if reason.contains("no 'go' in PATH") => {
            not_run(test, &reason);
            None
        }
        Err(error) => panic!("{error}"),
    }
}

fn judged(test: &str, minor: Minor, clusters: u64) {
    let Some(mut scheduler) = scheduler(test, minor) else {
        return;
    };
    let (mut tally, mut defects) = (Tally::default(), Vec::new());
    for seed in (seed()..).take(usize::try_from(clusters).expect("a few clusters")) {
        let (case, judgement) =
            examine(seed, Mutation::None, OpenRules::Counted, &mut scheduler).expect("an answer");
        let found = judgement.defects.iter();
        defects.extend(found.map(|defect| format!("cluster {seed}: {defect}")));
        tally.count(&case, &judgement);
    }
    let [pods, pools, offerings] = tally.medians();
    assert!(pods >= 30 && pools >= 3 && offerings >= 20, "{tally}");
    let pairs = &tally.simulated;
    assert!(
        pairs.compared > tally.clusters * 50 && pairs.taken > pairs.compared / 20,
        "{tally}"
    );
    assert!(defects.is_empty(), "{tally}{}", defects.join("\n"));
}

#[test]
fn scheduler_of_the_lab_takes_every_plan() {
    judged("scheduler_of_the_lab_takes_every_plan", Minor::V1_36, 300);
}

#[test]
fn scheduler_of_the_next_minor_takes_every_plan() {
    judged(
        "scheduler_of_the_next_minor_takes_every_plan",
        Minor::V1_37,
        60,
    );
}

#[test]
fn every_rule_that_is_taken_out_is_missed() {
    let Some(mut scheduler) = scheduler("every_rule_that_is_taken_out_is_missed", Minor::V1_36)
    else {
        return;
    };
    let mut unnoticed = Vec::new();
    for rule in RULES {
        let clusters = (seed()..).take(usize::try_from(NOTICED_WITHIN).expect("a few clusters"));
        // A cluster without the feature has nothing that the rule is about.
        let mut about = clusters.filter(|&seed| {
            let drawn = cluster(seed, Features::all()).features;
            rule.about.is_none_or(|feature| drawn.has(feature))
        });
        let noticed = about.any(|seed| {
            let (_, judgement) = examine(seed, rule.mutation, OpenRules::Counted, &mut scheduler)
                .expect("an answer");
            !judgement.defects.is_empty()
        });
        if !noticed {
            unnoticed.push(rule.name);
        }
    }
    assert!(
        unnoticed.is_empty(),
        "plans without these rules pass: {unnoticed:?}"
    );
}
