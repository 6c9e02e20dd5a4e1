//! The columns of the hook's questions, and rows as they enter them.
//!
//! Generated from the lists of `host/columns`; `make columns` makes it anew.

use serde::{Deserialize, Serialize};

use super::question::MoveKind;
use crate::hook::{Capacity, ExtColumn, Signals, Sym, SymbolsBuilder};

/// Names of the signals that the host sends in questions of this hook.
pub const SIGNALS: &[&str] = &["job-age-s", "rebalance-age-s"];

/// Columns of nodes: those that may move, and those that stay, because shares are of the whole.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Nodes {
    /// Name of the node.
    pub name: Vec<Sym>,
    /// Name of its NodePool.
    pub pool: Vec<Sym>,
    /// Name of its instance type, for instance `m7g.2xlarge`.
    pub type_name: Vec<Sym>,
    /// Zone, for instance `eu-central-1a`.
    pub zone: Vec<Sym>,
    /// Code of the [`Capacity`] type that it was bought as.
    pub capacity: Vec<u8>,
    /// Worth with the node's own cost, dollars per hour: the ranking policy's price of one more like it, or its list price where that policy does not speak of it; 0 where nobody knows.
    pub price: Vec<f64>,
    /// Time since it was created, seconds.
    pub age_s: Vec<u32>,
    /// Time since a pod last came to it or left it, daemons apart, seconds.
    pub since_move_s: Vec<u32>,
    /// Share of its allocatable processor time that its pods request, 0 to 1; more where it is overcommitted.
    pub cpu_used: Vec<f32>,
    /// Share of its allocatable memory that its pods request, 0 to 1; more where it is overcommitted.
    pub mem_used: Vec<f32>,
    /// Pods, daemons included.
    pub pods: Vec<u32>,
    /// Daemons among its pods.
    pub pods_daemon: Vec<u32>,
    /// Pods that must not be evicted now; the host proposes no move of their node.
    pub pods_no_evict: Vec<u32>,
    /// Pods whose workload has no other replica that is ready.
    pub pods_last_replica: Vec<u32>,
    /// Time since the youngest pod that is no daemon started, or since the node was created where there is none, seconds.
    pub youngest_pod_s: Vec<u32>,
    /// Evictions within a day of the workload, among those with a pod here, that had most of them.
    pub evictions_day: Vec<u32>,
    /// Cost of evicting the pods that would have to go elsewhere: 1 for an ordinary pod, 0 to 10 each.
    pub eviction_cost: Vec<f64>,
    /// Optional signals per node.
    pub ext: Vec<ExtColumn>,
}

/// One node, as it enters a question.
#[derive(Debug, Clone, Copy)]
pub struct NodeRow<'a> {
    /// Name of the node.
    pub name: &'a str,
    /// Name of its NodePool.
    pub pool: &'a str,
    /// Name of its instance type, for instance `m7g.2xlarge`.
    pub type_name: &'a str,
    /// Zone, for instance `eu-central-1a`.
    pub zone: &'a str,
    /// [`Capacity`] type that it was bought as.
    pub capacity: Capacity,
    /// Worth with the node's own cost, dollars per hour: the ranking policy's price of one more like it, or its list price where that policy does not speak of it; 0 where nobody knows.
    pub price: f64,
    /// Time since it was created, seconds.
    pub age_s: u32,
    /// Time since a pod last came to it or left it, daemons apart, seconds.
    pub since_move_s: u32,
    /// Share of its allocatable processor time that its pods request, 0 to 1; more where it is overcommitted.
    pub cpu_used: f32,
    /// Share of its allocatable memory that its pods request, 0 to 1; more where it is overcommitted.
    pub mem_used: f32,
    /// Pods, daemons included.
    pub pods: u32,
    /// Daemons among its pods.
    pub pods_daemon: u32,
    /// Pods that must not be evicted now; the host proposes no move of their node.
    pub pods_no_evict: u32,
    /// Pods whose workload has no other replica that is ready.
    pub pods_last_replica: u32,
    /// Time since the youngest pod that is no daemon started, or since the node was created where there is none, seconds.
    pub youngest_pod_s: u32,
    /// Evictions within a day of the workload, among those with a pod here, that had most of them.
    pub evictions_day: u32,
    /// Cost of evicting the pods that would have to go elsewhere: 1 for an ordinary pod, 0 to 10 each.
    pub eviction_cost: f64,
}

