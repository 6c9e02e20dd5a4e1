//! Some inputs of each target, other ones in every run; the seed of a failure is in its words. More of them:
//! `cargo run -p plimsoll-fuzz -- all 600`.

#![expect(
    clippy::panic,
    reason = "helpers of tests may fail loudly, as tests may"
)]

use std::hash::{BuildHasher, RandomState};

use plimsoll_fuzz::TARGETS;

#[track_caller]
fn check(name: &str, cases: u64) {
    let seed = RandomState::new().hash_one(name);
    let target = TARGETS.iter().find(|target| target.name == name);
    let Some(target) = target else {
        panic!("there is no target {name}");
    };
    let broken = (0..cases).find_map(|number| target.case(seed, number).err());
    assert_eq!(broken, None);
}

#[test]
fn modules_changed_at_random_are_refused_in_words() {
    check("acceptance", 1_000);
}

#[test]
fn vectors_changed_at_random_are_refused_in_words_or_answered_as_recorded() {
    check("vectors", 500);
}

#[test]
fn prices_changed_at_random_are_taken_only_where_they_keep_the_rules() {
    check("prices", 2_000);
}

#[test]
fn orders_changed_at_random_are_taken_only_where_they_keep_the_rules() {
    check("orders", 2_000);
}

#[test]
fn scores_changed_at_random_are_taken_only_where_they_keep_the_rules() {
    check("scores", 2_000);
}

#[test]
fn allowances_changed_at_random_are_taken_only_where_they_keep_the_rules() {
    check("allowances", 2_000);
}

#[test]
fn snapshots_changed_at_random_are_refused_or_read_the_same_again() {
    check("snapshots", 500);
}

#[test]
fn schedules_at_random_are_refused_or_keep_their_word() {
    check("schedules", 5_000);
}
