//! From the new nodes of a simulation to claims, if whatever a launch gives is cheaper than what goes.
//!
//! A claim names ways to buy of the capacity type of the planned one alone, so that a launch on spot never falls back to on-demand,
//! and only types whose dearest way is below its part of the ceiling. Where a single replacement for several nodes could be of
//! a type that goes, it must be cheaper than the cheapest node of that type: else keeping that node does the same. Spot for
//! spot needs its gate and, for one node, a choice of fifteen cheaper types, of which the cheapest are kept.
//! Contract: sections 10.3, 11, 12 and 13.1 of the disruption contract.

use std::collections::{BTreeMap, BTreeSet};

use plimsoll_model::catalogue::CapacityType;
use plimsoll_model::plan::{MAX_LAUNCH_TYPES, PlannedClaim};

use super::{Simulator, cost_cap};
use crate::batch::attach_slots::AttachSlots;
use crate::batch::minimum;
use crate::claims::named::{Reach, capacity_type, cheapest, close, named_rows, wanted_spot};
use crate::fleet::buy::buy;
use crate::fleet::draft::{bought, unpriced};
use crate::guards;
use crate::place::new_node::NewNode;
use crate::place::{PlacementStep, Placer};
use crate::prices::supplies::Supplies;

/// Cheaper types that a spot node's spot replacement must have to choose from, and the most it names.
pub const SPOT_TYPES: usize = 15;

/// Counted work of the packer: one good fleet is enough to tell whether a move pays.
const EFFORT: u32 = 0;

/// Bound on the cost of new nodes, and the nodes that they replace.
#[derive(Clone, Copy, Debug)]
pub struct Ceiling<'a> {
    /// Nano-dollars per hour that they must cost less than, at the prices that decide.
    pub nanos: i64,
    /// The nodes that they replace.
    pub leaving: &'a [usize],
    /// `true` if spot nodes may be replaced by spot nodes.
    pub spot_to_spot: bool,
}

/// The new nodes of a simulation that pods have joined one by one, each as the cheapest that holds its pods.
pub(super) fn opened(
    simulator: &Simulator<'_>,
    placer: &Placer<'_, '_>,
    supplies: &Supplies<'_>,
) -> Option<Vec<NewNode>> {
    let priced = placer.simulated_bins().map(|bin| {
        let mut node = unpriced(placer, &placer.bins[bin]);
        if !holds_exempt(simulator, placer, &node) {
            node.rows.drop_all(&simulator.guard_excluded);
        }
        (node.row, node.price) = cheapest(&simulator.compiled, &simulator.prices, supplies, &node)?;
        Some(node)
    });
    priced.collect()
}

/// The new nodes of a simulation whose pods wait on nodes of their own, as the packer merges them.
pub(super) fn packed(
    simulator: &Simulator<'_>,
    placer: &Placer<'_, '_>,
    supplies: &Supplies<'_>,
) -> Option<Vec<NewNode>> {
    let guards = &simulator.compiled.snapshot.settings.guards;
    let mut nodes = Vec::new();
    for tier in simulator.closed() {
        let bins: Vec<usize> = placer
            .simulated_bins()
            .filter(|bin| placer.bins[*bin].tier == tier)
            .collect();
        if !bins.is_empty() {
            let purchases = buy(
                placer,
                &bins,
                &simulator.prices,
                supplies.left(),
                guards,
                EFFORT,
            );
            if !purchases.unplaced.is_empty() {
                return None;
            }
            let merged = purchases
                .nodes
                .iter()
                .map(|purchase| bought(placer, purchase));
            // Every type that holds its pods may be named; which are, is decided below.
            nodes.extend(merged.map(|node| NewNode {
                compatible: true,
                ..node
            }));
        }
    }
    Some(nodes)
}

