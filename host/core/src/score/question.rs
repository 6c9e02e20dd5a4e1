//! What a consolidation policy is asked: every node, and every move that the host could make with them.
//!
//! Nodes come in order of their names, moves in order of their members' rows. The builder refuses rows that no value could
//! be checked against: a price that is none, a share below nothing, a move of a node that is not there.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::hook::{Capacity, Context, ExtColumn, Sym, Symbols, SymbolsBuilder};
use crate::units::MAX_DOLLARS_PER_HOUR;

/// Columns of nodes: those that may move, and those that stay, because shares are of the whole.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Nodes {
    /// Name of the node.
    pub name: Vec<Sym>,
    /// Name of its NodePool.
    pub pool: Vec<Sym>,
    /// Name of its instance type.
    pub type_name: Vec<Sym>,
    /// Zone.
    pub zone: Vec<Sym>,
    /// Code of a [`Capacity`].
    pub capacity: Vec<u8>,
    /// What it is worth with the node's own cost, dollars per hour: the ranking policy's price of one more like it, or its list
    /// price where that policy does not speak of it; 0 where nobody knows.
    pub price: Vec<f64>,
    /// Seconds since it was created.
    pub age_s: Vec<u32>,
    /// Seconds since a pod last came to it or left it, daemons apart.
    pub since_move_s: Vec<u32>,
    /// Share of its allocatable processor time that its pods request.
    pub cpu_used: Vec<f32>,
    /// Share of its allocatable memory that its pods request.
    pub mem_used: Vec<f32>,
    /// Pods, daemons included.
    pub pods: Vec<u32>,
    /// Daemons among them.
    pub pods_daemon: Vec<u32>,
    /// Pods that must not be evicted now.
    pub pods_no_evict: Vec<u32>,
    /// Pods whose workload has no other replica that is ready.
    pub pods_last_replica: Vec<u32>,
    /// Seconds since the youngest pod that is no daemon started; the age of the node where there is none.
    pub youngest_pod_s: Vec<u32>,
    /// Evictions within a day of the workload, among those with a pod here, that had most of them.
    pub evictions_day: Vec<u32>,
    /// Sum of what it costs to evict the pods that would have to go elsewhere: 1 for an ordinary pod, 0 to 10 each.
    pub eviction_cost: Vec<f64>,
    /// Optional signals per node.
    pub ext: Vec<ExtColumn>,
}

/// What a move does, as its code in the column `kind`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[repr(u8)]
pub enum MoveKind {
    /// Takes nodes away on which nothing but daemons runs.
    Empty = 0,
    /// Takes nodes away whose pods fit elsewhere.
    Delete = 1,
    /// Buys machines for the pods and takes nodes away.
    Replace = 2,
}

/// Columns of moves; members and replacements are CSR.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Moves {
    /// Code of a [`MoveKind`].
    pub kind: Vec<u8>,
    /// End of each move's part of `member`.
    pub member_ends: Vec<u32>,
    /// Rows of the nodes that go.
    pub member: Vec<u32>,
    /// End of each move's part of the `repl_` columns.
    pub repl_ends: Vec<u32>,
    /// Instance types bought.
    pub repl_type: Vec<Sym>,
    /// Their zones.
    pub repl_zone: Vec<Sym>,
    /// Codes of their [`Capacity`].
    pub repl_capacity: Vec<u8>,
    /// Their prices by the ranking policy, or list prices without one, with the nodes' own cost, dollars per hour.
    pub repl_price: Vec<f64>,
    /// Pods that are evicted.
    pub pods_moved: Vec<u32>,
    /// Optional signals per move.
    pub ext: Vec<ExtColumn>,
}

impl Moves {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.kind.len()
    }

    /// `true` if there is none.
    pub fn is_empty(&self) -> bool {
        self.kind.is_empty()
    }

    /// Rows of the nodes that a move takes away.
    pub fn members(&self, row: usize) -> &[u32] {
        part(&self.member, &self.member_ends, row)
    }

    /// Prices of what a move buys, dollars per hour.
    pub fn replacement_prices(&self, row: usize) -> &[f64] {
        part(&self.repl_price, &self.repl_ends, row)
    }
}

/// The part of a joined list that belongs to a row; nothing for a row that is not there.
fn part<'a, T>(joined: &'a [T], ends: &[u32], row: usize) -> &'a [T] {
    let end_of = |row: usize| ends.get(row).map(|&end| end as usize);
    let start = row.checked_sub(1).map_or(Some(0), end_of);
    let range = start.zip(end_of(row));
    range
        .and_then(|(start, end)| joined.get(start..end))
        .unwrap_or_default()
}

