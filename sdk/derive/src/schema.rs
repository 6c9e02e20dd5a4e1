//! The JSON Schema of a settings struct, written as text: keys in the order of fields, so that it is stable.

use std::fmt::Write;

use crate::field::{Field, Kind, Value};

/// An object schema that knows every setting and allows no other.
pub(crate) fn render(fields: &[Field]) -> String {
    let properties = fields
        .iter()
        .map(|field| format!("{}:{}", quoted(&field.key()), property(field)));
    let mandatory = fields.iter().filter(|field| field.default.is_none());
    let required = list(mandatory.map(|field| quoted(&field.key())));
    format!(
        r#"{{"type":"object","properties":{{{}}},"required":{required},"additionalProperties":false}}"#,
        properties.collect::<Vec<_>>().join(","),
    )
}

fn property(field: &Field) -> String {
    let mut parts = match field.kind {
        Kind::Numbers | Kind::Texts => {
            vec![
                pair("type", quoted("array")),
                pair("items", object(&element(field))),
            ]
        }
        _ => element(field),
    };
    if !field.description.is_empty() {
        parts.push(pair("description", quoted(&field.description)));
    }
    if let Some(default) = &field.default {
        parts.push(pair("default", json(default)));
    }
    object(&parts)
}

/// Type and limits of the value, or of each element of a list.
fn element(field: &Field) -> Vec<String> {
    let kind = match field.kind {
        Kind::Flag => "boolean",
        Kind::Number | Kind::Numbers => "number",
        Kind::Count => "integer",
        Kind::Text | Kind::Zone | Kind::Texts => "string",
    };
    let mut parts = vec![pair("type", quoted(kind))];
    if field.kind == Kind::Zone {
        parts.push(pair("format", quoted("time-zone")));
    }
    let least = if field.kind == Kind::Count {
        field.min.or(Some(0.0))
    } else {
        field.min
    };
    if let Some(min) = least {
        parts.push(pair("minimum", min.to_string()));
    }
    if let Some(max) = field.max {
        parts.push(pair("maximum", max.to_string()));
    }
    if !field.one_of.is_empty() {
        parts.push(pair(
            "enum",
            list(field.one_of.iter().map(|text| quoted(text))),
        ));
    }
    parts
}

fn pair(key: &str, value: impl std::fmt::Display) -> String {
    format!("{}:{value}", quoted(key))
}

fn object(parts: &[String]) -> String {
    format!("{{{}}}", parts.join(","))
}

fn json(value: &Value) -> String {
    match value {
        Value::Flag(value) => value.to_string(),
        Value::Number(value) => value.to_string(),
        Value::Text(value) => quoted(value),
        Value::Numbers(values) => list(values.iter().map(f64::to_string)),
        Value::Texts(values) => list(values.iter().map(|value| quoted(value))),
    }
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(","))
}

fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            control if control.is_control() => {
                write!(out, "\\u{:04x}", u32::from(control))
                    .expect("writing to a string cannot fail");
            }
            other => out.push(other),
        }
    }
    out.push('"');
    out
}
