//! Cases out of the tables.

#![expect(
    clippy::panic,
    reason = "helpers of tests may fail loudly, as tests may"
)]

use serde_json::{Map, Value};

/// The validators that take or refuse an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layer {
    /// Taken, without any remark.
    Accepted,
    /// Taken, and a controller refuses it.
    Runtime,
    /// Taken in the place of the object before.
    Updated,
    /// Refused by the schema.
    Schema,
    /// Refused by a rule.
    Cel,
    /// Refused by a rule that only the definitions for AWS have.
    CelAws,
    /// Refused in the place of the object before.
    Update,
    /// Refused for a field that the schema does not have.
    Unknown,
    /// Of a kind or version that is not there.
    Unserved,
}

/// A case.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) id: String,
    /// The kind of the table; an unserved object may be of another.
    pub(crate) kind: String,
    pub(crate) layer: Layer,
    pub(crate) object: Value,
    pub(crate) before: Option<Value>,
    /// The field that a refusal is about.
    pub(crate) at: Option<String>,
    /// Words of an API server's refusal.
    pub(crate) words: Option<String>,
}

/// The cases of a kind, and an example of everything that a controller may write on its objects.
pub(crate) struct Table {
    pub(crate) kind: String,
    pub(crate) status: Value,
    pub(crate) cases: Vec<Case>,
}

const TABLES: [&str; 7] = [
    include_str!("cases/NodePool.yaml"),
    include_str!("cases/NodeClaim.yaml"),
    include_str!("cases/NodeOverlay.yaml"),
    include_str!("cases/CapacityBuffer.yaml"),
    include_str!("cases/EC2NodeClass.yaml"),
    include_str!("cases/KWOKNodeClass.yaml"),
    include_str!("cases/Policy.yaml"),
];

/// All tables.
pub(crate) fn tables() -> Vec<Table> {
    TABLES.iter().map(|text| table(text)).collect()
}

/// The cases of all tables.
pub(crate) fn all() -> Vec<Case> {
    tables().into_iter().flat_map(|table| table.cases).collect()
}

fn table(text: &str) -> Table {
    let table: Value = serde_saphyr::from_str(text).expect("a table is YAML");
    let kind = table["kind"].as_str().expect("a kind").to_owned();
    let cases = table["cases"].as_array().expect("cases");
    Table {
        status: table["status"].clone(),
        cases: cases.iter().map(|row| case(&table, &kind, row)).collect(),
        kind,
    }
}

fn case(table: &Value, kind: &str, row: &Value) -> Case {
    let text = |name: &str| row[name].as_str().map(str::to_owned);
    let id = text("id").expect("an id");
    let layer = match row["layer"].as_str() {
        Some("accepted") => Layer::Accepted,
        Some("runtime") => Layer::Runtime,
        Some("updated") => Layer::Updated,
        Some("schema") => Layer::Schema,
        Some("cel") => Layer::Cel,
        Some("cel-aws") => Layer::CelAws,
        Some("update") => Layer::Update,
        Some("unknown") => Layer::Unknown,
        Some("unserved") => Layer::Unserved,
        other => panic!("{id}: layer {other:?}"),
    };
    let before = row["from"].as_object();
    Case {
        object: object(table, &id, row["set"].as_object().expect("set")),
        before: before.map(|set| object(table, &id, set)),
        kind: kind.to_owned(),
        layer,
        at: text("at"),
        words: text("words"),
        id,
    }
}

/// The smallest object of a table with what a case sets in it.
fn object(table: &Value, id: &str, set: &Map<String, Value>) -> Value {
    let mut object = table.clone();
    let fields = object.as_object_mut().expect("an object");
    fields.remove("cases");
    fields.remove("status");
    for (path, value) in set {
        let mut at = &mut object;
        let (parents, last) = path.rsplit_once('.').unwrap_or(("", path));
        for name in parents.split('.').filter(|name| !name.is_empty()) {
            at = &mut at[name];
        }
        match value {
            Value::Null => {
                at.as_object_mut().expect("an object").remove(last);
            }
            value => at[last] = repeated(value),
        }
    }
    let is_namespaced = table["kind"] == "CapacityBuffer";
    object["metadata"]["name"] = id.to_lowercase().into();
    if is_namespaced {
        object["metadata"]["namespace"] = "default".into();
    }
    object
}

/// Items that are written once: `{times: N, item: X}` is N times X with the number of each in place of `#`.
fn repeated(value: &Value) -> Value {
    match value {
        Value::Object(fields) => match (
            fields.get("times").and_then(Value::as_u64),
            fields.get("item"),
        ) {
            (Some(times), Some(item)) => (0..times).map(|number| numbered(item, number)).collect(),
            _ => fields
                .iter()
                .map(|(name, value)| (name.clone(), repeated(value)))
                .collect(),
        },
        value => value.clone(),
    }
}

fn numbered(item: &Value, number: u64) -> Value {
    match item {
        Value::String(text) => text.replace('#', &number.to_string()).into(),
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| (name.clone(), numbered(value, number)))
            .collect(),
        other => other.clone(),
    }
}
