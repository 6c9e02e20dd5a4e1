//! A module that keeps failing is set aside for its time, comes back by what it would have said, and meanwhile the last good one of its
//! place decides, or its hook does what it does without an answer.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests may fail loudly, as tests may"
)]

use std::sync::LazyLock;

use plimsoll_base::time::{Span, Timestamp};
use plimsoll_guests::{HOSTILE, HOSTILE_BUDGET, HOSTILE_CONSOLIDATION, handmade};
use plimsoll_hooks::hook::{PolicySettings, Setting};
use plimsoll_model::command::DisruptionQuestion;
use plimsoll_model::snapshot::Snapshot;
use plimsoll_oracles::fixture::{Amounts, OnDemand, ZONE_1, cluster, instance_type, pod, pool};
use plimsoll_policy::{
    BudgetModule, ConsolidationModule, Decision, Engine, EngineSettings, Generation, Generations,
    Hook, Module, Outcome, Policies, Successor,
};
use plimsoll_schedule::Session;

use crate::bindings::replace;
use crate::machines::{sold, unbudgeted, underused};

static ENGINE: LazyLock<Engine> = LazyLock::new(|| Engine::new(EngineSettings::default()).unwrap());

const START: i64 = 1_800_000_000;

/// Behaves so until that many seconds after the start, and honestly from then on.
fn until(behaviour: &str, seconds: i64) -> PolicySettings {
    let behaviour = Setting::Text(behaviour.to_owned());
    let until = Setting::Number((START + seconds) as f64);
    PolicySettings::from([
        ("behaviour".to_owned(), behaviour),
        ("until_unix_s".to_owned(), until),
    ])
}

fn ranking(behaviour: &str, seconds: i64) -> Policies {
    Policies {
        rank: Some(ENGINE.accept(HOSTILE, &until(behaviour, seconds)).unwrap()),
        ..Policies::default()
    }
}

/// A cluster so many seconds after the start, in which that many pods wait for one pool: a question of its own for every number.
fn waiting(seconds: i64, pods: u32, asked: &str) -> Snapshot {
    let sold = |name: &str, cpu: i64, price: f64| {
        let sold = instance_type(name).cpu(cpu).memory_mib(64_000);
        sold.price(price).offered(ZONE_1, OnDemand)
    };
    let mut snapshot = cluster()
        .sells(sold("large", 16_000, 0.8))
        .sells(sold("small", 4_000, 0.1 + f64::from(pods) * 0.001))
        .pool(pool(asked))
        .pods(
            pod("web")
                .cpu(3_000)
                .memory_mib(6_000)
                .replicas(pods as usize),
        )
        .snapshot();
    snapshot.now = at(seconds);
    snapshot
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(START * 1000) + Span::from_secs(seconds)
}

fn plan(generation: &Generation, seconds: i64, pods: u32) -> Decision {
    generation.plan(&waiting(seconds, pods, "general"), &Session::default())
}

/// Faults of a decision: the class of each fault, and the last of the plan's notes.
fn told(decision: &Decision) -> (Vec<Outcome>, String) {
    let outcomes = decision
        .faults
        .iter()
        .map(|(_, fault)| fault.outcome)
        .collect();
    let note = decision.plan.notes.last().map(|note| note.text.clone());
    (outcomes, note.unwrap_or_default())
}

/// Checks a note on a module that is set aside: it says how its last call failed, and what is done instead.
#[track_caller]
fn is_set_aside(note: &str, policy: &str, instead: &str) {
    let begins = format!(
        "policy {policy}: it is set aside, since it failed too often, the last time with invalid-output: "
    );
    assert!(note.starts_with(&begins), "{note}");
    assert!(note.ends_with(&format!("; {instead}")), "{note}");
}

/// Asks five different questions, a second apart, which a broken module does not survive.
fn wear_out(generation: &Generation) {
    for pods in 1..=5 {
        let (faults, note) = told(&plan(generation, i64::from(pods), pods));
        assert_eq!(faults, [Outcome::InvalidOutput], "{note}");
        let ends = "; it failed on 5 different questions within 1m, and is set aside for 5m; list prices were taken";
        assert_eq!(note.ends_with(ends), pods == 5, "{note}");
    }
}

#[test]
fn a_ranking_module_that_keeps_failing_is_set_aside_and_comes_back() {
    let generation = Generation::first(ranking("nan", 200));
    wear_out(&generation);
    let (faults, note) = told(&plan(&generation, 100, 6));
    assert_eq!(faults, [Outcome::Quarantined]);
    is_set_aside(&note, "guest-hostile", "list prices were taken");
    // Each decision asks for prices and for an order: the third answer is the second decision's first.
    let (faults, note) = told(&plan(&generation, 305, 6));
    assert_eq!(faults, [Outcome::Quarantined; 2]);
    assert!(
        note.contains("it answers on trial, and is not followed yet"),
        "{note}"
    );
    let returns = plan(&generation, 306, 6);
    assert!(!returns.at_policy_prices);
    let said = "it answered 3 times on trial, and is followed from now on";
    assert_eq!(returns.faults[0].1.sentence, said);
    let back = plan(&generation, 307, 6);
    assert!(back.faults.is_empty() && back.at_policy_prices);
}

