//! Timed changes as they are written, and read up to the instant that they are relative to.

use std::sync::Arc;

use plimsoll_api::{Interner, Kind, ObjectKey};
use plimsoll_base::ids::{NodeName, TypeName};
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_base::units::PricePerHour;
use plimsoll_model::catalogue::CapacityType;
use plimsoll_sim::Which;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::deployment::{AmountEntry, DeploymentEntry, UsesEntry};
use super::duration::Duration;
use crate::recording;

/// A change of the world outside: an instant and exactly one of the things that may happen.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct ChangeEntry {
    /// When: RFC 3339, or a duration after the snapshot such as `+30s`.
    pub at: String,
    /// An object that appears, or replaces the one of its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Map<String, Value>>")]
    pub upsert: Option<Value>,
    /// For a pod that appears: how long it runs once started, if it ends by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs_for: Option<Duration>,
    /// An object that goes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delete: Option<Reference>,
    /// An offering whose price changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<PriceChangeEntry>,
    /// An offering that runs dry, or can be had again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub availability: Option<AvailabilityEntry>,
    /// A spot node, by name, that the cloud takes back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interrupt: Option<String>,
    /// A workload that keeps replicas, and appears or replaces the one of its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deploy: Option<DeploymentEntry>,
    /// A deployment that is given another number of replicas.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scale: Option<AmountEntry>,
    /// A deployment's load in all, in the unit of its rule's target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load: Option<AmountEntry>,
    /// Use of each pod of a deployment from then on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uses: Option<UsesEntry>,
}

/// Kind, namespace and name of an object.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Reference {
    /// Its API version; needed only where two groups have the kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_version: Option<String>,
    /// Kind of the object.
    pub kind: String,
    /// Its namespace; `default` for namespaced kinds that name none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Name of the object.
    pub name: String,
}

/// A price that changes.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PriceChangeEntry {
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
}

/// An offering that runs dry, or can be had again.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AvailabilityEntry {
    /// The type.
    pub instance_type: String,
    /// The zone; every zone when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
    /// `spot` (default), `on-demand` or `reserved`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity_type: Option<String>,
    /// `true` if it can be had from now on.
    pub available: bool,
}

/// Where `runsFor` may stand.
const RUNS_FOR: &str = "expected it beside the upsert of a pod";

/// When a change happens.
#[derive(Clone, Copy, Debug)]
pub(crate) enum At {
    /// So long after the snapshot.
    After(Span),
    /// At this instant.
    Instant(Timestamp),
}

/// A change whose instant is not resolved yet.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    pub(crate) at: At,
    pub(crate) change: recording::Change,
}

/// Hears of fields that an object in a change has and its kind does not.
pub(super) type Unknown<'a> = &'a mut dyn FnMut(Kind, &str);

/// Reads a change, or says what is wrong with it.
pub(crate) fn change(
    entry: ChangeEntry,
    interner: &mut Interner,
    unknown: Unknown<'_>,
) -> Result<Change, String> {
    let at = at(&entry.at)?;
    exactly_one(&entry)?;
    let change = if let Some(object) = entry.upsert {
        upsert(&object, entry.runs_for, interner, unknown)?
    } else if let Some(reference) = entry.delete {
        recording::Change::Delete(key(&reference, interner)?)
    } else if let Some(price) = entry.price {
        let which = Which {
            instance_type: TypeName::from(interner.text(&price.instance_type)),
            zone: price.zone.map(|zone| interner.text(&zone)),
            capacity_type: capacity_type("price.", price.capacity_type.as_deref())?,
        };
        recording::Change::Price(which, price_above_zero("price.price", price.price)?)
    } else if let Some(availability) = entry.availability {
        let which = Which {
            instance_type: TypeName::from(interner.text(&availability.instance_type)),
            zone: availability.zone.map(|zone| interner.text(&zone)),
            capacity_type: capacity_type("availability.", availability.capacity_type.as_deref())?,
        };
        recording::Change::Availability(which, availability.available)
    } else if let Some(deployment) = entry.deploy {
        recording::Change::Deploy(deployment.read(interner, unknown)?)
    } else if let Some(scale) = entry.scale {
        let amount = scale.amount;
        let replicas = u32::try_from(amount)
            .map_err(|_| format!("scale.amount is {amount}; expected a number of replicas"))?;
        recording::Change::Scale(scale.name(interner), replicas)
    } else if let Some(load) = entry.load {
        recording::Change::Load(load.name(interner), load.amount)
    } else if let Some(uses) = entry.uses {
        let (name, usage) = uses.read(interner)?;
        recording::Change::Uses(name, usage)
    } else {
        let node = entry.interrupt.unwrap_or_default();
        recording::Change::Interrupt(NodeName::from(interner.text(&node)))
    };
    Ok(Change { at, change })
}

