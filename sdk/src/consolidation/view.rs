//! Typed views of one row: a node, a move, a machine that a move buys.

use std::ops::Range;
use std::rc::Rc;
use std::time::Duration;

use super::table::Columns;
use crate::columns::{Capacity, Signal};
use crate::time::{LocalTime, TimeZone};

/// A node there is.
#[derive(Debug, Clone)]
pub struct Node {
    columns: Rc<Columns>,
    pub(super) row: usize,
}

impl Node {
    pub(super) fn new(columns: &Rc<Columns>, row: usize) -> Self {
        Self {
            columns: Rc::clone(columns),
            row,
        }
    }

    /// Name of the node.
    pub fn name(&self) -> &str {
        self.columns.texts.get(self.columns.nodes.name[self.row])
    }

    /// Name of its NodePool.
    pub fn pool(&self) -> &str {
        self.columns.texts.get(self.pool_key())
    }

    /// Number of the pool: equal for equal pools, and quicker to compare than names.
    pub fn pool_key(&self) -> u32 {
        self.columns.nodes.pool[self.row]
    }

    /// Name of its instance type, for instance `m7g.2xlarge`.
    pub fn instance_type(&self) -> &str {
        let name = self.columns.nodes.type_name[self.row];
        self.columns.texts.get(name)
    }

    /// Zone, for instance `eu-central-1a`.
    pub fn zone(&self) -> &str {
        self.columns.texts.get(self.columns.nodes.zone[self.row])
    }

    /// How it was bought.
    pub fn capacity(&self) -> Capacity {
        Capacity::of(self.columns.nodes.capacity[self.row])
    }

    /// Dollars per hour, as ranked; 0 where nobody knows.
    pub fn price(&self) -> f64 {
        self.columns.nodes.price[self.row]
    }

    /// Time since it was created.
    pub fn age(&self) -> Duration {
        seconds(self.columns.nodes.age_s[self.row])
    }

    /// Time since a pod last came to it or left it, daemons apart.
    pub fn quiet(&self) -> Duration {
        seconds(self.columns.nodes.since_move_s[self.row])
    }

    /// Share of its processor time that its pods request, 0 to 1; more where it is overcommitted.
    pub fn cpu_used(&self) -> f64 {
        f64::from(self.columns.nodes.cpu_used[self.row])
    }

    /// Share of its memory that its pods request, 0 to 1; more where it is overcommitted.
    pub fn memory_used(&self) -> f64 {
        f64::from(self.columns.nodes.mem_used[self.row])
    }

    /// Pods, daemons included.
    pub fn pods(&self) -> u32 {
        self.columns.nodes.pods[self.row]
    }

    /// Daemons among them.
    pub fn daemons(&self) -> u32 {
        self.columns.nodes.pods_daemon[self.row]
    }

    /// Pods that must not be evicted now. The host proposes no move of their node.
    pub fn pods_to_keep(&self) -> u32 {
        self.columns.nodes.pods_no_evict[self.row]
    }

    /// Pods whose workload has no other replica that is ready.
    pub fn last_replicas(&self) -> u32 {
        self.columns.nodes.pods_last_replica[self.row]
    }

    /// Time since the youngest pod that is no daemon started; the age of the node where there is none.
    pub fn youngest_pod(&self) -> Duration {
        seconds(self.columns.nodes.youngest_pod_s[self.row])
    }

    /// Evictions within a day of the workload, among those with a pod here, that had most of them.
    pub fn evictions_day(&self) -> u32 {
        self.columns.nodes.evictions_day[self.row]
    }

    /// Cost of evicting the pods that would have to go elsewhere: 1 for an ordinary pod, 0 to 10 each.
    pub fn eviction_cost(&self) -> f64 {
        self.columns.nodes.eviction_cost[self.row]
    }

    /// Value of an optional signal of the node.
    pub fn signal(&self, name: &str) -> Option<Signal<'_>> {
        let Columns { texts, nodes, .. } = &*self.columns;
        texts.signal(&nodes.ext, name, self.row)
    }
}

/// Effect of a move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MoveKind {
    /// Takes nodes away on which nothing but daemons runs.
    Empty,
    /// Takes nodes away whose pods fit elsewhere.
    Delete,
    /// Buys machines for the pods and takes nodes away.
    Replace,
}

