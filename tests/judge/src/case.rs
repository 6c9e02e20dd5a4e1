//! A cluster as manifests: what is read by the product on one side and handed to the scheduler on the other.

#![expect(
    clippy::format_push_string,
    reason = "lines of text that people read, a few at a time"
)]

use serde_json::{Value, json};

use crate::feature::Features;

/// A cluster before a decision.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// The seed it was drawn from.
    pub seed: u64,
    /// The product's own section of a file: the instant, the seed, the catalogue.
    pub section: Value,
    /// Kubernetes and Karpenter objects, as an API server would list them.
    pub objects: Vec<Value>,
    /// Features that were drawn into it.
    pub features: Features,
}

impl Case {
    /// The file that `plimsoll plan` takes.
    pub fn file(&self) -> Value {
        json!({"apiVersion": "v1", "kind": "List", "items": self.objects, "plimsoll": self.section})
    }

    /// The objects of a kind.
    pub fn of_kind<'c>(&'c self, kind: &'c str) -> impl Iterator<Item = &'c Value> {
        self.objects
            .iter()
            .filter(move |object| kind_of(object) == kind)
    }

    /// The same as a stream of YAML documents, for people.
    pub fn yaml(&self) -> String {
        let mut section = json!({"apiVersion": "plimsoll.dev/v1alpha1", "kind": "Snapshot"});
        if let (Some(all), Some(own)) = (section.as_object_mut(), self.section.as_object()) {
            all.extend(own.clone());
        }
        let mut text = String::new();
        for document in std::iter::once(&section).chain(&self.objects) {
            text.push_str("---\n");
            write(document, 0, &mut text);
        }
        text
    }
}

/// Kind of an object; empty when it has none.
pub fn kind_of(object: &Value) -> &str {
    text(object, "/kind")
}

/// Text at a pointer; empty when there is none.
pub fn text<'v>(value: &'v Value, pointer: &str) -> &'v str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or("")
}

/// Items of a list at a pointer; none when there is none.
pub fn items<'v>(value: &'v Value, pointer: &str) -> &'v [Value] {
    let list = value.pointer(pointer).and_then(Value::as_array);
    list.map_or(&[], Vec::as_slice)
}

/// `namespace/name` of an object.
pub fn full_name(object: &Value) -> String {
    let name = text(object, "/metadata/name");
    format!("{}/{name}", text(object, "/metadata/namespace"))
}

/// A value as YAML in block style, each line indented by so many steps.
fn write(value: &Value, depth: usize, text: &mut String) {
    let indent = "  ".repeat(depth);
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            for (key, field) in fields {
                *text += &format!("{indent}{}:", scalar(&json!(key)));
                write_under(field, depth + 1, text);
            }
        }
        Value::Array(list) if !list.is_empty() => {
            for item in list {
                let mut block = String::new();
                write(item, depth + 1, &mut block);
                *text += &format!("{indent}- {}", block.trim_start());
            }
        }
        flat => *text += &format!("{indent}{}\n", scalar(flat)),
    }
}

fn write_under(value: &Value, depth: usize, text: &mut String) {
    let is_block = match value {
        Value::Object(fields) => !fields.is_empty(),
        Value::Array(list) => !list.is_empty(),
        _ => false,
    };
    if is_block {
        text.push('\n');
        write(value, depth, text);
    } else {
        *text += &format!(" {}\n", scalar(value));
    }
}

/// A scalar, quoted as JSON unless it is a plain word.
fn scalar(value: &Value) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '/' | '-');
    match value {
        Value::String(text)
            if text.starts_with(|c: char| c.is_ascii_alphabetic())
                && text.chars().all(plain)
                && !matches!(
                    text.to_ascii_lowercase().as_str(),
                    "true" | "false" | "null" | "yes" | "no" | "on" | "off"
                ) =>
        {
            text.clone()
        }
        other => other.to_string(),
    }
}
