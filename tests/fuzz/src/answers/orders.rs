//! Orders of launch lists: any finite score, and the greatest to take a candidate off; a list has every candidate once, best first, and is
//! never empty.

use std::cmp::Ordering;
use std::sync::{Arc, LazyLock};

use plimsoll_hooks::hook::PolicySettings;
use plimsoll_hooks::rank::{
    ClaimRow, Claims, LaunchList, OrderAnswer, OrderQuestion, check_ordering, list_order,
};

use super::{CALLED, ENGINE, ROWS, context, guest, hold, judge_call, misshape, number, prices};
use crate::Draw;

static QUESTION: LazyLock<OrderQuestion> = LazyLock::new(question);

/// One answer.
pub(crate) fn run(draw: &mut Draw) {
    if draw.once_in(CALLED) {
        call(draw);
    }
    let question = &*QUESTION;
    let mut answer = list_order(question);
    for _ in 0..=draw.below(8) {
        change(draw, &mut answer);
    }
    let checked = check_ordering(question, &answer);
    hold(&answer, checked, is_legal(&answer), |answer, lists| {
        let ranges: Vec<_> = question.claims.ranges().collect();
        assert_eq!(lists.claims.len(), ranges.len());
        for (range, list) in ranges.into_iter().zip(&lists.claims) {
            judge(&answer.score[range], list);
        }
    });
}

fn change(draw: &mut Draw, answer: &mut OrderAnswer) {
    let row = draw.below(answer.score.len());
    match draw.below(12) {
        way @ 0..4 => misshape(way, row, &mut answer.score, 1.0, &mut answer.reason),
        // A whole claim taken off, or of equal scores.
        4 => {
            let score = *draw.pick(&[f64::INFINITY, 1.0]);
            answer.score.fill(score);
        }
        _ if row < answer.score.len() => answer.score[row] = number(draw),
        _ => {}
    }
}

/// The rule of the interface, row by row.
fn is_legal(answer: &OrderAnswer) -> bool {
    let rows = usize::from(ROWS);
    let is_score = |score: &f64| score.is_finite() || *score == f64::INFINITY;
    answer.score.len() == rows && answer.reason.len() == rows && answer.score.iter().all(is_score)
}

/// The list of one claim against the scores of its candidates.
fn judge(scores: &[f64], list: &LaunchList) {
    let mut all = [&*list.kept, &*list.removed].concat();
    all.sort_unstable();
    assert!(all.into_iter().eq(0..scores.len()), "{list:?}");
    assert_eq!(list.kept.is_empty(), scores.is_empty(), "{list:?}");
    let is_in_order = |pair: &[usize]| match scores[pair[0]].partial_cmp(&scores[pair[1]]) {
        Some(Ordering::Less) => true,
        Some(Ordering::Equal) => pair[0] < pair[1],
        _ => false,
    };
    assert!(
        list.kept.windows(2).all(is_in_order),
        "{list:?}: {scores:?}"
    );
    let is_off = |position: &usize| scores[*position] == f64::INFINITY;
    let all_are_off = scores.iter().all(|score| *score == f64::INFINITY);
    assert!(list.removed.iter().all(is_off), "{list:?}: {scores:?}");
    assert!(
        all_are_off || !list.kept.iter().any(is_off),
        "{list:?}: {scores:?}"
    );
}

/// A guest that orders as it likes.
fn call(draw: &mut Draw) {
    let guest = guest(draw, "gives-away");
    let module = ENGINE.accept(&guest, &PolicySettings::new());
    judge_call(&module.expect("data is any data").order(&QUESTION));
}

/// Claims of one to six candidates, one of them with none.
fn question() -> OrderQuestion {
    let tables = Arc::clone(&prices::QUESTION.tables);
    let mut claims = Claims::default();
    let mut left = u32::from(ROWS);
    for count in [1, 6, 0, 4, 2, 5] {
        let row = ClaimRow {
            pool: 0,
            cpu_milli: 1_000,
            mem_mib: 2_048,
            pods: 3,
            gpus: 0,
        };
        let candidates: Vec<u32> = (0..count).map(|place| (left + place) % 9).collect();
        claims.push(row, &candidates);
        left -= count;
    }
    assert_eq!(left, 0, "the guests answer about so many rows");
    OrderQuestion {
        context: context(),
        tables,
        claims,
    }
}
