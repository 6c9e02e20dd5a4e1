//! A budget policy's answer per pool and disruption reason, and the columns it becomes.

use std::time::Duration;

use crate::bindings::budgeter::exports::plimsoll::policy::budgeter::Allowances;
use crate::reason::Reason;

/// How many nodes may be down at once, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    nodes: u32,
    reason: Reason,
    recheck_after: Option<Duration>,
}

impl Allowance {
    /// So many, those included that are down already.
    pub const fn nodes(count: u32, reason: Reason) -> Self {
        Self {
            nodes: count,
            reason,
            recheck_after: None,
        }
    }

    /// None.
    pub const fn none(reason: Reason) -> Self {
        Self::nodes(0, reason)
    }

    /// Whatever the NodePool declares.
    pub const fn as_declared(reason: Reason) -> Self {
        Self::nodes(u32::MAX, reason)
    }

    /// The answer may be another after that time, although nothing has happened.
    #[must_use]
    pub const fn until(self, time: Duration) -> Self {
        Self {
            recheck_after: Some(time),
            ..self
        }
    }

    /// How many.
    pub const fn count(&self) -> u32 {
        self.nodes
    }

    /// The reason.
    pub const fn reason(&self) -> Reason {
        self.reason
    }

    /// Time after which the answer may be another although nothing has happened; `None` where it depends on the question alone.
    pub const fn recheck_after(&self) -> Option<Duration> {
        self.recheck_after
    }
}

/// All allowances of a call, in the order of the table's rows.
#[derive(Debug)]
pub struct AllowanceAnswer {
    columns: Allowances,
}

impl AllowanceAnswer {
    /// An empty answer with room for `rows`.
    pub fn with_capacity(rows: usize) -> Self {
        Self {
            columns: Allowances {
                allowed: Vec::with_capacity(rows),
                reason: Vec::with_capacity(rows),
                recheck_after_s: 0,
            },
        }
    }

    /// Adds the allowance of the next row. The host asks again at the earliest time that any row names.
    pub fn push(&mut self, allowance: Allowance) {
        let columns = &mut self.columns;
        columns.allowed.push(allowance.nodes);
        columns.reason.push(allowance.reason.0);
        if let Some(time) = allowance.recheck_after {
            let seconds = u32::try_from(time.as_secs()).unwrap_or(u32::MAX).max(1);
            columns.recheck_after_s = match columns.recheck_after_s {
                0 => seconds,
                earlier => earlier.min(seconds),
            };
        }
    }

    /// The allowance of a row, without the time to ask again, which is of all rows.
    pub fn get(&self, row: usize) -> Option<Allowance> {
        let nodes = *self.columns.allowed.get(row)?;
        let reason = Reason(*self.columns.reason.get(row)?);
        Some(Allowance::nodes(nodes, reason))
    }

    pub(crate) fn into_columns(self) -> Allowances {
        self.columns
    }
}
