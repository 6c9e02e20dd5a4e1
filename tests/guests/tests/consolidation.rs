//! Consolidation modules as the host uses them: the module of savings and its twin in the core value moves alike to the
//! bit, all shipped ones keep to the rules, and one that misbehaves moves nothing and is named.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests may fail loudly, as tests may"
)]

use std::sync::LazyLock;

use plimsoll_guests::{HOSTILE_BUDGET, HOSTILE_CONSOLIDATION};
use plimsoll_hooks::hook::{PolicySettings, Setting};
use plimsoll_hooks::score::{SavingsThreshold, ScoreQuestion, savings_threshold};
use plimsoll_oracles::judge::cases;
use plimsoll_policy::{
    BuiltIn, ConsolidationModule, Engine, EngineSettings, Outcome, Scored, score,
};
use proptest::prelude::*;

use crate::fleet;
use crate::modules::misbehaviours;
use crate::twin::bits;

static ENGINE: LazyLock<Engine> = LazyLock::new(|| Engine::new(EngineSettings::default()).unwrap());

fn shipped(name: &str, settings: &[(&str, f64)]) -> ConsolidationModule {
    let settings = settings.iter();
    let settings = settings.map(|&(name, value)| (name.to_owned(), Setting::Number(value)));
    let bytes = plimsoll_policies::consolidation(name).unwrap().bytes;
    let settings: PolicySettings = settings.collect();
    ENGINE.accept_as(bytes, &settings).unwrap()
}

fn hostile(behaviour: &str) -> ConsolidationModule {
    let behaviour = Setting::Text(behaviour.to_owned());
    let settings = PolicySettings::from([("behaviour".to_owned(), behaviour)]);
    ENGINE.accept_as(HOSTILE_CONSOLIDATION, &settings).unwrap()
}

proptest! {
    #![proptest_config(cases(8))]

    #[test]
    fn the_module_and_the_twin_agree_to_the_bit(
        nodes in 1..60_u32,
        moves in 0..80_u32,
        prices in prop::collection::vec(0.0..100.0_f64, 60),
        least_dollars in 0.0..2.0_f64,
        least_share in 0.0..1.0_f64,
    ) {
        let mut question = fleet::question(nodes, moves);
        question.nodes.price.copy_from_slice(&prices[..nodes as usize]);
        let settings = [("least_dollars", least_dollars), ("least_share", least_share)];
        let module = shipped("savings-threshold", &settings);
        let hurdle = SavingsThreshold { least_dollars, least_share };
        let twin = savings_threshold(&question, &hurdle);
        let raw = module.score(&question).result.unwrap().raw;
        prop_assert_eq!(bits(&raw.value), bits(&twin.value));
        prop_assert_eq!(raw.reason, twin.reason);
        prop_assert_eq!(score(&module, &question), score(&BuiltIn(hurdle), &question));
    }
}

#[test]
fn the_modules_settings_begin_where_the_built_in_does() {
    let question = fleet::question(30, 60);
    let module = score(&shipped("savings-threshold", &[]), &question);
    assert_eq!(module, score(&BuiltIn::default(), &question));
    assert!(!module.verdicts.worth.is_empty());
}

#[test]
fn every_shipped_module_answers_within_the_rules_and_none_like_another() {
    let question = fleet::question(200, 300);
    let mut answers: Vec<Vec<usize>> = Vec::new();
    for policy in plimsoll_policies::CONSOLIDATION {
        let Scored {
            verdicts, fault, ..
        } = score(&shipped(policy.name, &[]), &question);
        assert_eq!((fault, verdicts.rows.len()), (None, 300), "{}", policy.name);
        assert!(!verdicts.worth.is_empty(), "{}", policy.name);
        assert!(!answers.contains(&verdicts.worth), "{}", policy.name);
        answers.push(verdicts.worth);
    }
}

/// The hostile module's answer must end that way and move nothing, and an honest module must answer as always.
#[track_caller]
fn check(question: &ScoreQuestion, behaviour: &str, outcome: Outcome, sentence: &str) {
    let Scored {
        verdicts,
        fault,
        note,
    } = score(&hostile(behaviour), question);
    let (fault, note) = (fault.unwrap(), note.unwrap());
    assert_eq!(fault.outcome, outcome, "{fault}");
    assert!(fault.sentence.contains(sentence), "{fault}");
    assert!(verdicts.worth.is_empty());
    assert_eq!(
        note,
        format!(
            "policy guest-hostile-consolidation failed to score: {fault}; no node is consolidated"
        )
    );
    let honest = score(&shipped("savings-threshold", &[]), question);
    assert_eq!(honest, score(&BuiltIn::default(), question));
}

#[test]
fn values_that_are_no_dollars_are_invalid() {
    let question = fleet::question(9, 6);
    for (behaviour, shown) in [
        ("nan", "NaN"),
        ("infinite", "inf"),
        ("below", "-inf"),
        ("beyond", "1000000000"),
    ] {
        let sentence = format!("row 0 (delete node-00000): `value` is {shown}; expected dollars");
        check(&question, behaviour, Outcome::InvalidOutput, &sentence);
    }
}

#[test]
fn answers_of_another_length_are_invalid() {
    let question = fleet::question(9, 6);
    for (behaviour, rows) in [("short", 5), ("long", 7)] {
        let sentence = format!("answer column `value` has {rows} rows; the question has 6 moves");
        check(&question, behaviour, Outcome::InvalidOutput, &sentence);
    }
    let unreadable = "the module's answer cannot be read";
    check(&question, "huge", Outcome::InvalidOutput, unreadable);
}

#[test]
fn each_other_misbehaviour_ends_in_its_own_class() {
    let question = fleet::question(9, 6);
    for (behaviour, outcome, sentence) in misbehaviours(6) {
        check(&question, behaviour, outcome, &sentence);
    }
}

#[test]
fn a_module_may_want_everything_and_gets_no_move_that_is_not_there() {
    let question = fleet::question(9, 6);
    let Scored {
        verdicts, fault, ..
    } = score(&hostile("dearest"), &question);
    assert_eq!((fault, verdicts.worth), (None, vec![0, 1, 2, 3, 4, 5]));
}

#[test]
fn nobody_is_asked_about_no_move() {
    let scored = score(&hostile("panic"), &fleet::question(9, 0));
    assert_eq!(scored.fault, None);
}

#[test]
fn a_module_for_another_hook_is_refused() {
    let refusal = |bytes| {
        ENGINE
            .accept_as::<ConsolidationModule>(bytes, &PolicySettings::new())
            .unwrap_err()
    };
    let refused = refusal(HOSTILE_BUDGET);
    assert_eq!(refused.reason(), "HookMismatch");
    assert_eq!(
        refused.to_string(),
        "the module is for the hook budget; expected consolidate"
    );
    let ranking = plimsoll_policies::ranking("list-price").unwrap().bytes;
    assert_eq!(refusal(ranking).reason(), "HookMismatch");
}
