//! Allowances: any count, and the declared budget where that is less.

use std::sync::LazyLock;

use plimsoll_author::standard;
use plimsoll_hooks::allow::{AllowAnswer, AllowQuestion, Allowances, check_allowances};
use plimsoll_hooks::hook::PolicySettings;
use plimsoll_model::DisruptionReason;
use plimsoll_policy::BudgetModule;

use super::{CALLED, ENGINE, ROWS, guest, hold, judge_call, misshape};
use crate::Draw;

static QUESTION: LazyLock<AllowQuestion> = LazyLock::new(question);

/// One answer.
pub(crate) fn run(draw: &mut Draw) {
    if draw.once_in(CALLED) {
        call(draw);
    }
    let rows = usize::from(ROWS);
    let mut answer = AllowAnswer {
        allowed: vec![1; rows],
        reason: vec![1; rows],
        recheck_after_s: *draw.pick(&[0, 1, 3_600, u32::MAX]),
    };
    for _ in 0..=draw.below(8) {
        change(draw, &mut answer);
    }
    let checked = check_allowances(&QUESTION, &answer);
    let is_legal = answer.allowed.len() == rows && answer.reason.len() == rows;
    hold(&answer, checked, is_legal, judge);
}

fn change(draw: &mut Draw, answer: &mut AllowAnswer) {
    let row = draw.below(answer.allowed.len());
    match draw.below(12) {
        way @ 0..4 => misshape(way, row, &mut answer.allowed, 1, &mut answer.reason),
        _ if row < answer.allowed.len() => {
            let any = draw.any().to_le_bytes();
            let any = u32::from_le_bytes([any[0], any[1], any[2], any[3]]);
            answer.allowed[row] = *draw.pick(&[0, 1, 2, 3, u32::MAX, any]);
        }
        _ => {}
    }
}

/// Holds the checked allowances against the answer: no more than either side lets.
fn judge(answer: &AllowAnswer, allowances: &Allowances) {
    assert_eq!(allowances.rows.len(), answer.allowed.len());
    let declared = QUESTION.pools.ceiling.iter();
    for ((row, said), declared) in allowances.rows.iter().zip(&answer.allowed).zip(declared) {
        assert!(row.nodes <= *said && row.nodes <= *declared, "{row:?}");
        assert!(row.nodes == *said || row.nodes == *declared, "{row:?}");
    }
    let seconds = allowances.recheck_after.map(|span| span.millis() / 1_000);
    let said = i64::from(answer.recheck_after_s);
    assert_eq!(seconds, (said > 0).then_some(said));
}

/// A guest that allows as it likes.
fn call(draw: &mut Draw) {
    let guest = guest(draw, "allows-nothing");
    let module = ENGINE.accept_as::<BudgetModule>(&guest, &PolicySettings::new());
    judge_call(&module.expect("data is any data").allow(&QUESTION));
}

/// Pools with no budget, a small one and none declared, each for every reason.
fn question() -> AllowQuestion {
    let mut question = standard::pools(6);
    let declared = [0, 1, 2, 20, u32::MAX, 3];
    let of_pool = question
        .pools
        .ceiling
        .chunks_mut(DisruptionReason::ALL.len());
    for (ceilings, declared) in of_pool.zip(declared) {
        ceilings.fill(declared);
    }
    question
}
