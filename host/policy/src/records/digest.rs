//! Digests of what the core made of the answers: equal digests, equal bytes.

use plimsoll_model::command::Decision;
use plimsoll_model::plan::Plan;
use serde::Serialize;

use crate::package::digest;

/// SHA-256 of a plan, as JSON writes it.
pub fn digest_of_plan(plan: &Plan) -> String {
    digest_of(plan)
}

/// SHA-256 of a decision about nodes, as JSON writes it.
pub fn digest_of_decision(decision: &Decision) -> String {
    digest_of(decision)
}

fn digest_of(value: &impl Serialize) -> String {
    let text = serde_json::to_vec(value).expect("plans and decisions have texts as keys");
    digest(&text)
}
