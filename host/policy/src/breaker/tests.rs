//! Modules are set aside and brought back as a plain account of all calls says.

use proptest::prelude::*;

use super::*;

const MINUTE: i64 = 60;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(1_800_000_000_000 + seconds * 1000)
}

impl Breaker {
    /// A call at that second, made as the breaker says.
    fn call(&mut self, seconds: i64, outcome: Outcome, question: u64) -> Option<Turn> {
        let now = at(seconds);
        self.note(self.admission(now), now, outcome, || question)
    }

    fn admits(&self, seconds: i64) -> Admission {
        self.admission(at(seconds))
    }
}

/// Set aside at second 4, after failures on five questions.
fn set_aside() -> Breaker {
    let mut breaker = Breaker::default();
    for second in 0..4 {
        assert_eq!(
            breaker.call(second, Outcome::Trap, second.unsigned_abs()),
            None
        );
    }
    let turn = breaker.call(4, Outcome::InvalidOutput, 4);
    assert_eq!(turn, Some(Turn::SetAside(Cause::Questions, SHORTEST)));
    breaker
}

#[test]
fn five_different_questions_within_a_minute_set_a_module_aside() {
    let breaker = set_aside();
    assert_eq!(breaker.admits(4), Admission::SetAside);
    assert_eq!(breaker.admits(4 + 5 * MINUTE - 1), Admission::SetAside);
    assert_eq!(breaker.admits(4 + 5 * MINUTE), Admission::OnTrial);
}

#[test]
fn failures_that_lie_further_apart_are_borne() {
    let mut breaker = Breaker::default();
    // Four a minute, and answers between them.
    for second in 0..1_200 {
        let outcome = if second % 15 == 0 {
            Outcome::Fuel
        } else {
            Outcome::Ok
        };
        assert_eq!(breaker.call(second, outcome, second.unsigned_abs()), None);
    }
}

#[test]
fn one_question_over_and_over_counts_once_until_it_is_a_fifth_of_fifty_calls() {
    let mut breaker = Breaker::default();
    for second in 0..49 {
        let outcome = if second % 2 == 0 {
            Outcome::Ok
        } else {
            Outcome::Trap
        };
        assert_eq!(breaker.call(second, outcome, 7), None, "call {second}");
    }
    assert_eq!(
        breaker.call(49, Outcome::Trap, 7),
        Some(Turn::SetAside(Cause::Share, SHORTEST))
    );
}

#[test]
fn a_module_that_answers_nothing_is_set_aside_though_the_question_is_always_the_same() {
    let mut breaker = Breaker::default();
    // Minutes apart, as a cluster in which little changes asks.
    for call in 0..9 {
        assert_eq!(breaker.call(call * MINUTE, Outcome::Fuel, 7), None);
    }
    // What says nothing of the module is no answer.
    assert_eq!(breaker.call(9 * MINUTE, Outcome::Saturated, 7), None);
    assert_eq!(
        breaker.call(9 * MINUTE, Outcome::Fuel, 7),
        Some(Turn::SetAside(Cause::Row, SHORTEST))
    );
    assert_eq!(
        Cause::Row.to_string(),
        "it failed 10 calls in a row",
        "as people read it"
    );
}

#[test]
fn nine_failures_of_fifty_calls_are_borne() {
    let mut breaker = Breaker::default();
    for call in 0..1_000 {
        let outcome = if call % 50 < 9 {
            Outcome::Trap
        } else {
            Outcome::Ok
        };
        assert_eq!(breaker.call(call * MINUTE, outcome, 7), None);
    }
    let turns: Vec<_> = (1_000..1_010)
        .filter_map(|call| breaker.call(call * MINUTE, Outcome::Trap, 7))
        .collect();
    assert_eq!(turns, [Turn::SetAside(Cause::Share, SHORTEST)]);
}

#[test]
fn what_says_nothing_of_the_module_does_not_count() {
    let mut breaker = Breaker::default();
    for outcome in [
        Outcome::PolicyError,
        Outcome::Saturated,
        Outcome::Quarantined,
    ] {
        for call in 0..100 {
            assert_eq!(breaker.call(call, outcome, call.unsigned_abs()), None);
        }
    }
    assert_eq!(breaker.admits(100), Admission::Followed);
}

