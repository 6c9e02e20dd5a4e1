//! Loads of nodes that may be removed, and what is for sale: enough to tell choices of nodes that could save something from those
//! that cannot, before the scheduler is asked.
//!
//! A load's worth is a lower bound of what new nodes for it cost at the prices that decide: the dual values of the linear
//! programme over all pods.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_base::bits::Bits;

use super::Simulator;
use crate::claims::named::capacity_type;
use crate::fleet::bound::worth_of_groups;
use crate::guards;
use crate::offers::axes::fits;
use crate::prices::priced::NewKind;

/// Requests of the pods of one node together, and their worth.
#[derive(Clone, Debug)]
pub struct NodeLoad {
    /// Per resource.
    pub amounts: Box<[i64]>,
    /// Least cost of new nodes for them, in nano-dollars per hour.
    pub worth: i64,
    /// Ways to buy that are open to all of them.
    pub rows: Bits,
}

/// Loads by node.
pub struct NodeLoads {
    of_node: Vec<Option<NodeLoad>>,
}

/// Worth of pods, and kinds for sale: the same for all choices on one reading.
pub struct PodWorth {
    of_group: Vec<i64>,
    /// By group: ways to buy that are open to its pods.
    open: Vec<Bits>,
    for_sale: Bits,
    /// Kinds that no other of their pool and capacity type beats in everything, cheapest first.
    pub kinds: Arc<[NewKind]>,
}

impl PodWorth {
    /// Works out what the pods of the batch are worth.
    pub fn of(simulator: &Simulator<'_>) -> Self {
        let compiled = &simulator.compiled;
        let mut for_sale = Bits::none(compiled.rows.len());
        for tier in &simulator.tiers {
            for_sale.join(&tier.rows);
        }
        let groups = compiled.groups.iter();
        let open = groups.map(|group| group.open(compiled.rows.len()));
        Self {
            of_group: worth_of_groups(compiled, &simulator.prices),
            open: open.collect(),
            kinds: kinds_of(simulator, &for_sale),
            for_sale,
        }
    }
}

impl NodeLoads {
    /// The loads of nodes that may be removed, from their pods by node.
    pub(super) fn of(simulator: &Simulator<'_>, movable: &[Vec<usize>], worth: &PodWorth) -> Self {
        let compiled = &simulator.compiled;
        let load = |row: usize| {
            let mut load = NodeLoad {
                amounts: vec![0; compiled.axes.len()].into(),
                worth: 0,
                rows: worth.for_sale.clone(),
            };
            for pod in &movable[row] {
                let group = compiled.pods[*pod].group;
                let asked = &compiled.groups[group].request;
                for (sum, more) in load.amounts.iter_mut().zip(asked) {
                    *sum = sum.saturating_add(*more);
                }
                load.worth = load.worth.saturating_add(worth.of_group[group]);
                load.rows.keep(&worth.open[group]);
            }
            let pods = movable[row].iter().copied();
            if !simulator.exempt.are_among(compiled, pods) {
                load.rows.drop_all(&simulator.guard_excluded);
            }
            load
        };
        let rows = simulator.may_go.iter().enumerate();
        let loads = rows.map(|(row, may_go)| may_go.then(|| load(row)));
        Self {
            of_node: loads.collect(),
        }
    }

    /// The load of a node that may be removed.
    pub fn get(&self, row: usize) -> Option<&NodeLoad> {
        self.of_node[row].as_ref()
    }
}

/// Kinds for sale on a simulator, for these rows.
fn kinds_of(simulator: &Simulator<'_>, for_sale: &Bits) -> Arc<[NewKind]> {
    let compiled = &simulator.compiled;
    let guards = compiled.snapshot.settings.guards.clone();
    let kinds = &simulator.prices.kinds;
    kinds.get((guards, for_sale.clone()), || {
        kinds_among(simulator, for_sale).into()
    })
}

fn kinds_among(simulator: &Simulator<'_>, for_sale: &Bits) -> Vec<NewKind> {
    let compiled = &simulator.compiled;
    let limits = &compiled.snapshot.settings.guards;
    let mut known: BTreeMap<_, Bits> = BTreeMap::new();
    for at in for_sale.iter().filter(|at| simulator.prices.sells(*at)) {
        let row = &compiled.rows.rows[at];
        let capacity = guards::capacity(compiled, at, limits, 0);
        let place = (row.template, row.state, capacity_type(compiled, at));
        let rows = known
            .entry((simulator.prices.least[at], place, capacity))
            .or_insert_with(|| Bits::none(compiled.rows.len()));
        rows.insert(at);
    }
    // By price: what beats a kind comes before it, or is larger at the same price.
    let mut kept: Vec<(_, NewKind)> = Vec::new();
    for ((price, place, capacity), rows) in known {
        let beats = |(own, other): &(_, NewKind)| *own == place && fits(&capacity, &other.capacity);
        if kept.iter().any(beats) {
            continue;
        }
        kept.retain(|(own, other)| {
            !(*own == place && other.price == price && fits(&other.capacity, &capacity))
        });
        kept.push((
            place,
            NewKind {
                capacity,
                price,
                rows,
            },
        ));
    }
    kept.into_iter().map(|(_, kind)| kind).collect()
}
