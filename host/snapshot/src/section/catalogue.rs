//! The catalogue as it is written: a region whose facts we have, or instance types one by one.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Types and offerings: `region`, or `instanceTypes`, not both.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct CatalogueEntry {
    /// An EC2 region, such as `us-east-1`: its types at list prices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// Zones of the region; without them a, b and c are assumed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zones: Option<Vec<ZoneEntry>>,
    /// Capacity types offered in the region: `on-demand`, `spot`, or both (default).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity_types: Option<Vec<String>>,
    /// How spot prices without a quote are made up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spot_prices: Option<SpotPrices>,
    /// Dollars for one unit of the region's currency, where that is not the dollar.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exchange_rate: Option<f64>,
    /// Instance types one by one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instance_types: Option<Vec<TypeEntry>>,
    /// Instance types as nodes of some classes have them, where they differ.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<ClassEntry>,
    /// Label keys that every new node carries, beside those that are always known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub well_known_labels: Vec<String>,
}

/// Instance types as nodes of one class have them; those of the same name that the catalogue lists are replaced.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ClassEntry {
    /// API group of the class (default `karpenter.k8s.aws`).
    pub group: String,
    /// Kind of the class (default `EC2NodeClass`).
    pub kind: String,
    /// Name of the class.
    pub name: String,
    /// The types, in full. One without offerings is not sold to the class.
    pub instance_types: Vec<TypeEntry>,
}

impl Default for ClassEntry {
    fn default() -> Self {
        Self {
            group: "karpenter.k8s.aws".to_owned(),
            kind: "EC2NodeClass".to_owned(),
            name: String::new(),
            instance_types: Vec::new(),
        }
    }
}

/// The model of spot prices; every output says where it was used.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct SpotPrices {
    /// Seed of the draw (default 0).
    pub seed: u64,
}

/// A zone: its name, or its name and id.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum ZoneEntry {
    /// Its name, such as `us-east-1a`.
    Name(String),
    /// Its name and the id that is the same in every account.
    WithId {
        /// Name of the zone, such as us-east-1a.
        name: String,
        /// Its id, such as `use1-az4`.
        id: String,
    },
}

/// An instance type.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct TypeEntry {
    /// Name of the type, such as m7g.large.
    pub name: String,
    /// Labels of its nodes; several values where a pod may choose, none where the label must be absent. The instance
    /// type is its name; architecture and operating system default to `amd64` and `linux`. A well-known label that is
    /// not given is absent.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, LabelValues>,
    /// Further requirements that its nodes satisfy, where a list of values cannot say it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub requirements: Vec<RequirementEntry>,
    /// All it has: quantities by resource. `pods` defaults to 110.
    pub capacity: BTreeMap<String, Amount>,
    /// Reserved for the system: quantities by resource.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub overhead: BTreeMap<String, Amount>,
    /// The ways to buy it.
    pub offerings: Vec<OfferingEntry>,
    /// Volumes for pods that a node can attach, by CSI driver; a driver that is not given is unlimited.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub attach_limits: BTreeMap<String, u32>,
}

/// One value of a label, or several.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum LabelValues {
    /// This value.
    One(String),
    /// One of these values.
    Several(Vec<String>),
}

/// A quantity such as `4`, `"250m"` or `"16Gi"`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Amount {
    /// Text with an optional suffix.
    Text(String),
    /// A whole number.
    Whole(i64),
    /// A decimal number.
    Decimal(f64),
}

impl Amount {
    /// The quantity as text.
    pub fn to_text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Whole(number) => number.to_string(),
            Self::Decimal(number) => number.to_string(),
        }
    }
}

/// An expression on a label.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RequirementEntry {
    /// The label's key.
    pub key: String,
    /// `In`, `NotIn`, `Exists`, `DoesNotExist`, `Gt`, `Lt`, `Gte` or `Lte`.
    pub operator: String,
    /// The values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<String>,
}

/// One way to buy a type.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct OfferingEntry {
    /// The zone.
    pub zone: String,
    /// `on-demand` (default), `spot` or `reserved`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity_type: Option<String>,
    /// Dollars per hour, above 0; at least 0 for a reservation.
    pub price: Option<f64>,
    /// Where the price comes from: `List` (default), `Quote` or `Model`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_source: Option<String>,
    /// Age of the price in seconds (default 0).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_age_seconds: Option<u32>,
    /// `true` if it can be had now (default true).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub available: Option<bool>,
    /// Labels of its nodes beyond zone and capacity type.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, LabelValues>,
    /// Further requirements that its nodes satisfy, where a list of values cannot say it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub requirements: Vec<RequirementEntry>,
    /// The reservation it draws on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reservation: Option<ReservationEntry>,
    /// Capacities that replace or join those of the type.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub capacity: BTreeMap<String, Amount>,
    /// Overheads that replace or join those of the type.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub overhead: BTreeMap<String, Amount>,
    /// Interruptions per node and day seen lately (default 0).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interruptions_per_day: Option<f32>,
    /// Launch failures in the last hour (default 0).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failures_last_hour: Option<u32>,
}

/// A capacity reservation.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReservationEntry {
    /// Id of the reservation, such as cr-0123.
    pub id: String,
    /// Instances left in it.
    pub remaining: u32,
}

/// A price quoted when the snapshot was taken.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PriceEntry {
    /// The type.
    pub instance_type: String,
    /// The zone; every zone when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
    /// `spot` (default), `on-demand` or `reserved`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity_type: Option<String>,
    /// Dollars per hour, above 0.
    pub price: Option<f64>,
    /// Age of the quote in seconds (default 0).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub age_seconds: Option<u32>,
    /// `true` if it can be had now; unchanged when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub available: Option<bool>,
}
