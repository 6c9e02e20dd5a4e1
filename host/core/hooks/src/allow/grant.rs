//! The disruptions granted in the end: the least of the declared budget and of every policy's allowance, and who held back.

use plimsoll_base::time::Span;
use serde::{Deserialize, Serialize};

use super::answer::{Allowance, Allowances};
use super::question::AllowQuestion;

/// A policy that allows less than everyone else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limit {
    /// Position of the policy among those asked.
    pub policy: usize,
    /// Code of its reason, from its own table; 0 where it failed or gave none.
    pub reason: u16,
}

/// Nodes of one pool that may be down for one reason, and the policy that keeps it to them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// Nodes that may be down at once; `u32::MAX` for no limit.
    pub most_down: u32,
    /// The policy that allows least, and the first of equals; `None` where the declared budget is the least.
    pub limit: Option<Limit>,
}

/// Checked answers of all policies and the declared budgets as one, parallel to the rows of the question.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grants {
    /// One per row of the question.
    pub rows: Vec<Grant>,
    /// When to ask again although nothing else has changed: the earliest that any policy named.
    pub recheck_after: Option<Span>,
}

/// Allowance for a row that a policy does not name: no nodes.
const NOTHING: Allowance = Allowance {
    nodes: 0,
    reason: 0,
};

/// The least of what is declared and of what each policy allows; a row that a policy leaves out it allows nothing. Without
/// policies, what is declared.
pub fn grant(question: &AllowQuestion, policies: &[Allowances]) -> Grants {
    let pools = &question.pools;
    let row = |(row, &ceiling): (usize, &u32)| {
        let mut grant = Grant {
            most_down: ceiling,
            limit: None,
        };
        for (policy, allowances) in policies.iter().enumerate() {
            let allowance = allowances.rows.get(row).copied().unwrap_or(NOTHING);
            if allowance.nodes < grant.most_down {
                grant.most_down = allowance.nodes;
                grant.limit = Some(Limit {
                    policy,
                    reason: allowance.reason,
                });
            }
        }
        grant
    };
    let rechecks = policies.iter().filter_map(|asked| asked.recheck_after);
    Grants {
        rows: pools.ceiling.iter().enumerate().map(row).collect(),
        recheck_after: rechecks.min(),
    }
}
