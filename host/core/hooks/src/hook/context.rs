//! Facts that a policy may know besides its tables, and its settings.
//!
//! Settings are no part of a question: they belong to the module, which was accepted with them, and so do the time zones
//! they name. A shadow can then be asked the very same question under settings of its own.

use std::collections::BTreeMap;

use plimsoll_model::snapshot::Snapshot;
use serde::{Deserialize, Serialize};

/// Time, seed and number of a snapshot: all that a policy may know of the world besides its tables.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Context {
    /// Time of the snapshot, Unix seconds.
    pub now_unix_s: u64,
    /// Randomness for those who want some, derived from the snapshot: the same snapshot, the same seed.
    pub seed: u64,
    /// Number of the snapshot: changes to the objects of the cluster that the host has seen. Records that were written before there
    /// were numbers have 0.
    #[serde(default)]
    pub generation: u64,
}

impl Context {
    /// The context of questions about a snapshot.
    pub fn of(snapshot: &Snapshot) -> Self {
        Self {
            now_unix_s: u64::try_from(snapshot.now.millis() / 1000).unwrap_or(0),
            seed: snapshot.seed,
            generation: snapshot.revision,
        }
    }
}

/// Values of one setting, typed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Setting {
    /// Yes or no.
    Flag(bool),
    /// A number.
    Number(f64),
    /// A text.
    Text(String),
    /// Numbers.
    Numbers(Vec<f64>),
    /// Texts.
    Texts(Vec<String>),
}

/// Settings of a policy by name, in the order of names.
pub type PolicySettings = BTreeMap<String, Setting>;
