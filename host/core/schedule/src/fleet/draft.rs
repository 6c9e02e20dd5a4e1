//! Two ways to a whole plan: by price, and by first fit in Karpenter's order.

use std::collections::BTreeSet;

use plimsoll_base::bits::Bits;
use plimsoll_base::units::PricePerHour;
use plimsoll_model::plan::{Note, Placement, Target};
use plimsoll_model::snapshot::Guards;

use super::address_rounds::within;
use super::buy::{Purchase, Purchases, buy};
use super::parts::Part;
use super::quotas::lowered_quotas;
use super::second_look::second_look;
use super::strategies;
use crate::batch::attach_slots::AttachSlots;
use crate::batch::compile::Compiled;
use crate::claims::named::{cheapest, keeps_minimum};
use crate::guards::addresses;
use crate::guards::spot_share;
use crate::offers::templates::Template;
use crate::place::address_budget::AddressBudget;
use crate::place::new_node::NewNode;
use crate::place::strategy::PackingStrategy;
use crate::place::{Bin, PlacementStep, Placer, Tier, Where};
use crate::prices::RowPrices;
use crate::prices::supplies::Supplies;
use crate::topology::TopologyRule;

/// Rounds in which pods that a limit left without a node look for another pool.
const MOST_ROUNDS: usize = 6;

/// A whole plan, still in rows of the tables.
#[derive(Clone, Debug, Default)]
pub(crate) struct DraftPlan {
    /// Nodes to buy.
    pub(crate) nodes: Vec<NewNode>,
    /// Pods placed, in order.
    pub(crate) steps: Vec<PlacementStep>,
    /// Where each step leads.
    pub(super) targets: Vec<Target>,
    /// Pods that found no place, as positions in the batch.
    pub(crate) failed: Vec<usize>,
    /// How many of them stand for room that is only kept.
    pub(super) spare_failed: usize,
    /// Addresses that nodes take beyond those that zones have left.
    pub(crate) overdrawn: i64,
    /// `true` if it is another plan than it would be if addresses were not counted.
    pub(crate) kept_within: bool,
    /// Remarks.
    pub(crate) notes: Vec<Note>,
}

impl DraftPlan {
    /// Sort key of plans, the least being the best: pods unplaced, spare room not kept, addresses that are not there, preferences
    /// given up, price, nodes.
    pub(crate) fn rank(&self) -> (usize, usize, i64, u64, PricePerHour, usize) {
        let given_up = self.steps.iter().map(|step| step.level as u64).sum();
        (
            self.waiting(),
            self.spare_failed,
            self.overdrawn,
            given_up,
            self.planned(),
            self.nodes.len(),
        )
    }

    /// Pods that exist and found no place.
    pub(crate) fn waiting(&self) -> usize {
        self.failed.len() - self.spare_failed
    }

    /// The same plan, in which no room is kept for pods that were left out of it.
    pub(crate) fn leaving_out(mut self, spare: Vec<usize>) -> Self {
        self.spare_failed = spare.len();
        self.failed.extend(spare);
        self.failed.sort_unstable();
        self
    }

    /// Cost at the prices that decide.
    pub(crate) fn planned(&self) -> PricePerHour {
        self.nodes
            .iter()
            .map(|node| PricePerHour::from_nanos(node.price))
            .sum()
    }

    /// Cost at the provider's prices.
    pub(crate) fn list(&self, prices: &RowPrices) -> PricePerHour {
        self.nodes
            .iter()
            .map(|node| PricePerHour::from_nanos(prices.list[node.row]))
            .sum()
    }

    /// Pods with their places, in the order in which they may be bound.
    pub(crate) fn placements(&self, compiled: &Compiled<'_>) -> Vec<Placement> {
        let placement = |(step, target): (&PlacementStep, &Target)| Placement {
            pod: compiled.pods[step.pod].row,
            target: *target,
            relaxed: compiled.given_up(step.pod, step.level),
        };
        self.steps
            .iter()
            .zip(&self.targets)
            .map(placement)
            .collect()
    }

    /// Pods placed, with the step of relaxation at which they were.
    pub(crate) fn placed(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.steps.iter().map(|step| (step.pod, step.level))
    }
}

