//! The whole question at once: every node, and every move to be valued.

use std::rc::Rc;

use super::answer::{Verdict, VerdictAnswer};
use super::view::{Move, Node};
use crate::bindings::configure::plimsoll::policy::types::{Context, Symbols};
use crate::bindings::consolidator::exports::plimsoll::policy::consolidator::{Moves, Nodes};
use crate::columns::{Texts, rows_and_time};

/// The columns of one call, owned once and shared by all views of it.
#[derive(Debug)]
pub(super) struct Columns {
    pub(super) context: Context,
    pub(super) texts: Texts,
    pub(super) nodes: Nodes,
    pub(super) moves: Moves,
}

/// Every node, and every move that the host could make. Nodes are in order of their names, moves in order of their members.
#[derive(Debug)]
pub struct MoveTable {
    columns: Rc<Columns>,
}

impl MoveTable {
    pub(crate) fn new(context: Context, symbols: Symbols, nodes: Nodes, moves: Moves) -> Self {
        Self {
            columns: Rc::new(Columns {
                context,
                texts: Texts::new(symbols),
                nodes,
                moves,
            }),
        }
    }

    rows_and_time!(columns.moves.kind, columns.context);

    /// Randomness of the snapshot: the same snapshot, the same seed.
    pub fn seed(&self) -> u64 {
        self.columns.context.seed
    }

    /// Looks at every node, those included that no move touches.
    pub fn each_node(&self, mut look: impl FnMut(&Node)) {
        let mut node = Node::new(&self.columns, 0);
        for row in 0..self.columns.nodes.name.len() {
            node.row = row;
            look(&node);
        }
    }

    /// Looks at every move, in order.
    pub fn each(&self, mut look: impl FnMut(&Move)) {
        let mut mv = Move::new(&self.columns, 0);
        for row in 0..self.len() {
            mv.move_to(row);
            look(&mv);
        }
    }

    /// Values every move, in order.
    pub fn map(&self, mut value: impl FnMut(&Move) -> Verdict) -> VerdictAnswer {
        let mut answer = VerdictAnswer::with_capacity(self.len());
        self.each(|mv| answer.push(value(mv)));
        answer
    }

    /// The view of one move; `None` where there is no such move.
    pub fn row(&self, row: usize) -> Option<Move> {
        (row < self.len()).then(|| Move::new(&self.columns, row))
    }
}
