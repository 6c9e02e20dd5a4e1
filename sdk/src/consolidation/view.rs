//! Typed views of one row: a node, a move, an instance that a move buys.

use std::ops::Range;
use std::rc::Rc;

use super::table::Columns;
use crate::columns::Signal;
use crate::time::{LocalTime, TimeZone};

/// A node there is.
#[derive(Debug, Clone)]
pub struct Node {
    pub(super) columns: Rc<Columns>,
    pub(super) row: usize,
}

impl Node {
    pub(super) fn new(columns: &Rc<Columns>, row: usize) -> Self {
        Self {
            columns: Rc::clone(columns),
            row,
        }
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
    /// Buys instances for the pods and takes nodes away.
    Replace,
}

impl MoveKind {
    pub(super) const fn of(code: u8) -> Self {
        match code {
            0 => Self::Empty,
            1 => Self::Delete,
            _ => Self::Replace,
        }
    }
}

/// Something the host could do: nodes that are removed, and instances that are bought for their pods.
#[derive(Debug, Clone)]
pub struct Move {
    pub(super) columns: Rc<Columns>,
    pub(super) row: usize,
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

    /// The nodes that are removed, at least one.
    pub fn nodes(&self) -> impl Iterator<Item = Node> + '_ {
        let members = self.columns.moves.member[self.members.clone()].iter();
        members.map(|&row| Node::new(&self.columns, row as usize))
    }

    /// The instances that are bought.
    pub fn replacements(&self) -> impl Iterator<Item = Replacement> + '_ {
        self.bought.clone().map(|row| Replacement {
            columns: Rc::clone(&self.columns),
            row,
        })
    }

    /// Price of the nodes that are removed, dollars per hour.
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

/// An instance that a move buys.
#[derive(Debug, Clone)]
pub struct Replacement {
    pub(super) columns: Rc<Columns>,
    pub(super) row: usize,
}

/// The part of a joined list that belongs to a row.
fn part(ends: &[u32], row: usize) -> Range<usize> {
    let start = match row {
        0 => 0,
        _ => ends[row - 1] as usize,
    };
    start..ends[row] as usize
}
