//! Settings as they are written; what is absent keeps its default.

use plimsoll_base::labels::LabelKey;
use plimsoll_base::units::PricePerHour;
use plimsoll_model::snapshot::{MinValuesPolicy, PreferencePolicy, Settings};
use plimsoll_model::{DefaultSpread, PackingMode, WhenUnsatisfiable};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::duration::Duration;
use super::guards::{ChurnEntry, GuardsEntry, RunawayEntry};

/// Settings of the whole cluster.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct SettingsEntry {
    /// Weight of preferences of pods: `Respect` (default) or `Ignore`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub preferences: Option<PreferencePolicy>,
    /// Rule for `minValues` that cannot be met: `Strict` (default) or `BestEffort`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub min_values: Option<MinValuesPolicy>,
    /// Pods that use dynamic resource allocation are declined; `true` is the only value there is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ignore_dynamic_resources: Option<bool>,
    /// `true` if capacity reservations are used (default true).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reserved_capacity: Option<bool>,
    /// `true` if NodeOverlays are applied (default false).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_overlays: Option<bool>,
    /// `true` if room is kept for CapacityBuffers (default false).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity_buffers: Option<bool>,
    /// `true` if static pools are brought to their number of nodes and down to it (default false).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub static_capacity: Option<bool>,
    /// `true` if unhealthy nodes are replaced (default false).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_repair: Option<bool>,
    /// Spread constraints for pods that have none of their own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub default_spread: Vec<DefaultSpreadEntry>,
    /// Quiet time that ends a batch (default 1s).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch_idle: Option<Duration>,
    /// Time after which a batch ends anyway (default 10s).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch_max: Option<Duration>,
    /// Packing of every pool: `price` or `compatible`; absent leaves it to the pool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packing: Option<PackingEntry>,
    /// Bounds on what cheap packing may do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guards: Option<GuardsEntry>,
    /// Bounds on replacing nodes to save money.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub churn: Option<ChurnEntry>,
    /// Ceilings on buying.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runaway: Option<RunawayEntry>,
    /// Dollars per hour that a new node costs beyond its instance (default 0).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_cost: Option<f64>,
    /// 0 takes the first good plan; any other number, such as the default 100, searches on for a cheaper fleet.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 1000))]
    pub effort: Option<u32>,
}

/// Packing as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PackingEntry {
    /// The cheapest feasible fleet.
    Price,
    /// First fit in Karpenter's order.
    Compatible,
}

/// A spread constraint for pods that have none of their own.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DefaultSpreadEntry {
    /// Largest difference to the domain with the fewest; at least 1.
    pub max_skew: u32,
    /// The node label whose values are the domains.
    pub topology_key: String,
    /// `DoNotSchedule` or `ScheduleAnyway`.
    #[schemars(with = "String")]
    pub when_unsatisfiable: WhenUnsatisfiable,
    /// With fewer domains than this the smallest count is taken as 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_domains: Option<u32>,
}

impl SettingsEntry {
    /// The settings, or a sentence about the field that makes no sense.
    pub fn to_settings(&self) -> Result<Settings, String> {
        let default = Settings::default();
        let node_cost = match self.node_cost {
            None => default.node_cost,
            Some(dollars) => price("nodeCost", dollars)?,
        };
        if self.ignore_dynamic_resources == Some(false) {
            return Err(
                "ignoreDynamicResources is false; expected true or nothing: pods that use dynamic resource allocation are \
                 declined"
                    .to_owned(),
            );
        }
        Ok(Settings {
            preferences: self.preferences.unwrap_or_default(),
            min_values: self.min_values.unwrap_or_default(),
            reserved_capacity: self.reserved_capacity.unwrap_or(default.reserved_capacity),
            node_overlays: self.node_overlays.unwrap_or(default.node_overlays),
            capacity_buffers: self.capacity_buffers.unwrap_or(default.capacity_buffers),
            static_capacity: self.static_capacity.unwrap_or(default.static_capacity),
            node_repair: self.node_repair.unwrap_or(default.node_repair),
            nominations: default.nominations,
            default_spread: default_spread(&self.default_spread)?,
            batch_idle: self.batch_idle.map_or(default.batch_idle, |span| span.0),
            batch_max: self.batch_max.map_or(default.batch_max, |span| span.0),
            packing: self.packing.map(PackingEntry::to_mode),
            guards: match &self.guards {
                None => default.guards,
                Some(guards) => guards.to_guards()?,
            },
            churn: match &self.churn {
                None => default.churn,
                Some(churn) => churn.to_guards()?,
            },
            runaway: match &self.runaway {
                None => default.runaway,
                Some(runaway) => runaway.to_guards()?,
            },
            node_cost,
            effort: self.effort.unwrap_or(default.effort),
        })
    }

