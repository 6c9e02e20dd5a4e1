//! Nodes of a pool that may be disrupted now: its declared budgets less those that are down or deleting already.
//!
//! Rules are Karpenter's. Percentages round up; of the budgets that hold now and speak of the reason the smallest wins;
//! with none there is no limit. A budget that cannot be understood allows nothing for any reason. Nodes count from when they
//! are initialised until their instance is being ended; of those, the ones that are not ready or that are deleting are taken
//! off, whatever made them so. Counts are made anew each time and never carried over.

use std::collections::BTreeMap;

use plimsoll_base::cron::{Schedule, ScheduleError};
use plimsoll_base::ids::PoolName;
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_model::snapshot::{Snapshot, StateNode};
use plimsoll_model::{Budget, BudgetNodes, DisruptionReason, NodePool, Readiness};

/// The nodes of a pool, as budgets count them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Headcount {
    /// Initialised and not being ended: what percentages are of.
    pub counted: u32,
    /// Of those, not ready.
    pub not_ready: u32,
    /// Of those, that are deleting.
    pub deleting: u32,
    /// Of those, either: what budgets are used up by.
    pub down: u32,
}

impl Headcount {
    /// Counts one node; whether it was counted.
    pub fn add(&mut self, node: &StateNode) -> bool {
        let ending = node
            .claim
            .as_ref()
            .is_some_and(|claim| claim.is_instance_terminating());
        if !node.is_managed() || !node.is_initialized() || ending {
            return false;
        }
        let ready = node
            .node
            .as_ref()
            .is_some_and(|node| node.readiness() == Readiness::Ready);
        let deleting = node.is_deleting();
        self.counted += 1;
        self.not_ready += u32::from(!ready);
        self.deleting += u32::from(deleting);
        self.down += u32::from(!ready || deleting);
        true
    }
}

/// The tightest of a pool's own budgets for a reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declared {
    /// Nodes that may be down at once; the largest number where nothing limits them.
    pub nodes: u32,
    /// Until when this stands whatever else happens; `None` where no schedule is involved.
    pub until: Option<Timestamp>,
    /// Why a budget could not be understood; it allows nothing then.
    pub problem: Option<ScheduleError>,
}

/// The most nodes that budgets let be disrupted at once for a reason, of so many.
pub fn declared(
    budgets: &[Budget],
    reason: DisruptionReason,
    counted: u32,
    now: Timestamp,
) -> Declared {
    tightest(budgets, |budget| budget.reasons.limit(reason), counted, now)
}

/// The most unhealthy nodes that budgets let be replaced at once, of so many. Budgets that do not speak of repair are not asked, and
/// what is wrong with them holds up none.
pub fn declared_for_repair(budgets: &[Budget], counted: u32, now: Timestamp) -> Declared {
    let own = budgets.iter().filter(|own| own.reasons.limit_repair());
    let own: Vec<Budget> = own.cloned().collect();
    tightest(&own, |_| true, counted, now)
}

fn tightest(
    budgets: &[Budget],
    limits: impl Fn(&Budget) -> bool,
    counted: u32,
    now: Timestamp,
) -> Declared {
    let mut result = Declared {
        nodes: u32::MAX,
        until: None,
        problem: None,
    };
    for budget in budgets {
        let holds = match window(budget, now) {
            Ok((open, until)) => {
                result.until = [result.until, until].into_iter().flatten().min();
                open
            }
            Err(problem) => {
                result.problem = Some(problem);
                continue;
            }
        };
        if holds && limits(budget) {
            result.nodes = result.nodes.min(share(budget.nodes, counted));
        }
    }
    if result.problem.is_some() {
        result.nodes = 0;
    }
    result
}

/// Fault of a budget's schedule, for which the budgets of its pool allow nothing; `None` where it can be read, or is not followed.
pub fn schedule_fault(budget: &Budget) -> Option<ScheduleError> {
    let (schedule, _) = scheduled(budget)?;
    schedule.err()
}

/// Schedule of a budget that begins by one, and how long it holds each time; `None` of one that always holds.
fn scheduled(budget: &Budget) -> Option<(Result<Schedule, ScheduleError>, Span)> {
    let text = budget.schedule.as_ref()?;
    Some((Schedule::parse(text), budget.duration?))
}

/// `true` if a budget holds now, and until when that is certain.
fn window(budget: &Budget, now: Timestamp) -> Result<(bool, Option<Timestamp>), ScheduleError> {
    let Some((schedule, length)) = scheduled(budget) else {
        return Ok((true, None));
    };
    let schedule = schedule?;
    let until = schedule.settled_until(length, now);
    Ok((schedule.is_open(length, now), until))
}

fn share(nodes: BudgetNodes, counted: u32) -> u32 {
    match nodes {
        BudgetNodes::Count(count) => count,
        BudgetNodes::Percent(percent) => {
            let share = u64::from(percent) * u64::from(counted);
            u32::try_from(share.div_ceil(100)).unwrap_or(u32::MAX)
        }
    }
}

