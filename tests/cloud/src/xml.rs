//! Answers of query formats: trees as XML.

use std::fmt::Write as _;

use serde_json::Value;

/// The elements of a tree. Entries of arrays are elements of the name that the service gives them; what is null is left out.
pub(crate) fn elements(tree: &Value, entry: &str) -> String {
    let mut text = String::new();
    write(&mut text, tree, entry);
    text
}

/// An element around XML.
pub(crate) fn element(name: &str, inner: &str) -> String {
    format!("<{name}>{inner}</{name}>")
}

fn write(text: &mut String, tree: &Value, entry: &str) {
    match tree {
        Value::Null => {}
        Value::Bool(_) | Value::Number(_) => {
            let _ = write!(text, "{tree}");
        }
        Value::String(words) => escape(text, words),
        Value::Array(entries) => {
            for inner in entries {
                named(text, entry, inner, entry);
            }
        }
        Value::Object(fields) => {
            let set = fields.iter().filter(|(_, inner)| !inner.is_null());
            for (name, inner) in set {
                named(text, name, inner, entry);
            }
        }
    }
}

fn named(text: &mut String, name: &str, inner: &Value, entry: &str) {
    let _ = write!(text, "<{name}>");
    write(text, inner, entry);
    let _ = write!(text, "</{name}>");
}

/// Text as it may stand in an element.
pub(crate) fn escape(text: &mut String, words: &str) {
    for character in words.chars() {
        match character {
            '&' => text.push_str("&amp;"),
            '<' => text.push_str("&lt;"),
            '>' => text.push_str("&gt;"),
            other => text.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn trees_become_elements() {
        let tree = json!({"tagSet": [{"key": "a&b", "value": "<"}], "count": 3, "flag": true, "none": null, "empty": []});
        assert_eq!(
            elements(&tree, "item"),
            "<count>3</count><empty></empty><flag>true</flag><tagSet><item><key>a&amp;b</key><value>&lt;</value></item></tagSet>"
        );
    }
}
