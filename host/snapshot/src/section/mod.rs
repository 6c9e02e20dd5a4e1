//! The `plimsoll` section as it is written: every field optional, every name in camel case.
//!
//! The types are the schema; [`schema`] writes it as JSON Schema. What fields mean for decisions stands at the core's types
//! that they become.

mod catalogue;
mod change;
mod deployment;
mod duration;
mod fields;
mod guards;
mod node_classes;
mod percent;
mod renamed;
mod settings;
mod subnets;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use catalogue::{
    Amount, CatalogueEntry, ClassEntry, LabelValues, OfferingEntry, PriceEntry, RequirementEntry,
    ReservationEntry, SpotPrices, TypeEntry, ZoneEntry,
};
pub use change::{AvailabilityEntry, ChangeEntry, PriceChangeEntry, Reference};
pub use deployment::{AmountEntry, DeploymentEntry, FollowsEntry, UsageEntry, UsesEntry};
pub use duration::Duration;
pub use guards::{ChurnEntry, GuardsEntry, RunawayEntry};
pub use node_classes::{ClassConditionEntry, NodeClassEntry};
pub use percent::Percent;
pub use settings::{DefaultSpreadEntry, PackingEntry, SettingsEntry};
pub use subnets::SubnetEntry;

pub(crate) use change::{At, Change, capacity_type, change, price_above_zero};
pub(crate) use fields::{closest_field, without_indexes};
pub(crate) use renamed::renamed;

/// The `plimsoll` section of a snapshot or recording.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Section {
    /// The instant, in RFC 3339; without it the newest instant that any object names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// The seed of every draw; 0 when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// How to decide.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settings: Option<SettingsEntry>,
    /// Types and offerings; without it the list prices of the nodes' region, or of us-east-1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub catalogue: Option<CatalogueEntry>,
    /// Prices quoted when the snapshot was taken; they replace those of the catalogue.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub prices: Vec<PriceEntry>,
    /// Subnets for new nodes, with the addresses that they have free; zones without one are not counted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub subnets: Vec<SubnetEntry>,
    /// Node classes whose status has conditions that are not `True`; no decision reads them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub node_classes: Vec<NodeClassEntry>,
    /// Changes after the snapshot, for a recording.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<ChangeEntry>,
}

/// The JSON Schema of the section.
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(Section).to_value()
}
