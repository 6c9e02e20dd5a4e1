//! What follows a snapshot: timed changes of the world outside.

use std::sync::Arc;

use plimsoll_api::{Object, ObjectKey};
use plimsoll_core::catalog::CapacityType;
use plimsoll_core::ids::{NodeName, TypeName};
use plimsoll_core::time::{Span, Timestamp};
use plimsoll_core::units::PricePerHour;

/// A change and its instant.
#[derive(Clone, Debug, PartialEq)]
pub struct TimedChange {
    /// When it happens; never before the snapshot.
    pub at: Timestamp,
    /// What happens.
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
        /// Whether it can be had from now on.
        available: bool,
    },
    /// The cloud announces that it takes a spot node back.
    Interrupt(NodeName),
}