/// Refuses an entry that says several things, none, or how long something runs that does not appear.
fn exactly_one(entry: &ChangeEntry) -> Result<(), String> {
    let given = [
        entry.upsert.is_some(),
        entry.delete.is_some(),
        entry.price.is_some(),
        entry.availability.is_some(),
        entry.interrupt.is_some(),
        entry.deploy.is_some(),
        entry.scale.is_some(),
        entry.load.is_some(),
        entry.uses.is_some(),
    ];
    if given.iter().filter(|is_given| **is_given).count() != 1 {
        let things = "upsert, delete, price, availability, interrupt, deploy, scale, load and uses";
        return Err(format!(" has not exactly one of {things}"));
    }
    if entry.runs_for.is_some() && entry.upsert.is_none() {
        return Err(format!("runsFor stands alone; {RUNS_FOR}"));
    }
    Ok(())
}

fn at(text: &str) -> Result<At, String> {
    let expected = "expected a time such as 2026-11-21T09:30:00Z or a duration such as +30s";
    if text.is_empty() {
        return Err(format!("at is missing; {expected}"));
    }
    let parsed = match text.strip_prefix('+') {
        Some(after) => plimsoll_api::duration::parse(after).map(At::After),
        None => crate::resolve::instant(text).map(At::Instant),
    };
    parsed.ok_or_else(|| format!("at is \"{text}\"; {expected}"))
}

fn upsert(
    object: &Value,
    runs_for: Option<Duration>,
    interner: &mut Interner,
    unknown: Unknown<'_>,
) -> Result<recording::Change, String> {
    let text = |field: &str| {
        object
            .get(field)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let (version, kind) = (text("apiVersion"), text("kind"));
    let kind = Kind::parse(version, kind).ok_or_else(|| {
        format!("upsert is a \"{version} {kind}\"; expected a kind that decisions read")
    })?;
    if runs_for.is_some() && kind != Kind::Pod {
        return Err(format!(
            "runsFor stands beside a {}; {RUNS_FOR}",
            kind.as_str()
        ));
    }
    let (_, object) = plimsoll_api::read(kind, object, interner, &mut |path| unknown(kind, path))
        .map_err(|error| format!("upsert {error}"))?;
    Ok(recording::Change::Upsert {
        object,
        runs_for: runs_for.map(|span| span.0),
    })
}

fn key(reference: &Reference, interner: &mut Interner) -> Result<ObjectKey, String> {
    let of_version = |kind: &Kind| {
        let version = reference.api_version.as_deref();
        version.is_none_or(|version| Kind::parse(version, &reference.kind) == Some(*kind))
    };
    let kind = Kind::ALL
        .iter()
        .copied()
        .filter(of_version)
        .find(|kind| kind.as_str() == reference.kind)
        .ok_or_else(|| {
            let kind = &reference.kind;
            format!("delete.kind is \"{kind}\"; expected a kind that decisions read")
        })?;
    let namespace = match &reference.namespace {
        _ if !kind.is_namespaced() => "",
        Some(namespace) => namespace,
        None => "default",
    };
    Ok(ObjectKey {
        kind,
        namespace: interner.text(namespace),
        name: Arc::from(reference.name.as_str()),
    })
}

/// A capacity type; spot when absent.
pub(crate) fn capacity_type(path: &str, text: Option<&str>) -> Result<CapacityType, String> {
    let text = text.unwrap_or(CapacityType::Spot.as_str());
    CapacityType::parse(text).ok_or_else(|| {
        format!("{path}capacityType is \"{text}\"; expected on-demand, spot or reserved")
    })
}

/// A price that somebody pays.
pub(crate) fn price_above_zero(path: &str, dollars: Option<f64>) -> Result<PricePerHour, String> {
    let expected = "expected dollars per hour above 0 and at most 100000";
    let Some(dollars) = dollars else {
        return Err(format!("{path} is missing or no number; {expected}"));
    };
    PricePerHour::from_dollars(dollars)
        .filter(|price| *price > PricePerHour::ZERO)
        .ok_or_else(|| format!("{path} is {dollars}; {expected}"))
}
