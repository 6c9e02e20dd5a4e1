//! Errors as services answer with them, and faults that tests script.

use plimsoll_model::catalogue::CapacityType;

use crate::call::Service;

/// An error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Its code.
    pub code: String,
    /// Its message.
    pub message: String,
    /// The HTTP status that goes with it.
    pub status: u16,
}

impl Fault {
    /// An error of the caller's.
    pub fn new(code: &str, message: impl Into<String>) -> Self {
        Self {
            code: code.to_owned(),
            message: message.into(),
            status: 400,
        }
    }

    /// The same with another HTTP status.
    #[must_use]
    pub fn with_status(self, status: u16) -> Self {
        Self { status, ..self }
    }

    pub(crate) fn missing(parameter: &str) -> Self {
        let message = format!("The request must contain the parameter {parameter}");
        Self::new("MissingParameter", message)
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new("InvalidParameterValue", message)
    }

    pub(crate) fn throttled(service: Service) -> Self {
        match service {
            Service::Ec2 => {
                Self::new("RequestLimitExceeded", "Request limit exceeded.").with_status(503)
            }
            Service::Iam | Service::Sts => Self::new("Throttling", "Rate exceeded"),
            _ => Self::new("ThrottlingException", "Rate exceeded"),
        }
    }

    pub(crate) fn unknown(operation: &str) -> Self {
        let message = format!("The action {operation} is not valid for this web service.");
        Self::new("InvalidAction", message)
    }
}

/// Consequence of a scripted fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The call changes nothing and is answered with an error.
    Fails(Fault),
    /// The call does all that it was asked for, but its connection is closed before the answer.
    LosesAnswer,
    /// The call does all that it was asked for, but its connection is closed amid the answer.
    CutsAnswer,
    /// The call does all that it was asked for, but half of the answer's text comes as if that were all of it.
    HalvesAnswer,
    /// The call changes nothing and is never answered: for who is to die meanwhile.
    Holds,
    /// The call does all that it was asked for, and its answer never comes.
    HoldsAnswer,
}

/// A fault that calls of an operation will meet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptedFault {
    /// The operation, such as `CreateFleet`.
    pub operation: String,
    /// Only calls about instances of this type; an error then meets the overrides of a fleet with the type, not the whole call.
    pub instance_type: Option<String>,
    /// Only calls about instances in this zone; otherwise as with the type.
    pub zone: Option<String>,
    /// Only calls about instances that are paid for so; otherwise as with the type.
    pub capacity_type: Option<CapacityType>,
    /// Calls that will still meet it.
    pub times: u32,
    /// Its consequence.
    pub effect: Effect,
}

impl ScriptedFault {
    /// An error for the next call of an operation.
    pub fn error(operation: &str, fault: Fault) -> Self {
        Self {
            operation: operation.to_owned(),
            instance_type: None,
            zone: None,
            capacity_type: None,
            times: 1,
            effect: Effect::Fails(fault),
        }
    }

    /// A lost answer for the next call of an operation.
    pub fn lost_answer(operation: &str) -> Self {
        Self::with(operation, Effect::LosesAnswer)
    }

    /// An answer that ends with its connection, amid its text, for the next call of an operation.
    pub fn cut_answer(operation: &str) -> Self {
        Self::with(operation, Effect::CutsAnswer)
    }

    /// An answer with half of its text for the next call of an operation.
    pub fn halved_answer(operation: &str) -> Self {
        Self::with(operation, Effect::HalvesAnswer)
    }

    /// The next call of an operation is held for good: before it is carried out, or after that.
    pub fn hold(operation: &str, is_carried_out: bool) -> Self {
        let effect = if is_carried_out {
            Effect::HoldsAnswer
        } else {
            Effect::Holds
        };
        Self::with(operation, effect)
    }

    fn with(operation: &str, effect: Effect) -> Self {
        Self {
            effect,
            ..Self::error(operation, Fault::new("", ""))
        }
    }

    /// The same for so many calls.
    #[must_use]
    pub fn times(self, times: u32) -> Self {
        Self { times, ..self }
    }

    /// The same for calls about a type alone.
    #[must_use]
    pub fn of_type(self, instance_type: &str) -> Self {
        let instance_type = Some(instance_type.to_owned());
        Self {
            instance_type,
            ..self
        }
    }

    /// The same for calls about a zone alone.
    #[must_use]
    pub fn in_zone(self, zone: &str) -> Self {
        let zone = Some(zone.to_owned());
        Self { zone, ..self }
    }

    /// The same for calls about instances that are paid for so alone: overrides of fleets.
    #[must_use]
    pub fn paid_for(self, capacity_type: CapacityType) -> Self {
        let capacity_type = Some(capacity_type);
        Self {
            capacity_type,
            ..self
        }
    }

    /// `true` if it is for some types, zones or ways to pay only.
    pub(crate) fn is_narrow(&self) -> bool {
        self.instance_type.is_some() || self.zone.is_some() || self.capacity_type.is_some()
    }

    /// `true` if it is for overrides of such a fleet.
    pub(crate) fn is_paid_for(&self, capacity_type: CapacityType) -> bool {
        self.capacity_type.is_none_or(|own| own == capacity_type)
    }

    /// `true` if it is for this type in this zone.
    pub(crate) fn covers(&self, instance_type: &str, zone: &str) -> bool {
        let fits = |own: &Option<String>, asked: &str| own.as_ref().is_none_or(|own| own == asked);
        fits(&self.instance_type, instance_type) && fits(&self.zone, zone)
    }
}
