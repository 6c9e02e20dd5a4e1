//! Facts beside the objects that decisions about disruption read.
//!
//! The engine fills it when it freezes its state; read from a file it is empty, and every node counts as consolidatable since it
//! was initialised.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plimsoll_base::ids::{ClaimName, PoolName, TypeName, Uid};
use plimsoll_base::time::Timestamp;
use serde::{Deserialize, Serialize};

/// Evictions, failures and moves of the last day, and commands under way.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Activity {
    /// When a pod last came to a claim's node, ended there or was asked to go; daemons do not count.
    pub pod_events: Arc<BTreeMap<ClaimName, Timestamp>>,
    /// Claims on whose nodes room is promised to pods on their way.
    pub promised: BTreeSet<ClaimName>,
    /// Claims that a command is moving.
    pub under_way: BTreeSet<ClaimName>,
    /// Moves begun lately, oldest first.
    pub moves: Vec<PastMove>,
    /// Evictions from nodes of a pool within the last hour.
    pub evictions_hour: BTreeMap<PoolName, u32>,
    /// Evictions of a workload's pods within the last day, by its uid.
    pub evictions_day: BTreeMap<Uid, u32>,
    /// Launches for a pool that failed within the last hour.
    pub failures_hour: BTreeMap<PoolName, u32>,
    /// When the cloud first recommended to rebalance a claim's spot instance, whose risk of interruption is elevated.
    pub rebalance: BTreeMap<ClaimName, Timestamp>,
}

/// A move that was begun, as far as later ones must not take it back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PastMove {
    /// When.
    pub at: Timestamp,
    /// The pools of its nodes.
    pub pools: BTreeSet<PoolName>,
    /// The types that went.
    pub from: BTreeSet<TypeName>,
    /// The types that were planned for them.
    pub to: BTreeSet<TypeName>,
}