/// A guest that stops whenever it is asked, and says that it forbids offerings.
fn forbidding() -> Policies {
    let said = r#"{"name": "handmade", "version": "1.0.0", "hook": "rank"}"#;
    let instead = r#"{"name":"h","version":"1","hook":"rank","vetoes":true}  "#;
    let mut guest = handmade("answer-traps").unwrap().to_vec();
    let found = guest
        .windows(said.len())
        .position(|bytes| bytes == said.as_bytes());
    let at = found.unwrap();
    guest[at..at + said.len()].copy_from_slice(instead.as_bytes());
    Policies {
        rank: Some(ENGINE.accept(&guest, &PolicySettings::new()).unwrap()),
        ..Policies::default()
    }
}

/// A guest that stops whenever it is asked, and whose failure mode is to hold.
fn holding() -> Module {
    let stops = ENGINE.accept(handmade("answer-traps").unwrap(), &PolicySettings::new());
    let stops: Module = stops.unwrap();
    stops.holding()
}

#[test]
fn a_module_that_forbids_or_holds_is_never_stood_in_for() {
    for module in [forbidding().rank.unwrap(), holding()] {
        is_never_stood_in_for(module);
    }
}

fn is_never_stood_in_for(module: Module) {
    let generations = Generations::new(ranking("honest", 0));
    let generation = replace(&generations, Hook::Rank, Successor::Rank(module));
    for pods in 1..=7 {
        let decision = plan(&generation, i64::from(pods), pods);
        let expected = if pods <= 5 {
            Outcome::Trap
        } else {
            Outcome::Quarantined
        };
        assert_eq!(told(&decision).0, [expected], "{pods}");
        assert_eq!(decision.plan.claims, [], "{pods}");
        let words = decision.plan.unplaced[0].reason.to_string();
        let failed = format!("could hold it, but policy guest-hostile failed ({expected}: ");
        assert!(words.contains(&failed), "{words}");
        assert!(words.ends_with(": nothing is bought"), "{words}");
        if pods > 5 {
            assert!(words.contains("the last time with trap: "), "{words}");
        }
    }
}

#[test]
fn a_module_that_answers_nothing_is_set_aside_though_it_is_always_asked_the_same() {
    let generation = Generation::first(forbidding());
    // Minutes apart: a cluster in which 29 pods wait and nothing else happens.
    for call in 1..=12 {
        let decision = plan(&generation, call * 60, 29);
        let expected = if call <= 10 {
            Outcome::Trap
        } else {
            Outcome::Quarantined
        };
        assert_eq!(told(&decision).0, [expected], "{call}");
        assert_eq!(decision.plan.claims, [], "{call}");
    }
}

#[test]
fn one_that_fails_on_trial_stays_away_for_twice_as_long() {
    let generation = Generation::first(ranking("nan", 10_000));
    wear_out(&generation);
    let relapse = plan(&generation, 305, 6);
    let (faults, _) = told(&relapse);
    assert_eq!(faults, [Outcome::InvalidOutput, Outcome::Quarantined]);
    let said = &relapse.faults[0].1.sentence;
    let ends = "; it failed on trial, and is set aside for 10m";
    assert!(said.ends_with(ends), "{said}");
    assert_eq!(told(&plan(&generation, 900, 6)).0, [Outcome::Quarantined]);
}

#[test]
fn the_same_odd_question_over_and_over_does_not_set_a_module_aside() {
    let generation = Generation::first(ranking("nan", 10_000));
    // Two calls a decision, of which one fails: fifty calls are not reached.
    for seconds in 0..24 {
        let (faults, note) = told(&plan(&generation, seconds, 3));
        assert_eq!(faults, [Outcome::InvalidOutput], "{note}");
        assert!(!note.contains("set aside"), "{note}");
    }
}

#[test]
fn a_module_that_fails_on_one_tenants_pool_serves_the_others() {
    let generation = Generation::first(ranking("tenant", 10_000));
    for seconds in 0..60 {
        // One tenant's snapshot comes in between again and again.
        let odd = seconds % 6 == 5;
        let asked = if odd { "unlucky" } else { "general" };
        let decision = generation.plan(&waiting(seconds, 3, asked), &Session::default());
        let expected: &[Outcome] = if odd { &[Outcome::Trap] } else { &[] };
        assert_eq!(told(&decision).0, expected, "{seconds}");
    }
}