    /// The settings as they are written, every field said.
    pub fn from_settings(settings: &Settings) -> Self {
        Self {
            preferences: Some(settings.preferences),
            min_values: Some(settings.min_values),
            ignore_dynamic_resources: Some(true),
            reserved_capacity: Some(settings.reserved_capacity),
            node_overlays: Some(settings.node_overlays),
            capacity_buffers: Some(settings.capacity_buffers),
            static_capacity: Some(settings.static_capacity),
            node_repair: Some(settings.node_repair),
            default_spread: settings.default_spread.iter().map(written_spread).collect(),
            batch_idle: Some(Duration(settings.batch_idle)),
            batch_max: Some(Duration(settings.batch_max)),
            packing: settings.packing.map(PackingEntry::from_mode),
            guards: Some(GuardsEntry::from_guards(&settings.guards)),
            churn: Some(ChurnEntry::from_guards(&settings.churn)),
            runaway: Some(RunawayEntry::from_guards(&settings.runaway)),
            node_cost: Some(settings.node_cost.dollars()),
            effort: Some(settings.effort),
        }
    }
}

/// Dollars per hour of a field, or what is wrong with them.
pub(super) fn price(field: &str, dollars: f64) -> Result<PricePerHour, String> {
    let price = PricePerHour::from_dollars(dollars).filter(|price| *price >= PricePerHour::ZERO);
    price.ok_or_else(|| format!("{field} is {dollars}; expected dollars per hour of at least 0"))
}

fn default_spread(entries: &[DefaultSpreadEntry]) -> Result<Vec<DefaultSpread>, String> {
    let mut result: Vec<DefaultSpread> = Vec::with_capacity(entries.len());
    for (at, entry) in entries.iter().enumerate() {
        let path = format!("defaultSpread[{at}]");
        let key = LabelKey::from(entry.topology_key.as_str());
        if entry.max_skew == 0 {
            return Err(format!(
                "{path}.maxSkew is 0; expected a number of at least 1"
            ));
        }
        if entry.topology_key.is_empty() {
            return Err(format!(
                "{path}.topologyKey is empty; expected a label key of nodes"
            ));
        }
        let is_same = |known: &DefaultSpread| {
            known.topology_key == key && known.when_unsatisfiable == entry.when_unsatisfiable
        };
        if result.iter().any(is_same) {
            return Err(format!(
                "{path} repeats {key} with {:?}; expected each pair once",
                entry.when_unsatisfiable
            ));
        }
        result.push(DefaultSpread {
            max_skew: entry.max_skew,
            topology_key: key,
            when_unsatisfiable: entry.when_unsatisfiable,
            min_domains: entry.min_domains,
        });
    }
    Ok(result)
}

fn written_spread(spread: &DefaultSpread) -> DefaultSpreadEntry {
    DefaultSpreadEntry {
        max_skew: spread.max_skew,
        topology_key: spread.topology_key.as_str().to_owned(),
        when_unsatisfiable: spread.when_unsatisfiable,
        min_domains: spread.min_domains,
    }
}

impl PackingEntry {
    fn to_mode(self) -> PackingMode {
        match self {
            Self::Price => PackingMode::Price,
            Self::Compatible => PackingMode::Compatible,
        }
    }

    fn from_mode(mode: PackingMode) -> Self {
        match mode {
            PackingMode::Price => Self::Price,
            PackingMode::Compatible => Self::Compatible,
        }
    }
}
