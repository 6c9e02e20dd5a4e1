//! JSON as different hands write it: fields in any order, spaces or none, texts escaped to the last letter.

use serde_json::Value;

use super::draw::Draw;

/// The text of a value, on one line.
pub(super) fn written(value: &Value, draw: &mut Draw) -> String {
    let space = draw.pick(&["", "", " "]);
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            draw.shuffle(&mut fields);
            let fields: Vec<String> = fields
                .into_iter()
                .map(|(key, value)| {
                    format!("{}:{space}{}", quoted(key, draw), written(value, draw))
                })
                .collect();
            format!("{{{space}{}{space}}}", fields.join(","))
        }
        Value::Array(entries) => {
            let entries: Vec<String> = entries.iter().map(|one| written(one, draw)).collect();
            format!("[{}]", entries.join(&format!(",{space}")))
        }
        Value::String(text) => quoted(text, draw),
        other => other.to_string(),
    }
}

fn quoted(text: &str, draw: &mut Draw) -> String {
    if !draw.once_in(4) {
        return Value::from(text).to_string();
    }
    let halves = text.encode_utf16();
    let escaped: Vec<String> = halves.map(|half| format!("\\u{half:04X}")).collect();
    format!("\"{}\"", escaped.concat())
}
