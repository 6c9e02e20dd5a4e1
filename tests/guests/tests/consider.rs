//! Modules asked about a whole fleet: what they refuse is not done, what they cap is not exceeded, and where one fails nothing
//! is moved and people are told.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests may fail loudly, as tests may"
)]

use std::sync::LazyLock;

use plimsoll_guests::{HOSTILE_BUDGET, HOSTILE_CONSOLIDATION};
use plimsoll_hooks::hook::{PolicySettings, Setting};
use plimsoll_model::DisruptionReason;
use plimsoll_model::command::{Decision, DisruptionQuestion};
use plimsoll_model::snapshot::Snapshot;
use plimsoll_oracles::fixture::cluster;
use plimsoll_policy::{
    BudgetModule, Considered, ConsolidationModule, Engine, EngineSettings, Generation, Policies,
};
use plimsoll_schedule::Session;

use crate::machines::{sold, unbudgeted, underused};
use crate::modules::{behaving, noted};

static ENGINE: LazyLock<Engine> = LazyLock::new(|| Engine::new(EngineSettings::default()).unwrap());

const PASS: DisruptionQuestion = DisruptionQuestion::Pass { consolidate: true };

fn consolidating(behaviour: &str) -> Policies {
    let accepted =
        ENGINE.accept_as::<ConsolidationModule>(HOSTILE_CONSOLIDATION, &behaving(behaviour));
    Policies {
        consolidate: Some(accepted.unwrap()),
        ..Policies::default()
    }
}

fn capping(behaviours: &[&str]) -> Policies {
    let accept = |behaviour: &&str| -> BudgetModule {
        let accepted = ENGINE.accept_as::<BudgetModule>(HOSTILE_BUDGET, &behaving(behaviour));
        accepted.unwrap()
    };
    Policies {
        budget: behaviours.iter().map(accept).collect(),
        ..Policies::default()
    }
}

/// Large instances at $0.40, small ones at $0.10; a large one with a small pod, and so many large ones without any.
fn fleet(empty: usize) -> Snapshot {
    let world = cluster()
        .pool(unbudgeted())
        .sells(sold("small", 2, 0.1))
        .sells(sold("large", 8, 0.4));
    underused(world, empty).snapshot()
}

fn ask(policies: &Policies, snapshot: &Snapshot, question: &DisruptionQuestion) -> Considered {
    Generation::first(policies.clone()).consider(snapshot, question, &Session::default())
}

fn going(decision: &Decision, reason: DisruptionReason) -> usize {
    let commands = decision.commands.iter();
    let of_reason = commands.filter(|command| command.reason == reason);
    of_reason.map(|command| command.members.len()).sum()
}

#[test]
fn without_policies_and_with_one_that_values_what_is_saved_the_answer_is_the_cores() {
    let snapshot = fleet(0);
    let native = plimsoll_disrupt::consider(&snapshot, &PASS);
    assert_eq!(going(&native, DisruptionReason::Underutilized), 1);
    for policies in [Policies::default(), consolidating("honest")] {
        let asked = ask(&policies, &snapshot, &PASS);
        assert_eq!(asked.decision, native);
        assert_eq!((asked.faults, asked.notes), (Vec::new(), Vec::new()));
    }
}

#[test]
fn a_move_that_its_policy_finds_worth_nothing_is_not_made() {
    let settings = PolicySettings::from([("least_dollars".to_owned(), Setting::Number(1.0))]);
    let bytes = plimsoll_policies::consolidation("savings-threshold")
        .unwrap()
        .bytes;
    let module: ConsolidationModule = ENGINE.accept_as(bytes, &settings).unwrap();
    let policies = Policies {
        consolidate: Some(module),
        ..Policies::default()
    };
    let asked = ask(&policies, &fleet(0), &PASS);
    assert_eq!(asked.decision.commands, []);
    assert_eq!(asked.decision.refused.by_policy, 1);
    assert_eq!(asked.notes, Vec::<String>::new());
}

#[test]
fn a_consolidation_policy_that_fails_moves_nothing_and_is_named() {
    for behaviour in ["nan", "short"] {
        let asked = ask(&consolidating(behaviour), &fleet(0), &PASS);
        assert_eq!(asked.decision.commands, [], "{behaviour}");
        assert_eq!(asked.faults.len(), 1, "{behaviour}");
        noted(&asked, "failed to score", "no node is consolidated");
    }
}

#[test]
fn of_several_budgets_the_least_counts() {
    let snapshot = fleet(3);
    let gone = |policies: &Policies| {
        let asked = ask(policies, &snapshot, &PASS);
        going(&asked.decision, DisruptionReason::Empty)
    };
    assert_eq!(gone(&Policies::default()), 3);
    assert_eq!(
        gone(&capping(&["widen"])),
        3,
        "it cannot allow more than is declared"
    );
    assert_eq!(gone(&capping(&["widen", "honest"])), 1);
    assert_eq!(gone(&capping(&["honest", "short"])), 0);
}

#[test]
fn a_command_is_confirmed_within_what_budgets_allow_by_then() {
    let snapshot = fleet(3);
    let command = plimsoll_disrupt::consider(&snapshot, &PASS)
        .commands
        .remove(0);
    let question = DisruptionQuestion::Confirm(Box::new(command));
    let confirmed = |policies: &Policies| {
        let asked = ask(policies, &snapshot, &question);
        going(&asked.decision, DisruptionReason::Empty)
    };
    assert_eq!(confirmed(&Policies::default()), 3);
    assert_eq!(confirmed(&capping(&["honest"])), 1);
    assert_eq!(confirmed(&capping(&["short"])), 0);
}
