//! From a node to buy to a claim: which way to buy is planned, and which others the claim names, in launch order.
//!
//! A claim packed by price names the types within [`Reach`] of the planned one's price, more where minimum values or
//! spot flexibility ask for it, at most [`MAX_LAUNCH_TYPES`]; a claim packed as Karpenter does names every type that holds
//! it, at most [`MAX_CLAIM_TYPES`]. A claim that draws on a reservation names that reservation alone. All named offerings can
//! hold all of its pods where topology has put them.

use std::collections::BTreeSet;
use std::sync::Arc;

use plimsoll_base::bits::Bits;
use plimsoll_base::units::PricePerHour;
use plimsoll_model::catalogue::CapacityType;
use plimsoll_model::plan::{LaunchOption, MAX_CLAIM_TYPES, MAX_LAUNCH_TYPES, PlannedClaim};
use plimsoll_model::snapshot::MinValuesPolicy;

use super::claim::claim;
use crate::batch::attach_slots::AttachSlots;
use crate::batch::compile::Compiled;
use crate::batch::minimum;
use crate::offers::axes::fits;
use crate::place::PlacementStep;
use crate::place::new_node::NewNode;
use crate::prices::RowPrices;
use crate::prices::supplies::Supplies;

/// How far from the planned price a claim packed by price looks for other types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Up to 115 % of it: prices decide, and others are named so that a launch has a choice.
    Near,
    /// Up to 300 % of it, as much as a policy may make a plan dearer: for a policy that only orders.
    Far,
}

impl Reach {
    /// Named types cost at most this share of the planned one's price.
    pub(crate) const fn percent(self) -> i64 {
        match self {
            Self::Near => 115,
            Self::Far => 300,
        }
    }
}

/// The cheapest row that holds a node's pods, with its price now; `None` when no row is left that may be bought, or when its
/// claim would name too few values for a strict minimum. A row drawing on a reservation is skipped where its claim, which names
/// the reservation alone, leaves too few.
pub(crate) fn cheapest(
    compiled: &Compiled<'_>,
    prices: &RowPrices,
    supplies: &Supplies<'_>,
    node: &NewNode,
) -> Option<(usize, i64)> {
    let first = |reserved: bool| {
        let holds = |row: &usize| fits(&node.used, compiled.rows.capacity(*row));
        let rows = prices.order.among(&node.rows).filter(holds);
        let mut priced = rows
            .filter(|row| reserved || !supplies.is_reserved(*row))
            .filter_map(|row| Some((row, supplies.price(row)?)));
        // Only a supply has another price than the one by which rows are ranked.
        if prices.supplies.is_empty() {
            priced.next()
        } else {
            priced.min_by_key(|(row, price)| (*price, prices.order.position(*row)))
        }
    };
    let best = first(true);
    if node.minimum.is_empty() {
        return best;
    }
    let keeps = |(row, price): &(usize, i64)| {
        let planned = NewNode {
            row: *row,
            price: *price,
            ..node.clone()
        };
        keeps_minimum(compiled, prices, &planned, None)
    };
    let other = || first(false).filter(keeps);
    let lowers = compiled.snapshot.settings.min_values == MinValuesPolicy::BestEffort;
    best.filter(keeps)
        .or_else(other)
        .or(best.filter(|_| lowers))
}

/// `true` if a node's claim names enough values for its minimum.
pub(crate) fn keeps_minimum(
    compiled: &Compiled<'_>,
    prices: &RowPrices,
    node: &NewNode,
    guarded: Option<&Bits>,
) -> bool {
    let named = named_rows(compiled, prices, node, Reach::Near, guarded);
    let template = compiled.rows.rows[node.row].template;
    minimum::is_met(compiled, template, &node.minimum, named.into_iter())
}

/// Turns a node into a claim that names these rows, best first.
pub(crate) fn close(
    compiled: &Compiled<'_>,
    prices: &RowPrices,
    node: &NewNode,
    named: &[usize],
    steps: &[&PlacementStep],
) -> PlannedClaim {
    let price = |row: usize| {
        if row == node.row {
            node.price
        } else {
            prices.planned[row]
        }
    };
    let options: Vec<LaunchOption> = named
        .iter()
        .map(|row| option(compiled, *row, price(*row)))
        .collect();
    let template = compiled.rows.rows[node.row].template;
    let minimum = minimum::of_claim(compiled, template, &node.minimum, named);
    claim(compiled, node.row, named, options, steps, &minimum)
}

/// Rows that one claim can name beside the chosen one: those of its pool and label state; drawing on the same reservation, or on
/// none; and, where limits bind, not larger. A node packed as Karpenter does was charged at the largest instance it may
/// become, so limits leave it all of them.
fn alike<'c>(
    compiled: &'c Compiled<'_>,
    prices: &'c RowPrices,
    node: &NewNode,
) -> impl Fn(usize) -> bool + 'c {
    let chosen = node.row;
    let model = &compiled.rows.rows[chosen];
    let compatible = node.compatible;
    move |row| {
        let other = &compiled.rows.rows[row];
        let (most, own) = (compiled.rows.spends(chosen), compiled.rows.spends(row));
        other.template == model.template
            && other.state == model.state
            && prices.reserved.get(&row) == prices.reserved.get(&chosen)
            && (compatible || fits(own, most))
    }
}

