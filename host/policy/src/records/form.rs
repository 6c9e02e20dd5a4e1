//! The lines of a file of records. The types are the schema; [`schema`] writes it as JSON Schema.
//!
//! Fields are not renamed or removed within a version; new ones may come, and readers pass over those that they do not know.

use plimsoll_hooks::hook::PolicySettings;
use plimsoll_model::command::Settled;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::manifest::Hook;

/// The version of the format.
pub const VERSION: &str = "v1alpha1";

/// One line of a file of decision records of Plimsoll.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Line {
    /// The first line, and no other.
    Records(Heading),
    /// A part that later lines refer to by its digest.
    Part(Part),
    /// A module, before the first decision that it took part in.
    Module(ModuleLine),
    /// One call of a module.
    Decision(Box<Record>),
    /// The result of calls before it. Where one decision is made after the other, as in a simulation, of those since the last such
    /// line; where a plan and a decision about nodes are made at the same time, calls for the other one may stand among them.
    Made(Made),
    /// A disruption command that came to its end, or to the end of the hour after it.
    Ledger(LedgerLine),
}

/// First line: format and version of the file, and the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Heading {
    /// Version of the format.
    pub version: String,
    /// The engine; fuel compares only between equal ones.
    pub engine: String,
    /// The run that was played; absent where a cluster was served.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunLine>,
}

/// A simulation, as far as it takes to play it again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunLine {
    /// SHA-256 of the bytes of the input.
    pub input_sha256: String,
    /// Seed of all draws.
    pub seed: u64,
    /// The way of packing that was asked for, whatever pools say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packing: Option<String>,
    /// `true` if guards on cheap packing were off.
    #[serde(default)]
    pub no_guards: bool,
    /// `true` if the first good plan was taken.
    #[serde(default)]
    pub quick: bool,
    /// Who decided.
    pub policies: Vec<PolicyLine>,
}

/// A policy: a module and its settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PolicyLine {
    /// SHA-256 of the component.
    pub module: String,
    /// Name, from its manifest.
    pub name: String,
    /// Version, from its manifest.
    pub version: String,
    /// The settings it was accepted with, defaults filled in.
    #[schemars(with = "Map<String, Value>")]
    pub settings: PolicySettings,
}

/// A value by its digest.
///
/// Within it, and within questions and answers: `{"part": DIGEST}` stands for the part of that digest, which comes earlier in the
/// file, and `{"numbers": "1 2.5 inf"}` for the list of those numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Part {
    /// SHA-256 of `value` as JSON without spaces, keys in order of their bytes.
    pub sha256: String,
    /// The value.
    pub value: Value,
}

/// Who was asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModuleLine {
    /// SHA-256 of the component.
    pub sha256: String,
    /// The decision it takes part in.
    #[schemars(with = "String")]
    pub hook: Hook,
    /// Name, from its manifest.
    pub name: String,
    /// Version, from its manifest.
    pub version: String,
    /// Texts of its reasons; codes count from 1 in this order.
    pub reasons: Vec<String>,
}

/// Function that was called.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Call {
    /// Prices of one more node of each candidate.
    Price,
    /// In which order the candidates of each claim are tried.
    Order,
    /// Values of moves.
    Score,
    /// How many nodes may be down at once.
    Allow,
}

impl Call {
    /// As records and tables name it.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Price => "price",
            Self::Order => "order",
            Self::Score => "score",
            Self::Allow => "allow",
        }
    }

    /// Whose modules are asked this.
    pub const fn hook(self) -> Hook {
        match self {
            Self::Price | Self::Order => Hook::Rank,
            Self::Score => Hook::Consolidate,
            Self::Allow => Hook::Budget,
        }
    }
}

/// One call of a module.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Record {
    /// Its number, from 1.
    pub number: u64,
    /// Function that was called.
    pub call: Call,
    /// SHA-256 of the module.
    pub module: String,
    /// The settings it was accepted with, defaults filled in.
    #[schemars(with = "Map<String, Value>")]
    pub settings: PolicySettings,
    /// The columns of `wit/0.1`, by the names there with underscores; `context` has the time and the seed.
    pub question: Value,
    /// How it ended: `ok`, or the class of the fault.
    pub outcome: String,
    /// Why there is no answer, as a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    /// Fuel used.
    pub fuel: u64,
    /// The columns of the answer, with the codes of reasons; `inf` vetoes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Value>,
}

/// Kind of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum What {
    /// A plan: what to buy.
    Plan,
    /// A decision about nodes that might go.
    Disruption,
}

/// A plan or a decision about nodes, in the order in which they were finished.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Made {
    /// Its number, from 1.
    pub number: u64,
    /// Kind of the result.
    pub what: What,
    /// SHA-256 of it as JSON.
    pub sha256: String,
}

/// A disruption command at its end, and once more at the end of the hour after it where it was made to save. Money is in nano-dollars
/// per hour at list prices, time in milliseconds since 1970.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LedgerLine {
    /// Its identity: 16 hexadecimal digits.
    pub command: String,
    /// `Empty`, `Underutilized` or `Drifted`.
    pub reason: String,
    /// NodePools of the nodes that were to go.
    pub pools: Vec<String>,
    /// When it began.
    pub begun: i64,
    /// When the last of its nodes was gone, or it was taken back.
    pub ended: i64,
    /// Number of nodes that were to go.
    pub nodes: u32,
    /// Nodes that went.
    pub gone: Vec<String>,
    /// NodeClaims that came in their place.
    pub came: Vec<String>,
    /// NodeClaims that were bought since for pods of those nodes.
    pub bought_since: Vec<String>,
    /// Saving that was predicted.
    pub predicted: i64,
    /// Price of the nodes that went, less the mean cost of what stood in their place over the time watched; at the command's end
    /// where that is none.
    pub realised: i64,
    /// Milliseconds watched after its end: an hour in the last word, nothing at its end.
    pub watched: i64,
}

impl LedgerLine {
    /// The line of a command.
    pub fn of(settled: &Settled) -> Self {
        Self {
            command: settled.id.to_string(),
            reason: settled.reason.as_str().to_owned(),
            pools: texts(&settled.pools),
            begun: settled.begun.millis(),
            ended: settled.ended.millis(),
            nodes: settled.nodes,
            gone: texts(&settled.gone),
            came: texts(&settled.came),
            bought_since: texts(&settled.bought_since),
            predicted: settled.predicted.nanos(),
            realised: settled.realised.nanos(),
            watched: settled.watched.millis(),
        }
    }
}

fn texts<Name: ToString>(names: impl IntoIterator<Item = Name>) -> Vec<String> {
    let names = names.into_iter();
    names.map(|name| name.to_string()).collect()
}

/// JSON Schema of one line.
pub fn schema() -> Value {
    schemars::schema_for!(Line).to_value()
}

#[cfg(test)]
mod tests {
    use plimsoll_hooks::hook::Setting;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn settings_are_read_as_they_were_written_to_the_last_digit(
            number in any::<f64>().prop_filter("JSON has no others", |number| number.is_finite()),
        ) {
            let settings = PolicySettings::from([("charge".to_owned(), Setting::Number(number))]);
            let written = serde_json::to_string(&settings).unwrap();
            let read: PolicySettings = serde_json::from_str(&written).unwrap();
            let Some(Setting::Number(read)) = read.get("charge") else {
                panic!("{written} was read as {read:?}");
            };
            prop_assert_eq!(read.to_bits(), number.to_bits(), "{}", written);
        }
    }
}
