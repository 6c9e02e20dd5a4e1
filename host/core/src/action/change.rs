//! Desired state of what is ours on an object: whoever writes it changes what differs and leaves all else as it is.

use serde::{Deserialize, Serialize};

use super::Machine;
use crate::ids::{ClaimName, NodeName, Uid};
use crate::labels::Labels;
use crate::model::{DesiredCondition, Taint};

/// A NodeClaim as it is to be, as far as it is ours to say. It is written in one go: metadata first, status last, so that a
/// condition says that all that belongs to it stands.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClaimChange {
    /// The instance that it has: its id and resources in the status, and its labels where the claim has no value of its own.
    pub machine: Option<Box<Machine>>,
    /// The node that has joined for it.
    pub node: Option<NodeName>,
    /// Annotations with these values.
    pub annotations: Labels,
    /// Conditions it is to have.
    pub conditions: Vec<DesiredCondition>,
    /// Our finalizer: kept, added or taken off.
    pub finalizer: Finalizer,
}

impl ClaimChange {
    /// These conditions, and nothing else.
    pub fn saying(conditions: Vec<DesiredCondition>) -> Self {
        Self {
            conditions,
            ..Self::default()
        }
    }
}

/// A Node as it is to be, as far as it is ours to say.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NodeChange {
    /// The claim that owns it from now on, with its uid, which an owner is named by.
    pub owner: Option<(ClaimName, Uid)>,
    /// Labels with these values.
    pub labels: Labels,
    /// Annotations with these values.
    pub annotations: Labels,
    /// All of its taints.
    pub taints: Option<Vec<Taint>>,
    /// Our finalizer: kept, added or taken off.
    pub finalizer: Finalizer,
}

/// Our finalizer on an object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Finalizer {
    /// It stays as it is.
    #[default]
    Kept,
    /// It is there: the object does not go without us.
    Set,
    /// It is not there: the object may go.
    Removed,
}
