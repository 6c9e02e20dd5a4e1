//! Plans with ranking modules: the module of list prices and its twin in the host plan alike to the byte, others plan
//! differently and within the rules, and a module that fails is replaced or holds, and is named.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests may fail loudly, as tests may"
)]

use std::collections::BTreeMap;
use std::sync::LazyLock;

use plimsoll_base::units::PricePerHour;
use plimsoll_check::PriceRule;
use plimsoll_hooks::rank::{LaunchLists, OrderQuestion, PriceQuestion, check_prices, list_price};
use plimsoll_model::plan::Plan;
use plimsoll_model::snapshot::Snapshot;
use plimsoll_oracles::fixture::{
    Amounts, OnDemand, Spot, ZONE_1, cluster, instance_type, pod, pool,
};
use plimsoll_oracles::generate::{Shape, benchmark_mix, random_cluster, shapes};
use plimsoll_oracles::judge;
use plimsoll_policy::{
    Decision, Engine, EngineSettings, Fault, ListPrice, Module, Named, Ranker, RankerFacts, decide,
};
use proptest::prelude::*;

use crate::modules::{hostile, shipped};

static ENGINE: LazyLock<Engine> = LazyLock::new(|| Engine::new(EngineSettings::default()).unwrap());
static LIST_PRICE: LazyLock<Module> = LazyLock::new(|| shipped(&ENGINE, "list-price"));

/// Decides without a fault, and within the rules.
fn plan(ranker: &impl Ranker, snapshot: &Snapshot) -> Plan {
    let Decision {
        plan,
        faults,
        at_policy_prices,
    } = decide(ranker, snapshot);
    assert_eq!(faults, []);
    let prices = if at_policy_prices {
        PriceRule::Policy
    } else {
        PriceRule::List
    };
    assert_eq!(judge::faults(snapshot, &plan, prices), []);
    plan
}

/// One pod, and three instances that can hold it: the cheaper, the more is left over.
fn shop() -> Snapshot {
    let sold = |name: &str, memory_mib: i64, price: f64| {
        instance_type(name)
            .cpu(4_000)
            .memory_mib(memory_mib)
            .price(price)
            .offered(ZONE_1, OnDemand)
    };
    cluster()
        .sells(sold("roomy", 32_768, 0.100))
        .sells(sold("plain", 16_384, 0.105))
        .sells(sold("tight", 8_192, 0.110))
        .pool(pool("general"))
        .pod(pod("web").cpu(3_000).memory_mib(6_000))
        .snapshot()
}

fn first_choice(plan: &Plan) -> &str {
    plan.claims[0].options[0].instance_type.as_str()
}

#[test]
fn a_module_that_orders_by_waste_changes_what_is_bought() {
    let snapshot = shop();
    assert_eq!(first_choice(&plan(&*LIST_PRICE, &snapshot)), "roomy");
    let tight = plan(&shipped(&ENGINE, "least-waste"), &snapshot);
    assert_eq!(first_choice(&tight), "tight");
    assert_eq!(tight.cost.list, tight.claims[0].options[0].list_price);
}

#[test]
fn the_benchmark_mix_is_planned_alike_by_module_and_twin() {
    let snapshot = benchmark_mix(300, 60, 5);
    let json = |plan: &Plan| serde_json::to_string(plan).unwrap();
    let (module, twin) = (plan(&*LIST_PRICE, &snapshot), plan(&ListPrice, &snapshot));
    assert_eq!(json(&module), json(&twin));
    let own = plimsoll_schedule::plan(&snapshot);
    assert_eq!(json(&module), json(&own));
}

#[test]
fn no_order_leads_spot_nodes_back_into_a_full_market() {
    let mut cluster = cluster()
        .pool(pool("general").capacity_types(&[Spot]))
        .settings(|settings| settings.guards.enabled = true);
    for (number, price) in [0.1, 0.101, 0.102, 0.103, 0.104, 0.105, 0.106]
        .iter()
        .enumerate()
    {
        let sold = instance_type(&format!("spare-{number}"))
            .cpu(4_000)
            .memory_mib(8_192)
            .price(*price)
            .offered(ZONE_1, Spot);
        cluster = cluster.sells(sold);
    }
    let pods = pod("web").cpu(3_000).memory_mib(4_000).replicas(10);
    let plan = plan(&*LIST_PRICE, &cluster.pods(pods).snapshot());
    let mut bought: BTreeMap<&str, usize> = BTreeMap::new();
    for claim in &plan.claims {
        *bought
            .entry(claim.options[0].instance_type.as_str())
            .or_default() += 1;
    }
    assert_eq!(plan.claims.len(), 10);
    assert!(bought.values().all(|count| *count <= 2), "{bought:?}");
}

