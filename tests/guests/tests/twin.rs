//! `rank-list-price` through WebAssembly answers as the ranking built into the core, to the bit, and so does its order.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests may fail loudly, as tests may"
)]

use std::sync::{Arc, LazyLock};

use plimsoll_hooks::rank::{
    ClaimRow, Claims, OrderQuestion, PolicySettings, PriceQuestion, list_order, list_price,
};
use plimsoll_oracles::judge::cases;
use plimsoll_policy::{Engine, EngineSettings, Module};
use proptest::prelude::*;

use crate::common;

static LIST_PRICE: LazyLock<Module> = LazyLock::new(|| {
    let engine = Engine::new(EngineSettings::default()).unwrap();
    engine
        .accept(
            plimsoll_policies::ranking("list-price").unwrap().bytes,
            &PolicySettings::new(),
        )
        .unwrap()
});

/// A question about a market with these prices, in which each pool may buy the rows it names.
fn question(prices: &[f64], pools: &[Vec<prop::sample::Index>]) -> PriceQuestion {
    let types = u32::try_from(prices.len()).unwrap();
    let mut question = common::question(0, types, 1);
    let tables = Arc::make_mut(&mut question.tables);
    tables.catalogue.o_price = prices.to_vec();
    for pool in pools {
        let rows: Vec<u32> = pool
            .iter()
            .map(|row| u32::try_from(row.index(prices.len())).unwrap())
            .collect();
        let name = 0;
        question.pools.push(
            plimsoll_hooks::rank::PoolRow {
                name,
                weight: 0,
                nodes: 0,
                cost: 0.0,
            },
            &rows,
        );
    }
    question
}

/// Numbers that are equal only where each bit is.
pub(crate) fn bits(numbers: &[f64]) -> Vec<u64> {
    numbers.iter().map(|number| number.to_bits()).collect()
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn the_module_and_the_twin_agree_to_the_bit(
        prices in prop::collection::vec(0.0..100_000.0_f64, 1..40),
        pools in prop::collection::vec(prop::collection::vec(any::<prop::sample::Index>(), 0..40), 0..4),
    ) {
        let question = question(&prices, &pools);
        let (module, twin) = (LIST_PRICE.price(&question).result.unwrap().raw, list_price(&question));
        prop_assert_eq!(bits(&module.first), bits(&twin.first));
        prop_assert_eq!(bits(&module.then), bits(&twin.then));
        prop_assert_eq!(module, twin);

        let mut claims = Claims::default();
        let claim = ClaimRow { pool: 0, cpu_milli: 1, mem_mib: 1, pods: 1, gpus: 0 };
        let mut start = 0;
        for &end in &question.pools.cand_ends {
            claims.push(claim, &question.pools.cand[start..end as usize]);
            start = end as usize;
        }
        let order = OrderQuestion { context: question.context, tables: question.tables, claims };
        prop_assert_eq!(LIST_PRICE.order(&order).result.unwrap().raw, list_order(&order));
    }
}

#[test]
fn the_other_shipped_module_answers_within_the_rules_and_differently() {
    let engine = Engine::new(EngineSettings::default()).unwrap();
    let shipped = plimsoll_policies::ranking("spot-diversified").unwrap();
    let module = engine
        .accept(shipped.bytes, &PolicySettings::new())
        .unwrap();
    let question = common::question(2, 10, 3);
    assert_ne!(
        module.price(&question).result.unwrap().raw,
        list_price(&question)
    );
    assert_eq!(module.manifest().reason(3), "spot, interrupted lately");
}
