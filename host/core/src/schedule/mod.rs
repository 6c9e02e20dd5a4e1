//! The decision about waiting pods: from a snapshot to the cheapest feasible fleet.
//!
//! [`prepare`] reads the snapshot and asks the ranking policy what machines cost; [`finish`] takes the answer and decides.
//! Between the two nothing is remembered anywhere else, so that questions, answers and decisions can be recorded, replayed
//! and compared.
//!
//! ```text
//! snapshot ─► eligible ─► compile (groups, rows, topology) ─► question ─► policy
//!                                     │                                     │ prices
//!                                     ▼                                     ▼
//!                              place pods in order ─► buy by price ─► close claims ─► plan
//! ```
//!
//! Two plans are made: by price, and by first fit in the incumbent's order. The better one by (unplaced, preferences given
//! up, price, nodes) is returned, so that packing by price is never worse.

mod alike;
mod axes;
mod bound;
mod buy;
mod candidate;
mod claim;
mod close;
mod company;
mod compile;
mod daemons;
mod default_spread;
mod eligible;
mod existing;
mod guards;
mod hosts;
mod limits;
mod manner;
mod market;
mod memo;
mod minimum;
mod nearest;
mod place;
mod prices;
mod refusal;
mod relax;
mod rows;
mod sets;
mod supplies;
mod templates;
mod topology;
mod volumes;

pub use bound::bound_from_nothing;

use candidate::Candidate;
use compile::Compiled;
use prices::{RowPrices, Slots};

use crate::model::PackingMode;
use crate::plan::{Plan, PlanCost, PlannedClaim};
use crate::rank::{PriceQuestion, Prices};
use crate::snapshot::Snapshot;
use crate::units::PricePerHour;

/// A decision half made: everything read, prices still to come.
pub struct Prepared<'s> {
    compiled: Compiled<'s>,
    question: Option<(PriceQuestion, Slots)>,
}

impl Prepared<'_> {
    /// What to ask the ranking policy; `None` when nothing can be bought.
    pub fn question(&self) -> Option<&PriceQuestion> {
        self.question.as_ref().map(|(question, _)| question)
    }
}

/// Reads a snapshot and works out what has to be priced.
pub fn prepare(snapshot: &Snapshot) -> Prepared<'_> {
    let compiled = compile::compile(snapshot);
    let question = prices::question(&compiled);
    Prepared { compiled, question }
}

/// Decides, at the ranking policy's prices or, without them, at list prices.
pub fn finish(prepared: &Prepared<'_>, answer: Option<&Prices>) -> Plan {
    let compiled = &prepared.compiled;
    let slots = prepared.question.as_ref().map(|(_, slots)| slots);
    let prices = RowPrices::new(compiled, slots.zip(answer));
    let by_price = compiled
        .templates
        .iter()
        .any(|template| template.packing == PackingMode::Price);
    let (first_fit, priced) = std::thread::scope(|scope| {
        let priced = by_price.then(|| scope.spawn(|| candidate::by_price(compiled, &prices)));
        let first_fit = candidate::first_fit(compiled, &prices);
        (
            first_fit,
            priced.map(|thread| thread.join().expect("planning does not panic")),
        )
    });
    let first_fit_cost = first_fit.list(&prices);
    let best = match priced {
        Some(priced) if priced.rank() <= first_fit.rank() => priced,
        _ => first_fit,
    };
    plan_of(compiled, &prices, best, first_fit_cost)
}

/// Decides at list prices.
pub fn plan(snapshot: &Snapshot) -> Plan {
    finish(&prepare(snapshot), None)
}

fn plan_of(
    compiled: &Compiled<'_>,
    prices: &RowPrices,
    best: Candidate,
    first_fit: PricePerHour,
) -> Plan {
    let mut unplaced = compiled.refused.clone();
    unplaced.extend(refusal::refusals(compiled, prices, &best.failed));
    unplaced.sort_by_key(|unplaced| unplaced.pod);
    let claims = best.claims(compiled, prices);
    let dearest = |claim: &PlannedClaim| claim.options.iter().map(|option| option.list_price).max();
    let cost = PlanCost {
        planned: best.planned(),
        list: best.list(prices),
        dearest: claims
            .iter()
            .filter_map(dearest)
            .map(|price| prices::whole(compiled, price))
            .sum(),
        bound: bound::bound(compiled, &best),
        first_fit,
    };
    Plan {
        placements: best.placements(compiled),
        claims,
        unplaced,
        cost,
        notes: compiled.notes.iter().cloned().chain(best.notes).collect(),
    }
}
