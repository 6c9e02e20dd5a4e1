//! A table's tree as the structural schema of an API server, with its rules.

use serde_json::{Map, Value, json};

use super::rules::Rules;
use crate::schema::{Field, Merge, Type};

/// The schema of a kind; every rule is taken out of `rules` as it finds its place.
pub(super) fn of(root: &Field, rules: &mut Rules) -> Value {
    field(root, ".", rules).into()
}

fn field(field: &Field, path: &str, rules: &mut Rules) -> Map<String, Value> {
    let mut schema = Map::new();
    let mut set = |keyword: &str, value: Value| {
        schema.insert(keyword.to_owned(), value);
    };
    if !field.description.is_empty() {
        set("description", field.description.into());
    }
    match type_name(field.kind) {
        Some(name) => set("type", name.into()),
        None if field.kind == Type::IntegerOrText => {
            set("anyOf", json!([{"type": "integer"}, {"type": "string"}]));
            set("x-kubernetes-int-or-string", true.into());
        }
        None => {}
    }
    if let Some(format) = field.format {
        set("format", format.into());
    }
    if let Some(pattern) = field.pattern {
        set("pattern", pattern.expression.into());
    }
    if !field.one_of.is_empty() {
        set("enum", json!(field.one_of));
    }
    let [least, most] = bounds(field.kind);
    for (keyword, bound) in [(least, field.least), (most, field.most)] {
        if let Some(bound) = bound {
            set(keyword, bound.into());
        }
    }
    // A test holds that every default of a table is JSON.
    if let Some(default) = field
        .default
        .and_then(|text| serde_json::from_str(text).ok())
    {
        set("default", default);
    }
    if field.is_open {
        set("x-kubernetes-preserve-unknown-fields", true.into());
    }
    merge(field, &mut schema);
    children(field, path, &mut schema, rules);
    if let Some(found) = rules.remove(path) {
        let found = found.into_iter().map(Value::from).collect();
        schema.insert("x-kubernetes-validations".to_owned(), found);
    }
    schema
}

fn type_name(kind: Type) -> Option<&'static str> {
    match kind {
        Type::Any | Type::IntegerOrText => None,
        Type::Object => Some("object"),
        Type::List => Some("array"),
        Type::Text => Some("string"),
        Type::Integer => Some("integer"),
        Type::Boolean => Some("boolean"),
    }
}

/// Keywords for the least and the most.
fn bounds(kind: Type) -> [&'static str; 2] {
    match kind {
        Type::Object => ["minProperties", "maxProperties"],
        Type::List => ["minItems", "maxItems"],
        Type::Text => ["minLength", "maxLength"],
        _ => ["minimum", "maximum"],
    }
}

fn merge(field: &Field, schema: &mut Map<String, Value>) {
    let keyword = match field.kind {
        Type::List => "x-kubernetes-list-type",
        _ => "x-kubernetes-map-type",
    };
    let name = match field.merge {
        None => return,
        Some(Merge::Atomic) => "atomic",
        Some(Merge::Granular) => "granular",
        Some(Merge::Set) => "set",
        Some(Merge::By(key)) => {
            schema.insert("x-kubernetes-list-map-keys".to_owned(), json!([key]));
            "map"
        }
    };
    schema.insert(keyword.to_owned(), name.into());
}

/// Fields, items and values with the paths that tables give them.
fn children(parent: &Field, path: &str, schema: &mut Map<String, Value>, rules: &mut Rules) {
    if let Some(each) = &parent.each {
        let (keyword, mark) = match parent.kind {
            Type::List => ("items", "[]"),
            _ => ("additionalProperties", "{}"),
        };
        let each = field(each, &format!("{path}{mark}"), rules);
        schema.insert(keyword.to_owned(), each.into());
    }
    if parent.fields.is_empty() {
        return;
    }
    let inner = |name: &str| match path {
        "." => name.to_owned(),
        path => format!("{path}.{name}"),
    };
    let properties: Map<String, Value> = parent
        .fields
        .iter()
        .map(|(name, child)| ((*name).to_owned(), field(child, &inner(name), rules).into()))
        .collect();
    schema.insert("properties".to_owned(), properties.into());
    let required = parent.fields.iter().filter(|(_, child)| child.is_required);
    let required: Vec<&str> = required.map(|(name, _)| *name).collect();
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
}
