//! Nodes and moves for tests of consolidation policies.

use std::time::Duration;

use super::{Names, columns, context, count, each, set_last};
use crate::bindings::configure::plimsoll::policy::types::{Column, Context, ExtColumn};
use crate::bindings::consolidator::exports::plimsoll::policy::consolidator::{Moves, Nodes};
use crate::consolidation::{Consolidation, MoveTable, Verdict, VerdictAnswer};

/// Nodes, and moves with them.
///
/// Steps after [`node`](Self::node) change the node added last; [`empty`](Self::empty), [`delete`](Self::delete) and
/// [`replace`](Self::replace) add a move of nodes that are there.
///
/// ```
/// use plimsoll_sdk::consolidation::*;
/// use plimsoll_sdk::testing::Fleet;
///
/// struct AnySaving;
/// impl Consolidation for AnySaving {
///     type Settings = NoSettings;
///     fn score(&self, mv: &Move, _settings: &NoSettings) -> Verdict {
///         Verdict::dollars(mv.saving(), Reason::NONE)
///     }
/// }
///
/// let fleet = Fleet::new().node("n1", 0.4).node("n2", 0.2).delete(&["n2"]).replace(&["n1"], &[0.1]);
/// let values: Vec<f64> = fleet.verdicts(&AnySaving, &NoSettings).iter().map(Verdict::value).collect();
/// assert_eq!(values, [0.2, 0.4 - 0.1]);
/// ```
#[derive(Debug, Clone)]
pub struct Fleet {
    names: Names,
    context: Context,
    nodes: Nodes,
    moves: Moves,
}

impl Default for Fleet {
    fn default() -> Self {
        Self::new()
    }
}

impl Fleet {
    /// No node, no move.
    pub fn new() -> Self {
        Self {
            names: Names::default(),
            context: context(0),
            nodes: columns::no_score_nodes(),
            moves: columns::no_score_moves(),
        }
    }

    clock_steps!();

    /// Adds an on-demand node of the pool `general` at so many dollars per hour: a day old, its pods unchanged for an hour, half used,
    /// with two ordinary pods and a daemon.
    #[must_use]
    pub fn node(mut self, name: &str, price: f64) -> Self {
        columns::push_score_node(&mut self.nodes, &mut self.names, name, price);
        self
    }

    /// Name of its pool.
    #[must_use]
    pub fn pool(mut self, name: &str) -> Self {
        let name = self.names.symbol(name);
        set_last(&mut self.nodes.pool, name);
        self
    }

    /// Makes it spot capacity.
    #[must_use]
    pub fn spot(mut self) -> Self {
        set_last(&mut self.nodes.capacity, 1);
        self
    }

    /// Shares of processor time and memory that its pods request.
    #[must_use]
    pub fn used(mut self, cpu: f32, memory: f32) -> Self {
        set_last(&mut self.nodes.cpu_used, cpu);
        set_last(&mut self.nodes.mem_used, memory);
        self
    }

    /// Time since it was created.
    #[must_use]
    pub fn age(mut self, age: Duration) -> Self {
        set_last(&mut self.nodes.age_s, seconds(age));
        self
    }

    /// Time since a pod last came or left.
    #[must_use]
    pub fn since_pod_change(mut self, since: Duration) -> Self {
        set_last(&mut self.nodes.since_move_s, seconds(since));
        self
    }

    /// Time since its youngest pod started.
    #[must_use]
    pub fn youngest_pod(mut self, age: Duration) -> Self {
        set_last(&mut self.nodes.youngest_pod_s, seconds(age));
        self
    }

    /// Pods whose workload has no other replica.
    #[must_use]
    pub fn last_replicas(mut self, pods: u32) -> Self {
        set_last(&mut self.nodes.pods_last_replica, pods);
        self
    }

    /// Evictions within a day of the workload that had most of them.
    #[must_use]
    pub fn evictions_day(mut self, evictions: u32) -> Self {
        set_last(&mut self.nodes.evictions_day, evictions);
        self
    }

    /// Cost of evicting its pods, 1 each if they are ordinary.
    #[must_use]
    pub fn eviction_cost(mut self, cost: f64) -> Self {
        set_last(&mut self.nodes.eviction_cost, cost);
        self
    }

    /// An optional signal with one number per node, in the order they were added.
    #[must_use]
    pub fn signal(mut self, name: &str, values: &[f64]) -> Self {
        let name = self.names.symbol(name);
        self.nodes.ext.push(ExtColumn {
            name,
            values: Column::F64s(values.to_vec()),
        });
        self
    }

    /// A move that takes empty nodes away.
    #[must_use]
    pub fn empty(self, nodes: &[&str]) -> Self {
        self.propose(0, nodes, &[])
    }

    /// A move that takes nodes away whose pods fit elsewhere.
    #[must_use]
    pub fn delete(self, nodes: &[&str]) -> Self {
        self.propose(1, nodes, &[])
    }

    /// A move that buys instances at these dollars per hour and takes nodes away.
    #[must_use]
    pub fn replace(self, nodes: &[&str], prices: &[f64]) -> Self {
        self.propose(2, nodes, prices)
    }

    /// The policy's verdicts, one per move.
    #[track_caller]
    pub fn verdicts<P: Consolidation>(&self, policy: &P, settings: &P::Settings) -> Vec<Verdict> {
        let table = self.table();
        each(
            policy.scores(&table, settings),
            table.len(),
            VerdictAnswer::get,
        )
    }

    /// The whole question, for policies that take it.
    pub fn table(&self) -> MoveTable {
        let symbols = self.names.symbols();
        MoveTable::new(
            self.context.clone(),
            symbols,
            self.nodes.clone(),
            self.moves.clone(),
        )
    }

    #[expect(
        clippy::panic,
        reason = "a move of a node that is not there is a mistake in the test"
    )]
    fn propose(mut self, kind: u8, nodes: &[&str], prices: &[f64]) -> Self {
        let mut pods = 0;
        for node in nodes {
            let name = self.names.symbol(node);
            let Some(row) = self.nodes.name.iter().position(|&known| known == name) else {
                panic!("there is no node {node} in the fleet");
            };
            self.moves.member.push(count(row));
            pods += self.nodes.pods[row] - self.nodes.pods_daemon[row];
        }
        for &price in prices {
            columns::push_score_replacement(&mut self.moves, &mut self.names, price);
        }
        let moves = &mut self.moves;
        moves.kind.push(kind);
        moves.member_ends.push(count(moves.member.len()));
        moves.repl_ends.push(count(moves.repl_price.len()));
        moves.pods_moved.push(if kind == 0 { 0 } else { pods });
        self
    }
}

fn seconds(time: Duration) -> u32 {
    u32::try_from(time.as_secs()).unwrap_or(u32::MAX)
}