impl Nodes {
    /// Adds a row to every column but those that are joined out of parts.
    pub(super) fn push_node(&mut self, symbols: &mut SymbolsBuilder, row: &NodeRow<'_>) {
        self.name.push(symbols.intern(row.name));
        self.pool.push(symbols.intern(row.pool));
        self.type_name.push(symbols.intern(row.type_name));
        self.zone.push(symbols.intern(row.zone));
        self.capacity.push(row.capacity as u8);
        self.price.push(row.price);
        self.age_s.push(row.age_s);
        self.since_move_s.push(row.since_move_s);
        self.cpu_used.push(row.cpu_used);
        self.mem_used.push(row.mem_used);
        self.pods.push(row.pods);
        self.pods_daemon.push(row.pods_daemon);
        self.pods_no_evict.push(row.pods_no_evict);
        self.pods_last_replica.push(row.pods_last_replica);
        self.youngest_pod_s.push(row.youngest_pod_s);
        self.evictions_day.push(row.evictions_day);
        self.eviction_cost.push(row.eviction_cost);
    }
}

/// Signals of one node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NodeSignals {
    /// Time since the oldest pod of a Job that runs there started: work that an eviction throws away, seconds; 0 where none runs.
    pub job_age_s: u32,
    /// Time since the cloud first recommended to rebalance the node's spot instance, whose risk of interruption is elevated; a second at least, seconds; 0 where it has not.
    pub rebalance_age_s: u32,
}

impl NodeSignals {
    /// Adds them to the columns that travel by name, at a row.
    pub(super) fn push(self, row: usize, signals: &mut Signals) {
        signals.set("job-age-s", row, self.job_age_s);
        signals.set("rebalance-age-s", row, self.rebalance_age_s);
    }
}

/// Columns of moves; members and replacements are CSR.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Moves {
    /// Code of the [`MoveKind`].
    pub kind: Vec<u8>,
    /// End of each move's part of `member`.
    pub member_ends: Vec<u32>,
    /// End of each move's part of the `repl_` columns.
    pub repl_ends: Vec<u32>,
    /// Pods that are evicted.
    pub pods_moved: Vec<u32>,
    /// Rows of the nodes that go.
    pub member: Vec<u32>,
    /// Name of the instance type, for instance `m7g.2xlarge`.
    pub repl_type: Vec<Sym>,
    /// Zone, for instance `eu-central-1a`.
    pub repl_zone: Vec<Sym>,
    /// Code of the [`Capacity`] type that it is bought as.
    pub repl_capacity: Vec<u8>,
    /// Price by the ranking policy, or list price without one, with the node's own cost, dollars per hour.
    pub repl_price: Vec<f64>,
    /// Optional signals per move.
    pub ext: Vec<ExtColumn>,
}

/// One move, as it enters a question.
#[derive(Debug, Clone, Copy)]
pub struct MoveRow<'a> {
    /// [`MoveKind`].
    pub kind: MoveKind,
    /// Pods that are evicted.
    pub pods_moved: u32,
    /// Rows of the nodes that go, at least one.
    pub members: &'a [u32],
    /// The machines that it buys.
    pub replacements: &'a [Replacement<'a>],
}

impl Moves {
    /// Adds a row to every column but those that are joined out of parts.
    pub(super) fn push_move(&mut self, row: &MoveRow<'_>) {
        self.kind.push(row.kind as u8);
        self.pods_moved.push(row.pods_moved);
    }
}

/// One machine that a move buys.
#[derive(Debug, Clone, Copy)]
pub struct Replacement<'a> {
    /// Name of the instance type, for instance `m7g.2xlarge`.
    pub type_name: &'a str,
    /// Zone, for instance `eu-central-1a`.
    pub zone: &'a str,
    /// [`Capacity`] type that it is bought as.
    pub capacity: Capacity,
    /// Price by the ranking policy, or list price without one, with the node's own cost, dollars per hour.
    pub price: f64,
}

impl Moves {
    /// Adds a row to every column but those that are joined out of parts.
    pub(super) fn push_replacement(&mut self, symbols: &mut SymbolsBuilder, row: &Replacement<'_>) {
        self.repl_type.push(symbols.intern(row.type_name));
        self.repl_zone.push(symbols.intern(row.zone));
        self.repl_capacity.push(row.capacity as u8);
        self.repl_price.push(row.price);
    }
}
