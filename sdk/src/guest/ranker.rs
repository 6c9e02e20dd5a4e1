//! `ranker`: prices and launch lists.

use super::{Module, Values, note, read_settings};
use crate::bindings::configure::plimsoll::policy::types::{Context, Note, PolicyError, Symbols};
use crate::bindings::ranker::exports::plimsoll::policy::ranker::{
    Catalog, Claims, Guest, Ordering, Pools, Prices,
};
use crate::diag::report_panics;
use crate::ranking::{OrderTable, PriceAnswer, PriceTable, Ranking, ScoreAnswer, Tables};

impl<P: Module + Ranking> Guest for P {
    fn price(
        context: Context,
        values: Values,
        symbols: Symbols,
        catalog: Catalog,
        pools: Pools,
    ) -> Result<Prices, PolicyError> {
        report_panics();
        let settings = read_settings(&values)?;
        let table = PriceTable::new(Tables::new(context, symbols, catalog), pools);
        P::POLICY
            .prices(&table, &settings)
            .map(PriceAnswer::into_columns)
    }

    fn order(
        context: Context,
        values: Values,
        symbols: Symbols,
        catalog: Catalog,
        claims: Claims,
    ) -> Result<Ordering, PolicyError> {
        report_panics();
        let settings = read_settings(&values)?;
        let table = OrderTable::new(Tables::new(context, symbols, catalog), claims);
        P::POLICY
            .orders(&table, &settings)
            .map(ScoreAnswer::into_columns)
    }

    fn explain_price(
        context: Context,
        values: Values,
        symbols: Symbols,
        catalog: Catalog,
        pools: Pools,
        slots: Vec<u32>,
    ) -> Result<Vec<Note>, PolicyError> {
        report_panics();
        let settings = read_settings(&values)?;
        let table = PriceTable::new(Tables::new(context, symbols, catalog), pools);
        let answer = P::POLICY.prices(&table, &settings)?;
        let notes = slots.iter().filter_map(|&slot| {
            let price = answer.get(slot as usize)?;
            let (offering, pool) = table.row(slot as usize)?;
            let terms = P::POLICY.terms(&offering, &pool, &settings);
            let known = [("list price", offering.price())];
            Some(note::<P>(price.reason().0, &known, terms))
        });
        Ok(notes.collect())
    }

    fn explain_order(
        context: Context,
        values: Values,
        symbols: Symbols,
        catalog: Catalog,
        claims: Claims,
        slots: Vec<u32>,
    ) -> Result<Vec<Note>, PolicyError> {
        report_panics();
        let settings = read_settings(&values)?;
        let table = OrderTable::new(Tables::new(context, symbols, catalog), claims);
        let answer = P::POLICY.orders(&table, &settings)?;
        let notes = slots.iter().filter_map(|&slot| {
            let score = answer.get(slot as usize)?;
            let known = [("score", score.value())];
            Some(note::<P>(score.reason().0, &known, Vec::new()))
        });
        Ok(notes.collect())
    }
}