/// Something the host could do: nodes that go, and machines that are bought for their pods.
#[derive(Debug, Clone)]
pub struct Move {
    columns: Rc<Columns>,
    row: usize,
    members: Range<usize>,
    bought: Range<usize>,
}

impl Move {
    pub(super) fn new(columns: &Rc<Columns>, row: usize) -> Self {
        let mut mv = Self {
            columns: Rc::clone(columns),
            row,
            members: 0..0,
            bought: 0..0,
        };
        if row < columns.moves.kind.len() {
            mv.move_to(row);
        }
        mv
    }

    /// Makes this the view of another move; views are moved along the rows instead of being made for each.
    pub(super) fn move_to(&mut self, row: usize) {
        let moves = &self.columns.moves;
        self.members = part(&moves.member_ends, row);
        self.bought = part(&moves.repl_ends, row);
        self.row = row;
    }

    /// Effect of the move.
    pub fn kind(&self) -> MoveKind {
        match self.columns.moves.kind[self.row] {
            0 => MoveKind::Empty,
            1 => MoveKind::Delete,
            _ => MoveKind::Replace,
        }
    }

    /// The nodes that go, at least one.
    pub fn nodes(&self) -> impl Iterator<Item = Node> + '_ {
        let members = self.columns.moves.member[self.members.clone()].iter();
        members.map(|&row| Node::new(&self.columns, row as usize))
    }

    /// The machines that are bought.
    pub fn replacements(&self) -> impl Iterator<Item = Replacement> + '_ {
        self.bought.clone().map(|row| Replacement {
            columns: Rc::clone(&self.columns),
            row,
        })
    }

    /// Pods that are evicted.
    pub fn pods_moved(&self) -> u32 {
        self.columns.moves.pods_moved[self.row]
    }

    /// Price of the nodes that go, dollars per hour.
    pub fn removed(&self) -> f64 {
        let prices = &self.columns.nodes.price;
        let members = self.columns.moves.member[self.members.clone()].iter();
        members.fold(0.0, |sum, &row| sum + prices[row as usize])
    }

    /// Price of the nodes that are bought, dollars per hour.
    pub fn bought(&self) -> f64 {
        let prices = self.columns.moves.repl_price[self.bought.clone()].iter();
        prices.fold(0.0, |sum, price| sum + price)
    }

    /// Saving, dollars per hour; negative where the move costs.
    pub fn saving(&self) -> f64 {
        self.removed() - self.bought()
    }

    /// Cost of evicting the pods that have to go elsewhere: 1 for an ordinary pod, 0 to 10 each.
    pub fn eviction_cost(&self) -> f64 {
        let costs = &self.columns.nodes.eviction_cost;
        let members = self.columns.moves.member[self.members.clone()].iter();
        members.fold(0.0, |sum, &row| sum + costs[row as usize])
    }

    /// Date and time of day in a time zone that is a setting of the policy.
    pub fn local(&self, zone: &TimeZone) -> LocalTime {
        LocalTime::of(&self.columns.context, zone)
    }

    /// Value of an optional signal of the move.
    pub fn signal(&self, name: &str) -> Option<Signal<'_>> {
        let Columns { texts, moves, .. } = &*self.columns;
        texts.signal(&moves.ext, name, self.row)
    }
}

/// A machine that a move buys.
#[derive(Debug, Clone)]
pub struct Replacement {
    columns: Rc<Columns>,
    row: usize,
}

impl Replacement {
    /// Name of the instance type, for instance `m7g.2xlarge`.
    pub fn instance_type(&self) -> &str {
        let name = self.columns.moves.repl_type[self.row];
        self.columns.texts.get(name)
    }

    /// Zone, for instance `eu-central-1a`.
    pub fn zone(&self) -> &str {
        let zone = self.columns.moves.repl_zone[self.row];
        self.columns.texts.get(zone)
    }

    /// How it is bought.
    pub fn capacity(&self) -> Capacity {
        Capacity::of(self.columns.moves.repl_capacity[self.row])
    }

    /// Dollars per hour, as ranked.
    pub fn price(&self) -> f64 {
        self.columns.moves.repl_price[self.row]
    }
}

fn seconds(count: u32) -> Duration {
    Duration::from_secs(count.into())
}

/// The part of a joined list that belongs to a row.
fn part(ends: &[u32], row: usize) -> Range<usize> {
    let start = match row {
        0 => 0,
        _ => ends[row - 1] as usize,
    };
    start..ends[row] as usize
}
