//! Prices: finite ones and vetoes, the first never above the rest, one count for a group.

use std::sync::LazyLock;

use plimsoll_author::standard;
use plimsoll_hooks::hook::PolicySettings;
use plimsoll_hooks::rank::{PriceAnswer, PriceQuestion, check_prices, list_price};

use super::{CALLED, ENGINE, ROWS, guest, hold, judge_call, number};
use crate::Draw;

pub(super) static QUESTION: LazyLock<PriceQuestion> = LazyLock::new(question);

/// One answer.
pub(crate) fn run(draw: &mut Draw) {
    if draw.once_in(CALLED) {
        call(draw);
    }
    let question = &*QUESTION;
    let mut answer = list_price(question);
    for _ in 0..=draw.below(3) {
        change(draw, &mut answer);
    }
    let checked = check_prices(question, &answer);
    hold(&answer, checked, is_legal(&answer), |_, _| {});
}

fn change(draw: &mut Draw, answer: &mut PriceAnswer) {
    let row = draw.below(answer.first.len());
    match draw.below(8) {
        0 => answer.first.truncate(row),
        1 => answer.then.push(1.0),
        2 => answer.first_reason.push(1),
        3 => drop(answer.first_count.pop()),
        _ if row >= answer.first.len().min(answer.then.len()) => {}
        4 => answer.first[row] = number(draw),
        5 => {
            let price = number(draw);
            (answer.first[row], answer.then[row]) = (price, price);
        }
        6 => answer.then[row] = number(draw),
        _ if row < answer.first_count.len() => {
            answer.first_group[row] = u32::from(draw.byte() % 4);
            answer.first_count[row] = u32::from(draw.byte() % 3);
        }
        _ => {}
    }
}

/// The rule of the interface, row by row.
fn is_legal(answer: &PriceAnswer) -> bool {
    let rows = usize::from(ROWS);
    let lengths = [
        answer.first.len(),
        answer.first_count.len(),
        answer.first_group.len(),
        answer.first_reason.len(),
        answer.then.len(),
        answer.then_reason.len(),
    ];
    let is_price = |price: f64| price == f64::INFINITY || (0.0..=100_000.0).contains(&price);
    let is_shared = |row: usize, other: usize| {
        let groups = &answer.first_group;
        groups[row] == 0
            || groups[row] != groups[other]
            || answer.first_count[row] == answer.first_count[other]
    };
    lengths.iter().all(|length| *length == rows)
        && (0..rows).all(|row| {
            let (first, then) = (answer.first[row], answer.then[row]);
            is_price(first)
                && is_price(then)
                && first <= then
                && (0..rows).all(|other| is_shared(row, other))
        })
}

/// A guest that prices as it likes.
fn call(draw: &mut Draw) {
    let guest = guest(draw, "gives-away");
    let module = ENGINE.accept(&guest, &PolicySettings::new());
    judge_call(&module.expect("data is any data").price(&QUESTION));
}

/// Three types in three zones, for two pools.
fn question() -> PriceQuestion {
    let question = standard::prices(2, 3, 3);
    assert_eq!(question.pools.cand.len(), usize::from(ROWS));
    question
}
