//! Instance types as documents.

use std::collections::BTreeMap;

use plimsoll_base::requirement::Requirements;
use plimsoll_base::resources::Resources;
use plimsoll_base::time::Span;
use plimsoll_model::catalogue::{InstanceType as Known, Offering as KnownOffering, PriceSource};
use plimsoll_snapshot::section::Duration;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Document, Dollars, duration, quantities};

/// Output of `plimsoll catalogue`.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InstanceTypeList {
    /// The instance types, by name.
    pub(crate) items: Vec<Entry>,
}

impl Document for InstanceTypeList {}

/// Output of `plimsoll catalogue INSTANCE_TYPE`: an instance type.
#[derive(Serialize, JsonSchema)]
pub(crate) struct InstanceType {
    #[serde(flatten)]
    pub(crate) entry: Entry,
}

impl Document for InstanceType {}

/// An instance type.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Entry {
    /// Its name.
    name: String,
    /// Requirements that labels of its nodes satisfy.
    requirements: Vec<Requirement>,
    /// All that it has: quantities by resource.
    capacity: BTreeMap<String, String>,
    /// Reserved for the system: quantities by resource.
    overhead: BTreeMap<String, String>,
    /// Resources that pods may request on a node of its first offering: quantities by resource.
    allocatable: BTreeMap<String, String>,
    /// Volumes that a node attaches, by CSI driver; a driver that is not named has no limit.
    attach_limits: BTreeMap<String, u32>,
    /// The offerings.
    offerings: Vec<Offering>,
}

/// A requirement on a label, as NodePools write it.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Requirement {
    /// The label's key.
    key: String,
    /// `In`, `NotIn`, `Exists`, `DoesNotExist`, `Gte` or `Lte`.
    operator: String,
    /// The values.
    values: Vec<String>,
}

/// An offering of an instance type.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Offering {
    /// The zone.
    zone: String,
    /// `on-demand`, `spot` or `reserved`.
    capacity_type: String,
    /// The price in dollars per hour.
    price_per_hour: Dollars,
    /// Where the price comes from: `List`, `Quote` or `Model`.
    #[schemars(with = "String")]
    price_source: PriceSource,
    /// The age of the price.
    price_age: Duration,
    /// True if it can be launched now.
    available: bool,
    /// Requirements that labels of its nodes satisfy beyond zone and capacity type.
    requirements: Vec<Requirement>,
    /// The capacity reservation, of reserved capacity.
    #[serde(skip_serializing_if = "Option::is_none")]
    reservation: Option<Reservation>,
    /// Capacity where it differs from the instance type's.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    capacity: BTreeMap<String, String>,
    /// Overhead where it differs from the instance type's.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    overhead: BTreeMap<String, String>,
    /// Interruptions per node and day.
    interruptions_per_day: f32,
    /// Launches that failed within the last hour.
    failures_last_hour: u32,
}

/// A capacity reservation.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Reservation {
    /// Its id.
    id: String,
    /// Instances left in it.
    remaining: u32,
}

impl Entry {
    /// An instance type, and what pods may request on its nodes.
    pub(crate) fn of(known: &Known, allocatable: &Resources) -> Self {
        let limits = known.attach_limits.iter();
        Self {
            name: known.name.to_string(),
            requirements: requirements(&known.requirements),
            capacity: quantities(&known.capacity),
            overhead: quantities(&known.overhead),
            allocatable: quantities(allocatable),
            attach_limits: limits
                .map(|(driver, limit)| (driver.to_string(), *limit))
                .collect(),
            offerings: known.offerings.iter().map(Offering::of).collect(),
        }
    }
}

impl Offering {
    fn of(known: &KnownOffering) -> Self {
        Self {
            zone: known.zone.to_string(),
            capacity_type: known.capacity_type.to_string(),
            price_per_hour: known.price.into(),
            price_source: known.price_source,
            price_age: duration(Span::from_secs(known.price_age_s.into())),
            available: known.available,
            requirements: requirements(&known.requirements),
            reservation: known.reservation.as_ref().map(|reservation| Reservation {
                id: reservation.id.to_string(),
                remaining: reservation.remaining,
            }),
            capacity: quantities(&known.capacity_override),
            overhead: quantities(&known.overhead_override),
            interruptions_per_day: known.interruptions_per_day,
            failures_last_hour: known.failures_1h,
        }
    }
}

fn requirements(requirements: &Requirements) -> Vec<Requirement> {
    let expressions = requirements.iter().flat_map(|requirement| {
        let key = requirement.key().to_string();
        let expressions = requirement.to_expressions().into_iter();
        expressions.map(move |(operator, values)| Requirement {
            key: key.clone(),
            operator: format!("{operator:?}"),
            values: values.iter().map(ToString::to_string).collect(),
        })
    });
    expressions.collect()
}
