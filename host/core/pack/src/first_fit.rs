//! First-fit decreasing: the reference that no answer may cost more than, and a candidate of its own.
//!
//! Items by falling value; each unit goes to the first node that holds it, and where none does, a node of the kind with the best
//! price for its value is opened. Nodes that hold the same are one group, split when only some of them receive a unit.

use super::counts::RuleCounts;
use super::fleet::{PackedFleet, PackedGroup, holds};
use super::ledger::Ledger;
use super::model::Model;
use super::worth::Worth;

/// Full nodes are set aside after every so many items.
const SWEEP_EVERY: usize = 16;

/// Nodes that hold the same, with what is left on each.
#[derive(Clone)]
struct Open {
    group: PackedGroup,
    room: Vec<i64>,
    counts: RuleCounts,
}

/// Buys nodes for everything the model asks for.
pub(super) fn first_fit(model: &Model<'_>, worth: &Worth, ledger: &mut Ledger) -> PackedFleet {
    let value = |item: usize| {
        let it = &model.items[item];
        worth.values.of(model, it.lot, it.class)
    };
    let mut order: Vec<usize> = (0..model.items.len()).collect();
    order.sort_by(|&a, &b| value(b).total_cmp(&value(a)).then(a.cmp(&b)));
    let least = least_request(model);
    let mut open: Vec<Open> = Vec::new();
    let mut full: Vec<PackedGroup> = Vec::new();
    let mut left = vec![0; model.items.len()];
    for (at, item) in order.into_iter().enumerate() {
        let rest = place_on_open(model, item, &mut open);
        left[item] = open_nodes(model, item, rest, worth, ledger, &mut open);
        if at % SWEEP_EVERY == 0 {
            let kept = open.extract_if(.., |node| !holds(&node.room, &least));
            full.extend(kept.map(|node| node.group));
        }
    }
    full.extend(open.into_iter().map(|node| node.group));
    PackedFleet { groups: full, left }
}

/// The least that any lot asks for, per axis.
fn least_request(model: &Model<'_>) -> Vec<i64> {
    let least = |axis: usize| model.lots.iter().map(|lot| lot.request[axis]).min();
    (0..model.problem.axes)
        .map(|axis| least(axis).unwrap_or(0))
        .collect()
}

/// Puts an item's units onto nodes in order; returns how many found no place.
fn place_on_open(model: &Model<'_>, item: usize, open: &mut Vec<Open>) -> u32 {
    let mut rest = model.items[item].count;
    let mut split: Vec<(usize, Open)> = Vec::new();
    for (at, node) in open.iter_mut().enumerate() {
        if rest == 0 {
            break;
        }
        let each = units_that_fit(model, item, node).min(rest);
        if each == 0 || !model.kinds_of(item).contains(node.group.kind) {
            continue;
        }
        let nodes = (rest / each).min(node.group.count);
        if nodes < node.group.count {
            let mut others = node.clone();
            others.group.count -= nodes;
            node.group.count = nodes;
            let remainder = rest - nodes * each;
            if remainder > 0 {
                let mut last = others.clone();
                last.group.count = 1;
                others.group.count -= 1;
                put(model, item, remainder, &mut last);
                split.push((at, last));
                rest = nodes * each;
            }
            if others.group.count > 0 {
                split.push((at, others));
            }
        }
        put(model, item, each, node);
        rest -= nodes * each;
    }
    for (at, node) in split.into_iter().rev() {
        open.insert(at + 1, node);
    }
    rest
}

/// Opens nodes for `rest` units; returns how many no node can hold.
fn open_nodes(
    model: &Model<'_>,
    item: usize,
    mut rest: u32,
    worth: &Worth,
    ledger: &mut Ledger,
    open: &mut Vec<Open>,
) -> u32 {
    while rest > 0 {
        let ratio = |kind: usize| worth.price_ratio[kind];
        let kind = model
            .kinds_of(item)
            .iter()
            .filter(|&kind| holds(&model.kinds[kind].capacity, model.request(item)))
            .filter(|&kind| ledger.affordable(model.problem, model.kinds[kind].row) > 0)
            .min_by(|&a, &b| ratio(a).total_cmp(&ratio(b)).then(b.cmp(&a)));
        let Some(kind) = kind else {
            return rest;
        };
        let mut node = Open {
            group: PackedGroup {
                kind,
                count: 1,
                load: Vec::new(),
            },
            room: model.kinds[kind].capacity.to_vec(),
            counts: RuleCounts::default(),
        };
        let each = units_that_fit(model, item, &node).min(rest);
        if each == 0 {
            return rest;
        }
        let row = model.kinds[kind].row;
        node.group.count = (rest / each).min(ledger.affordable(model.problem, row));
        ledger.take(model.problem, row, node.group.count);
        put(model, item, each, &mut node);
        rest -= node.group.count * each;
        open.push(node);
    }
    0
}

fn units_that_fit(model: &Model<'_>, item: usize, node: &Open) -> u32 {
    let request = model.request(item);
    if !holds(&node.room, request) {
        return 0;
    }
    let axes = request.iter().zip(&node.room);
    let fitting = axes
        .filter(|(ask, _)| **ask > 0)
        .map(|(ask, have)| have / ask);
    let by_room = u32::try_from(fitting.min().unwrap_or(i64::MAX)).unwrap_or(u32::MAX);
    let memberships = model.classes[model.items[item].class].memberships;
    by_room.min(node.counts.room_for(&model.problem.rules, memberships))
}

fn put(model: &Model<'_>, item: usize, units: u32, node: &mut Open) {
    for (have, ask) in node.room.iter_mut().zip(model.request(item)) {
        *have -= ask * i64::from(units);
    }
    let memberships = model.classes[model.items[item].class].memberships;
    node.counts.add(memberships, units);
    node.group.load.push((item, units));
}
