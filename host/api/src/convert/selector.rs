//! Label selectors.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{
    LabelSelector as Written, LabelSelectorRequirement,
};
use plimsoll_model::{LabelExpression, LabelSelector, SelectorOperator};
use serde_json::{Value, json};

use crate::error::{FieldError, Within};
use crate::intern::Interner;

/// A selector that may be missing, which then selects nothing. Fails for an expression that makes no sense.
pub fn selector(
    written: Option<&Written>,
    interner: &mut Interner,
) -> Result<LabelSelector, FieldError> {
    let Some(written) = written else {
        return Ok(LabelSelector::Nothing);
    };
    let mut conditions = Vec::new();
    for (key, value) in written.match_labels.iter().flatten() {
        conditions.push(LabelExpression {
            key: interner.text(key),
            operator: SelectorOperator::In,
            values: vec![interner.text(value)],
        });
    }
    for (at, entry) in written.match_expressions.iter().flatten().enumerate() {
        conditions
            .push(expression(entry, interner).within(format_args!("matchExpressions[{at}]"))?);
    }
    Ok(LabelSelector::all(conditions))
}

/// A selector that is a plain map.
pub(super) fn of_map(map: &BTreeMap<String, String>, interner: &mut Interner) -> LabelSelector {
    LabelSelector::match_labels(&interner.map(map))
}

fn expression(
    written: &LabelSelectorRequirement,
    interner: &mut Interner,
) -> Result<LabelExpression, FieldError> {
    let values = written.values.as_deref().unwrap_or_default();
    let operator = match written.operator.as_str() {
        "In" => SelectorOperator::In,
        "NotIn" => SelectorOperator::NotIn,
        "Exists" => SelectorOperator::Exists,
        "DoesNotExist" => SelectorOperator::DoesNotExist,
        other => {
            let expected = "In, NotIn, Exists or DoesNotExist";
            return Err(FieldError::unexpected("operator", other, expected));
        }
    };
    if values.is_empty() && matches!(operator, SelectorOperator::In | SelectorOperator::NotIn) {
        return Err(FieldError::missing("values", "at least one value"));
    }
    Ok(LabelExpression {
        key: interner.text(&written.key),
        operator,
        values: values.iter().map(|value| interner.text(value)).collect(),
    })
}

/// A selector; null when it selects nothing.
pub(super) fn to_value(selector: &LabelSelector) -> Value {
    let LabelSelector::All(conditions) = selector else {
        return Value::Null;
    };
    let one = |condition: &LabelExpression| {
        json!({
            "key": condition.key, "operator": format!("{:?}", condition.operator),
            "values": condition.values,
        })
    };
    json!({"matchExpressions": conditions.iter().map(one).collect::<Vec<_>>()})
}
