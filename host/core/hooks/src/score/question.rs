//! The question to a consolidation policy: every node, and every move that the host could make with them.
//!
//! Nodes come in order of their names, moves in order of their members' rows. The builder refuses rows that no value could
//! be checked against: a price that is none, a share below nothing, a move of a node that is not there.

use plimsoll_base::units::MAX_DOLLARS_PER_HOUR;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::columns::{MoveRow, Moves, NodeRow, NodeSignals, Nodes};
use crate::hook::{Context, Signals, Symbols, SymbolsBuilder};

/// Effect of a move on pods and nodes; its number is the code in the column `kind`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[repr(u8)]
pub enum MoveKind {
    /// Takes nodes away whose pods need no other place: daemons, and room that is only kept.
    Empty = 0,
    /// Takes nodes away whose pods go to nodes that stay.
    Delete = 1,
    /// Takes nodes away some of whose pods go to new nodes.
    Replace = 2,
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

/// Question for the value of each move.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScoreQuestion {
    /// Time and seed.
    pub context: Context,
    /// Every text the columns refer to.
    pub symbols: Symbols,
    /// The nodes.
    pub nodes: Nodes,
    /// Moves to choose from.
    pub moves: Moves,
}

impl ScoreQuestion {
    /// Price of the nodes that a move takes away, dollars per hour; nodes that are not there cost nothing.
    pub fn removed(&self, row: usize) -> f64 {
        let members = self.moves.members(row).iter();
        members.fold(0.0, |sum, &node| {
            sum + self.nodes.price.get(node as usize).copied().unwrap_or(0.0)
        })
    }

    /// Price of the nodes that a move takes away less that of their replacements, dollars per hour; negative where the move
    /// costs.
    pub fn saving(&self, row: usize) -> f64 {
        let bought = self.moves.replacement_prices(row).iter();
        self.removed(row) - bought.fold(0.0, |sum, price| sum + price)
    }

    /// Name of a node; empty for a row that is not there.
    pub fn node_name(&self, node: u32) -> &str {
        self.symbols.of_row(&self.nodes.name, node)
    }
}

/// A row that a question refuses.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum MoveRowError {
    /// A number of a node cannot be one.
    #[error("node {node}: {column} is {value}; expected {expected}")]
    Node {
        /// Name of the node.
        node: String,
        /// Name of the column.
        column: &'static str,
        /// The value given.
        value: f64,
        /// Range of values allowed, in words.
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
        /// The value given, in dollars per hour.
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
    signals: Signals,
}

impl ScoreQuestionBuilder {
    /// A question without nodes and moves.
    pub fn new(context: Context) -> Self {
        Self {
            context,
            symbols: SymbolsBuilder::default(),
            nodes: Nodes::default(),
            moves: Moves::default(),
            signals: Signals::default(),
        }
    }

    /// Adds a node and returns its row.
    pub fn node(&mut self, row: &NodeRow<'_>) -> Result<u32, MoveRowError> {
        accept_node(row)?;
        let index = row_number(self.nodes.name.len());
        self.nodes.push_node(&mut self.symbols, row);
        Ok(index)
    }

    /// Adds what is known besides of the node added last. Signals that no node has do not travel.
    pub fn node_signals(&mut self, signals: &NodeSignals) {
        if let Some(row) = self.nodes.name.len().checked_sub(1) {
            signals.push(row, &mut self.signals);
        }
    }

    /// Adds a move and returns its row.
    pub fn propose(&mut self, row: &MoveRow<'_>) -> Result<u32, MoveRowError> {
        self.accept_move(row)?;
        let (columns, symbols) = (&mut self.moves, &mut self.symbols);
        let index = row_number(columns.kind.len());
        columns.push_move(row);
        columns.member.extend_from_slice(row.members);
        columns.member_ends.push(row_number(columns.member.len()));
        for bought in row.replacements {
            columns.push_replacement(symbols, bought);
        }
        columns.repl_ends.push(row_number(columns.repl_type.len()));
        Ok(index)
    }

    /// The finished question.
    pub fn finish(self) -> ScoreQuestion {
        let Self {
            context,
            mut symbols,
            mut nodes,
            moves,
            signals,
        } = self;
        nodes.ext = signals.finish(nodes.name.len(), &mut symbols);
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
