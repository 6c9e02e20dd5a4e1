//! The packing problem and its answer.
//!
//! Amounts are `i64` per axis; an axis is a resource that some demand asks for (cpu in milli-cores, memory in bytes, pods,
//! devices ...). Prices are nano-dollars per hour. Row numbers are positions in the problem's lists.

use plimsoll_base::bits::Bits;

/// Demands to be put on nodes that are still to be bought.
#[derive(Clone, Debug, Default)]
pub struct Problem {
    /// How many resource axes amounts have.
    pub axes: usize,
    /// Kinds of nodes that can be bought.
    pub kinds: Vec<Kind>,
    /// Classes of pods: the kinds and existing nodes they may go to, and the rules they are under.
    pub classes: Vec<Class>,
    /// Pods to be placed, in groups of equals.
    pub demands: Vec<Demand>,
    /// Rules that hold on every single node.
    pub rules: Vec<NodeRule>,
    /// Limits on what may be bought in all, such as a pool's.
    pub spend_limits: Vec<SpendLimit>,
    /// Nodes that may be bought of each supply: a reservation's instances, the first nodes under a commitment.
    pub supplies: Vec<u32>,
    /// Nodes there are already. [`Packing`] does not use them; the bound must not overlook them.
    pub existing: Vec<ExistingNode>,
}

/// One kind of node: pool, instance type, zone, capacity type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kind {
    /// Room for pods, after daemons, per axis; never negative.
    pub capacity: Box<[i64]>,
    /// Price that decides: the ranking policy's, with the node's own cost. At least 1.
    pub price: i64,
    /// Price that is reported: the provider's, with the node's own cost. At least 0.
    pub list_price: i64,
    /// The limit it draws on, with what one node takes of it per entry of [`SpendLimit::remaining`].
    pub spends: Option<(usize, Box<[i64]>)>,
    /// The supply it draws on, one per node.
    pub supply: Option<usize>,
}

/// Pods that may go to the same kinds and obey the same rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Class {
    /// The kinds they may go to.
    pub kinds: Bits,
    /// Their part in node rules, by ascending rule.
    pub memberships: Vec<Membership>,
}

/// A class's part in one rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Membership {
    /// Position among the problem's rules.
    pub rule: usize,
    /// `true` if a pod of this class makes the rule hold on its node.
    pub owner: bool,
    /// How many each unit of this class counts.
    pub counted: u32,
}

/// On a node that holds an owner, at most `limit` may be counted (an owner that counts included).
///
/// Anti-affinity among replicas: owners that count, limit 1. Host spread: limit is the skew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeRule {
    /// The most that may be counted.
    pub limit: u32,
}

/// Equal pods, or equal bundles of pods that must share a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Demand {
    /// Row of their class.
    pub class: usize,
    /// Request of each, per axis; never negative.
    pub request: Box<[i64]>,
    /// How many there are.
    pub count: u32,
}

/// A limit on what may be bought in all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpendLimit {
    /// Amount left, per axis; the sum over bought nodes must not exceed it in any entry.
    pub remaining: Box<[i64]>,
}

/// A node there is already, as far as the bound must know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExistingNode {
    /// Room left, per axis; never negative.
    pub free: Box<[i64]>,
    /// The classes that may use it.
    pub classes: Bits,
}

/// Nodes to buy, with the pods on each, and pods on existing nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packing {
    /// Bought nodes.
    pub nodes: Vec<Bought>,
    /// Demands that fit nowhere, with how many of each.
    pub unplaced: Vec<(usize, u32)>,
}

/// Nodes of one kind that hold the same.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bought {
    /// Position among the problem's kinds.
    pub kind: usize,
    /// How many such nodes.
    pub count: u32,
    /// Pods on each of them: demands by ascending row, with how many of each.
    pub load: Vec<(usize, u32)>,
}

impl Packing {
    /// Sum of prices that decide.
    pub fn price(&self, problem: &Problem) -> i64 {
        self.nodes
            .iter()
            .map(|node| i64::from(node.count) * problem.kinds[node.kind].price)
            .sum()
    }

    /// Sum of prices that are reported.
    pub fn list_price(&self, problem: &Problem) -> i64 {
        self.nodes
            .iter()
            .map(|node| i64::from(node.count) * problem.kinds[node.kind].list_price)
            .sum()
    }

    /// Number of nodes bought.
    pub fn node_count(&self) -> u64 {
        self.nodes.iter().map(|node| u64::from(node.count)).sum()
    }

    /// Number of units left without a node.
    pub fn unplaced_count(&self) -> u64 {
        self.unplaced
            .iter()
            .map(|(_, count)| u64::from(*count))
            .sum()
    }
}
