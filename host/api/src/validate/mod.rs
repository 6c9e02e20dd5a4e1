//! Validation as an API server does it, and advice on accepted objects that would surprise their author.
//!
//! Three questions, in this order: does every field hold what it may ([`crate::schema`] and `walk`); do fields agree with each other
//! ([`rules`]); would a controller refuse or ignore part of it although the server takes it ([`advice`]). Errors come from the
//! first two alone, faults also from the first: the server drops a field that it does not know. A question is asked only
//! if those before it found no error. Rules that compare with the object before an update are not asked: a file has no
//! before.

mod advice;
mod finding;
mod kubelet;
mod rules;
mod unserved;
mod walk;

use plimsoll_base::ids::Uid;
use plimsoll_model::NodeClaim;
use serde_json::Value;

pub use advice::kubelet_unsupported;
pub use finding::{Finding, Severity};
pub use kubelet::{kubelet_expressions, kubelet_faults};

use crate::object::Kind;
use crate::{schema, write};
use finding::Findings;

/// Looks at one object; its version and kind are given apart, since items of a typed list do not name them.
///
/// Kinds that are not Karpenter's have no findings but what old labels and annotations on them mean, and budgets that never let a pod go.
pub fn validate(api_version: &str, kind: &str, value: &Value) -> Vec<Finding> {
    let mut findings = Findings::default();
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let served = schema::TABLES
        .iter()
        .find(|table| (table.group, table.kind, table.version) == (group, kind, version));
    match served {
        Some(table) => {
            walk::walk(&table.root, value, &mut findings);
            if !findings.has_errors() {
                rules::check(kind, value, &mut findings);
            }
            if !findings.has_errors() {
                advice::of_karpenter(kind, value, &mut findings);
            }
        }
        None => unserved::check(group, kind, version, &mut findings),
    }
    if kind == "PodDisruptionBudget" {
        advice::of_budgets(value, &mut findings);
    }
    if kind == "Pod" || value.pointer("/spec/template/spec/containers").is_some() {
        advice::of_pods(value, &mut findings);
    }
    findings.into_list()
}

/// The first reason for which an API server would refuse to create this claim for a pool of that uid; `None` where it would take it.
pub fn claim_refusal(claim: &NodeClaim, pool: &Uid) -> Option<Finding> {
    let manifest = write::new_claim(claim, pool);
    let kind = Kind::NodeClaim;
    let findings = validate(&kind.api_version(), kind.as_str(), &manifest);
    let mut findings = findings.into_iter();
    findings.find(|finding| finding.severity == Severity::Error)
}

/// The items of a list field; none when it is absent.
fn items<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value
        .get(name)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

/// The text of a field; empty when it is absent.
fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Least likeness of two names for one to be suggested. Lower, settings of kubelet pass for one another's misspellings.
const LIKENESS: f64 = 0.9;

/// The known name that is most like a strange one, if it is like enough to be what was meant.
pub fn nearest<'a>(known: impl IntoIterator<Item = &'a str>, strange: &str) -> Option<&'a str> {
    let likeness = |known: &str| strsim::jaro_winkler(known, strange);
    known
        .into_iter()
        .max_by(|left, right| likeness(left).total_cmp(&likeness(right)))
        .filter(|best| likeness(best) >= LIKENESS)
}
