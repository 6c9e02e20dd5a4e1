//! Values of moves: finite and within any price; those above nothing are worth it, the dearest first.

use std::sync::LazyLock;

use plimsoll_author::standard;
use plimsoll_base::units::PricePerHour;
use plimsoll_hooks::hook::PolicySettings;
use plimsoll_hooks::score::{ScoreAnswer, ScoreQuestion, Verdicts, check_verdicts};
use plimsoll_policy::ConsolidationModule;

use super::{CALLED, ENGINE, ROWS, guest, hold, judge_call, misshape, number};
use crate::Draw;

static QUESTION: LazyLock<ScoreQuestion> = LazyLock::new(question);

/// One answer.
pub(crate) fn run(draw: &mut Draw) {
    if draw.once_in(CALLED) {
        call(draw);
    }
    let rows = usize::from(ROWS);
    let mut answer = ScoreAnswer {
        value: (0..ROWS).map(|row| f64::from(row % 7) - 3.0).collect(),
        reason: vec![1; rows],
    };
    for _ in 0..=draw.below(8) {
        change(draw, &mut answer);
    }
    let checked = check_verdicts(&QUESTION, &answer);
    hold(&answer, checked, is_legal(&answer), judge);
}

fn change(draw: &mut Draw, answer: &mut ScoreAnswer) {
    let row = draw.below(answer.value.len());
    match draw.below(12) {
        way @ 0..4 => misshape(way, row, &mut answer.value, 1.0, &mut answer.reason),
        // Less than the least amount that is counted.
        4 if row < answer.value.len() => answer.value[row] = 4e-10,
        _ if row < answer.value.len() => answer.value[row] = number(draw),
        _ => {}
    }
}

/// The rule of the interface, row by row.
fn is_legal(answer: &ScoreAnswer) -> bool {
    let rows = usize::from(ROWS);
    let is_value = |value: &f64| (-100_000.0..=100_000.0).contains(value);
    answer.value.len() == rows && answer.reason.len() == rows && answer.value.iter().all(is_value)
}

/// Holds the checked verdicts against the answer.
fn judge(answer: &ScoreAnswer, verdicts: &Verdicts) {
    let values: Vec<PricePerHour> = verdicts.rows.iter().map(|row| row.value).collect();
    assert_eq!(values.len(), answer.value.len());
    for (value, said) in values.iter().zip(&answer.value) {
        let apart = (value.dollars() - said).abs();
        assert!(apart <= 1e-9, "{said} was read as {value:?}");
    }
    let is_worth_it = |row: &usize| values[*row] > PricePerHour::ZERO;
    assert!(verdicts.worth.iter().all(is_worth_it), "{verdicts:?}");
    let all = (0..values.len()).filter(is_worth_it).count();
    assert_eq!(verdicts.worth.len(), all, "{verdicts:?}");
    let is_in_order = |pair: &[usize]| {
        let (one, next) = (values[pair[0]], values[pair[1]]);
        one > next || (one == next && pair[0] < pair[1])
    };
    assert!(verdicts.worth.windows(2).all(is_in_order), "{verdicts:?}");
}

/// A guest that values as it likes.
fn call(draw: &mut Draw) {
    let guest = guest(draw, "values-nothing");
    let module = ENGINE.accept_as::<ConsolidationModule>(&guest, &PolicySettings::new());
    judge_call(&module.expect("data is any data").score(&QUESTION));
}

/// Moves of all kinds.
fn question() -> ScoreQuestion {
    let rows = u32::from(ROWS);
    standard::moves(rows, rows)
}
