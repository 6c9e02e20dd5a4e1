//! Requirements: expressions on labels of nodes.

use std::sync::Arc;

use k8s_openapi::api::core::v1 as k8s;
use plimsoll_base::requirement::{Operator, Requirement, Requirements};
use plimsoll_model::NodeTerm;
use serde_json::{Value, json};

use super::each;
use super::label::label_key;
use crate::error::{FieldError, Within};
use crate::intern::Interner;
use crate::kinds::NodeSelectorRequirement;
use crate::write;

const OPERATORS: &str = "In, NotIn, Exists, DoesNotExist, Gt, Lt, Gte or Lte";

/// One expression.
pub(super) fn requirement(
    key: &str,
    operator: &str,
    values: &[String],
    interner: &mut Interner,
) -> Result<Requirement, FieldError> {
    let parsed = Operator::parse(operator)
        .ok_or_else(|| FieldError::unexpected("operator", operator, OPERATORS))?;
    let values: Vec<Arc<str>> = values.iter().map(|value| interner.text(value)).collect();
    Ok(Requirement::new(label_key(key), parsed, &values)?)
}

/// Requirements of a pool, claim or overlay, as written and with minimum values.
pub(super) fn of_pool(
    entries: &[NodeSelectorRequirement],
    interner: &mut Interner,
) -> Result<Vec<Requirement>, FieldError> {
    each(entries, |entry| {
        let made = requirement(&entry.key, &entry.operator, &entry.values, interner)?;
        Ok(made.with_min_values(entry.min_values))
    })
}

/// The label expressions of one node selector term.
pub(super) fn of_term(
    term: &k8s::NodeSelectorTerm,
    interner: &mut Interner,
) -> Result<NodeTerm, FieldError> {
    let mut requirements = Requirements::new();
    for (at, entry) in term.match_expressions.iter().flatten().enumerate() {
        let values = entry.values.as_deref().unwrap_or_default();
        requirements.add(
            requirement(&entry.key, &entry.operator, values, interner)
                .within(format_args!("matchExpressions[{at}]"))?,
        );
    }
    Ok(NodeTerm { requirements })
}

/// One term of node affinity.
pub(super) fn term_to_value(term: &NodeTerm) -> Value {
    let all: Vec<Value> = term
        .requirements
        .iter()
        .flat_map(write::expressions)
        .collect();
    json!({"matchExpressions": all})
}
