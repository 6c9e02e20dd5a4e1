//! Columns of a call as views read them.
//!
//! Generated from the lists of `host/columns`; `make columns` makes it anew.

use std::time::Duration;

use super::view::{Move, MoveKind, Node, Replacement};
use crate::columns::{Capacity, Signal};

/// Name of the signal that [`Node::job_age`] reads.
pub const JOB_AGE_S: &str = "job-age-s";

/// Name of the signal that [`Node::rebalance_age`] reads.
pub const REBALANCE_AGE_S: &str = "rebalance-age-s";

impl Node {
    /// Name of the node.
    pub fn name(&self) -> &str {
        self.columns.texts.get(self.columns.nodes.name[self.row])
    }

    /// Name of its NodePool.
    pub fn pool(&self) -> &str {
        self.columns.texts.get(self.columns.nodes.pool[self.row])
    }

    /// Number of the pool: equal for equal pools, and quicker to compare than names.
    pub fn pool_key(&self) -> u32 {
        self.columns.nodes.pool[self.row]
    }

    /// Name of its instance type, for instance `m7g.2xlarge`.
    pub fn instance_type(&self) -> &str {
        self.columns
            .texts
            .get(self.columns.nodes.type_name[self.row])
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
        Duration::from_secs(self.columns.nodes.age_s[self.row].into())
    }

    /// Time since a pod last came to it or left it, daemons apart.
    pub fn since_pod_change(&self) -> Duration {
        Duration::from_secs(self.columns.nodes.since_move_s[self.row].into())
    }

    /// Share of its allocatable processor time that its pods request, 0 to 1; more where it is overcommitted.
    pub fn cpu_used(&self) -> f64 {
        f64::from(self.columns.nodes.cpu_used[self.row])
    }

    /// Share of its allocatable memory that its pods request, 0 to 1; more where it is overcommitted.
    pub fn memory_used(&self) -> f64 {
        f64::from(self.columns.nodes.mem_used[self.row])
    }

    /// Pods, daemons included.
    pub fn pods(&self) -> u32 {
        self.columns.nodes.pods[self.row]
    }

    /// Daemons among its pods.
    pub fn daemons(&self) -> u32 {
        self.columns.nodes.pods_daemon[self.row]
    }

    /// Pods that must not be evicted now; the host proposes no move of their node.
    pub fn pods_to_keep(&self) -> u32 {
        self.columns.nodes.pods_no_evict[self.row]
    }

    /// Pods whose workload has no other replica that is ready.
    pub fn last_replicas(&self) -> u32 {
        self.columns.nodes.pods_last_replica[self.row]
    }

    /// Time since the youngest pod that is no daemon started, or since the node was created where there is none.
    pub fn youngest_pod(&self) -> Duration {
        Duration::from_secs(self.columns.nodes.youngest_pod_s[self.row].into())
    }

    /// Evictions within a day of the workload, among those with a pod here, that had most of them.
    pub fn evictions_day(&self) -> u32 {
        self.columns.nodes.evictions_day[self.row]
    }

    /// Cost of evicting the pods that would have to go elsewhere: 1 for an ordinary pod, 0 to 10 each.
    pub fn eviction_cost(&self) -> f64 {
        self.columns.nodes.eviction_cost[self.row]
    }

    /// Time since the oldest pod of a Job that runs there started: work that an eviction throws away; zero where none runs. `None` where the host does not send the signal.
    pub fn job_age(&self) -> Option<Duration> {
        let seconds = self.signal(JOB_AGE_S).and_then(Signal::number)?;
        Duration::try_from_secs_f64(seconds).ok()
    }

    /// Time since the cloud first recommended to rebalance the node's spot instance, whose risk of interruption is elevated; a second at least; zero where it has not. `None` where the host does not send the signal.
    pub fn rebalance_age(&self) -> Option<Duration> {
        let seconds = self.signal(REBALANCE_AGE_S).and_then(Signal::number)?;
        Duration::try_from_secs_f64(seconds).ok()
    }
}

impl Move {
    /// Effect of the move.
    pub fn kind(&self) -> MoveKind {
        MoveKind::of(self.columns.moves.kind[self.row])
    }

    /// Pods that are evicted.
    pub fn pods_moved(&self) -> u32 {
        self.columns.moves.pods_moved[self.row]
    }
}

impl Replacement {
    /// Name of the instance type, for instance `m7g.2xlarge`.
    pub fn instance_type(&self) -> &str {
        self.columns
            .texts
            .get(self.columns.moves.repl_type[self.row])
    }

    /// Zone, for instance `eu-central-1a`.
    pub fn zone(&self) -> &str {
        self.columns
            .texts
            .get(self.columns.moves.repl_zone[self.row])
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
