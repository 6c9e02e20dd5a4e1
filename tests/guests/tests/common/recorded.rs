//! Records of many decisions by modules of all hooks, each about a world a little different from the one before.

use std::sync::Arc;

use plimsoll_core::hook::{PolicySettings, Setting};
use plimsoll_core::rank::{OrderQuestion, PriceQuestion};
use plimsoll_guests::HOSTILE;
use plimsoll_policy::records::{InMemory, RecordStore, Recorder};
use plimsoll_policy::{
    Asked, BudgetModule, ConsolidationModule, EndedCall, Engine, Module, Observer as _,
};

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
                .accept_consolidation(gentle.bytes, &none)
                .expect("it is accepted"),
            budget: engine
                .accept_budget(budget.bytes, &none)
                .expect("it is accepted"),
        }
    }
}

/// Records of so many decisions about a market of so many types.
pub(crate) fn records(engine: &Engine, decisions: u32, types: u32) -> Vec<u8> {
    let deciders = Deciders::accepted(engine);
    let written = InMemory::default();
    let recorder = Recorder::begin(Box::new(written.clone()), engine, None);
    let recorder = recorder.expect("memory can be written");
    let price = common::question(2, types, 3);
    let order = common::claims(5, 20);
    let score = fleet::question(60, 40);
    let allow = fleet::pools(3);
    for number in 0..decisions {
        match number % 5 {
            0 => priced(&deciders.ranks[0], &price, number, &recorder),
            1 => ordered(&deciders.ranks[1], &order, number, &recorder),
            2 => {
                let mut question = score.clone();
                question.nodes.age_s[0] = number;
                let module = &deciders.consolidate;
                let called = module.score(&question);
                recorder.asked(&Asked::Score(EndedCall {
                    module,
                    question: &question,
                    called: &called,
                }));
            }
            3 => {
                let mut question = allow.clone();
                question.pools.nodes[0] = number;
                let module = &deciders.budget;
                let called = module.allow(&question);
                recorder.asked(&Asked::Allow(EndedCall {
                    module,
                    question: &question,
                    called: &called,
                }));
            }
            _ => priced(&deciders.ranks[2], &price, number, &recorder),
        }
    }
    let recorded = recorder.finish().expect("memory can be written");
    assert_eq!(recorded.decisions, u64::from(decisions));
    written.bytes()
}

fn priced(module: &Module, question: &PriceQuestion, number: u32, recorder: &Recorder) {
    let mut question = question.clone();
    let tables = Arc::make_mut(&mut question.tables);
    tables.catalogue.o_running[0] = number;
    tables.catalogue.o_price[0] = f64::from(number) / 3.0 % 100.0;
    let called = module.price(&question);
    recorder.asked(&Asked::Price(EndedCall {
        module,
        question: &question,
        called: &called,
    }));
}

fn ordered(module: &Module, question: &OrderQuestion, number: u32, recorder: &Recorder) {
    let mut question = question.clone();
    question.claims.cpu_milli[0] = number;
    let called = module.order(&question);
    recorder.asked(&Asked::Order(EndedCall {
        module,
        question: &question,
        called: &called,
    }));
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
