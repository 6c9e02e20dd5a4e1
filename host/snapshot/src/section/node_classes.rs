//! Node classes as far as people are told of them: conditions of their status, which no decision reads.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A node class with the conditions of its status that are not `True`.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema,
)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeClassEntry {
    /// Its kind, such as `EC2NodeClass`.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// Conditions that are not `True`.
    pub conditions: Vec<ClassConditionEntry>,
}

/// A condition of a node class.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema,
)]
#[serde(rename_all = "camelCase", default)]
pub struct ClassConditionEntry {
    /// Its type, such as `SubnetsReady`.
    #[serde(rename = "type")]
    pub kind: String,
    /// `False` or `Unknown`.
    pub status: String,
    /// The cause, one word.
    pub reason: String,
    /// The cause in a sentence, with the way out; may be empty.
    pub message: String,
}

impl NodeClassEntry {
    /// The entry of a class as the API server shows it; `None` where all its conditions are `True`, or it has none.
    pub fn of(kind: &str, class: &Value) -> Option<Self> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let conditions = class["status"]["conditions"].as_array();
        let unmet = conditions.into_iter().flatten();
        let unmet = unmet.filter(|own| own["status"] != "True");
        let mut conditions: Vec<ClassConditionEntry> = unmet
            .map(|own| ClassConditionEntry {
                kind: text(&own["type"]),
                status: text(&own["status"]),
                reason: text(&own["reason"]),
                message: text(&own["message"]),
            })
            .collect();
        conditions.sort();
        (!conditions.is_empty()).then(|| Self {
            kind: kind.to_owned(),
            name: text(&class["metadata"]["name"]),
            conditions,
        })
    }

    /// The same without sentences, which may name queues, roles and accounts.
    #[must_use]
    pub fn without_messages(mut self) -> Self {
        for condition in &mut self.conditions {
            condition.message.clear();
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_class_is_told_by_what_is_not_true_and_may_be_told_without_sentences() {
        let class = |conditions: Value| json!({"metadata": {"name": "default"}, "status": {"conditions": conditions}});
        let is_well = class(json!([{"type": "Ready", "status": "True"}]));
        assert_eq!(NodeClassEntry::of("EC2NodeClass", &is_well), None);
        assert_eq!(NodeClassEntry::of("EC2NodeClass", &json!({})), None);
        let waits = class(json!([
            {"type": "SubnetsReady", "status": "False", "reason": "SubnetsNotFound", "message": "of account 111122223333"},
            {"type": "AMIsReady", "status": "Unknown", "reason": "AwaitingReconciliation"},
        ]));
        let entry = NodeClassEntry::of("EC2NodeClass", &waits).expect("an entry");
        let kinds = |entry: &NodeClassEntry| -> Vec<String> {
            let all = entry.conditions.iter();
            all.map(|own| format!("{} {}", own.kind, own.message))
                .collect()
        };
        let told = ["AMIsReady ", "SubnetsReady of account 111122223333"];
        assert_eq!(kinds(&entry), told);
        assert_eq!(
            kinds(&entry.without_messages()),
            ["AMIsReady ", "SubnetsReady "]
        );
    }
}