/// The claims of new nodes; `None` where a rule refuses them.
pub(super) fn claims(
    simulator: &Simulator<'_>,
    placer: &Placer<'_, '_>,
    ceiling: &Ceiling<'_>,
    nodes: &[NewNode],
) -> Option<Vec<PlannedClaim>> {
    let total: i64 = nodes.iter().map(|node| node.price).sum();
    if total >= ceiling.nanos && !nodes.is_empty() {
        return None;
    }
    if !cost_cap::allows(simulator, placer, ceiling.leaving, nodes) {
        return None;
    }
    let closed = nodes.iter().map(|node| {
        if !keeps_guards(simulator, placer, node) {
            return None;
        }
        let part = i128::from(node.price) * i128::from(ceiling.nanos) / i128::from(total.max(1));
        let part = i64::try_from(part).unwrap_or(i64::MAX);
        let named = named(simulator, ceiling, node, part, nodes.len() == 1)?;
        let steps: Vec<&PlacementStep> =
            node.steps.iter().map(|step| &placer.steps[*step]).collect();
        Some(close(
            &simulator.compiled,
            &simulator.prices,
            node,
            &named,
            &steps,
        ))
    });
    closed.collect()
}

/// `true` if a new node holds a pod for which guards on kinds of instances yield.
fn holds_exempt(simulator: &Simulator<'_>, placer: &Placer<'_, '_>, node: &NewNode) -> bool {
    let pods = node.steps.iter().map(|step| placer.steps[*step].pod);
    simulator.exempt.are_among(&simulator.compiled, pods)
}

/// `true` if the guards that speak of single nodes hold on a new node of a row. Those on kinds of instances yield for pods that nothing else
/// would hold; the others do not yield to a move.
fn keeps_guards(simulator: &Simulator<'_>, placer: &Placer<'_, '_>, node: &NewNode) -> bool {
    let compiled = &simulator.compiled;
    let limits = &compiled.snapshot.settings.guards;
    let template = &compiled.templates[compiled.rows.rows[node.row].template];
    if !limits.enabled || template.is_compatible() {
        return true;
    }
    let mut replicas: BTreeMap<&plimsoll_base::ids::Uid, u32> = BTreeMap::new();
    for step in &node.steps {
        let pod = compiled.pods[placer.steps[*step].pod].row;
        if let Some(owner) = &compiled.snapshot.pods[pod].owner {
            *replicas.entry(&owner.uid).or_default() += 1;
        }
    }
    let most =
        |uid: &plimsoll_base::ids::Uid| simulator.replicas.get(uid).copied().unwrap_or(u32::MAX);
    (!simulator.guard_excluded.contains(node.row) || holds_exempt(simulator, placer, node))
        && node.steps.len() <= guards::most_pods(compiled, node.row, limits)
        && AttachSlots::has(compiled, limits, node.row, &node.attached)
        && replicas.iter().all(|(uid, count)| *count <= most(uid))
}

/// The rows that a claim names, the planned one first; `None` where too few are left below `limit`.
fn named(
    simulator: &Simulator<'_>,
    ceiling: &Ceiling<'_>,
    node: &NewNode,
    limit: i64,
    alone: bool,
) -> Option<Vec<usize>> {
    let compiled = &simulator.compiled;
    let own_capacity_type = capacity_type(compiled, node.row);
    let yields = simulator.guard_excluded.contains(node.row);
    let all = named_rows(compiled, &simulator.prices, node, Reach::Near, None);
    let guards = &compiled.snapshot.settings.guards;
    let may_name = |row: &usize| {
        capacity_type(compiled, *row) == own_capacity_type
            && (yields || !simulator.guard_excluded.contains(*row))
            && AttachSlots::has(compiled, guards, *row, &node.attached)
    };
    let all: Vec<usize> = all.into_iter().filter(may_name).collect();
    let mut below = cheaper(simulator, node, &all, limit)?;
    if alone && ceiling.leaving.len() > 1 {
        let own = same_type(simulator, ceiling.leaving, &below);
        below = cheaper(simulator, node, &below, own)?;
    }
    let is_spot = |row: &usize| {
        simulator
            .sold(*row)
            .is_some_and(|sold| sold.capacity_type == CapacityType::Spot)
    };
    let spot_for_spot =
        own_capacity_type == CapacityType::Spot && ceiling.leaving.iter().all(is_spot);
    if spot_for_spot && !ceiling.spot_to_spot {
        return None;
    }
    let few = spot_for_spot && ceiling.leaving.len() == 1;
    let kept = cut(simulator, node, &below, few);
    let types = types_of(simulator, &kept);
    let template = compiled.rows.rows[node.row].template;
    let enough = minimum::is_met(compiled, template, &node.minimum, kept.iter().copied())
        && !(few && types.len() < SPOT_TYPES);
    enough.then_some(kept)
}

