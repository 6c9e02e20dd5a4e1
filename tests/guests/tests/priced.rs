//! Ranking policies in decisions about nodes: who is asked, what becomes of the answer, and what a failure comes to.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests may fail loudly, as tests may"
)]

use std::sync::LazyLock;

use plimsoll_hooks::hook::{PolicySettings, Setting};
use plimsoll_hooks::rank::{LaunchLists, OrderQuestion, PriceQuestion, Prices};
use plimsoll_model::OwnerKind;
use plimsoll_model::command::{Decision, DisruptionQuestion};
use plimsoll_model::snapshot::Snapshot;
use plimsoll_oracles::fixture::{
    Amounts, CAPACITY_TYPE, OnDemand, ZONE_1, cluster, instance_type, node, pod, pool,
};
use plimsoll_policy::{
    Advisers, Considered, Engine, EngineSettings, Fault, Generation, Generations, Hook, Module,
    Named, Outcome, Policies, Ranker, RankerFacts, Successor, consider,
};
use plimsoll_schedule::Session;

use crate::bindings::replace;
use crate::machines::{large, little, sold, unbudgeted};
use crate::modules::{hostile, noted, shipped};

static ENGINE: LazyLock<Engine> = LazyLock::new(|| Engine::new(EngineSettings::default()).unwrap());

const PASS: DisruptionQuestion = DisruptionQuestion::Pass { consolidate: true };

fn ranked(module: Module) -> Policies {
    Policies {
        rank: Some(module),
        ..Policies::default()
    }
}

/// Small instances at $0.10 and large ones at $0.40; a large one with a small pod, and another with as much room to spare.
fn fleet_of(names: &[&str]) -> Snapshot {
    let world = cluster()
        .pool(unbudgeted())
        .sells(sold("small", 2, 0.1))
        .sells(sold("large", 8, 0.4));
    let placed = names.iter().fold(world, |world, name| {
        let web = little(&format!("web-{name}"), name);
        world.node(large(name)).pod(web)
    });
    placed.snapshot()
}

fn ask(policies: &Policies, snapshot: &Snapshot) -> Considered {
    Generation::first(policies.clone()).consider(snapshot, &PASS, &Session::default())
}

fn bought(decision: &Decision) -> usize {
    let commands = decision.commands.iter();
    commands.map(|command| command.plan.claims.len()).sum()
}

#[test]
fn the_module_of_list_prices_moves_what_no_policy_does_to_the_byte() {
    for names in [&["n1"][..], &["n1", "n2", "n3"]] {
        let snapshot = fleet_of(names);
        let native = plimsoll_disrupt::consider(&snapshot, &PASS);
        assert!(!native.commands.is_empty());
        let asked = ask(&ranked(shipped(&ENGINE, "list-price")), &snapshot);
        assert_eq!(asked.decision, native);
        assert_eq!((asked.faults, asked.notes), (Vec::new(), Vec::new()));
    }
}

#[test]
fn a_module_prices_what_stands_and_what_would_come() {
    // With a charge of ten dollars for each node one for one is worth too little, and one for two ten dollars more than its list price.
    let charge = PolicySettings::from([("charge".to_owned(), Setting::Number(10.0))]);
    let bytes = plimsoll_policies::ranking("fewest-nodes").unwrap().bytes;
    let module = ENGINE.accept(bytes, &charge).unwrap();
    let alone = ask(&ranked(module.clone()), &fleet_of(&["n1"]));
    assert_eq!(alone.decision.commands, []);
    let both = ask(&ranked(module), &fleet_of(&["n1", "n2"])).decision;
    assert_eq!(bought(&both), 1);
    let command = &both.commands[0];
    assert!((command.saving.dollars() - 10.7).abs() < 1e-9);
    assert!((command.list_saving.dollars() - 0.7).abs() < 1e-9);
}

#[test]
fn a_module_that_only_orders_leaves_list_prices() {
    let snapshot = fleet_of(&["n1"]);
    let native = plimsoll_disrupt::consider(&snapshot, &PASS);
    let asked = ask(&ranked(shipped(&ENGINE, "random")), &snapshot);
    assert_eq!(asked.decision, native);
    assert_eq!(asked.notes, Vec::<String>::new());
}

