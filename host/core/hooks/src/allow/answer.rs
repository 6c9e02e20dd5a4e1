//! A budget policy's answer, as it comes and once checked.

use plimsoll_base::time::Span;
use serde::{Deserialize, Serialize};

/// Answer to an allow question: columns parallel to its rows. Untrusted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AllowAnswer {
    /// Nodes that may be down at once. Anything above the declared budget means the declared budget.
    pub allowed: Vec<u32>,
    /// Code of the reason, from the policy's own table.
    pub reason: Vec<u16>,
    /// Seconds after which the answer may be another; 0 where the policy does not say.
    pub recheck_after_s: u32,
}

impl AllowAnswer {
    /// Columns with their rows, in the words of the interface.
    pub(super) fn lengths(&self) -> [(&'static str, usize); 2] {
        [
            ("allowed", self.allowed.len()),
            ("reason", self.reason.len()),
        ]
    }
}

/// Answer of a policy for one pool and one reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allowance {
    /// Nodes that may be down at once, never more than declared.
    pub nodes: u32,
    /// Code of the reason, from the policy's own table.
    pub reason: u16,
}

/// Checked answer of one policy.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allowances {
    /// One per row of the question.
    pub rows: Vec<Allowance>,
    /// When to ask again although nothing else has changed.
    pub recheck_after: Option<Span>,
}