/// First fit in Karpenter's order of a part of the batch, in every pool that it may use, within what zones may take.
pub(crate) fn first_fit(
    compiled: &Compiled<'_>,
    prices: &RowPrices,
    part: &Part,
    budget: &AddressBudget,
) -> DraftPlan {
    let tiers = part.templates.iter();
    let tiers: Vec<Tier> = tiers
        .map(|template| open_tier(compiled, prices, *template))
        .collect();
    let guards = &compiled.snapshot.settings.guards;
    let strategy = PackingStrategy {
        budget: budget.clone(),
        effort: part.effort,
        ..PackingStrategy::default()
    };
    in_rounds(compiled, prices, guards, &tiers, &part.pods, strategy)
}

/// By price where pools allow it, for a part of the batch; pools in `compatible` packing keep Karpenter's order.
pub(crate) fn by_price(
    compiled: &Compiled<'_>,
    prices: &RowPrices,
    guards: &Guards,
    part: &Part,
) -> DraftPlan {
    let attempt = |budget: &AddressBudget| {
        let first = by_minimum(compiled, prices, guards, part, budget);
        let mut result = second_look(compiled, prices, guards, part, first);
        spot_share::spread(compiled, prices, guards, &mut result.nodes);
        result.overdrawn = addresses::overdrawn(compiled, guards, &result.nodes);
        result
    };
    let first = attempt(&AddressBudget::default());
    within(compiled, prices, guards, first, attempt)
}

/// Pools that ask for a minimum of values are packed in both ways: by price the minimum is known to hold only once pods have
/// narrowed a node; in Karpenter's order it is kept pod by pod.
fn by_minimum(
    compiled: &Compiled<'_>,
    prices: &RowPrices,
    guards: &Guards,
    part: &Part,
    budget: &AddressBudget,
) -> DraftPlan {
    let order = price_order(compiled, &part.pods);
    let plan = |minimum: MinimumBy| {
        let tiers = tiers(compiled, prices, part, minimum);
        strategies::best_of(compiled, &order, part.effort, |order, strategy| {
            let strategy = PackingStrategy {
                budget: budget.clone(),
                effort: part.effort,
                ..strategy
            };
            in_rounds(compiled, prices, guards, &tiers, order, strategy)
        })
    };
    let asks = |template: &Template| !template.is_compatible() && template.has_minimum_values();
    let mut templates = part.templates.iter();
    if !templates.any(|template| asks(&compiled.templates[*template])) {
        return plan(MinimumBy::Price);
    }
    let (bought, in_order) = (plan(MinimumBy::Price), plan(MinimumBy::Order));
    let guarded = crate::guards::guard_excluded(compiled, guards);
    let keeps = |node: &NewNode| keeps_minimum(compiled, prices, node, Some(&guarded));
    if bought.nodes.iter().all(keeps) && bought.rank() <= in_order.rank() {
        bought
    } else {
        in_order
    }
}

/// How pools that ask for a minimum of values are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MinimumBy {
    /// By price.
    Price,
    /// In Karpenter's order.
    Order,
}

/// Places and buys; where limits or supplies leave bins without a node, again with fewer of their pods in that tier, so that
/// the others look for another pool.
fn in_rounds(
    compiled: &Compiled<'_>,
    prices: &RowPrices,
    guards: &Guards,
    tiers: &[Tier],
    order: &[usize],
    mut strategy: PackingStrategy,
) -> DraftPlan {
    strategy.slots = AttachSlots::are_counted(guards);
    let mut round = 0;
    loop {
        round += 1;
        let mut placer = Placer::new(compiled, tiers, &prices.planned, &strategy);
        placer.run(order.iter().copied());
        let mut supplies = Supplies::new(prices);
        let mut purchases = buy_all(
            &placer,
            prices,
            guards,
            &mut supplies,
            tiers,
            strategy.effort,
        );
        let open = open_nodes(
            &placer,
            prices,
            &mut supplies,
            tiers,
            &mut purchases.unplaced,
        );
        if purchases.unplaced.is_empty() {
            let mut result = assemble(&placer, &purchases, open);
            result.overdrawn = addresses::overdrawn(compiled, guards, &result.nodes);
            return result;
        }
        let may_avoid_limited_pools = placer.had_choice && !strategy.avoids_limited_pools;
        let lowered = lowered_quotas(&placer, &purchases.unplaced, round >= MOST_ROUNDS);
        drop(placer);
        if may_avoid_limited_pools {
            strategy.avoids_limited_pools = true;
        } else {
            strategy.quotas.extend(lowered);
        }
    }
}

