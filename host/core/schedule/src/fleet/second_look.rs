//! A second look at pods that a plan left out, once all else is in place.
//!
//! Limits are shared out while it is still open what is bought, and domains fill up in the order of the queue, so that a pod may be
//! left out though the finished plan leaves room for a node of its own.

use plimsoll_base::bits::Bits;
use plimsoll_model::snapshot::Guards;

use super::buy::Purchases;
use super::draft::{DraftPlan, assemble, open_tier, unpriced};
use super::held::in_one_domain;
use super::parts::Part;
use crate::batch::attach_slots::AttachSlots;
use crate::batch::compile::Compiled;
use crate::claims::named::cheapest;
use crate::guards::{self, addresses};
use crate::place::strategy::PackingStrategy;
use crate::place::{Placer, Tier};
use crate::prices::RowPrices;
use crate::prices::supplies::Supplies;

/// Left-out pods that are tried by themselves at most.
const MOST_ALONE: usize = 16;

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

/// The plan with those of its left-out pods that find a place once spreads look at nothing but nodes that are there and those of the
/// plan, as the kube-scheduler will; the plan itself where none does, or where its other pods could not be bound in order any more.
/// New nodes that might come in several domains are held to the planned one where that lets more pods in.
pub(crate) fn last_look(
    compiled: &Compiled<'_>,
    prices: &RowPrices,
    guards: &Guards,
    plan: DraftPlan,
) -> DraftPlan {
    let spreads = |pod: &usize| {
        let group = &compiled.groups[compiled.pods[*pod].group];
        let mut owned = group.last_levels().iter().flat_map(|level| &level.owned);
        owned.any(|owned| compiled.model.is_spread(*owned))
    };
    if !plan.failed.iter().any(spreads) {
        return plan;
    }
    let whole = Part::whole(compiled, &compiled.all());
    let beside = |plan: &DraftPlan| {
        let among = compiled.among_nodes(&rows_of(plan));
        let more = second_look(&among, prices, guards, &whole, plan.clone());
        let among = compiled.among_nodes(&rows_of(&more));
        let is_better = more.failed.len() < plan.failed.len() && more.overdrawn <= plan.overdrawn;
        (is_better && holds(&among, prices, guards, &whole, &more)).then_some(more)
    };
    let held = || {
        let nodes = plan.nodes.iter().map(|node| in_one_domain(compiled, node));
        let nodes = nodes.collect();
        beside(&DraftPlan {
            nodes,
            ..plan.clone()
        })
    };
    let together = beside(&plan).or_else(held);
    together.unwrap_or_else(|| one_by_one(compiled, plan, beside))
}

/// The plan with those of its left-out pods that find a place each by itself, one after the other.
fn one_by_one(
    compiled: &Compiled<'_>,
    mut plan: DraftPlan,
    beside: impl Fn(&DraftPlan) -> Option<DraftPlan>,
) -> DraftPlan {
    let failed = std::mem::take(&mut plan.failed).into_iter();
    let (spare, pods): (Vec<usize>, Vec<usize>) =
        failed.partition(|pod| compiled.pods[*pod].is_spare);
    plan.spare_failed = 0;
    let mut left_out = Vec::new();
    for (tried, pod) in pods.into_iter().enumerate() {
        plan.failed = vec![pod];
        let more = (tried < MOST_ALONE).then(|| beside(&plan)).flatten();
        match more {
            Some(more) => plan = more,
            None => left_out.push(pod),
        }
    }
    plan.failed = left_out;
    plan.leaving_out(spare)
}

/// What each new node of a plan may become.
fn rows_of(plan: &DraftPlan) -> Vec<&Bits> {
    plan.nodes.iter().map(|node| &node.rows).collect()
}

/// `true` if every pod of a plan may be bound in its order.
fn holds(
    compiled: &Compiled<'_>,
    prices: &RowPrices,
    guards: &Guards,
    part: &Part,
    plan: &DraftPlan,
) -> bool {
    let tiers = tiers(compiled, prices, &Bits::default(), part);
    let strategy = PackingStrategy {
        slots: AttachSlots::are_counted(guards),
        ..PackingStrategy::default()
    };
    let mut placer = Placer::new(compiled, &tiers, &prices.planned, &strategy);
    placer.replay(&plan.nodes, &plan.steps, &plan.targets)
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