#[test]
fn three_answers_on_trial_bring_it_back() {
    let mut breaker = set_aside();
    let later = 10 * MINUTE;
    assert_eq!(breaker.call(later, Outcome::Ok, 0), None);
    assert_eq!(breaker.call(later, Outcome::Saturated, 0), None);
    assert_eq!(breaker.call(later + 1, Outcome::Ok, 0), None);
    assert_eq!(breaker.admits(later + 2), Admission::OnTrial);
    assert_eq!(
        breaker.call(later + 2, Outcome::Ok, 0),
        Some(Turn::Returned)
    );
    assert_eq!(breaker.admits(later + 2), Admission::Followed);
    // Its past is forgotten: one failure more is one failure.
    assert_eq!(breaker.call(later + 3, Outcome::Trap, 9), None);
}

#[test]
fn each_failure_on_trial_doubles_the_time_up_to_an_hour() {
    let mut breaker = set_aside();
    let mut now = 0;
    for minutes in [10, 20, 40, 60, 60] {
        now += 2 * 60 * MINUTE;
        assert_eq!(breaker.call(now, Outcome::Ok, 0), None);
        assert_eq!(
            breaker.call(now, Outcome::Memory, 0),
            Some(Turn::SetAside(
                Cause::Relapse,
                Span::from_secs(minutes * MINUTE)
            ))
        );
    }
}

#[test]
fn calls_that_began_before_it_was_set_aside_change_nothing() {
    let mut breaker = set_aside();
    for outcome in [Outcome::Ok, Outcome::Trap] {
        assert_eq!(
            breaker.note(Admission::Followed, at(5), outcome, || 9),
            None
        );
    }
    // Nor does a trial of before, once it has failed another.
    assert!(breaker.call(400, Outcome::Trap, 1).is_some());
    assert_eq!(
        breaker.note(Admission::OnTrial, at(401), Outcome::Ok, || 9),
        None
    );
    assert_eq!(breaker.admits(401), Admission::SetAside);
}

#[test]
fn a_clock_that_goes_back_does_not_keep_a_module_away() {
    assert_eq!(set_aside().admits(-1_000_000), Admission::OnTrial);
}

/// A call: seconds since the last one, how it ended, and which question it was.
fn calls() -> impl Strategy<Value = Vec<(i64, Outcome, u64)>> {
    let outcome = prop_oneof![
        4 => Just(Outcome::Ok),
        4 => Just(Outcome::Trap),
        1 => Just(Outcome::Saturated),
        1 => Just(Outcome::PolicyError),
    ];
    prop::collection::vec((0..40_i64, outcome, 0..12_u64), 0..300)
}

/// `true` if a module is set aside that was followed through these calls, of which the last failed: the rule in plain words.
fn is_too_often(calls: &[(i64, Outcome, u64)]) -> bool {
    let counted: Vec<_> = calls
        .iter()
        .filter(|(_, outcome, _)| !matches!(outcome, Outcome::Saturated))
        .collect();
    let now = counted.last().map_or(0, |call| call.0);
    let failed = |call: &&&(i64, Outcome, u64)| call.1 == Outcome::Trap;
    let lately = counted.iter().filter(|call| now - call.0 < 60);
    let mut questions: Vec<u64> = lately.filter(failed).map(|call| call.2).collect();
    questions.sort_unstable();
    questions.dedup();
    let last = &counted[counted.len().saturating_sub(50)..];
    let row = counted.iter().rev().take_while(failed).count();
    let often = last.len() == 50 && last.iter().filter(failed).count() >= 10;
    questions.len() >= 5 || often || row >= 10
}

proptest! {
    #[test]
    fn a_plain_account_of_all_calls_agrees(calls in calls()) {
        let (mut breaker, mut now, mut since_followed) = (Breaker::default(), 0, Vec::new());
        for (passed, outcome, question) in calls {
            now += passed;
            let before = breaker.admits(now);
            let turn = breaker.call(now, outcome, question);
            match before {
                Admission::Followed => {
                    since_followed.push((now, outcome, question));
                    let expected = outcome == Outcome::Trap && is_too_often(&since_followed);
                    prop_assert_eq!(turn.is_some(), expected);
                }
                Admission::SetAside => prop_assert_eq!(turn, None),
                Admission::OnTrial => {}
            }
            if turn == Some(Turn::Returned) {
                since_followed.clear();
            }
        }
    }

    #[test]
    fn whatever_went_before_three_answers_after_an_hour_are_enough(calls in calls()) {
        let (mut breaker, mut now) = (Breaker::default(), 0);
        for (passed, outcome, question) in calls {
            now += passed;
            breaker.call(now, outcome, question);
        }
        now += LONGEST.millis() / 1000;
        for _ in 0..ANSWERS {
            breaker.call(now, Outcome::Ok, 0);
        }
        prop_assert_eq!(breaker.admits(now), Admission::Followed);
    }
}
