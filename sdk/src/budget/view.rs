//! Typed view of one row: a pool, and why nodes would be taken from it.

use std::rc::Rc;

use super::table::Columns;
use crate::columns::Signal;
use crate::time::{LocalTime, TimeZone};

/// Why nodes are taken away. Later hosts may know more reasons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Disruption {
    /// Nothing but daemons runs on them.
    Emptiness,
    /// Their pods fit elsewhere, or on something cheaper.
    Consolidation,
    /// They no longer match their pool or class.
    Drift,
}

impl Disruption {
    pub(super) const fn of(code: u8) -> Self {
        match code {
            0 => Self::Emptiness,
            1 => Self::Consolidation,
            _ => Self::Drift,
        }
    }
}

/// A NodePool, and why nodes would be taken from it.
#[derive(Debug, Clone)]
pub struct Pool {
    pub(super) columns: Rc<Columns>,
    pub(super) row: usize,
}

impl Pool {
    pub(super) fn new(columns: &Rc<Columns>, row: usize) -> Self {
        Self {
            columns: Rc::clone(columns),
            row,
        }
    }

    /// Date and time of day in a time zone that is a setting of the policy.
    pub fn local(&self, zone: &TimeZone) -> LocalTime {
        LocalTime::of(&self.columns.context, zone)
    }

    /// Value of an optional signal of the row.
    pub fn signal(&self, name: &str) -> Option<Signal<'_>> {
        let Columns { texts, pools, .. } = &*self.columns;
        texts.signal(&pools.ext, name, self.row)
    }
}
