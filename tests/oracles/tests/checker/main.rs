//! The checker passes good plans and says exactly what is wrong with bad ones. One file per part of the contract.

mod addresses;
mod claims;
mod daemons;
mod entry;
mod placement;
mod pools;
mod topology;

use plimsoll_check::{PriceRule, Rule, check, review};
use plimsoll_model::plan::Plan;
use plimsoll_model::snapshot::Snapshot;
use plimsoll_oracles::fixture::{CapacityType, OnDemand, ZONE_1, ZONE_2, plan};

/// The plan breaks these rules, in this order, and no others.
#[track_caller]
pub(crate) fn breaks(snapshot: &Snapshot, plan: &Plan, rules: &[Rule]) {
    let findings = check(snapshot, plan);
    let found: Vec<Rule> = findings.iter().map(|finding| finding.rule).collect();
    let shown: Vec<String> = findings.iter().map(ToString::to_string).collect();
    assert_eq!(found, rules, "{shown:#?}");
}

/// The plan that buys one node of the pool `general` for pods and does nothing else.
pub(crate) fn bought(
    snapshot: &Snapshot,
    options: &[(&str, &str, CapacityType)],
    pods: &[&str],
) -> Plan {
    plan(snapshot).buy_for("general", options, pods).build()
}

/// A claim for the pod `web` may name a type in the first zone, on demand, and breaks a rule once it names the second zone, too.
#[track_caller]
pub(crate) fn only_in_zone_1(snapshot: &Snapshot, instance_type: &str, rule: Rule) {
    let [first, second] = [ZONE_1, ZONE_2].map(|zone| (instance_type, zone, OnDemand));
    passes(snapshot, &bought(snapshot, &[first], &["web"]));
    breaks(
        snapshot,
        &bought(snapshot, &[first, second], &["web"]),
        &[rule],
    );
}

/// The plan is good.
#[track_caller]
pub(crate) fn passes(snapshot: &Snapshot, plan: &Plan) {
    breaks(snapshot, plan, &[]);
}

/// The plan is good, but worth these remarks.
#[track_caller]
pub(crate) fn remarks(snapshot: &Snapshot, plan: &Plan, rules: &[Rule]) {
    let findings = review(snapshot, plan, PriceRule::List);
    let found: Vec<Rule> = findings.iter().map(|finding| finding.rule).collect();
    assert_eq!(found, rules, "{findings:#?}");
    assert!(rules.iter().all(|rule| rule.is_remark()), "{findings:#?}");
}
