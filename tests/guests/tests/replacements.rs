//! The order of what a command buys: asked for when it is confirmed, and followed within what the move allows.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests may fail loudly, as tests may"
)]

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};

use plimsoll_base::labels::INSTANCE_TYPE;
use plimsoll_guests::HOSTILE;
use plimsoll_hooks::hook::{PolicySettings, Setting};
use plimsoll_hooks::rank::{
    LaunchLists, OrderAnswer, OrderQuestion, PriceAnswer, PriceQuestion, Prices, check_ordering,
    check_prices, list_price,
};
use plimsoll_model::command::{Decision, DisruptionQuestion};
use plimsoll_model::plan::LaunchOption;
use plimsoll_model::snapshot::Snapshot;
use plimsoll_oracles::fixture::{
    CAPACITY_TYPE, ClusterFixture, PoolFixture, Spot, ZONE_1, cluster, machine,
};
use plimsoll_policy::{
    Advisers, Asked, Considered, Engine, EngineSettings, Fault, Generation, Named, Observer,
    Outcome, Policies, Ranker, RankerFacts, Unit, consider,
};
use plimsoll_schedule::Session;

use crate::machines::{large, little, sold, unbudgeted};
use crate::modules::noted;

static ENGINE: LazyLock<Engine> = LazyLock::new(|| Engine::new(EngineSettings::default()).unwrap());

const PASS: DisruptionQuestion = DisruptionQuestion::Pass { consolidate: true };

/// A policy of the host that scores types, lower first, and may price them.
struct Sorts {
    score: fn(&str) -> f64,
    price: Option<fn(&str) -> f64>,
    vetoes: bool,
}

impl Sorts {
    fn by(score: fn(&str) -> f64) -> Self {
        Self {
            score,
            price: None,
            vetoes: false,
        }
    }
}

impl Named for Sorts {
    fn name(&self) -> &'static str {
        "sorts"
    }
}

impl Ranker for Sorts {
    fn facts(&self) -> RankerFacts {
        RankerFacts {
            unit: self.price.map_or(Unit::Order, |_| Unit::Dollars),
            orders: true,
            vetoes: self.vetoes,
        }
    }

    fn price(&self, question: &PriceQuestion) -> Result<Prices, Fault> {
        let price = self.price.unwrap();
        let rows = question.pools.cand.iter();
        let own: Vec<f64> = rows
            .map(|row| price(question.tables.type_name(*row)))
            .collect();
        let answer = PriceAnswer {
            first: own.clone(),
            then: own,
            ..list_price(question)
        };
        Ok(check_prices(question, &answer).unwrap())
    }

    fn order(&self, question: &OrderQuestion) -> Result<LaunchLists, Fault> {
        let rows = question.claims.cand.iter();
        let score = rows.map(|row| (self.score)(question.tables.type_name(*row)));
        let score: Vec<f64> = score.collect();
        let reason = vec![0; score.len()];
        check_ordering(question, &OrderAnswer { score, reason }).map_err(|error| Fault {
            outcome: Outcome::InvalidOutput,
            sentence: error.to_string(),
        })
    }
}

/// Three small instances at like prices, a large one at $0.40 with a small pod.
fn market(pool: PoolFixture) -> ClusterFixture {
    cluster()
        .pool(pool)
        .sells(sold("small", 2, 0.1))
        .sells(sold("other", 2, 0.105))
        .sells(sold("third", 2, 0.11))
        .sells(sold("large", 8, 0.4))
        .node(large("n1"))
        .pod(little("web", "n1"))
}

/// The first command that a pass comes to without policies, confirmed with this one.
fn confirmed(snapshot: &Snapshot, ranker: Option<&dyn Ranker>) -> Considered {
    let passed = plimsoll_disrupt::consider(snapshot, &PASS);
    let question = DisruptionQuestion::Confirm(Box::new(passed.commands[0].clone()));
    let advisers = Advisers {
        ranker,
        ..Advisers::default()
    };
    consider(snapshot, &question, &advisers, &Session::default())
}

