//! The common parts of tests of plans: the checker's faults, and how many cases a property is tried on.

use plimsoll_check::{Finding, PriceRule, review};
use plimsoll_model::plan::Plan;
use plimsoll_model::snapshot::Snapshot;
use proptest::prelude::ProptestConfig;

/// Everything that the checker holds against a plan at these prices, remarks apart; empty for a good plan.
pub fn faults(snapshot: &Snapshot, plan: &Plan, prices: PriceRule) -> Vec<Finding> {
    let mut findings = review(snapshot, plan, prices);
    findings.retain(|finding| !finding.rule.is_remark());
    findings
}

/// So many cases of a property whose failures leave no file beside the test: a seed that once failed becomes a test of its own.
pub fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(cases)
    }
}
