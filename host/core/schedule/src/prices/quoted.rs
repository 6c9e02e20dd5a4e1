//! A ranking policy's prices for a decision about nodes there are: asked once for all that pools sell, used for whatever is
//! tried.
//!
//! The question is the one that is asked about waiting pods, but for what limits leave: nodes that are removed may make room for others
//! of their pool. A node that stands is worth what one more of its offering costs: then replacing it by its like saves
//! nothing, whatever the prices, and two moves can never undo each other at the same prices. What the policy vetoes, and what is
//! not sold just now, is worth its list price while it stands.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_base::ids::PoolName;
use plimsoll_base::labels::{self, Labels};
use plimsoll_base::units::PricePerHour;
use plimsoll_hooks::rank::{PriceQuestion, Prices};
use plimsoll_model::snapshot::Snapshot;

use super::question::{self, QuestionRows};
use super::sale::{Offers, Sale};
use crate::offers::templates::templates;

/// Question to a ranking policy about all that the pools of a snapshot sell; `None` when they sell nothing.
pub fn price_question(snapshot: &Snapshot, offers: &Arc<Offers>) -> Option<PriceQuestion> {
    let listed = offers.listed.as_ref()?;
    let templates = templates(snapshot, &offers.overlaid, None);
    let candidates = offers.candidates(&templates);
    let any = candidates.iter().any(|own| !own.is_empty());
    let supply = offers.supply(snapshot);
    any.then(|| question::put(snapshot, &supply, &templates, listed, candidates))
}

/// Rows that share their first nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FirstNodes {
    /// One row by itself.
    Row(usize),
    /// Those of a group.
    Group(u32),
}

/// The answer to [`price_question`].
pub struct Quoted {
    offers: Arc<Offers>,
    /// By template, with the number of its class's catalogue.
    pools: Vec<(PoolName, usize)>,
    /// By template: where its part of the answer begins.
    starts: Vec<usize>,
    prices: Arc<Prices>,
}

impl Quoted {
    /// Takes in the answer to the question about this snapshot and these offers.
    pub fn new(snapshot: &Snapshot, offers: &Arc<Offers>, prices: Prices) -> Self {
        let templates = templates(snapshot, &offers.overlaid, None);
        let lengths = offers.candidates(&templates).iter().map(Vec::len);
        let begin = |sum: &mut usize, length: usize| {
            let start = *sum;
            *sum += length;
            Some(start)
        };
        Self {
            offers: Arc::clone(offers),
            starts: lengths.scan(0, begin).collect(),
            pools: templates
                .iter()
                .map(|template| (template.pool.name.clone(), template.class))
                .collect(),
            prices: Arc::new(prices),
        }
    }

    /// Worth per hour of an existing node, without its own cost: the price of one more like it. `None` where the policy does not
    /// say or vetoes it.
    pub fn worth(&self, pool: &PoolName, labels: &Labels) -> Option<PricePerHour> {
        let price = self.prices.rows.get(self.row_of(pool, labels)?)?;
        let first = price.first.price.filter(|_| price.first_count > 0);
        first.or(price.then.price)
    }

    /// Cost per hour of a node that is bought back after others, which have used up first prices as `bought` says. `None` where
    /// the policy does not say or vetoes it.
    pub fn buy_back(
        &self,
        pool: &PoolName,
        labels: &Labels,
        bought: &mut BTreeMap<FirstNodes, u32>,
    ) -> Option<PricePerHour> {
        let row = self.row_of(pool, labels)?;
        let price = self.prices.rows.get(row)?;
        let firsts = match price.first_group {
            0 => FirstNodes::Row(row),
            group => FirstNodes::Group(group),
        };
        let used = bought.entry(firsts).or_default();
        if *used < price.first_count && price.first.price.is_some() {
            *used += 1;
            return price.first.price;
        }
        price.then.price
    }

    /// The row of the answer that speaks of a node with these labels.
    fn row_of(&self, pool: &PoolName, labels: &Labels) -> Option<usize> {
        let template = self.pools.iter().position(|(name, _)| name == pool)?;
        let catalogue = self.offers.overlaid.of(pool);
        let types = catalogue.types();
        let name = labels.get(labels::INSTANCE_TYPE)?;
        let type_at = types.binary_search_by(|have| have.name.as_str().cmp(name));
        let sold = &types[type_at.ok()?];
        let offering = sold.offering_of(catalogue.provider(), labels)?;
        let mut offerings = sold.offerings.iter();
        let offering_at = offerings.position(|own| std::ptr::eq(own, offering))?;
        let (listed, (_, class)) = (self.offers.listed.as_ref()?, &self.pools[template]);
        let sold = (type_at.ok()?, offering_at);
        let position = listed.position_at(*class, sold, offering.price)?;
        self.row(template, position)
    }

    fn row(&self, template: usize, position: u32) -> Option<usize> {
        let asked = self.offers.asked.get()?.get(template)?;
        let at = asked.binary_search(&position).ok()?;
        Some(self.starts.get(template)? + at)
    }

    /// Where rows stand in the question about them alone, and the answer as if that had been asked. What is not in this answer
    /// is vetoed; `None` where there are no rows.
    pub(crate) fn over(&self, sale: &Sale<'_>) -> Option<(Arc<QuestionRows>, Arc<Prices>)> {
        let slots = question::slots(sale)?;
        let own = Arc::ptr_eq(&self.offers, &sale.offers);
        let asked = self.offers.asked.get().filter(|_| own);
        if asked.is_some_and(|asked| **asked == slots.of_template) {
            return Some((slots, Arc::clone(&self.prices)));
        }
        let count = slots.of_template.iter().map(Vec::len).sum();
        let mut prices = Prices::all_vetoed(count);
        let of_template = slots.of_template.iter().enumerate();
        let positions =
            of_template.flat_map(|(template, own)| own.iter().map(move |at| (template, *at)));
        for (row, (template, position)) in positions.enumerate().filter(|_| own) {
            let Some(asked) = self.row(template, position) else {
                continue;
            };
            if let Some(price) = self.prices.rows.get(asked) {
                prices.rows[row] = *price;
            }
            if let Some(why) = self.prices.held_because(asked) {
                prices.hold(row..row.saturating_add(1), why);
            }
        }
        Some((slots, Arc::new(prices)))
    }
}
