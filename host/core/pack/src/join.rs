//! The last touch to the fleet that is taken: nodes are joined where one node of another kind holds what several hold, for hardly
//! more money.
//!
//! Fleets within a tolerance count as equal, and of equal ones that of fewer nodes is better. The tolerance is spent where a node
//! saved costs least; joins that save money come first. Nodes drawn from a supply stay, since what they stand for is paid for.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::counts::RuleCounts;
use super::fleet::{PackedFleet, PackedGroup, holds, needs, usable};
use super::ledger::Ledger;
use super::model::Model;

/// In fleets of more groups than this, only nodes of the same load are joined.
const MANY_GROUPS: usize = 48;

/// A way to join nodes; ordered by what a node saved costs, then by what is joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Join {
    /// Cost per node saved, in nano-dollars per hour; below 0 where joining saves money.
    per_node: i64,
    /// Cost of one join in all, in nano-dollars per hour.
    extra: i64,
    /// The groups, which may be one and the same.
    groups: (usize, usize),
    /// Nodes that become one: of the first group as many as needed, of the second, if another, one.
    nodes: u32,
    /// The kind they become.
    kind: usize,
}

/// Joins nodes of `fleet` while its price stays within `ceiling`.
pub(super) fn join(fleet: &mut PackedFleet, model: &Model<'_>, ledger: &mut Ledger, ceiling: i64) {
    let mut slack = ceiling.saturating_sub(fleet.price(model));
    let across = fleet.groups.len() <= MANY_GROUPS;
    let mut open = BinaryHeap::new();
    for group in 0..fleet.groups.len() {
        find(fleet, model, group, across, &mut open);
    }
    while let Some(Reverse(join)) = open.pop() {
        let times = times(fleet, model, ledger, &join, slack);
        if times == 0 {
            continue;
        }
        slack -= join.extra.saturating_mul(i64::from(times));
        let (first, second) = join.groups;
        let mut load = fleet.groups[first].load.clone();
        for group in [first, second] {
            let taken = taken(&join) * times;
            let row = model.kinds[fleet.groups[group].kind].row;
            fleet.groups[group].count -= taken;
            ledger.give_back(model.problem, row, taken);
            if first == second {
                break;
            }
        }
        if first == second {
            for (_, units) in &mut load {
                *units *= join.nodes;
            }
        } else {
            load = sum(&load, &fleet.groups[second].load);
        }
        ledger.take(model.problem, model.kinds[join.kind].row, times);
        fleet.groups.push(PackedGroup {
            kind: join.kind,
            count: times,
            load,
        });
        find(fleet, model, fleet.groups.len() - 1, across, &mut open);
    }
    fleet.groups.retain(|group| group.count > 0);
}

/// How many nodes one join takes of each of its groups.
fn taken(join: &Join) -> u32 {
    if join.groups.0 == join.groups.1 {
        join.nodes
    } else {
        1
    }
}

/// How often a join can be made with the nodes, the limits and the money that are left.
fn times(fleet: &PackedFleet, model: &Model<'_>, ledger: &Ledger, join: &Join, slack: i64) -> u32 {
    let (first, second) = join.groups;
    let left = fleet.groups[first].count.min(fleet.groups[second].count) / taken(join);
    let affordable = ledger.affordable(model.problem, model.kinds[join.kind].row);
    let paid = match slack.checked_div(join.extra) {
        Some(times) if join.extra > 0 => u32::try_from(times.max(0)).unwrap_or(u32::MAX),
        _ => u32::MAX,
    };
    left.min(affordable).min(paid)
}

/// Finds ways to join nodes of a group with one another and, `across` groups, with those of earlier groups.
fn find(
    fleet: &PackedFleet,
    model: &Model<'_>,
    group: usize,
    across: bool,
    open: &mut BinaryHeap<Reverse<Join>>,
) {
    if draws_on_supply(model, fleet.groups[group].kind) {
        return;
    }
    open.extend(with_its_like(fleet, model, group).map(Reverse));
    if across {
        let others = (0..group).filter(|other| {
            let other = &fleet.groups[*other];
            other.count > 0 && !draws_on_supply(model, other.kind)
        });
        open.extend(
            others.filter_map(|other| with_another(fleet, model, other, group).map(Reverse)),
        );
    }
}

/// Ways to join nodes of one group: for each dearer kind, as many as it holds.
fn with_its_like(
    fleet: &PackedFleet,
    model: &Model<'_>,
    group: usize,
) -> impl Iterator<Item = Join> {
    let own = &fleet.groups[group];
    let needs = needs(model, &own.load);
    let usable = usable(model, &own.load);
    let price = model.kinds[own.kind].price;
    let most = own.count.min(allowed(model, &own.load, own.count));
    let dearer: Vec<usize> = usable.iter().filter(|kind| *kind > own.kind).collect();
    dearer.into_iter().filter_map(move |kind| {
        if draws_on_supply(model, kind) {
            return None;
        }
        let axes = model.kinds[kind].capacity.iter().zip(&needs);
        let fitting = axes
            .filter(|(_, need)| **need > 0)
            .map(|(have, need)| have / need);
        let nodes = most.min(u32::try_from(fitting.min().unwrap_or(0)).unwrap_or(u32::MAX));
        let extra = model.kinds[kind].price - price.checked_mul(i64::from(nodes))?;
        priced(extra, (group, group), nodes, kind)
    })
}

/// The cheapest way to join a node of one group with one of another.
fn with_another(fleet: &PackedFleet, model: &Model<'_>, one: usize, other: usize) -> Option<Join> {
    let (left, right) = (&fleet.groups[one], &fleet.groups[other]);
    let load = sum(&left.load, &right.load);
    let needs = needs(model, &load);
    let usable = usable(model, &load);
    let mut kinds = usable.iter().filter(|kind| !draws_on_supply(model, *kind));
    let kind = kinds.find(|kind| holds(&model.kinds[*kind].capacity, &needs))?;
    if allowed(model, &load, 1) == 0 {
        return None;
    }
    let price = |group: &PackedGroup| model.kinds[group.kind].price;
    let extra = model.kinds[kind].price - (price(left) + price(right));
    priced(extra, (one, other), 2, kind)
}

fn priced(extra: i64, groups: (usize, usize), nodes: u32, kind: usize) -> Option<Join> {
    let saved = i64::from(nodes) - 1;
    (saved > 0).then(|| Join {
        per_node: extra.div_euclid(saved),
        extra,
        groups,
        nodes,
        kind,
    })
}

/// How many times a load, up to `most`, rules admit on one node.
fn allowed(model: &Model<'_>, load: &[(usize, u32)], most: u32) -> u32 {
    let mut counts = RuleCounts::default();
    for times in 0..most {
        for &(item, units) in load {
            let memberships = model.classes[model.items[item].class].memberships;
            if counts.room_for(&model.problem.rules, memberships) < units {
                return times;
            }
            counts.add(memberships, units);
        }
        // A load that no rule concerns is admitted any number of times.
        if counts == RuleCounts::default() {
            return most;
        }
    }
    most
}

fn draws_on_supply(model: &Model<'_>, kind: usize) -> bool {
    model.problem.kinds[model.kinds[kind].row].supply.is_some()
}

/// Both loads, each item once.
fn sum(one: &[(usize, u32)], other: &[(usize, u32)]) -> Vec<(usize, u32)> {
    let mut load: Vec<(usize, u32)> = one.iter().chain(other).copied().collect();
    load.sort_unstable();
    load.dedup_by(|later, earlier| {
        let same = later.0 == earlier.0;
        if same {
            earlier.1 += later.1;
        }
        same
    });
    load
}