#[test]
fn decisions_that_decline_do_not_set_a_module_aside() {
    let generation = Generation::first(ranking("decline", 10_000));
    for pods in 1..=60 {
        let (faults, _) = told(&plan(&generation, i64::from(pods), pods % 9 + 1));
        assert_eq!(faults, [Outcome::PolicyError]);
    }
}

#[test]
fn the_last_good_module_decides_where_the_new_one_fails_and_while_it_is_set_aside() {
    let generations = Generations::new(ranking("honest", 0));
    let good = plan(&generations.current(), 0, 1);
    assert_eq!(good.faults, []);
    let broken = ranking("order-nan", 10_000).rank.unwrap();
    let generation = replace(&generations, Hook::Rank, Successor::Rank(broken));
    assert_eq!(generation.number(), 2);
    for pods in 1..=5 {
        let decision = plan(&generation, i64::from(pods), pods);
        assert!(decision.at_policy_prices);
        let (faults, note) = told(&decision);
        assert_eq!(faults, [Outcome::InvalidOutput]);
        assert!(
            note.ends_with("; its last good generation decided"),
            "{note}"
        );
    }
    let (faults, note) = told(&plan(&generation, 6, 1));
    assert_eq!(faults, [Outcome::Quarantined]);
    is_set_aside(&note, "guest-hostile", "its last good generation decided");
    // A third generation does not inherit the broken one as its last good.
    let third = replace(
        &generations,
        Hook::Rank,
        Successor::Rank(ranking("nan", 10_000).rank.unwrap()),
    );
    let decision = plan(&third, 7, 2);
    assert!(decision.at_policy_prices, "generation 1 stands behind it");
}

/// A large instance with one small pod, and so many that are empty.
fn fleet(seconds: i64, empty: usize, price: f64) -> Snapshot {
    let world = cluster()
        .pool(unbudgeted())
        .sells(sold("small", 2, price))
        .sells(sold("large", 8, 0.4));
    let mut snapshot = underused(world, empty).snapshot();
    // Nodes of the fixture are older than the snapshot by hours.
    snapshot.now = snapshot.now + Span::from_secs(seconds);
    snapshot
}

/// Looks at a fleet: moves begun, and what is told.
fn pass(generation: &Generation, fleet: &Snapshot) -> (usize, Vec<String>) {
    let question = DisruptionQuestion::Pass { consolidate: true };
    let considered = generation.consider(fleet, &question, &Session::default());
    (considered.decision.commands.len(), considered.notes)
}

#[test]
fn a_consolidation_module_that_is_set_aside_moves_nothing_and_its_last_good_one_does() {
    let consolidating = |behaviour| {
        let settings = PolicySettings::from([("behaviour".to_owned(), Setting::Text(behaviour))]);
        let accepted = ENGINE.accept_as::<ConsolidationModule>(HOSTILE_CONSOLIDATION, &settings);
        accepted.unwrap()
    };
    let broken = || consolidating(String::from("nan"));
    let alone = Generation::first(Policies {
        consolidate: Some(broken()),
        ..Policies::default()
    });
    let generations = Generations::new(Policies {
        consolidate: Some(consolidating(String::from("honest"))),
        ..Policies::default()
    });
    let behind = replace(
        &generations,
        Hook::Consolidate,
        Successor::Consolidate(broken()),
    );
    for second in 1..=5_u8 {
        let fleet = fleet(second.into(), 0, 0.1 + f64::from(second) / 100.0);
        for generation in [&alone, &*behind] {
            let (_, notes) = pass(generation, &fleet);
            assert!(notes[0].ends_with("no node is consolidated"), "{notes:?}");
        }
    }
    let (moves, notes) = pass(&alone, &fleet(6, 0, 0.1));
    assert_eq!(moves, 0);
    assert!(notes[0].contains("it is set aside"), "{notes:?}");
    let (moves, notes) = pass(&behind, &fleet(6, 0, 0.1));
    assert_eq!(moves, 1);
    let instead = "its last good generation decided";
    is_set_aside(&notes[0], "guest-hostile-consolidation", instead);
    assert_eq!(notes.len(), 1);
}

#[test]
fn a_budget_module_that_is_set_aside_lets_nothing_go() {
    let settings =
        PolicySettings::from([("behaviour".to_owned(), Setting::Text("short".to_owned()))]);
    let module = ENGINE
        .accept_as::<BudgetModule>(HOSTILE_BUDGET, &settings)
        .unwrap();
    let generation = Generation::first(Policies {
        budget: vec![module],
        ..Policies::default()
    });
    for (second, empty) in (1..=5).zip(1..) {
        pass(&generation, &fleet(second, empty, 0.1));
    }
    let (moves, notes) = pass(&generation, &fleet(6, 3, 0.1));
    assert_eq!(moves, 0);
    assert!(notes[0].contains("it is set aside"), "{notes:?}");
}
