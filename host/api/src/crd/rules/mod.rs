//! Rules that an API server evaluates: expressions of CEL by the paths of the tables, each with the words of its refusal.
//!
//! They are those that [`crate::validate()`] asks of an object, which names the same fields, and those that look at the object
//! before an update, which validation of a file cannot ask. The server puts the field's path and value before the words.

mod class;
mod common;
mod pool;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::Provider;

/// The rules of a kind by path.
pub(super) type Rules = BTreeMap<&'static str, Vec<Rule>>;

/// A rule and its words.
pub(super) struct Rule {
    expression: String,
    message: String,
}

/// A rule of an expression that must hold, and the words of the refusal.
fn rule(expression: impl Into<String>, message: impl Into<String>) -> Rule {
    Rule {
        expression: expression.into(),
        message: message.into(),
    }
}

impl From<Rule> for Value {
    fn from(rule: Rule) -> Self {
        json!({"rule": rule.expression, "message": rule.message})
    }
}

/// The rules of a kind; those of kinds without any are none.
pub(super) fn of(kind: &str, provider: Provider) -> Rules {
    match kind {
        "NodePool" => pool::pool(provider),
        "NodeClaim" => pool::claim(provider),
        "NodeOverlay" => pool::overlay(provider),
        "CapacityBuffer" => pool::buffer(),
        "EC2NodeClass" => class::class(),
        "Policy" => common::policy(),
        _ => Rules::new(),
    }
}

/// Names as a list in an expression.
fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("'{name}'")).collect();
    format!("[{}]", names.join(", "))
}

/// Expression that one of these fields of `of` is there.
fn has_any(of: &str, fields: &[&str]) -> String {
    let has: Vec<String> = fields
        .iter()
        .map(|field| format!("has({of}.{field})"))
        .collect();
    has.join(" || ")
}
