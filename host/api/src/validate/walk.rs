//! Holds every field of an object against its row: type, range, length, choice and pattern.
//!
//! What is absent or null is asked for only where it is required. A field without a row is ignored by the server: a fault,
//! with where it went if it is an old one.

use std::collections::BTreeSet;

use serde_json::Value;

use super::finding::{Findings, or, shown};
use super::nearest;
use crate::schema::{Field, Type};

/// Fields of older versions: path, and what became of them.
const MOVED: [(&str, &str); 9] = [
    (
        "spec.disruption.expireAfter",
        "it is spec.template.spec.expireAfter now, and without that nodes live 720h",
    ),
    (
        "spec.template.spec.kubelet",
        "it is spec.kubelet of the EC2NodeClass now, and is ignored here",
    ),
    (
        "spec.template.spec.resources",
        "a pool has no such field; what pods ask for is added up when a node is planned",
    ),
    (
        "spec.ttlSecondsUntilExpired",
        "it is spec.template.spec.expireAfter now",
    ),
    (
        "spec.ttlSecondsAfterEmpty",
        "it is spec.disruption.consolidateAfter with consolidationPolicy WhenEmpty now",
    ),
    (
        "spec.requirements[].minValues",
        "an overlay knows no minimum of values",
    ),
    ("spec.subnetSelector", "it is spec.subnetSelectorTerms now"),
    (
        "spec.securityGroupSelector",
        "it is spec.securityGroupSelectorTerms now",
    ),
    (
        "spec.launchTemplate",
        "it was removed, and nothing replaces it",
    ),
];

/// Holds an object against the tree of its kind.
pub(super) fn walk(root: &Field, value: &Value, findings: &mut Findings) {
    let Value::Object(fields) = value else { return };
    for (name, field) in &root.fields {
        // A status is a controller's to write, and what others read does not depend on its form.
        if *name == "status" {
            continue;
        }
        member(field, name, name, fields.get(*name), findings);
    }
}

/// A field of an object, perhaps absent.
fn member(field: &Field, name: &str, path: &str, value: Option<&Value>, findings: &mut Findings) {
    match value {
        Some(value) if !value.is_null() => check(field, path, value, findings),
        _ if field.is_required => findings.error(
            path,
            format!("is missing; expected {}", wanted(field, name)),
        ),
        _ => {}
    }
}

/// The sentence of a missing field: the type it should have.
fn wanted(field: &Field, name: &str) -> String {
    if name == "group" {
        return "the API group of the class: karpenter.k8s.aws for an EC2NodeClass".to_owned();
    }
    if name == "kind" {
        return "the kind of what it names, such as EC2NodeClass or Deployment".to_owned();
    }
    if name == "amiSelectorTerms" {
        return "a list of images, such as [{alias: al2023@v20250403}]".to_owned();
    }
    match field.kind {
        Type::List => "a list, which may be empty".to_owned(),
        kind => named(kind).to_owned(),
    }
}

fn named(kind: Type) -> &'static str {
    match kind {
        Type::Any => "a value",
        Type::Object => "an object with fields",
        Type::List => "a list",
        Type::Text => "text",
        Type::Integer => "a whole number",
        Type::IntegerOrText => "a whole number or text",
        Type::Boolean => "true or false",
    }
}

fn check(field: &Field, path: &str, value: &Value, findings: &mut Findings) {
    match (field.kind, value) {
        (Type::Object, Value::Object(_)) => object(field, path, value, findings),
        (Type::List, Value::Array(items)) => list(field, path, items, findings),
        (Type::Text | Type::IntegerOrText, Value::String(text)) => {
            self::text(field, path, text, findings);
        }
        (Type::Integer, Value::Number(number)) if number.is_i64() || number.is_u64() => {
            let number = number.as_i64().unwrap_or(i64::MAX);
            range(field, path, number, "", findings);
        }
        (Type::IntegerOrText, Value::Number(number)) if number.is_i64() || number.is_u64() => {}
        (Type::Any, _) | (Type::Boolean, Value::Bool(_)) => {}
        (Type::Text, Value::Number(_) | Value::Bool(_)) => {
            let words = format!(
                "is {}; expected text: put it in quotes{}",
                shown(value),
                unit(field)
            );
            findings.error(path, words);
        }
        (Type::IntegerOrText, Value::Object(_))
            if path.contains("limits{") || path.ends_with(".resources") =>
        {
            findings.error(path, "is an object; expected a quantity: limits are one level, without resources between");
        }
        (kind, _) => {
            findings.error(
                path,
                format!("is {}; expected {}", shown(value), named(kind)),
            );
        }
    }
}