#[test]
fn a_module_that_fails_leaves_list_prices_and_is_named() {
    let snapshot = fleet_of(&["n1"]);
    let native = plimsoll_disrupt::consider(&snapshot, &PASS);
    for behaviour in ["nan", "first-above-then"] {
        let asked = ask(&ranked(hostile(&ENGINE, behaviour)), &snapshot);
        assert_eq!(asked.decision, native, "{behaviour}");
        assert_eq!(asked.faults.len(), 1, "{behaviour}");
        noted(&asked, "failed to price moves", "list prices were taken");
    }
}

/// Forbids offerings, and fails.
struct Forbids;

impl Named for Forbids {
    fn name(&self) -> &'static str {
        "forbids"
    }
}

impl Ranker for Forbids {
    fn facts(&self) -> RankerFacts {
        RankerFacts {
            vetoes: true,
            ..RankerFacts::default()
        }
    }

    fn price(&self, _question: &PriceQuestion) -> Result<Prices, Fault> {
        Err(Fault {
            outcome: Outcome::Trap,
            sentence: "it stopped".to_owned(),
        })
    }

    fn order(&self, _question: &OrderQuestion) -> Result<LaunchLists, Fault> {
        Ok(LaunchLists::default())
    }
}

#[test]
fn a_module_that_forbids_offerings_and_fails_buys_nothing_and_lets_pods_move_together() {
    let advisers = Advisers {
        ranker: Some(&Forbids),
        ..Advisers::default()
    };
    let ask = |names: &[&str]| consider(&fleet_of(names), &PASS, &advisers, &Session::default());
    assert_eq!(ask(&["n1"]).decision.commands, []);
    let both = ask(&["n1", "n2"]);
    assert_eq!(
        (both.decision.commands.len(), bought(&both.decision)),
        (1, 0)
    );
    assert_eq!(both.faults.len(), 1);
    noted(&both, "forbids", "nothing is bought without its answer");
}

/// Twelve like instances of which a commitment covers eight; others cost half of what they do.
#[test]
fn what_is_paid_for_already_is_not_replaced() {
    let sold = |name: &str, price: f64| {
        let listed = instance_type(name).cpu(4000).memory_mib(16_384);
        let listed = listed.pods(110).no_overhead().price(price);
        listed.offered(ZONE_1, OnDemand)
    };
    let free = pool("general").with(|pool| pool.disruption.budgets.clear());
    let world = cluster()
        .pool(free)
        .sells(sold("m5.xlarge", 0.4))
        .sells(sold("c5.xlarge", 0.2));
    let names = (0..12).map(|at| format!("n{at:02}"));
    let world = names.fold(world, |world, name| {
        let node = node(&name)
            .managed("general")
            .of_type("m5.xlarge")
            .zone(ZONE_1);
        let node = node
            .label(CAPACITY_TYPE, "on-demand")
            .cpu(4000)
            .memory_mib(16_384);
        let web = pod(&format!("web-{name}")).cpu(3800).memory_mib(256);
        world
            .node(node)
            .pod(web.owned_by(OwnerKind::ReplicaSet, "web").on(&name))
    });
    let committed = |commitments: &[&str]| {
        let texts = commitments.iter().map(|text| (*text).into()).collect();
        let settings = PolicySettings::from([("commitments".to_owned(), Setting::Texts(texts))]);
        let bytes = plimsoll_policies::ranking("commitments-first")
            .unwrap()
            .bytes;
        let module = ENGINE.accept(bytes, &settings).unwrap();
        ask(&ranked(module), &world.clone().snapshot()).decision
    };
    assert_eq!(bought(&committed(&[])), 12);
    let partly = committed(&["m5=8"]);
    assert_eq!(bought(&partly), 4);
    assert!(partly.refused.by_guard > 0, "{:?}", partly.refused);
    assert_eq!(bought(&committed(&["m5=12"])), 0);
}

#[test]
fn a_successor_that_fails_is_stood_in_for_by_the_one_before_it() {
    let generations = Generations::new(ranked(shipped(&ENGINE, "fewest-nodes")));
    let failing = Successor::Rank(hostile(&ENGINE, "nan"));
    let next = replace(&generations, Hook::Rank, failing);
    let snapshot = fleet_of(&["n1", "n2"]);
    let considered = next.consider(&snapshot, &PASS, &Session::default());
    let command = &considered.decision.commands[0];
    // The charge of fewest-nodes is five cents: two nodes at $0.45 go for one at $0.15.
    assert!((command.saving.dollars() - 0.75).abs() < 1e-9);
    assert!(
        considered.notes[0].ends_with("its last good generation decided"),
        "{:?}",
        considered.notes
    );
}