/// Nodes of one pool that may be disrupted for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolAllowance {
    /// The pool.
    pub pool: PoolName,
    /// The reason.
    pub reason: DisruptionReason,
    /// Nodes of the pool, by their state.
    pub nodes: Headcount,
    /// The tightest of its own budgets.
    pub declared: Declared,
}

impl PoolAllowance {
    /// Nodes that may be removed now, where a policy allows at most `cap` to be down at once.
    pub fn remaining(&self, cap: Option<u32>) -> u32 {
        let most = self.declared.nodes.min(cap.unwrap_or(u32::MAX));
        most.saturating_sub(self.nodes.down)
    }

    /// The allowance of a pool with such nodes.
    pub fn of(pool: &NodePool, reason: DisruptionReason, nodes: Headcount, now: Timestamp) -> Self {
        Self {
            pool: pool.name.clone(),
            reason,
            nodes,
            declared: declared(&pool.disruption.budgets, reason, nodes.counted, now),
        }
    }
}

/// The allowances of every pool for every reason: by pool, then in the order of codes, which the policy interface promises.
pub fn allowances(snapshot: &Snapshot) -> Vec<PoolAllowance> {
    let mut heads: BTreeMap<PoolName, Headcount> = BTreeMap::new();
    for node in &snapshot.nodes {
        if let Some(pool) = node.pool() {
            heads.entry(pool).or_default().add(node);
        }
    }
    let of_pool = |pool: &std::sync::Arc<NodePool>| {
        let nodes = heads.get(&pool.name).copied().unwrap_or_default();
        DisruptionReason::ALL.map(|reason| PoolAllowance::of(pool, reason, nodes, snapshot.now))
    };
    snapshot.pools.iter().flat_map(of_pool).collect()
}

#[cfg(test)]
mod tests {
    use plimsoll_base::time::Span;
    use plimsoll_model::{BudgetReason, BudgetReasons};

    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(0);

    fn budget(nodes: BudgetNodes, reasons: &[DisruptionReason]) -> Budget {
        Budget {
            nodes,
            reasons: match reasons {
                [] => BudgetReasons::All,
                listed => {
                    let listed = listed.iter().copied().map(BudgetReason::Disruption);
                    BudgetReasons::Listed(listed.collect())
                }
            },
            schedule: None,
            duration: None,
        }
    }

    fn scheduled(nodes: u32, schedule: &str) -> Budget {
        Budget {
            schedule: Some(schedule.into()),
            duration: Some(Span::from_secs(3600)),
            ..budget(BudgetNodes::Count(nodes), &[])
        }
    }

    fn nodes(budgets: &[Budget], reason: DisruptionReason, counted: u32) -> u32 {
        declared(budgets, reason, counted, NOW).nodes
    }

    #[test]
    fn a_percentage_rounds_up_so_that_a_small_pool_can_move_at_all() {
        let tenth = [budget(BudgetNodes::Percent(10), &[])];
        let empty = DisruptionReason::Empty;
        assert_eq!(nodes(&tenth, empty, 1), 1);
        assert_eq!(nodes(&tenth, empty, 11), 2);
        assert_eq!(nodes(&tenth, empty, 0), 0);
    }

    #[test]
    fn the_smallest_budget_that_speaks_of_the_reason_wins() {
        let budgets = [
            budget(BudgetNodes::Count(5), &[]),
            budget(BudgetNodes::Count(0), &[DisruptionReason::Drifted]),
        ];
        assert_eq!(nodes(&budgets, DisruptionReason::Empty, 9), 5);
        assert_eq!(nodes(&budgets, DisruptionReason::Drifted, 9), 0);
    }

    #[test]
    fn no_budget_at_all_is_no_limit() {
        assert_eq!(nodes(&[], DisruptionReason::Empty, 3), u32::MAX);
    }

    #[test]
    fn a_budget_holds_only_while_its_window_is_open() {
        let budgets = [
            budget(BudgetNodes::Count(5), &[]),
            scheduled(0, "0 1 * * *"),
        ];
        let at = |minutes: i64| {
            let now = Timestamp::from_millis(minutes * 60_000);
            declared(&budgets, DisruptionReason::Empty, 9, now)
        };
        assert_eq!(at(59).nodes, 5);
        assert_eq!(at(59).until, Some(Timestamp::from_millis(3_600_000)));
        assert_eq!(at(60).nodes, 0);
        assert_eq!(at(120).nodes, 5);
    }

    #[test]
    fn one_schedule_that_makes_no_sense_allows_nothing_for_any_reason() {
        let mut broken = scheduled(7, "0 0 * * 7");
        broken.reasons = BudgetReasons::only(DisruptionReason::Drifted);
        let budgets = [budget(BudgetNodes::Count(5), &[]), broken];
        let said = declared(&budgets, DisruptionReason::Empty, 9, NOW);
        assert_eq!(said.nodes, 0);
        assert!(said.problem.is_some());
    }
}