/// Buys nodes for closed bins, tier by tier, out of what is left of each supply.
fn buy_all(
    placer: &Placer<'_, '_>,
    prices: &RowPrices,
    guards: &Guards,
    supplies: &mut Supplies<'_>,
    tiers: &[Tier],
    effort: u32,
) -> Purchases {
    let mut result = Purchases::default();
    for (tier, _) in tiers.iter().enumerate().filter(|(_, tier)| !tier.open) {
        let bins: Vec<usize> = (0..placer.bins.len())
            .filter(|bin| placer.bins[*bin].tier == tier)
            .collect();
        if !bins.is_empty() {
            let mut bought = buy(placer, &bins, prices, supplies.left(), guards, effort);
            for node in &bought.nodes {
                supplies.take(node.row, node.price);
            }
            result.nodes.append(&mut bought.nodes);
            result.unplaced.append(&mut bought.unplaced);
        }
    }
    result
}

/// The nodes of open tiers, each bought as the cheapest that fits. Those that only reservations can serve come first, the
/// fewest of them before others; bins for which nothing is left join `unplaced`.
fn open_nodes(
    placer: &Placer<'_, '_>,
    prices: &RowPrices,
    supplies: &mut Supplies<'_>,
    tiers: &[Tier],
    unplaced: &mut Vec<usize>,
) -> Vec<NewNode> {
    let is_open = |bin: &usize| tiers[placer.bins[*bin].tier].open;
    let mut bins: Vec<usize> = (0..placer.bins.len()).filter(is_open).collect();
    if !prices.reserved.is_empty() {
        let choices = |bin: usize| {
            let rows = placer.sets.bits(placer.bins[bin].rows);
            let own = rows.iter().map(|row| prices.reserved.get(&row));
            let supplies: Option<BTreeSet<&usize>> = own.collect();
            supplies.map_or(usize::MAX, |supplies| supplies.len())
        };
        bins.sort_by_cached_key(|bin| (choices(*bin), *bin));
    }
    let mut result = Vec::new();
    for number in bins {
        let mut node = unpriced(placer, &placer.bins[number]);
        match cheapest(placer.compiled, prices, supplies, &node) {
            Some((row, price)) => {
                (node.row, node.price) = (row, price);
                supplies.take(row, price);
                result.push(node);
            }
            None => unplaced.push(number),
        }
    }
    result
}

/// Pools in the order in which they are tried: by weight; pools packed by price share a tier with others of their weight.
fn tiers(
    compiled: &Compiled<'_>,
    prices: &RowPrices,
    part: &Part,
    minimum: MinimumBy,
) -> Vec<Tier> {
    let mut result: Vec<Tier> = Vec::new();
    let mut shared: Option<(u32, usize)> = None;
    for number in part.templates.iter().copied() {
        let template = &compiled.templates[number];
        let has_minimum = template.has_minimum_values();
        if template.is_compatible() || (has_minimum && minimum == MinimumBy::Order) {
            result.push(open_tier(compiled, prices, number));
            continue;
        }
        let rows = open_tier(compiled, prices, number).rows;
        if has_minimum {
            result.push(closed_tier(rows));
            continue;
        }
        match shared {
            Some((weight, at)) if weight == template.pool.weight => result[at].rows.join(&rows),
            _ => {
                shared = Some((template.pool.weight, result.len()));
                result.push(closed_tier(rows));
            }
        }
    }
    result
}

/// Pools whose new nodes each hold one pod until they are bought.
pub(crate) fn closed_tier(rows: Bits) -> Tier {
    Tier {
        rows,
        open: false,
        template: None,
    }
}

/// A pool by itself, whose nodes later pods may join.
pub(crate) fn open_tier(compiled: &Compiled<'_>, prices: &RowPrices, template: usize) -> Tier {
    let mut allowed: Bits = prices.allowed.clone();
    prices
        .first
        .iter()
        .for_each(|(row, _, _)| allowed.insert(*row));
    Tier {
        rows: compiled.rows.of_template[template].and(&allowed),
        open: true,
        template: Some(template),
    }
}

