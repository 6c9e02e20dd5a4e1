//! A second look at pods that a plan left out, once all else is in place.
//!
//! Limits are shared out while it is still open what is bought, and domains fill up in the order of the queue, so that a pod may be
//! left out though the finished plan leaves room for a node of its own.

use super::buy::Purchases;
use super::draft::{DraftPlan, assemble, open_tier, unpriced};
use super::parts::Part;
use crate::bits::Bits;
use crate::schedule::batch::attach_slots::AttachSlots;
use crate::schedule::batch::compile::Compiled;
use crate::schedule::claims::named::cheapest;
use crate::schedule::guards::{self, addresses};
use crate::schedule::place::strategy::PackingStrategy;
use crate::schedule::place::{Placer, Tier};
use crate::schedule::prices::RowPrices;
use crate::schedule::prices::supplies::Supplies;
use crate::snapshot::Guards;

/// The plan with those of its left-out pods that find a place beside it, in pools packed by price; the plan itself where none does.
pub(super) fn second_look(
    compiled: &Compiled<'_>,
    prices: &RowPrices,
    guards: &Guards,
    part: &Part,
    plan: DraftPlan,
) -> DraftPlan {
    // Room that is only kept is not a pod: no affinity may be met by it.
    let is_spare = |pod: usize| compiled.pods[pod].is_spare;
    if plan.waiting() == 0 || plan.placed().any(|(pod, _)| is_spare(pod)) {
        return plan;
    }
    let closed = guards::guard_excluded(compiled, guards);
    let tiers = tiers(compiled, prices, &closed, part);
    let strategy = PackingStrategy {
        slots: AttachSlots::are_counted(guards),
        ..PackingStrategy::default()
    };
    let mut placer = Placer::new(compiled, &tiers, &prices.planned, &strategy);
    let again = placer.replay(&plan.nodes, &plan.steps, &plan.targets);
    let (steps, bins) = (placer.steps.len(), placer.bins.len());
    if again {
        placer.try_beside(&plan.failed, part.templates.len()..tiers.len());
    }
    if placer.steps.len() == steps {
        return plan;
    }
    let mut supplies = Supplies::new(prices);
    for node in &plan.nodes {
        supplies.take(node.row, node.price);
    }
    let mut nodes = plan.nodes.clone();
    for bin in &placer.bins[bins..] {
        let mut node = unpriced(&placer, bin);
        if let Some((row, price)) = cheapest(compiled, prices, &supplies, &node) {
            (node.row, node.price) = (row, price);
            supplies.take(row, price);
            nodes.push(node);
        }
    }
    let result = assemble(&placer, &Purchases::default(), nodes);
    if result.failed.len() >= plan.failed.len() {
        return plan;
    }
    DraftPlan {
        overdrawn: addresses::overdrawn(compiled, guards, &result.nodes),
        notes: plan.notes,
        kept_within: plan.kept_within,
        ..result
    }
}

/// Every pool as it is, for nodes that are planned, then those in which more may be opened, without rows that are closed.
fn tiers(compiled: &Compiled<'_>, prices: &RowPrices, closed: &Bits, part: &Part) -> Vec<Tier> {
    let all = part.templates.iter();
    let all: Vec<Tier> = all
        .map(|template| open_tier(compiled, prices, *template))
        .collect();
    let opened = all.iter().cloned().zip(&part.templates);
    let opened = opened.map(|(mut tier, template)| {
        if compiled.templates[*template].is_compatible() {
            tier.rows = Bits::none(compiled.rows.len());
        } else {
            tier.rows.drop_all(closed);
        }
        tier
    });
    let opened: Vec<Tier> = opened.collect();
    all.into_iter().chain(opened).collect()
}