fn options(decision: &Decision) -> &[LaunchOption] {
    &decision.commands[0].plan.claims[0].options
}

fn types(decision: &Decision) -> Vec<&str> {
    let options = options(decision).iter();
    options
        .map(|option| option.instance_type.as_str())
        .collect()
}

fn third_first(name: &str) -> f64 {
    f64::from(u8::from(name != "third"))
}

fn only_third(name: &str) -> f64 {
    if name == "third" { 0.0 } else { f64::INFINITY }
}

#[test]
fn a_preferred_type_comes_first_and_the_saving_is_what_it_saves() {
    let snapshot = market(unbudgeted()).snapshot();
    let asked = confirmed(&snapshot, Some(&Sorts::by(third_first)));
    assert_eq!(types(&asked.decision), ["third", "small", "other"]);
    let command = &asked.decision.commands[0];
    assert!((command.saving.dollars() - 0.29).abs() < 1e-9);
    assert!((command.list_saving.dollars() - 0.29).abs() < 1e-9);
    let past = command.past.as_ref().unwrap();
    assert!(past.to.iter().all(|name| name.as_str() == "third"));
    assert_eq!((asked.faults, asked.notes), (Vec::new(), Vec::new()));
}

#[test]
fn what_is_taken_off_is_gone_from_the_claim() {
    let snapshot = market(unbudgeted()).snapshot();
    let asked = confirmed(&snapshot, Some(&Sorts::by(only_third)));
    assert_eq!(types(&asked.decision), ["third"]);
    let claim = &asked.decision.commands[0].plan.claims[0];
    let named = claim.requirements.get(INSTANCE_TYPE).unwrap();
    assert_eq!(named.listed().unwrap().len(), 1);
}

#[test]
fn an_order_that_removes_everything_or_is_no_number_leaves_the_move_as_it_was() {
    let snapshot = market(unbudgeted()).snapshot();
    let alone = confirmed(&snapshot, None).decision;
    assert_eq!(types(&alone), ["small", "other", "third"]);
    let nothing = confirmed(&snapshot, Some(&Sorts::by(|_| f64::INFINITY)));
    assert_eq!(nothing.decision, alone);
    assert_eq!(nothing.notes, Vec::<String>::new());
    let wrong = confirmed(&snapshot, Some(&Sorts::by(|_| f64::NAN)));
    assert_eq!(wrong.decision, alone);
    assert_eq!(wrong.faults[0].1.outcome, Outcome::InvalidOutput);
    noted(&wrong, "failed to order replacements", "in order of price");
}

#[test]
fn a_policy_that_forbids_and_cannot_order_has_nothing_bought() {
    let failing = Sorts {
        vetoes: true,
        ..Sorts::by(|_| f64::NAN)
    };
    let asked = confirmed(&market(unbudgeted()).snapshot(), Some(&failing));
    assert_eq!(asked.decision.commands, []);
    assert_eq!(asked.decision.refused.by_policy, 1);
    assert!(asked.notes[0].ends_with("nothing is bought without its answer"));
}

#[test]
fn minimum_values_bring_back_what_was_taken_off() {
    let broad = market(unbudgeted().min_values(INSTANCE_TYPE, 2)).snapshot();
    let asked = confirmed(&broad, Some(&Sorts::by(only_third)));
    assert_eq!(types(&asked.decision), ["third", "small"]);
}

