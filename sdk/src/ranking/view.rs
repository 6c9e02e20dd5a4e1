//! Typed views of one row: an offering, a pool, a planned claim. Cheap to ask, without any knowledge of columns.

use std::rc::Rc;

use super::columns::Tables;
use crate::bindings::ranker::exports::plimsoll::policy::ranker::{Claims, Pools};
use crate::columns::Signal;

/// Processor architecture of an instance type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Architecture {
    /// 64-bit x86.
    Amd64,
    /// 64-bit ARM.
    Arm64,
    /// Any other.
    Other,
}

impl Architecture {
    pub(super) const fn of(code: u8) -> Self {
        match code {
            0 => Self::Amd64,
            1 => Self::Arm64,
            _ => Self::Other,
        }
    }
}

/// An instance type in a zone, bought in one way: what a node is made from.
#[derive(Debug, Clone)]
pub struct Offering {
    pub(super) tables: Rc<Tables>,
    pub(super) candidate: usize,
    pub(super) row: usize,
}

impl Offering {
    pub(super) fn new(tables: &Rc<Tables>) -> Self {
        Self {
            tables: Rc::clone(tables),
            candidate: 0,
            row: 0,
        }
    }

    /// Makes this the view of another candidate; views are moved along the rows instead of being made for each.
    pub(super) fn move_to(&mut self, candidate: usize, row: u32) {
        self.candidate = candidate;
        self.row = row as usize;
    }

    /// Row of the instance type. Looked up when asked for: a policy of prices alone never asks.
    pub(super) fn type_row(&self) -> usize {
        self.tables.catalog.o_type[self.row] as usize
    }

    /// Number of the offering in the catalogue: rows with equal numbers are the same offering in different pools.
    pub fn row(&self) -> usize {
        self.row
    }

    /// Value of a label of the instance type.
    pub fn label(&self, key: &str) -> Option<&str> {
        self.tables.label(self.type_row(), key)
    }

    /// Value of an optional signal: of this candidate, else of the offering, else of the instance type.
    pub fn signal(&self, name: &str) -> Option<Signal<'_>> {
        let Tables {
            catalog,
            candidate_signals,
            texts,
            ..
        } = &*self.tables;
        texts
            .signal(candidate_signals, name, self.candidate)
            .or_else(|| texts.signal(&catalog.o_ext, name, self.row))
            .or_else(|| texts.signal(&catalog.t_ext, name, self.type_row()))
    }
}

/// A NodePool that may buy.
#[derive(Debug, Clone)]
pub struct Pool {
    pub(super) tables: Rc<Tables>,
    pub(super) pools: Rc<Pools>,
    pub(super) row: usize,
}

impl Pool {
    /// Value of an optional signal of the pool.
    pub fn signal(&self, name: &str) -> Option<Signal<'_>> {
        self.tables.texts.signal(&self.pools.p_ext, name, self.row)
    }
}

/// A claim as planned: what one new node will hold when it comes. Requests include daemons.
#[derive(Debug, Clone)]
pub struct Claim {
    pub(super) tables: Rc<Tables>,
    pub(super) claims: Rc<Claims>,
    pub(super) row: usize,
}

impl Claim {
    /// Number of the claim in the question, counted from 0.
    pub fn number(&self) -> usize {
        self.row
    }

    /// Value of an optional signal of the claim.
    pub fn signal(&self, name: &str) -> Option<Signal<'_>> {
        self.tables.texts.signal(&self.claims.ext, name, self.row)
    }
}
