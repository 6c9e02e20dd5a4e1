//! Desired state of what is ours on an object: the writer changes what differs and leaves all else as it is.

use plimsoll_base::ids::{ClaimName, NodeName, Uid};
use plimsoll_base::labels::Labels;
use plimsoll_base::resources::{ResourceName, Resources};
use plimsoll_base::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::LaunchedInstance;
use crate::{ConditionType, DesiredCondition, Taint, UsedTemplate};

/// A NodeClaim as it is to be, as far as it is ours to say. It is written in one go: metadata first, status last, so that a
/// condition says that all that belongs to it stands.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClaimChange {
    /// The instance that it has: its id and resources in the status, and its labels where the claim has no value of its own.
    pub machine: Option<Box<LaunchedInstance>>,
    /// The node that has joined for it.
    pub node: Option<NodeName>,
    /// Labels with these values, where the claim has none of its own.
    #[serde(default, skip_serializing_if = "Labels::is_empty")]
    pub labels: Labels,
    /// Annotations with these values.
    pub annotations: Labels,
    /// When its drain must be over; `None` leaves what it says of that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drained_by: Option<Timestamp>,
    /// When a pod last came to its node or left it, in whole seconds; `None` leaves what it says of that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_pod_event: Option<Timestamp>,
    /// Conditions it is to have.
    pub conditions: Vec<DesiredCondition>,
    /// Conditions it is not to have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cleared: Vec<ConditionType>,
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

/// Status of a pool, overlay or buffer as it is to be, as far as it is ours to say; what is `None` or empty stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StatusChange {
    /// Conditions it is to have.
    pub conditions: Vec<DesiredCondition>,
    /// Capacity of a pool's nodes, and their number among it; nothing else is left there.
    pub resources: Option<Resources>,
    /// Generation of a pool's class.
    pub class_generation: Option<i64>,
    /// Annotations of a pool for the next process, of [`MEMORY`](crate::MEMORY); an empty one is taken off.
    pub memory: Labels,
    /// Units that a buffer comes to.
    pub units: Option<i64>,
    /// The template of a buffer's units.
    pub template: Option<UsedTemplate>,
}

impl StatusChange {
    /// Nodes of a pool among its resources.
    pub fn nodes(&self) -> Option<i64> {
        let resources = self.resources.as_ref()?;
        Some(resources.get(&ResourceName::Nodes))
    }
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
