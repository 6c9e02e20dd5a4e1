//! How many nodes of a pool may go now: its declared budgets less those that are down or going already.
//!
//! A budget with a schedule needs a calendar, which is not read here; such a budget allows nothing for its reasons, which
//! is safe. Rules: percentages round up, the smallest budget that speaks of the reason wins, an empty list allows all.

use crate::model::{Budget, BudgetNodes, DisruptionReason, NodePool, Readiness};
use crate::snapshot::StateNode;

/// Nodes of the pool that may go now for a reason.
pub fn remaining<'a>(
    pool: &NodePool,
    reason: DisruptionReason,
    nodes: impl IntoIterator<Item = &'a StateNode>,
) -> u32 {
    let (mut counted, mut down) = (0_u32, 0_u32);
    for node in nodes {
        let ending = node
            .claim
            .as_ref()
            .is_some_and(|claim| claim.instance_terminating);
        if !node.is_managed() || !node.is_initialized() || ending {
            continue;
        }
        counted += 1;
        let ready = node
            .node
            .as_ref()
            .is_some_and(|node| node.ready == Readiness::Ready);
        down += u32::from(!ready || node.is_deleting());
    }
    allowance(&pool.disruption.budgets, reason, counted).saturating_sub(down)
}

/// Nodes that budgets let go at once, of so many.
pub fn allowance(budgets: &[Budget], reason: DisruptionReason, counted: u32) -> u32 {
    budgets
        .iter()
        .filter(|budget| budget.reasons.is_empty() || budget.reasons.contains(&reason))
        .map(|budget| match budget.nodes {
            _ if budget.schedule.is_some() => 0,
            BudgetNodes::Count(count) => count,
            BudgetNodes::Percent(percent) => {
                let share = u64::from(percent) * u64::from(counted);
                u32::try_from(share.div_ceil(100)).unwrap_or(u32::MAX)
            }
        })
        .min()
        .unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget(nodes: BudgetNodes, reasons: &[DisruptionReason]) -> Budget {
        Budget {
            nodes,
            reasons: reasons.to_vec(),
            schedule: None,
            duration: None,
        }
    }

    #[test]
    fn a_percentage_rounds_up_so_that_a_small_pool_can_move_at_all() {
        let tenth = [budget(BudgetNodes::Percent(10), &[])];
        let empty = DisruptionReason::Empty;
        assert_eq!(allowance(&tenth, empty, 1), 1);
        assert_eq!(allowance(&tenth, empty, 11), 2);
        assert_eq!(allowance(&tenth, empty, 0), 0);
    }

    #[test]
    fn the_smallest_budget_that_speaks_of_the_reason_wins() {
        let budgets = [
            budget(BudgetNodes::Count(5), &[]),
            budget(BudgetNodes::Count(0), &[DisruptionReason::Drifted]),
        ];
        assert_eq!(allowance(&budgets, DisruptionReason::Empty, 9), 5);
        assert_eq!(allowance(&budgets, DisruptionReason::Drifted, 9), 0);
    }

    #[test]
    fn no_budget_at_all_is_no_limit() {
        assert_eq!(allowance(&[], DisruptionReason::Empty, 3), u32::MAX);
    }
}