/// Rows of types whose dearest way is below a limit; where the planned type is none of them, in its zone alone.
fn cheaper(
    simulator: &Simulator<'_>,
    node: &NewNode,
    rows: &[usize],
    limit: i64,
) -> Option<Vec<usize>> {
    let compiled = &simulator.compiled;
    let model = |row: usize| compiled.rows.rows[row].instance_type;
    let below = |rows: Vec<usize>| {
        let mut dearest: BTreeMap<usize, i64> = BTreeMap::new();
        for row in &rows {
            let most = dearest.entry(model(*row)).or_default();
            *most = (*most).max(price(simulator, node, *row));
        }
        let kept = rows.into_iter().filter(|row| dearest[&model(*row)] < limit);
        let kept: Vec<usize> = kept.collect();
        kept.contains(&node.row).then_some(kept)
    };
    let zone = |row: usize| &compiled.offering(row).1.zone;
    let here = || {
        rows.iter()
            .copied()
            .filter(|row| zone(*row) == zone(node.row))
    };
    below(rows.to_vec()).or_else(|| below(here().collect()))
}

fn price(simulator: &Simulator<'_>, node: &NewNode, row: usize) -> i64 {
    if row == node.row {
        node.price
    } else {
        simulator.prices.planned[row]
    }
}

/// Least worth of the leaving nodes of a type among these rows, in nano-dollars per hour: a replacement that may be of a type
/// that goes costs less. `i64::MAX` where they share no type.
fn same_type(simulator: &Simulator<'_>, leaving: &[usize], rows: &[usize]) -> i64 {
    let types = types_of(simulator, rows);
    let sold = leaving.iter().filter_map(|row| simulator.sold(*row));
    let shared = sold.filter(|sold| types.contains(&sold.instance_type));
    shared
        .map(|sold| sold.worth.nanos())
        .min()
        .unwrap_or(i64::MAX)
}

fn types_of(simulator: &Simulator<'_>, rows: &[usize]) -> BTreeSet<usize> {
    let rows = rows.iter();
    rows.map(|row| simulator.compiled.rows.rows[*row].instance_type)
        .collect()
}

/// As many of the rows, cheapest types first, as a launch needs to choose from: those near the planned price, and more where
/// minimum values or the variety of spot capacity ask for it. `few`: fifteen types, or what minimum values need.
fn cut(simulator: &Simulator<'_>, node: &NewNode, rows: &[usize], few: bool) -> Vec<usize> {
    let compiled = &simulator.compiled;
    let near = node.price.saturating_mul(Reach::Near.percent());
    let spot_types = wanted_spot(compiled, node.row);
    let mut types: BTreeSet<usize> = BTreeSet::new();
    let mut values = compiled
        .choices()
        .tally(compiled.rows.rows[node.row].template);
    let mut kept = Vec::new();
    for row in rows {
        let own = compiled.rows.rows[*row].instance_type;
        let is_near = price(simulator, node, *row).saturating_mul(100) <= near;
        let wanted = if few {
            types.len() < SPOT_TYPES
        } else {
            is_near || types.len() < spot_types
        };
        let wanted = wanted || !values.meets(&node.minimum);
        if types.contains(&own) || (wanted && types.len() < MAX_LAUNCH_TYPES) {
            values.add(*row);
            types.insert(own);
            kept.push(*row);
        }
    }
    kept
}