/// A hint for a number where text is expected: its unit; empty where there is none.
fn unit(field: &Field) -> &'static str {
    match field.pattern {
        Some(pattern) if pattern.expected.starts_with("a duration") => ", with a unit, such as 30s",
        Some(pattern) if pattern.expected.starts_with("a whole size") => {
            ", with a unit, such as 100Gi"
        }
        _ => "",
    }
}

fn object(field: &Field, path: &str, value: &Value, findings: &mut Findings) {
    let Value::Object(fields) = value else { return };
    if let Some(most) = field.most {
        let count = i64::try_from(fields.len()).unwrap_or(i64::MAX);
        if count > most {
            findings.error(path, format!("has {count} keys; expected at most {most}"));
        }
    }
    for (name, child) in &field.fields {
        member(
            child,
            name,
            &format!("{path}.{name}"),
            fields.get(*name),
            findings,
        );
    }
    if let Some(each) = &field.each {
        for (name, value) in fields {
            check(each, &format!("{path}.{name}"), value, findings);
        }
        return;
    }
    if field.is_open || field.fields.is_empty() {
        return;
    }
    for name in fields
        .keys()
        .filter(|name| !field.fields.contains_key(name.as_str()))
    {
        unknown(field, path, name, findings);
    }
}

fn unknown(field: &Field, path: &str, name: &str, findings: &mut Findings) {
    let path = format!("{path}.{name}");
    let plain = without_indexes(&path);
    let moved = MOVED.iter().find(|(old, _)| *old == plain);
    if let Some((_, now)) = moved {
        return findings.fault(path, format!("is not a field of this kind: {now}"));
    }
    let hint = match nearest(field.fields.keys().copied(), name) {
        Some(best) => format!("; did you mean {best}?"),
        None => String::new(),
    };
    findings.fault(
        path,
        format!("is not a field of this kind and is ignored{hint}"),
    );
}

fn without_indexes(path: &str) -> String {
    let mut result = String::with_capacity(path.len());
    for character in path.chars() {
        if !(character.is_ascii_digit() && result.ends_with('[')) {
            result.push(character);
        }
    }
    result
}

fn list(field: &Field, path: &str, items: &[Value], findings: &mut Findings) {
    let count = i64::try_from(items.len()).unwrap_or(i64::MAX);
    range(field, path, count, " items", findings);
    let mut seen = BTreeSet::new();
    for (at, item) in items.iter().enumerate() {
        let path = format!("{path}[{at}]");
        if field.is_set() && !seen.insert(item.to_string()) {
            findings.error(
                &path,
                format!("is {} again; expected each value once", shown(item)),
            );
        }
        if let Some(each) = &field.each {
            check(each, &path, item, findings);
        }
    }
}

fn range(field: &Field, path: &str, number: i64, what: &str, findings: &mut Findings) {
    let verb = if what.is_empty() { "is" } else { "has" };
    if field.least.is_some_and(|least| number < least) {
        let least = field.least.unwrap_or_default();
        findings.error(
            path,
            format!("{verb} {number}{what}; expected at least {least}"),
        );
    }
    if field.most.is_some_and(|most| number > most) {
        let most = field.most.unwrap_or_default();
        findings.error(
            path,
            format!("{verb} {number}{what}; expected at most {most}"),
        );
    }
}

fn text(field: &Field, path: &str, text: &str, findings: &mut Findings) {
    let value = shown(&Value::from(text));
    if !field.one_of.is_empty() {
        if !field.one_of.contains(&text) {
            findings.error(
                path,
                format!(
                    "is {value}; expected {}{}",
                    or(&field.one_of),
                    renamed(text)
                ),
            );
        }
        return;
    }
    let length = i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
    if field.least.is_some_and(|least| length < least) {
        return findings.error(path, "is empty; expected text");
    }
    if let Some(most) = field.most.filter(|most| length > *most) {
        return findings.error(
            path,
            format!("has {length} characters; expected at most {most}"),
        );
    }
    if let Some(pattern) = field.pattern.filter(|pattern| !pattern.fits(text)) {
        findings.error(
            path,
            format!("is {value}; expected {}{}", pattern.expected, renamed(text)),
        );
    }
}

/// A hint for a value that was right once or is a common mistake; empty for others.
fn renamed(text: &str) -> &'static str {
    match text {
        "WhenUnderutilized" => "; it was renamed to WhenEmptyOrUnderutilized",
        "Ubuntu" => "; images of Ubuntu are chosen by id or name with family AL2 or Custom",
        "Expired" | "Expiration" => "; expiry does not ask budgets",
        "Never" => "; leave the field out to wait for ever",
        "18Ti" | "19Ti" | "28Ti" | "29Ti" => {
            "; the API's pattern refuses this size, write it in Gi"
        }
        _ => "",
    }
}