proptest! {
    #![proptest_config(judge::cases(24))]

    #[test]
    fn random_clusters_are_planned_alike_by_module_and_twin(shape in shapes(Shape::tiny(0))) {
        let snapshot = random_cluster(&shape).snapshot();
        let (module, twin) = (decide(&*LIST_PRICE, &snapshot), decide(&ListPrice, &snapshot));
        prop_assert_eq!(
            serde_json::to_string(&module.plan).unwrap(),
            serde_json::to_string(&twin.plan).unwrap()
        );
    }
}

#[test]
fn a_module_that_fails_to_price_is_replaced_by_list_prices_and_named() {
    let snapshot = shop();
    let Decision {
        mut plan,
        faults,
        at_policy_prices,
    } = decide(&hostile(&ENGINE, "nan"), &snapshot);
    assert_eq!((faults.len(), at_policy_prices), (1, false));
    let note = plan.notes.pop().unwrap().text;
    let said = "policy guest-hostile failed to price: row 0 (pool general, ";
    assert!(note.starts_with(said), "{note}");
    assert!(note.ends_with("; list prices were taken"), "{note}");
    assert_eq!(plan, plimsoll_schedule::plan(&snapshot));
}

#[test]
fn a_module_that_fails_to_order_leaves_the_order_of_price_and_is_named() {
    let snapshot = shop();
    let Decision {
        mut plan, faults, ..
    } = decide(&hostile(&ENGINE, "order-nan"), &snapshot);
    assert_eq!(faults.len(), 1);
    let note = plan.notes.pop().unwrap().text;
    let said = "policy guest-hostile failed to order: row 0 (claim 0, ";
    assert!(note.starts_with(said), "{note}");
    assert!(
        note.ends_with("; launch lists are in order of price"),
        "{note}"
    );
    assert_eq!(plan, plimsoll_schedule::plan(&snapshot));
}

/// Answers as another, and forbids.
struct Forbidding(Module);

impl Named for Forbidding {
    fn name(&self) -> &str {
        self.0.name()
    }
}

impl Ranker for Forbidding {
    fn facts(&self) -> RankerFacts {
        RankerFacts {
            vetoes: true,
            ..self.0.facts()
        }
    }

    fn price(&self, question: &PriceQuestion) -> Result<plimsoll_hooks::rank::Prices, Fault> {
        Ranker::price(&self.0, question)
    }

    fn order(&self, question: &OrderQuestion) -> Result<LaunchLists, Fault> {
        Ranker::order(&self.0, question)
    }
}

#[test]
fn a_module_that_forbids_and_fails_buys_nothing() {
    for behaviour in ["loop", "order-nan"] {
        let Decision { plan, faults, .. } =
            decide(&Forbidding(hostile(&ENGINE, behaviour)), &shop());
        assert_eq!((faults.len(), plan.claims.len()), (1, 0));
        assert_eq!(plan.unplaced.len(), 1);
        let note = &plan.notes[0].text;
        assert!(
            note.ends_with("nothing is bought without its answer"),
            "{note}"
        );
    }
}

/// A policy that gives the dearest instance away.
struct Squanders;

impl Named for Squanders {
    fn name(&self) -> &'static str {
        "squanders"
    }
}

impl Ranker for Squanders {
    fn price(&self, question: &PriceQuestion) -> Result<plimsoll_hooks::rank::Prices, Fault> {
        let mut prices = check_prices(question, &list_price(question)).unwrap();
        let dearest = prices.rows.iter().map(|row| row.then.price).max();
        for row in &mut prices.rows {
            if Some(row.then.price) == dearest {
                row.then.price = Some(PricePerHour::ZERO);
                row.first_count = 0;
            }
        }
        Ok(prices)
    }

    fn order(&self, question: &OrderQuestion) -> Result<LaunchLists, Fault> {
        ListPrice.order(question)
    }
}

/// A shop of two instances, of which the dearer costs `dear` dollars and the other 0.1.
fn dear_shop(dear: f64) -> Snapshot {
    let sold = |name: &str, price: f64| {
        let sold = instance_type(name).cpu(4_000).memory_mib(16_384);
        sold.price(price).offered(ZONE_1, OnDemand)
    };
    cluster()
        .sells(sold("cheap", 0.1))
        .sells(sold("dear", dear))
        .pool(pool("general"))
        .pod(pod("web").cpu(3_000).memory_mib(6_000))
        .snapshot()
}

#[test]
fn a_plan_of_more_than_three_times_the_list_price_is_not_taken() {
    let Decision {
        plan,
        at_policy_prices,
        ..
    } = decide(&Squanders, &dear_shop(1.0));
    assert_eq!(first_choice(&plan), "cheap");
    assert!(!at_policy_prices);
    let mut notes = plan.notes.iter();
    assert!(notes.any(|note| {
        note.text
            .starts_with("policy squanders: its plan costs more than 3")
    }));

    let within = decide(&Squanders, &dear_shop(0.25));
    assert_eq!(first_choice(&within.plan), "dear");
    assert!(within.at_policy_prices);
}
