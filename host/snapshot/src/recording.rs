//! What follows a snapshot: timed changes of the world outside.

use std::sync::Arc;

use plimsoll_api::{Object, ObjectKey};
use plimsoll_core::catalogue::CapacityType;
use plimsoll_core::ids::{NodeName, ObjectName, TypeName};
use plimsoll_core::labels::Labels;
use plimsoll_core::model::PodSpec;
use plimsoll_core::time::{Span, Timestamp};
use plimsoll_core::units::PricePerHour;

/// A change and its instant.
#[derive(Clone, Debug, PartialEq)]
pub struct TimedChange {
    /// When it happens; never before the snapshot.
    pub at: Timestamp,
    /// The change itself.
    pub change: Change,
}

/// One change of the world outside.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// An object appears, or replaces the one of its name.
    Upsert {
        /// The object.
        object: Object,
        /// For a pod: how long it runs once it has started, if it ends by itself.
        runs_for: Option<Span>,
    },
    /// An object goes.
    Delete(ObjectKey),
    /// An offering's price changes.
    Price {
        /// The type.
        instance_type: TypeName,
        /// The zone; every zone when absent.
        zone: Option<Arc<str>>,
        /// The terms.
        capacity_type: CapacityType,
        /// The new price.
        price: PricePerHour,
    },
    /// An offering runs dry, or can be had again.
    Availability {
        /// The type.
        instance_type: TypeName,
        /// The zone; every zone when absent.
        zone: Option<Arc<str>>,
        /// The terms.
        capacity_type: CapacityType,
        /// `true` if it can be had from now on.
        available: bool,
    },
    /// The cloud announces that it takes a spot node back.
    Interrupt(NodeName),
    /// A workload that keeps replicas appears, or replaces the one of its name.
    Deploy(Deployment),
    /// A deployment is given another number of replicas.
    Scale(ObjectName, u32),
    /// A deployment's load in all, in the unit of its rule's target.
    Load(ObjectName, u64),
    /// Use of each pod of a deployment from now on.
    Uses(ObjectName, Usage),
}

/// A workload that keeps replicas.
#[derive(Clone, Debug, PartialEq)]
pub struct Deployment {
    /// Namespace and name.
    pub name: ObjectName,
    /// Labels of its pods.
    pub labels: Arc<Labels>,
    /// Requests and constraints of its pods.
    pub spec: Arc<PodSpec>,
    /// How many it keeps.
    pub replicas: u32,
    /// How its replicas follow its load, if they do.
    pub follows: Option<Follows>,
    /// Use of each of its pods, whatever they request; `None` where it was not seen.
    pub uses: Option<Usage>,
}

/// Processor time and memory that a pod uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Milli-cores.
    pub cpu_milli: i64,
    /// Bytes.
    pub memory_bytes: i64,
}

/// Replicas in proportion to load, as the horizontal autoscaler has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Follows {
    /// Load per replica that is aimed at, above 0.
    pub target: u64,
    /// Fewest replicas.
    pub least: u32,
    /// Most replicas, not below the fewest.
    pub most: u32,
}