/// The rows that the claim names, best first: the planned one, then others in launch order. In a pool packed by price it
/// names what guards keep from being bought, `guarded`, only where they have yielded. Rows that attach fewer volumes than
/// the node's pods use are named where the planned one is no better. A node packed as Karpenter does names both, last,
/// where too few values would be left without them.
pub(crate) fn named_rows(
    compiled: &Compiled<'_>,
    prices: &RowPrices,
    node: &NewNode,
    reach: Reach,
    guarded: Option<&Bits>,
) -> Vec<usize> {
    let guards = &compiled.snapshot.settings.guards;
    let template = &compiled.templates[compiled.rows.rows[node.row].template];
    let guarded = guarded.filter(|rows| !template.is_compatible() && !rows.contains(node.row));
    let takes_slots = node.attached.iter().any(|taken| *taken > 0);
    let attaches = |row: usize| AttachSlots::has(compiled, guards, row, &node.attached);
    let counts_slots = takes_slots && attaches(node.row);
    let within_guards = |row: usize| {
        guarded.is_none_or(|rows| !rows.contains(row)) && (!counts_slots || attaches(row))
    };
    let all = |allowed: &dyn Fn(usize) -> bool| rows_among(compiled, prices, node, reach, allowed);
    let named = all(&within_guards);
    let number = compiled.rows.rows[node.row].template;
    let is_met = || minimum::is_met(compiled, number, &node.minimum, named.iter().copied());
    if node.compatible && !is_met() {
        let mut all = all(&|_| true);
        all.sort_by_key(|row| !within_guards(*row));
        return all;
    }
    named
}

/// The planned row and the others among those allowed that a claim names, best first.
fn rows_among(
    compiled: &Compiled<'_>,
    prices: &RowPrices,
    node: &NewNode,
    reach: Reach,
    allowed: &dyn Fn(usize) -> bool,
) -> Vec<usize> {
    let alike = alike(compiled, prices, node);
    let may_name = |row: &usize| {
        *row != node.row
            && fits(&node.used, compiled.rows.capacity(*row))
            && prices.buyable(*row)
            && allowed(*row)
            && alike(*row)
    };
    let others = prices.order.among(&node.rows).filter(may_name);
    let most = if node.compatible {
        MAX_CLAIM_TYPES
    } else {
        MAX_LAUNCH_TYPES
    };
    let wanted_spot = wanted_spot(compiled, node.row);
    let ceiling = node.price.saturating_mul(reach.percent());
    let mut types: BTreeSet<usize> = BTreeSet::new();
    let mut spot_types: BTreeSet<usize> = BTreeSet::new();
    let mut values = compiled
        .choices()
        .tally(compiled.rows.rows[node.row].template);
    let mut named = Vec::new();
    for row in std::iter::once(node.row).chain(others) {
        let instance_type = compiled.rows.rows[row].instance_type;
        let near = prices.planned[row].saturating_mul(100) <= ceiling;
        let few_types = spot_types.len() < wanted_spot;
        let few_values = !values.meets(&node.minimum);
        let always = row == node.row || node.compatible || near;
        if !(always || few_types || few_values) {
            // Later rows are dearer still.
            break;
        }
        let is_spot = capacity_type(compiled, row) == CapacityType::Spot;
        let spot_short = few_types && is_spot;
        let wanted = always || spot_short || few_values;
        if wanted && (types.contains(&instance_type) || types.len() < most) {
            types.insert(instance_type);
            if is_spot {
                spot_types.insert(instance_type);
            }
            values.add(row);
            named.push(row);
        }
    }
    named
}

/// Spot types that a claim names at least, where there are so many, if `row` is its first way to buy.
pub(crate) fn wanted_spot(compiled: &Compiled<'_>, row: usize) -> usize {
    let guards = &compiled.snapshot.settings.guards;
    if guards.enabled && capacity_type(compiled, row) == CapacityType::Spot {
        guards.spot_types as usize
    } else {
        0
    }
}

/// The capacity type of a row's offering.
pub(crate) fn capacity_type(compiled: &Compiled<'_>, row: usize) -> CapacityType {
    compiled.offering(row).1.capacity_type
}

fn option(compiled: &Compiled<'_>, row: usize, price: i64) -> LaunchOption {
    let (instance_type, offering) = compiled.offering(row);
    LaunchOption {
        instance_type: instance_type.name.clone(),
        zone: Arc::clone(&offering.zone),
        capacity_type: offering.capacity_type,
        reservation: offering.reservation_id(),
        price: PricePerHour::from_nanos(price),
        list_price: offering.price,
    }
}
