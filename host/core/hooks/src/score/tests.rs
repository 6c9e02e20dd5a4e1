//! Facts about the consolidation seam: rows that are refused, answers that are refused, the order of moves, the built-in values.

use plimsoll_base::units::PricePerHour;

use super::*;
use crate::hook::{Capacity, Context};

fn node(name: &str, price: f64) -> NodeRow<'_> {
    NodeRow {
        name,
        pool: "general",
        type_name: "m5.large",
        zone: "a",
        capacity: Capacity::OnDemand,
        price,
        age_s: 3_600,
        since_move_s: 600,
        cpu_used: 0.5,
        mem_used: 0.25,
        pods: 3,
        pods_daemon: 1,
        pods_no_evict: 0,
        pods_last_replica: 0,
        youngest_pod_s: 600,
        evictions_day: 0,
        eviction_cost: 2.0,
    }
}

fn cheaper(price: f64) -> Replacement<'static> {
    Replacement {
        type_name: "m6g.large",
        zone: "b",
        capacity: Capacity::Spot,
        price,
    }
}

fn a_move<'a>(
    kind: MoveKind,
    members: &'a [u32],
    replacements: &'a [Replacement<'a>],
) -> MoveRow<'a> {
    MoveRow {
        kind,
        members,
        replacements,
        pods_moved: 2,
    }
}

/// Three nodes at $1, $2 and $3 an hour; four moves with them.
fn question() -> ScoreQuestion {
    let mut builder = ScoreQuestionBuilder::new(Context::default());
    for (name, price) in [("n1", 1.0), ("n2", 2.0), ("n3", 3.0)] {
        builder.node(&node(name, price)).unwrap();
    }
    for row in [
        a_move(MoveKind::Empty, &[0], &[]),
        a_move(MoveKind::Delete, &[1], &[]),
        a_move(MoveKind::Replace, &[0, 1], &[cheaper(1.5), cheaper(0.5)]),
        a_move(MoveKind::Replace, &[2], &[cheaper(2.9)]),
    ] {
        builder.propose(&row).unwrap();
    }
    builder.finish()
}

fn answer(value: [f64; 4]) -> ScoreAnswer {
    ScoreAnswer {
        value: value.to_vec(),
        reason: vec![7; 4],
    }
}

#[track_caller]
fn check_refused(answer: &ScoreAnswer, sentence: &str) {
    let refused = check_verdicts(&question(), answer).unwrap_err();
    assert_eq!(refused.to_string(), sentence);
}

#[test]
fn a_move_saves_what_goes_less_what_comes() {
    let question = question();
    let savings: Vec<f64> = (0..4).map(|row| question.saving(row)).collect();
    assert_eq!(savings, [1.0, 2.0, 1.0, 3.0 - 2.9]);
    assert_eq!(question.moves.members(2), [0, 1]);
    assert_eq!(question.moves.replacement_prices(2), [1.5, 0.5]);
    assert_eq!(question.moves.members(4), []);
}

#[test]
fn moves_worth_nothing_are_not_done_and_the_best_comes_first() {
    let verdicts = check_verdicts(&question(), &answer([0.5, 0.0, 2.0, -1.0])).unwrap();
    assert_eq!(verdicts.worth, [2, 0]);
    assert_eq!(
        verdicts.rows[3].value,
        PricePerHour::from_nanos(-1_000_000_000)
    );
    assert_eq!(verdicts.rows[0].reason, 7);
}

#[test]
fn equal_values_stand_as_the_question_does() {
    let verdicts = check_verdicts(&question(), &answer([1.0, 2.0, 1.0, 2.0])).unwrap();
    assert_eq!(verdicts.worth, [1, 3, 0, 2]);
}

#[test]
fn less_than_half_a_nano_dollar_is_nothing() {
    let verdicts = check_verdicts(&question(), &answer([4e-10, 6e-10, 0.0, 0.0])).unwrap();
    assert_eq!(verdicts.worth, [1]);
}

#[test]
fn values_that_are_no_dollars_are_refused_with_the_move() {
    let range = "expected dollars per hour within plus or minus 100000";
    for (value, shown) in [
        (f64::NAN, "NaN"),
        (f64::INFINITY, "inf"),
        (f64::NEG_INFINITY, "-inf"),
        (100_001.0, "100001"),
    ] {
        check_refused(
            &answer([1.0, 1.0, value, 1.0]),
            &format!("row 2 (replace n1, n2): `value` is {shown}; {range}"),
        );
    }
}

#[test]
fn columns_of_another_length_are_refused() {
    let mut short = answer([1.0; 4]);
    short.reason.pop();
    check_refused(
        &short,
        "answer column `reason` has 3 rows; the question has 4 moves",
    );
    check_refused(
        &ScoreAnswer::default(),
        "answer column `value` has 0 rows; the question has 4 moves",
    );
}

#[test]
fn a_policy_that_failed_leaves_no_move_worth_it() {
    let none = Verdicts::none(4);
    assert_eq!((none.rows.len(), none.worth.len()), (4, 0));
}

#[test]
fn rows_that_cannot_be_are_refused_by_name() {
    let mut builder = ScoreQuestionBuilder::new(Context::default());
    let refused = builder.node(&node("n1", f64::NAN)).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "node n1: price is NaN; expected dollars per hour in 0 to 100000"
    );
    let idle = NodeRow {
        cpu_used: f32::INFINITY,
        ..node("n1", 1.0)
    };
    assert!(
        builder
            .node(&idle)
            .unwrap_err()
            .to_string()
            .starts_with("node n1: cpu-used is inf")
    );
    assert_eq!(builder.node(&node("n1", 1.0)), Ok(0));
    let mut refusal = |members: &[u32], price| {
        let bought = [cheaper(price)];
        let row = a_move(MoveKind::Replace, members, &bought);
        builder.propose(&row).unwrap_err().to_string()
    };
    assert_eq!(
        refusal(&[], 1.0),
        "move 0 takes no node away; expected at least one"
    );
    assert_eq!(
        refusal(&[0, 1], 1.0),
        "move 0: node row 1 of 1; add the node before its moves"
    );
    assert_eq!(
        refusal(&[0], -1.0),
        "move 0: replacement m6g.large in b at -1; expected dollars per hour in 0 to 100000"
    );
}

#[test]
fn the_built_in_values_what_is_saved_beyond_the_hurdle() {
    let hurdle = SavingsThreshold {
        least_dollars: 0.25,
        least_share: 0.5,
    };
    let answer = savings_threshold(&question(), &hurdle);
    assert_eq!(answer.value, [1.0, 1.0, -0.5, (3.0 - 2.9) - 1.5]);
    assert_eq!(answer.reason, [EMPTY, SAVES, LITTLE, LITTLE]);
}

#[test]
fn an_empty_node_goes_even_where_nobody_knows_its_price() {
    let mut builder = ScoreQuestionBuilder::new(Context::default());
    builder.node(&node("n1", 0.0)).unwrap();
    builder
        .propose(&a_move(MoveKind::Empty, &[0], &[]))
        .unwrap();
    let question = builder.finish();
    let answer = savings_threshold(&question, &SavingsThreshold::default());
    assert_eq!(check_verdicts(&question, &answer).unwrap().worth, [0]);
}
