//! Instances that EC2 did not give, or did not end: kept until they are counted.

use std::sync::{Mutex, PoisonError};

use plimsoll_model::catalogue::CapacityType;

use crate::instance::Instance;
use crate::launch::fleet::FleetError;
use crate::served::ServedClass;

/// Something that EC2 was asked for and did not do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallFailure {
    /// A way to buy gave nothing.
    Launch {
        /// The zone; empty where EC2 does not say.
        zone: String,
        /// Id of the zone; empty where it is not known.
        zone_id: String,
        /// Spot or on demand.
        capacity_type: CapacityType,
        /// EC2's code of the error.
        reason: String,
    },
    /// An instance was not ended.
    Termination {
        /// Its zone.
        zone: String,
        /// Id of the zone; empty where it is not known.
        zone_id: String,
    },
}

/// Failures that are not counted yet.
#[derive(Debug, Default)]
pub(crate) struct Uncounted(Mutex<Vec<CallFailure>>);

impl Uncounted {
    pub(crate) fn note(&self, failure: CallFailure) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(failure);
    }

    pub(crate) fn take(&self) -> Vec<CallFailure> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The failure that an error of a fleet for a class is.
pub(crate) fn of_fleet(
    error: &FleetError,
    class: &ServedClass,
    capacity_type: CapacityType,
) -> CallFailure {
    CallFailure::Launch {
        zone: error.zone.clone(),
        zone_id: zone_id(Some(class), &error.zone),
        capacity_type,
        reason: error.code.clone(),
    }
}

/// The failure to end an instance, of a class that may not be known any more.
pub(crate) fn of_instance(instance: &Instance, class: Option<&ServedClass>) -> CallFailure {
    CallFailure::Termination {
        zone: instance.zone.clone(),
        zone_id: zone_id(class, &instance.zone),
    }
}

/// Id of a zone that a class has a subnet in; empty for others.
fn zone_id(class: Option<&ServedClass>, zone: &str) -> String {
    let subnets = class.into_iter().flat_map(|class| &class.status().subnets);
    let mut found = subnets.filter(|subnet| subnet.zone == zone);
    let id = found.find_map(|subnet| subnet.zone_id.clone());
    id.unwrap_or_default()
}
