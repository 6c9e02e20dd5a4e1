//! Facts about the budget seam: policies tighten and never widen, the least wins, and a failed one holds back.

use plimsoll_base::time::Span;
use plimsoll_model::DisruptionReason::{self, Drifted, Empty, Underutilized};

use super::*;
use crate::hook::Context;

fn row(reason: DisruptionReason, ceiling: u32) -> BudgetRow<'static> {
    BudgetRow {
        name: "general",
        reason,
        nodes: 20,
        not_ready: 1,
        disrupting: 1,
        ceiling,
        pending_pods: 0,
        recent_evictions: 0,
        recent_failures: 0,
    }
}

/// One pool: no limit for emptiness, four nodes for consolidation, three for drift.
fn question() -> AllowQuestion {
    let context = Context {
        now_unix_s: 1_000_000_019,
        ..Context::default()
    };
    let mut builder = AllowQuestionBuilder::new(context);
    for (reason, ceiling) in [(Empty, u32::MAX), (Underutilized, 4), (Drifted, 3)] {
        builder.pool(&row(reason, ceiling));
    }
    builder.finish()
}

fn allowances(allowed: [u32; 3], recheck_after_s: u32) -> Allowances {
    let answer = AllowAnswer {
        allowed: allowed.to_vec(),
        reason: vec![5; 3],
        recheck_after_s,
    };
    check_allowances(&question(), &answer).unwrap()
}

fn most_down(policies: &[Allowances]) -> Vec<u32> {
    let grants = grant(&question(), policies);
    grants.rows.iter().map(|grant| grant.most_down).collect()
}

#[test]
fn without_a_policy_the_declared_budget_is_granted() {
    let grants = grant(&question(), &[]);
    assert_eq!(most_down(&[]), [u32::MAX, 4, 3]);
    assert!(grants.rows.iter().all(|grant| grant.limit.is_none()));
}

#[test]
fn a_policy_cannot_widen_what_is_declared() {
    assert_eq!(most_down(&[allowances([9, 9, 9], 0)]), [9, 4, 3]);
    assert_eq!(allowances([9, 9, 9], 0).rows[1].nodes, 4);
}

#[test]
fn the_least_of_several_policies_wins_and_is_named() {
    let policies = [allowances([2, 9, 3], 0), allowances([2, 0, 9], 0)];
    let grants = grant(&question(), &policies);
    let limits: Vec<_> = grants.rows.iter().map(|grant| grant.limit).collect();
    let limit = |policy| Some(Limit { policy, reason: 5 });
    assert_eq!(most_down(&policies), [2, 0, 3]);
    assert_eq!(limits, [limit(0), limit(1), None]);
}

#[test]
fn a_policy_that_failed_holds_back_all_but_drift() {
    let failed = withheld(&question());
    assert_eq!(most_down(&[failed, allowances([9, 9, 9], 0)]), [0, 0, 3]);
}

#[test]
fn a_row_that_is_missing_allows_nothing() {
    let mut short = allowances([9, 9, 9], 0);
    short.rows.truncate(1);
    assert_eq!(most_down(&[short]), [9, 0, 0]);
}

#[test]
fn the_earliest_recheck_counts_and_zero_is_none() {
    let recheck = |policies: &[Allowances]| grant(&question(), policies).recheck_after;
    assert_eq!(recheck(&[allowances([0; 3], 0)]), None);
    assert_eq!(
        recheck(&[allowances([0; 3], 900), allowances([0; 3], 60)]),
        Some(Span::from_secs(60))
    );
}

#[test]
fn columns_of_another_length_are_refused() {
    let answer = AllowAnswer {
        allowed: vec![1; 3],
        reason: vec![0; 4],
        recheck_after_s: 0,
    };
    let refused = check_allowances(&question(), &answer).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "answer column `reason` has 4 rows; the question has 3 rows"
    );
}

#[test]
fn the_time_of_a_question_is_cut_to_the_minute() {
    assert_eq!(question().context.now_unix_s, 999_999_960);
}
