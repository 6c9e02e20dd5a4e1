//! `plimsoll schema`: the JSON Schema of what a command prints with `-o json` and `-o yaml`, made from the types of its documents.

use anyhow::{Result, bail};
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::definitions;
use super::policy::{
    PolicyBench, PolicyCheck, PolicyDecision, PolicyDecisionList, PolicyDiff, PolicyModule,
    PolicyTest,
};
use super::replay::Replay;
use crate::meant::{closest, question};
use crate::output;
use crate::output::{print, texts};
use crate::view::explanation::{NodeClaimExplanation, PodExplanation};
use crate::view::instance_type::{InstanceType, InstanceTypeList};
use crate::view::node::NodeExplanation;
use crate::view::node_claim::NodeClaimProgress;
use crate::view::node_pool::NodePoolExplanation;
use crate::view::plan::Plan;
use crate::view::simulation::Simulation;
use crate::view::snapshot::SnapshotSummary;
use crate::view::{API_VERSION, Document};

/// A command that prints documents.
struct Printer {
    /// The command, as it is typed after `plimsoll`.
    command: &'static str,
    /// The kinds of its documents.
    kinds: &'static [Kind],
}

/// A kind of document.
struct Kind {
    name: fn() -> String,
    /// Adds its definition, and those that it refers to.
    define: fn(&mut SchemaGenerator),
}

impl Printer {
    const fn new(command: &'static str, kinds: &'static [Kind]) -> Self {
        Self { command, kinds }
    }
}

impl Kind {
    const fn of<T: Document>() -> Self {
        Self {
            name: || T::schema_name().into_owned(),
            define: |generator| {
                generator.subschema_for::<T>();
            },
        }
    }

    /// The `kind` of the document.
    fn name(&self) -> String {
        (self.name)()
    }
}

/// The commands with `-o json` and `-o yaml` whose documents are ours; `plimsoll policy pack` prints ConfigMaps.
const PRINTERS: &[Printer] = &[
    Printer::new("plan", &[Kind::of::<Plan>()]),
    Printer::new("simulate", &[Kind::of::<Simulation>()]),
    Printer::new(
        "explain",
        &[
            Kind::of::<PodExplanation>(),
            Kind::of::<NodeClaimExplanation>(),
            Kind::of::<NodeClaimProgress>(),
            Kind::of::<NodeExplanation>(),
            Kind::of::<NodePoolExplanation>(),
        ],
    ),
    Printer::new("snapshot show", &[Kind::of::<SnapshotSummary>()]),
    Printer::new(
        "catalogue",
        &[Kind::of::<InstanceTypeList>(), Kind::of::<InstanceType>()],
    ),
    Printer::new("replay", &[Kind::of::<Replay>()]),
    Printer::new("policy inspect", &[Kind::of::<PolicyModule<'_>>()]),
    Printer::new("policy check", &[Kind::of::<PolicyCheck>()]),
    Printer::new("policy test", &[Kind::of::<PolicyTest>()]),
    Printer::new("policy bench", &[Kind::of::<PolicyBench>()]),
    Printer::new("policy diff", &[Kind::of::<PolicyDiff>()]),
    Printer::new(
        "policy explain",
        &[
            Kind::of::<PolicyDecisionList>(),
            Kind::of::<PolicyDecision>(),
        ],
    ),
];

pub(crate) fn run(command: &[String]) -> Result<()> {
    if let [word, provider @ ..] = command
        && word == definitions::WORD
    {
        return definitions::run(provider);
    }
    let typed = command.join(" ");
    if typed.is_empty() {
        return print(&list());
    }
    let Some(printer) = PRINTERS.iter().find(|printer| printer.command == typed) else {
        let commands = PRINTERS.iter().map(|printer| printer.command);
        bail!(
            "command \"{typed}\" prints no document with a schema{}; `plimsoll schema` lists those that do",
            question(closest(&typed, commands))
        );
    };
    print(&output::json(&schema(printer))?)
}

/// The commands with the kinds of their documents.
fn list() -> String {
    let row = |printer: &Printer| {
        let kinds: Vec<String> = printer.kinds.iter().map(Kind::name).collect();
        vec![printer.command.to_owned(), kinds.join(", ")]
    };
    let head = ["command", "kind"].map(str::to_owned).to_vec();
    let rows: Vec<Vec<String>> = std::iter::once(head)
        .chain(PRINTERS.iter().map(row))
        .collect();
    texts(&rows)
}

/// The JSON Schema (2020-12) of a command's documents.
fn schema(printer: &Printer) -> Value {
    let mut generator = SchemaSettings::draft2020_12()
        .for_serialize()
        .into_generator();
    for kind in printer.kinds {
        (kind.define)(&mut generator);
    }
    let mut definitions = generator.take_definitions(true);
    for kind in printer.kinds {
        let name = kind.name();
        if let Some(Value::Object(schema)) = definitions.get_mut(&name) {
            frame(schema, &name);
        }
    }
    definitions.values_mut().for_each(drop_null);
    let references = printer.kinds.iter();
    let references = references.map(|kind| json!({"$ref": format!("#/$defs/{}", kind.name())}));
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": format!("plimsoll {}", printer.command),
        "oneOf": references.collect::<Vec<Value>>(),
        "$defs": definitions,
    })
}

/// Adds `apiVersion` and `kind` to the schema of a document.
fn frame(schema: &mut Map<String, Value>, kind: &str) {
    let frame = [("apiVersion", API_VERSION), ("kind", kind)];
    for (field, text) in frame {
        if let Some(Value::Object(properties)) = schema.get_mut("properties") {
            properties.insert(field.to_owned(), json!({"const": text}));
        }
        if let Some(Value::Array(required)) = schema.get_mut("required") {
            required.push(field.into());
        }
    }
}

/// Takes `null` out of the types of a schema: a field without a value is left out.
fn drop_null(schema: &mut Value) {
    match schema {
        Value::Object(keywords) => {
            if let Some(Value::Array(types)) = keywords.get_mut("type") {
                types.retain(|name| name != "null");
                if let [only] = types.as_mut_slice() {
                    let only = only.take();
                    keywords.insert("type".to_owned(), only);
                }
            }
            if let Some(Value::Array(choices)) = keywords.get_mut("anyOf") {
                choices.retain(|choice| choice["type"] != "null");
                if let [Value::Object(only)] = choices.as_mut_slice() {
                    let only = std::mem::take(only);
                    keywords.remove("anyOf");
                    keywords.extend(only);
                }
            }
            keywords.values_mut().for_each(drop_null);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_null),
        _ => {}
    }
}