#[test]
fn one_spot_node_for_another_keeps_fifteen_types_whatever_is_taken_off() {
    let mut world = cluster().pool(unbudgeted().capacity_types(&[Spot]));
    for at in 0..20 {
        let name = if at == 19 {
            "third".to_owned()
        } else {
            format!("s{at:02}")
        };
        let price = 0.1 + 0.0001 * f64::from(at);
        world = world.sells(machine(&name, 2, price).offered(ZONE_1, Spot));
    }
    let world = world
        .sells(machine("large", 8, 0.4).offered(ZONE_1, Spot))
        .settings(|settings| settings.churn.spot_to_spot = true)
        .settings(|settings| settings.guards.spot_types = 1)
        .node(large("n1").label(CAPACITY_TYPE, "spot"))
        .pod(little("web", "n1"));
    let snapshot = world.snapshot();
    let alone = confirmed(&snapshot, None).decision;
    assert_eq!(options(&alone).len(), 15);
    let one = Sorts::by(|name| if name == "s07" { 0.0 } else { f64::INFINITY });
    let asked = confirmed(&snapshot, Some(&one)).decision;
    assert_eq!(options(&asked).len(), 15);
    assert_eq!(types(&asked)[..2], ["s07", "s00"]);
}

#[test]
fn an_order_is_not_followed_where_what_comes_would_cost_more_than_what_goes() {
    let world = cluster()
        .pool(unbudgeted())
        .sells(sold("small", 2, 0.1))
        .sells(sold("third", 2, 5.0))
        .sells(sold("large", 8, 0.4))
        .node(large("n1"))
        .pod(little("web", "n1"));
    let fond = Sorts {
        price: Some(|name| match name {
            "third" => 0.101,
            "small" => 0.1,
            _ => 0.4,
        }),
        ..Sorts::by(third_first)
    };
    let asked = confirmed(&world.snapshot(), Some(&fond));
    assert_eq!(types(&asked.decision), ["small", "third"]);
    assert!(
        asked.notes[0].contains("would not be worth it"),
        "{:?}",
        asked.notes
    );
}

#[test]
fn the_successor_of_a_drifted_node_is_ordered_too() {
    let narrow = unbudgeted().only_types(&["small", "other", "third"]);
    let snapshot = market(narrow).snapshot();
    let pass = DisruptionQuestion::Pass { consolidate: false };
    let passed = plimsoll_disrupt::consider(&snapshot, &pass);
    let question = DisruptionQuestion::Confirm(Box::new(passed.commands[0].clone()));
    let sorts = Sorts::by(third_first);
    let advisers = Advisers {
        ranker: Some(&sorts),
        ..Advisers::default()
    };
    let asked = consider(&snapshot, &question, &advisers, &Session::default());
    assert_eq!(types(&asked.decision)[0], "third");
    assert_eq!(asked.decision.commands[0].saving, passed.commands[0].saving);
}

/// Counts calls for an order.
#[derive(Debug, Default)]
struct Orders(AtomicU64);

impl Observer for Orders {
    fn asked(&self, call: &Asked<'_>) {
        if matches!(call, Asked::Order(_)) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[test]
fn a_module_is_asked_once_for_a_confirmed_command_and_whoever_looks_on_is_told() {
    let snapshot = market(unbudgeted()).snapshot();
    let settings = PolicySettings::from([
        ("behaviour".to_owned(), Setting::Text("marks".to_owned())),
        ("mark".to_owned(), Setting::Number(1.0)),
    ]);
    let orders: Arc<Orders> = Arc::default();
    let generation = Generation::first(Policies {
        rank: Some(ENGINE.accept(HOSTILE, &settings).unwrap()),
        observers: vec![orders.clone()],
        ..Policies::default()
    });
    let passed = generation.consider(&snapshot, &PASS, &Session::default());
    assert_eq!(orders.0.load(Ordering::Relaxed), 0);
    let question = DisruptionQuestion::Confirm(Box::new(passed.decision.commands[0].clone()));
    let asked = generation.consider(&snapshot, &question, &Session::default());
    // Its odd marks have the dearest first.
    assert_eq!(types(&asked.decision), ["third", "other", "small"]);
    assert_eq!(orders.0.load(Ordering::Relaxed), 1);
}
