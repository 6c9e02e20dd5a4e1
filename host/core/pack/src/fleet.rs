//! A fleet in the making, and the last touch to every fleet: each node becomes the cheapest kind that holds its load.

use plimsoll_base::bits::Bits;

use super::ledger::Ledger;
use super::model::Model;
use super::problem::{Bought, Packing};

/// Nodes of one kind that hold the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PackedGroup {
    /// The kind, in [`Model::kinds`].
    pub(super) kind: usize,
    /// How many such nodes.
    pub(super) count: u32,
    /// Items and how many of each one node holds, each item once.
    pub(super) load: Vec<(usize, u32)>,
}

/// Nodes bought and units left over.
#[derive(Clone, Debug, Default)]
pub(super) struct PackedFleet {
    /// The nodes.
    pub(super) groups: Vec<PackedGroup>,
    /// Per item: units without a node.
    pub(super) left: Vec<u32>,
}

impl PackedFleet {
    /// Sum of prices that decide.
    pub(super) fn price(&self, model: &Model<'_>) -> i64 {
        let price = |group: &PackedGroup| i64::from(group.count) * model.kinds[group.kind].price;
        self.groups.iter().map(price).sum()
    }

    /// Number of nodes.
    pub(super) fn nodes(&self) -> u64 {
        self.groups.iter().map(|group| u64::from(group.count)).sum()
    }

    /// Units without a node.
    pub(super) fn unplaced(&self) -> u64 {
        self.left.iter().map(|count| u64::from(*count)).sum()
    }

    /// Replaces each group's kind by the cheapest that holds the group's load and may still be bought.
    pub(super) fn shrink(&mut self, model: &Model<'_>, ledger: &mut Ledger) {
        for group in &mut self.groups {
            let needs = needs(model, &group.load);
            let usable = usable(model, &group.load);
            let row = model.kinds[group.kind].row;
            ledger.give_back(model.problem, row, group.count);
            let cheaper = usable
                .iter()
                .take_while(|&kind| kind < group.kind)
                .find(|&kind| {
                    holds(&model.kinds[kind].capacity, &needs)
                        && ledger.affordable(model.problem, model.kinds[kind].row) >= group.count
                });
            group.kind = cheaper.unwrap_or(group.kind);
            ledger.take(model.problem, model.kinds[group.kind].row, group.count);
        }
    }

    /// The answer in the problem's own rows. Nodes of the same kind that hold the same are one entry.
    pub(super) fn into_packing(self, model: &Model<'_>) -> Packing {
        let mut nodes: Vec<Bought> = Vec::with_capacity(self.groups.len());
        for group in self.groups {
            let demand = |&(item, count): &(usize, u32)| (model.items[item].demand, count);
            let mut load: Vec<(usize, u32)> = group.load.iter().map(demand).collect();
            load.sort_unstable();
            nodes.push(Bought {
                kind: model.kinds[group.kind].row,
                count: group.count,
                load,
            });
        }
        nodes.sort_by(|a, b| (a.kind, &a.load).cmp(&(b.kind, &b.load)));
        nodes.dedup_by(|later, earlier| {
            let same = later.kind == earlier.kind && later.load == earlier.load;
            if same {
                earlier.count += later.count;
            }
            same
        });
        let left = self
            .left
            .iter()
            .enumerate()
            .filter(|(_, count)| **count > 0);
        let mut unplaced: Vec<(usize, u32)> = left
            .map(|(item, &count)| (model.items[item].demand, count))
            .collect();
        unplaced.sort_unstable();
        Packing { nodes, unplaced }
    }
}

/// Request of a whole load, per axis.
pub(super) fn needs(model: &Model<'_>, load: &[(usize, u32)]) -> Vec<i64> {
    let mut needs = vec![0; model.problem.axes];
    for &(item, count) in load {
        for (sum, &amount) in needs.iter_mut().zip(model.request(item)) {
            *sum += amount * i64::from(count);
        }
    }
    needs
}

/// The kinds that every item of a load may use.
pub(super) fn usable(model: &Model<'_>, load: &[(usize, u32)]) -> Bits {
    let mut usable = Bits::all(model.kinds.len());
    for &(item, _) in load {
        usable.keep(model.kinds_of(item));
    }
    usable
}

/// `true` if a node with this room holds what is needed.
pub(super) fn holds(room: &[i64], needs: &[i64]) -> bool {
    room.iter().zip(needs).all(|(have, need)| have >= need)
}
