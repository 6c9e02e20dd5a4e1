//! A validator for documents against `plimsoll schema`: the part of JSON Schema that our schemas use.
//!
//! Stricter than the standard in two ways: a keyword that is not known here fails, so that nothing is skipped, and so does a
//! field that the schema does not name, so that every field is documented. The validators of the registry know neither, and bring
//! some thirty crates.

#![expect(
    clippy::panic,
    reason = "helpers of tests may fail loudly, as tests may"
)]

use regex_lite::Regex;
use serde_json::{Map, Value};

/// Keywords that say nothing about what is allowed.
const REMARKS: [&str; 10] = [
    "$schema",
    "$defs",
    "title",
    "description",
    "format",
    "default",
    "x-kubernetes-list-type",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-map-type",
    "x-kubernetes-int-or-string",
];
/// Rules of the API server, which [`plimsoll_api::validate`] asks.
const RULES: &str = "x-kubernetes-validations";

/// Faults of a document, a line each: the field, and the keyword that it breaks.
pub(crate) fn breaches(schema: &Value, document: &Value) -> Vec<String> {
    let mut checker = Checker {
        root: schema,
        breaches: Vec::new(),
    };
    checker.check(schema, document, "");
    checker.breaches
}

struct Checker<'s> {
    root: &'s Value,
    breaches: Vec<String>,
}

impl Checker<'_> {
    fn refuse(&mut self, path: &str, words: impl Into<String>) {
        let path = if path.is_empty() { "document" } else { path };
        self.breaches.push(format!("{path}: {}", words.into()));
    }

    fn check(&mut self, schema: &Value, value: &Value, path: &str) {
        let keywords = match schema {
            Value::Bool(true) => return,
            Value::Object(keywords) => keywords,
            other => panic!("{path}: {other} is no schema"),
        };
        for (keyword, wanted) in keywords {
            self.keyword(keyword, wanted, value, path);
        }
        if let Value::Object(fields) = value {
            self.fields(keywords, fields, path);
        }
    }

    fn keyword(&mut self, keyword: &str, wanted: &Value, value: &Value, path: &str) {
        let kept = match keyword {
            "$ref" => {
                let name = wanted.as_str().expect("a reference is text");
                let pointer = name.strip_prefix('#').expect("references stay within");
                let referred = self
                    .root
                    .pointer(pointer)
                    .expect("references lead to schemas");
                let referred = referred.clone();
                return self.check(&referred, value, path);
            }
            "anyOf" | "oneOf" => {
                let fits = choices(wanted)
                    .iter()
                    .filter(|choice| self.breaches_of(choice, value, path).is_empty())
                    .count();
                fits == 1 || (fits > 1 && keyword == "anyOf")
            }
            "type" => is_of_type(wanted, value),
            "const" => wanted == value,
            "enum" => choices(wanted).contains(value),
            "pattern" => value.as_str().is_none_or(|text| {
                let pattern = wanted.as_str().expect("a pattern is text");
                Regex::new(pattern)
                    .expect("a pattern is one")
                    .is_match(text)
            }),
            "minimum" => value.is_null() || value.as_f64() >= wanted.as_f64(),
            "maximum" => value.is_null() || value.as_f64() <= wanted.as_f64(),
            "minLength" => value.as_str().is_none_or(|text| {
                text.chars().count() as u64 >= wanted.as_u64().expect("a count")
            }),
            "maxLength" => value
                .as_str()
                .is_none_or(|text| limit(text.chars().count(), wanted)),
            "maxItems" => value
                .as_array()
                .is_none_or(|items| limit(items.len(), wanted)),
            "minItems" => value
                .as_array()
                .is_none_or(|items| items.len() as u64 >= wanted.as_u64().expect("a count")),
            "items" => {
                for (at, item) in value.as_array().into_iter().flatten().enumerate() {
                    self.check(wanted, item, &format!("{path}[{at}]"));
                }
                true
            }
            "required" => {
                let missing = choices(wanted).iter().filter_map(Value::as_str);
                for name in missing.filter(|name| value.get(name).is_none()) {
                    self.refuse(path, format!("has no {name}"));
                }
                true
            }
            "properties" | "additionalProperties" => true,
            known if REMARKS.contains(&known) || known == RULES => true,
            other => panic!("{path}: the keyword {other} is not known here"),
        };
        if !kept {
            self.refuse(path, format!("{value} breaks {keyword} {wanted}"));
        }
    }

    fn fields(&mut self, schema: &Map<String, Value>, fields: &Map<String, Value>, path: &str) {
        let describes = ["properties", "additionalProperties"];
        if !describes
            .iter()
            .any(|keyword| schema.contains_key(*keyword))
        {
            return;
        }
        for (name, value) in fields {
            let path = format!("{path}.{name}");
            let named = schema.get("properties").and_then(|all| all.get(name));
            match named.or_else(|| schema.get("additionalProperties")) {
                Some(schema) => self.check(schema, value, &path),
                None => self.refuse(&path, "the schema does not name this field"),
            }
        }
    }

    fn breaches_of(&self, schema: &Value, value: &Value, path: &str) -> Vec<String> {
        let mut checker = Checker {
            root: self.root,
            breaches: Vec::new(),
        };
        checker.check(schema, value, path);
        checker.breaches
    }
}

fn choices(value: &Value) -> &[Value] {
    value.as_array().expect("it is a list")
}

fn limit(count: usize, most: &Value) -> bool {
    count as u64 <= most.as_u64().expect("a count")
}

fn is_of_type(wanted: &Value, value: &Value) -> bool {
    let is = |name: &str| match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("{other} is no type"),
    };
    match wanted {
        Value::String(name) => is(name),
        several => choices(several).iter().filter_map(Value::as_str).any(is),
    }
}
