//! Records of many decisions by modules of all hooks, each about a world a little different from the one before.

use std::sync::Arc;

use plimsoll_guests::HOSTILE;
use plimsoll_hooks::hook::{PolicySettings, Setting};
use plimsoll_hooks::rank::{OrderQuestion, PriceQuestion};
use plimsoll_policy::records::{InMemory, RecordStore, Recorder};
use plimsoll_policy::{BudgetModule, ConsolidationModule, Engine, Module, Observer, ask_observed};

use super::{common, fleet};

/// The modules that decide.
struct Deciders {
    ranks: [Module; 3],
    consolidate: ConsolidationModule,
    budget: BudgetModule,
}

impl Deciders {
    fn accepted(engine: &Engine) -> Self {
        let none = PolicySettings::new();
        let shipped = |name: &str| {
            let shipped = plimsoll_policies::ranking(name).expect("it is shipped");
            engine.accept(shipped.bytes, &none).expect("it is accepted")
        };
        let trap =
            PolicySettings::from([("behaviour".to_owned(), Setting::Text("panic".to_owned()))]);
        let budget = plimsoll_policies::budget("rollout-guard").expect("it is shipped");
        let gentle = plimsoll_policies::consolidation("balanced").expect("it is shipped");
        Self {
            ranks: [
                shipped("spot-diversified"),
                shipped("least-waste"),
                engine.accept(HOSTILE, &trap).expect("it is accepted"),
            ],
            consolidate: engine
                .accept_as(gentle.bytes, &none)
                .expect("it is accepted"),
            budget: engine
                .accept_as(budget.bytes, &none)
                .expect("it is accepted"),
        }
    }
}

/// Records of so many decisions about a market of so many types.
pub(crate) fn records(engine: &Engine, decisions: u32, types: u32) -> Vec<u8> {
    let deciders = Deciders::accepted(engine);
    let written = InMemory::default();
    let recorder = Recorder::begin(Box::new(written.clone()), engine, None);
    let recording = recorder.expect("memory can be written");
    let recorder: &dyn Observer = &recording;
    let price = common::question(2, types, 3);
    let order = common::claims(5, 20);
    let score = fleet::question(60, 40);
    let allow = fleet::pools(3);
    for number in 0..decisions {
        match number % 5 {
            0 => priced(&deciders.ranks[0], &price, number, recorder),
            1 => ordered(&deciders.ranks[1], &order, number, recorder),
            2 => {
                let mut question = score.clone();
                question.nodes.age_s[0] = number;
                let ask = ConsolidationModule::score;
                ask_observed(&deciders.consolidate, &question, ask, [recorder]);
            }
            3 => {
                let mut question = allow.clone();
                question.pools.nodes[0] = number;
                ask_observed(&deciders.budget, &question, BudgetModule::allow, [recorder]);
            }
            _ => priced(&deciders.ranks[2], &price, number, recorder),
        }
    }
    let recorded = recording.finish().expect("memory can be written");
    assert_eq!(recorded.decisions, u64::from(decisions));
    written.bytes()
}

fn priced(module: &Module, question: &PriceQuestion, number: u32, recorder: &dyn Observer) {
    let mut question = question.clone();
    let tables = Arc::make_mut(&mut question.tables);
    tables.catalogue.o_running[0] = number;
    tables.catalogue.o_price[0] = f64::from(number) / 3.0 % 100.0;
    ask_observed(module, &question, Module::price, [recorder]);
}

fn ordered(module: &Module, question: &OrderQuestion, number: u32, recorder: &dyn Observer) {
    let mut question = question.clone();
    question.claims.cpu_milli[0] = number;
    ask_observed(module, &question, Module::order, [recorder]);
}

/// The modules that such records name.
pub(crate) fn store(engine: &Engine) -> RecordStore {
    let mut store = RecordStore::new(engine.clone());
    let ranking = ["spot-diversified", "least-waste"].map(plimsoll_policies::ranking);
    let others = [
        plimsoll_policies::consolidation("balanced"),
        plimsoll_policies::budget("rollout-guard"),
    ];
    for shipped in ranking.into_iter().chain(others).flatten() {
        let put = store.put_named(shipped.package, shipped.bytes.into());
        put.expect("it is shipped");
    }
    store.put(HOSTILE.into()).expect("it has a manifest");
    store
}
