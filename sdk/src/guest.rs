//! The bridge from exported functions to a policy: reads settings, builds tables, answers. Used by `export_ranking!`.

use crate::bindings::configure::exports::plimsoll::policy::configure;
use crate::bindings::configure::plimsoll::policy::types::{
    Context, Note, PolicyError, Problem, Setting, Symbols,
};
use crate::bindings::ranker::exports::plimsoll::policy::ranker::{
    self, Catalog, Claims, Ordering, Pools, Prices,
};
use crate::diag::report_panics;
use crate::manifest::Manifest;
use crate::ranking::{OrderTable, PriceAnswer, PriceTable, Ranking, ScoreAnswer, Tables};
use crate::settings::Settings;

/// Code of the error a module answers with when it is asked with settings it refuses.
const BAD_SETTINGS: u16 = 1;

/// A ranking policy as a module.
pub trait ExportRanking: Ranking + Sized {
    /// The policy itself.
    const POLICY: Self;
    /// What the module says of itself.
    const MANIFEST: Manifest;
}

type Values = Vec<(String, Setting)>;

impl<P: ExportRanking> configure::Guest for P {
    fn validate_settings(values: Values) -> Result<(), Vec<Problem>> {
        report_panics();
        let problems = match P::Settings::from_values(&values) {
            Ok(settings) => P::POLICY.validate(&settings),
            Err(problems) => problems,
        };
        if problems.is_empty() {
            Ok(())
        } else {
            Err(problems)
        }
    }
}

impl<P: ExportRanking> ranker::Guest for P {
    fn price(
        context: Context,
        values: Values,
        symbols: Symbols,
        catalog: Catalog,
        pools: Pools,
    ) -> Result<Prices, PolicyError> {
        report_panics();
        let settings = read_settings::<P>(&values)?;
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
        let settings = read_settings::<P>(&values)?;
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
        let settings = read_settings::<P>(&values)?;
        let table = PriceTable::new(Tables::new(context, symbols, catalog), pools);
        let answer = P::POLICY.prices(&table, &settings)?;
        let notes = slots.iter().filter_map(|&slot| {
            let price = answer.get(slot as usize)?;
            let (offering, pool) = table.row(slot as usize)?;
            let mut terms = vec![(String::from("list price"), offering.price())];
            for (name, value) in P::POLICY.terms(&offering, &pool, &settings) {
                terms.push((name.to_owned(), value));
            }
            Some(note::<P>(price.reason().0, terms))
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
        let settings = read_settings::<P>(&values)?;
        let table = OrderTable::new(Tables::new(context, symbols, catalog), claims);
        let answer = P::POLICY.orders(&table, &settings)?;
        let notes = slots.iter().filter_map(|&slot| {
            let score = answer.get(slot as usize)?;
            Some(note::<P>(
                score.reason().0,
                vec![(String::from("score"), score.value())],
            ))
        });
        Ok(notes.collect())
    }
}

fn read_settings<P: Ranking>(values: &[(String, Setting)]) -> Result<P::Settings, PolicyError> {
    P::Settings::from_values(values).map_err(|problems| {
        let sentences = problems
            .iter()
            .map(|problem| format!("setting {} {}", problem.path, problem.message));
        PolicyError {
            code: BAD_SETTINGS,
            message: sentences.collect::<Vec<_>>().join("; "),
        }
    })
}

fn note<P: ExportRanking>(reason: u16, terms: Vec<(String, f64)>) -> Note {
    let row = usize::from(reason).checked_sub(1);
    let text = row
        .and_then(|row| P::MANIFEST.reasons.get(row))
        .map_or("", |reason| reason.text);
    Note {
        reason,
        text: text.to_owned(),
        terms,
    }
}