/// What is each move worth?
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScoreQuestion {
    /// Time, seed, generation.
    pub context: Context,
    /// Every text the columns refer to.
    pub symbols: Symbols,
    /// The nodes.
    pub nodes: Nodes,
    /// What could be done with them.
    pub moves: Moves,
}

impl ScoreQuestion {
    /// What the nodes cost that a move takes away, dollars per hour.
    pub fn removed(&self, row: usize) -> f64 {
        let members = self.moves.members(row).iter();
        members.fold(0.0, |sum, &node| {
            sum + self.nodes.price.get(node as usize).copied().unwrap_or(0.0)
        })
    }

    /// What a move saves, dollars per hour; negative where it costs.
    pub fn saving(&self, row: usize) -> f64 {
        let bought = self.moves.replacement_prices(row).iter();
        self.removed(row) - bought.fold(0.0, |sum, price| sum + price)
    }

    /// Name of a node; empty for a row that is not there.
    pub fn node_name(&self, node: u32) -> &str {
        let name = self.nodes.name.get(node as usize);
        name.and_then(|&symbol| self.symbols.get(symbol))
            .unwrap_or_default()
    }
}

/// One node, as it enters a question. Fields mean what the column of [`Nodes`] of the same name means.
#[derive(Debug, Clone, Copy)]
#[expect(missing_docs, reason = "the columns of `Nodes` say what each one is")]
pub struct NodeRow<'a> {
    pub name: &'a str,
    pub pool: &'a str,
    pub type_name: &'a str,
    pub zone: &'a str,
    pub capacity: Capacity,
    pub price: f64,
    pub age_s: u32,
    pub since_move_s: u32,
    pub cpu_used: f32,
    pub mem_used: f32,
    pub pods: u32,
    pub pods_daemon: u32,
    pub pods_no_evict: u32,
    pub pods_last_replica: u32,
    pub youngest_pod_s: u32,
    pub evictions_day: u32,
    pub eviction_cost: f64,
}

/// One machine that a move buys.
#[derive(Debug, Clone, Copy)]
pub struct Replacement<'a> {
    /// Name of the instance type.
    pub type_name: &'a str,
    /// Zone.
    pub zone: &'a str,
    /// How it is bought.
    pub capacity: Capacity,
    /// The ranking policy's price, or the list price without one, with the node's own cost, dollars per hour.
    pub price: f64,
}

/// One move, as it enters a question.
#[derive(Debug, Clone, Copy)]
pub struct MoveRow<'a> {
    /// What it does.
    pub kind: MoveKind,
    /// Rows of the nodes that go, at least one.
    pub members: &'a [u32],
    /// What it buys.
    pub replacements: &'a [Replacement<'a>],
    /// Pods that are evicted.
    pub pods_moved: u32,
}

/// A row that a question refuses.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum MoveRowError {
    /// A number of a node cannot be one.
    #[error("node {node}: {column} is {value}; expected {expected}")]
    Node {
        /// Name of the node.
        node: String,
        /// Which column.
        column: &'static str,
        /// What was given.
        value: f64,
        /// What a value may be.
        expected: &'static str,
    },
    /// A move takes no node away.
    #[error("move {row} takes no node away; expected at least one")]
    NoMember {
        /// Row of the move.
        row: usize,
    },
    /// A move names a node row that is not there.
    #[error("move {row}: node row {node} of {nodes}; add the node before its moves")]
    UnknownNode {
        /// Row of the move.
        row: usize,
        /// Row it named.
        node: u32,
        /// Rows there are.
        nodes: usize,
    },
    /// The price of a replacement cannot be one.
    #[error(
        "move {row}: replacement {type_name} in {zone} at {price}; expected dollars per hour in 0 to {MAX_DOLLARS_PER_HOUR}"
    )]
    Price {
        /// Row of the move.
        row: usize,
        /// Name of the instance type.
        type_name: String,
        /// Zone.
        zone: String,
        /// What was given.
        price: f64,
    },
}

/// Builds a [`ScoreQuestion`] row by row. Canonical use: nodes by name, then moves by their members' rows. Cloned after the
/// nodes, it serves the rounds of one pass.
#[derive(Debug, Clone)]
pub struct ScoreQuestionBuilder {
    context: Context,
    symbols: SymbolsBuilder,
    nodes: Nodes,
    moves: Moves,
}

impl ScoreQuestionBuilder {
    /// A question without nodes and moves.
    pub fn new(context: Context) -> Self {
        Self {
            context,
            symbols: SymbolsBuilder::default(),
            nodes: Nodes::default(),
            moves: Moves::default(),
        }
    }