/// Queue order for packing by price: owners of host spread first, so that pods without a rule may join their nodes later.
fn price_order(compiled: &Compiled<'_>, pods: &[usize]) -> Vec<usize> {
    let owns_host_spread: Vec<bool> = compiled
        .groups
        .iter()
        .map(|group| {
            group.levels[0].owned.iter().any(|owned| {
                let rule = compiled.model.groups[*owned].identity.rule;
                compiled.model.is_by_host(*owned) && matches!(rule, TopologyRule::Spread { .. })
            })
        })
        .collect();
    let mut order = pods.to_vec();
    order.sort_by_key(|pod| !owns_host_spread[compiled.pods[*pod].group]);
    order
}

/// Gathers the nodes of a placement, bought or open, and puts the steps in order.
pub(super) fn assemble(
    placer: &Placer<'_, '_>,
    purchases: &Purchases,
    open: Vec<NewNode>,
) -> DraftPlan {
    let bought = purchases
        .nodes
        .iter()
        .map(|purchase| bought(placer, purchase));
    let mut nodes: Vec<NewNode> = bought.chain(open).collect();
    nodes.sort_by_key(|node| node.steps.first().copied());
    let mut node_of: Vec<Option<usize>> = vec![None; placer.steps.len()];
    for (number, node) in nodes.iter().enumerate() {
        for step in &node.steps {
            node_of[*step] = Some(number);
        }
    }
    let mut result = DraftPlan {
        failed: placer.failed.clone(),
        ..DraftPlan::default()
    };
    let mut position = vec![0; placer.steps.len()];
    for (at, step) in placer.steps.iter().enumerate() {
        let target = match (step.place, node_of[at]) {
            (Where::Existing(row), _) => Target::Existing(row),
            (Where::Bin(_), Some(node)) => Target::New(node),
            (Where::Bin(_), None) => {
                result.failed.push(step.pod);
                continue;
            }
        };
        position[at] = result.steps.len();
        result.steps.push(*step);
        result.targets.push(target);
    }
    for node in &mut nodes {
        for step in &mut node.steps {
            *step = position[*step];
        }
    }
    result.nodes = nodes;
    result.failed.sort_unstable();
    let pods = &placer.compiled.pods;
    let spare = result.failed.iter().filter(|pod| pods[**pod].is_spare);
    result.spare_failed = spare.count();
    result
}

/// The node of a purchase.
pub(crate) fn bought(placer: &Placer<'_, '_>, purchase: &Purchase) -> NewNode {
    let first = &placer.bins[purchase.bins[0]];
    let mut rows = placer.sets.bits(first.rows).clone();
    let mut used: Box<[i64]> = first.used.clone();
    let mut steps = first.steps.clone();
    let mut minimum = first.minimum.clone();
    for bin in &purchase.bins[1..] {
        let bin = &placer.bins[*bin];
        // Bins of one node are of one pool, so their minima have the same keys.
        for ((_, least), (_, other)) in minimum.iter_mut().zip(&bin.minimum) {
            *least = (*least).max(*other);
        }
        rows.keep(placer.sets.bits(bin.rows));
        used.iter_mut()
            .zip(&bin.used)
            .for_each(|(sum, more)| *sum = sum.saturating_add(*more));
        steps.extend_from_slice(&bin.steps);
    }
    steps.sort_unstable();
    NewNode {
        row: purchase.row,
        price: purchase.price,
        rows,
        used,
        attached: attached(placer, &steps),
        addresses: addresses::of_steps(placer, &steps),
        steps,
        minimum,
        compatible: false,
    }
}

/// A new node for the pods of a bin before a row and its price are chosen.
pub(crate) fn unpriced(placer: &Placer<'_, '_>, bin: &Bin) -> NewNode {
    NewNode {
        row: 0,
        price: 0,
        rows: placer.sets.bits(bin.rows).clone(),
        used: bin.used.clone(),
        steps: bin.steps.clone(),
        attached: attached(placer, &bin.steps),
        addresses: addresses::of_steps(placer, &bin.steps),
        minimum: bin.minimum.clone(),
        compatible: true,
    }
}

/// Attach slots that the pods of some steps take on one node, by driver.
fn attached(placer: &Placer<'_, '_>, steps: &[usize]) -> Box<[i64]> {
    let pods = steps.iter().map(|step| placer.steps[*step].pod);
    placer.compiled.slots.taken(pods)
}
