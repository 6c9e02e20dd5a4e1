//! A module's manifest, read without running it. All of it is untrusted text: capped, cleaned, typed.
//!
//! Fuel and memory are asked for here and nowhere else, up to the host's ceilings: a replay knows them by the module's digest.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::gate::Refusal;
use crate::limits::Limits;
use crate::settings::Schema;
use crate::text;

/// Most entries of any list of a manifest.
const ENTRIES: usize = 256;

/// The manifest of an accepted module.
#[derive(Debug, Clone, PartialEq)]
pub struct Manifest {
    /// Name of the policy.
    pub name: String,
    /// Version of the policy.
    pub version: String,
    /// Decision that it takes part in.
    pub hook: Hook,
    /// Meaning of its prices.
    pub unit: Unit,
    /// `true` if it has an order of its own for launch lists; otherwise it is not asked for one.
    pub orders: bool,
    /// `true` if it forbids offerings; if so, pods wait rather than be placed without it.
    pub vetoes: bool,
    /// Signals it cannot do without.
    pub required_columns: Vec<String>,
    /// Signals it uses where there are any.
    pub optional_columns: Vec<String>,
    /// Names, types, defaults and ranges of its settings.
    pub settings: Schema,
    /// Its reasons; codes count from 1 in this order.
    pub reasons: Vec<ReasonText>,
    /// Limits it asks for.
    pub limits: AskedLimits,
}

/// Decision that a policy takes part in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Hook {
    /// Instances to buy, and the order of their launches.
    Rank,
    /// Values of consolidation moves.
    Consolidate,
    /// How many nodes may be removed now.
    Budget,
}

impl Hook {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Rank, Self::Consolidate, Self::Budget];

    /// Names of the signals that the host sends in its questions; a module that requires another is refused.
    pub const fn signals(self) -> &'static [&'static str] {
        match self {
            Self::Rank => plimsoll_hooks::rank::SIGNALS,
            Self::Consolidate => plimsoll_hooks::score::SIGNALS,
            Self::Budget => plimsoll_hooks::allow::SIGNALS,
        }
    }

    /// As manifests and conditions name it.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Rank => "rank",
            Self::Consolidate => "consolidate",
            Self::Budget => "budget",
        }
    }

    /// As `spec.hook` of a Policy names it.
    pub const fn in_spec(self) -> &'static str {
        match self {
            Self::Rank => "Rank",
            Self::Consolidate => "Consolidate",
            Self::Budget => "Budget",
        }
    }

    /// As it stands before the word policy.
    pub const fn adjective(self) -> &'static str {
        match self {
            Self::Rank => "ranking",
            Self::Consolidate => "consolidation",
            Self::Budget => "budget",
        }
    }

    /// The interface that its modules export.
    pub(crate) const fn interface(self) -> &'static str {
        match self {
            Self::Rank => "plimsoll:policy/ranker",
            Self::Consolidate => "plimsoll:policy/consolidator",
            Self::Budget => "plimsoll:policy/budgeter",
        }
    }
}

impl fmt::Display for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.label())
    }
}

/// Meaning of a ranking policy's prices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Dollars per hour: they enter packing.
    #[default]
    Dollars,
    /// Only their order counts: packing uses list prices.
    Order,
}

/// One reason of a policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReasonText {
    /// Short name.
    pub name: String,
    /// Sentence for people.
    pub text: String,
}

/// Limits a module asks for above the defaults; the ceilings hold all the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AskedLimits {
    /// Fuel for each row of a question.
    pub fuel_per_row: Option<u64>,
    /// Linear memory, MiB.
    pub memory_mib: Option<u32>,
}

impl AskedLimits {
    /// Refuses to promise more than anybody may have.
    pub(crate) fn check(self, limits: &Limits, guest_memory: u64) -> Result<(), Refusal> {
        let ceiling_mib = guest_memory.min(limits.memory_ceiling as u64) >> 20;
        let asked = [
            ("fuel for each row", self.fuel_per_row, limits.fuel_ceiling),
            ("MiB of memory", self.memory_mib.map(u64::from), ceiling_mib),
        ];
        for (what, asked, ceiling) in asked {
            if let Some(asked) = asked.filter(|asked| *asked > ceiling) {
                return Err(Refusal::Asks {
                    what,
                    asked,
                    ceiling,
                });
            }
        }
        Ok(())
    }
}

impl Manifest {
    /// Reads the manifest section of a module.
    pub fn parse(section: &[u8]) -> Result<Self, Refusal> {
        let raw: Raw = serde_json::from_slice(section).map_err(|error| {
            problem(format!(
                "cannot be read: {}",
                text::clean(&error.to_string(), text::NAME)
            ))
        })?;
        Ok(Self {
            name: text::clean(&raw.name, text::NAME),
            version: text::clean(&raw.version, text::NAME),
            hook: raw.hook,
            unit: raw.unit,
            orders: raw.orders || raw.unit == Unit::Order,
            vetoes: raw.vetoes,
            required_columns: names("columns.required", &raw.columns.required)?,
            optional_columns: names("columns.optional", &raw.columns.optional)?,
            settings: Schema::parse(&raw.settings)?,
            reasons: reasons(&raw.reasons)?,
            limits: raw.limits,
        })
    }

    /// The text of a reason code; empty for 0 and for codes it does not list.
    pub fn reason(&self, code: u16) -> &str {
        let row = usize::from(code).checked_sub(1);
        row.and_then(|row| self.reasons.get(row))
            .map_or("", |reason| &reason.text)
    }
}

#[derive(Deserialize)]
struct Raw {
    name: String,
    version: String,
    hook: Hook,
    #[serde(default)]
    unit: Unit,
    #[serde(default)]
    orders: bool,
    #[serde(default)]
    vetoes: bool,
    #[serde(default)]
    columns: RawColumns,
    #[serde(default)]
    settings: BTreeMap<String, Value>,
    #[serde(default)]
    reasons: Vec<RawReason>,
    #[serde(default)]
    limits: AskedLimits,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RawColumns {
    required: Vec<String>,
    optional: Vec<String>,
}

#[derive(Deserialize)]
struct RawReason {
    name: String,
    text: String,
}

fn problem(problem: String) -> Refusal {
    Refusal::Manifest { problem }
}

fn capped(list: &str, length: usize) -> Result<(), Refusal> {
    if length <= ENTRIES {
        return Ok(());
    }
    Err(problem(format!(
        "has {length} entries in {list}; at most {ENTRIES} are allowed"
    )))
}

fn names(list: &str, names: &[String]) -> Result<Vec<String>, Refusal> {
    capped(list, names.len())?;
    Ok(names
        .iter()
        .map(|name| text::clean(name, text::NAME))
        .collect())
}

fn reasons(raw: &[RawReason]) -> Result<Vec<ReasonText>, Refusal> {
    capped("reasons", raw.len())?;
    let clean = |text: &str| text::clean(text, text::NAME);
    Ok(raw
        .iter()
        .map(|reason| ReasonText {
            name: clean(&reason.name),
            text: clean(&reason.text),
        })
        .collect())
}