    /// Adds a node and returns its row.
    pub fn node(&mut self, row: &NodeRow<'_>) -> Result<u32, MoveRowError> {
        accept_node(row)?;
        let (columns, symbols) = (&mut self.nodes, &mut self.symbols);
        let index = row_number(columns.name.len());
        columns.name.push(symbols.intern(row.name));
        columns.pool.push(symbols.intern(row.pool));
        columns.type_name.push(symbols.intern(row.type_name));
        columns.zone.push(symbols.intern(row.zone));
        columns.capacity.push(row.capacity as u8);
        columns.price.push(row.price);
        columns.age_s.push(row.age_s);
        columns.since_move_s.push(row.since_move_s);
        columns.cpu_used.push(row.cpu_used);
        columns.mem_used.push(row.mem_used);
        columns.pods.push(row.pods);
        columns.pods_daemon.push(row.pods_daemon);
        columns.pods_no_evict.push(row.pods_no_evict);
        columns.pods_last_replica.push(row.pods_last_replica);
        columns.youngest_pod_s.push(row.youngest_pod_s);
        columns.evictions_day.push(row.evictions_day);
        columns.eviction_cost.push(row.eviction_cost);
        Ok(index)
    }

    /// Adds a move and returns its row.
    pub fn propose(&mut self, row: &MoveRow<'_>) -> Result<u32, MoveRowError> {
        self.accept_move(row)?;
        let (columns, symbols) = (&mut self.moves, &mut self.symbols);
        let index = row_number(columns.kind.len());
        columns.kind.push(row.kind as u8);
        columns.member.extend_from_slice(row.members);
        columns.member_ends.push(row_number(columns.member.len()));
        for bought in row.replacements {
            columns.repl_type.push(symbols.intern(bought.type_name));
            columns.repl_zone.push(symbols.intern(bought.zone));
            columns.repl_capacity.push(bought.capacity as u8);
            columns.repl_price.push(bought.price);
        }
        columns.repl_ends.push(row_number(columns.repl_type.len()));
        columns.pods_moved.push(row.pods_moved);
        Ok(index)
    }

    /// The finished question.
    pub fn finish(self) -> ScoreQuestion {
        let Self {
            context,
            symbols,
            nodes,
            moves,
        } = self;
        ScoreQuestion {
            context,
            symbols: symbols.finish(),
            nodes,
            moves,
        }
    }

    fn accept_move(&self, asked: &MoveRow<'_>) -> Result<(), MoveRowError> {
        let (row, nodes) = (self.moves.len(), self.nodes.name.len());
        if asked.members.is_empty() {
            return Err(MoveRowError::NoMember { row });
        }
        let mut members = asked.members.iter();
        if let Some(&node) = members.find(|&&node| node as usize >= nodes) {
            return Err(MoveRowError::UnknownNode { row, node, nodes });
        }
        let mut bought = asked.replacements.iter();
        match bought.find(|bought| !is_price(bought.price)) {
            None => Ok(()),
            Some(bought) => Err(MoveRowError::Price {
                row,
                type_name: bought.type_name.to_owned(),
                zone: bought.zone.to_owned(),
                price: bought.price,
            }),
        }
    }
}

fn is_price(dollars: f64) -> bool {
    (0.0..=MAX_DOLLARS_PER_HOUR).contains(&dollars)
}

fn accept_node(row: &NodeRow<'_>) -> Result<(), MoveRowError> {
    const PRICE: &str = "dollars per hour in 0 to 100000";
    const SHARE: &str = "a finite number, 0 or more";
    let at_least_none = |value: f64| value.is_finite() && value >= 0.0;
    let (cpu, mem) = (f64::from(row.cpu_used), f64::from(row.mem_used));
    let cost = row.eviction_cost;
    let numbers = [
        ("price", row.price, is_price(row.price), PRICE),
        ("cpu-used", cpu, at_least_none(cpu), SHARE),
        ("mem-used", mem, at_least_none(mem), SHARE),
        ("eviction-cost", cost, at_least_none(cost), SHARE),
    ];
    match numbers.into_iter().find(|(_, _, fits, _)| !fits) {
        None => Ok(()),
        Some((column, value, _, expected)) => Err(MoveRowError::Node {
            node: row.name.to_owned(),
            column,
            value,
            expected,
        }),
    }
}

fn row_number(length: usize) -> u32 {
    u32::try_from(length).expect("a question has fewer than 2^32 rows")
}
