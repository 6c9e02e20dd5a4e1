//! Conditions of a node: what its kubelet, its node controller or a program that looks for problems says of its health.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_base::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::condition::{Condition, ConditionStatus};
use super::node::Readiness;

/// The type of the condition that says whether a node takes pods.
const READY: &str = "Ready";

/// All conditions of a node, by type: any text, since anybody may say something of a node. When each was last confirmed is not kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NodeConditions {
    by_type: BTreeMap<Arc<str>, Condition>,
}

impl NodeConditions {
    /// Conditions that say no more than whether the node is ready, and since when.
    pub fn of(readiness: Readiness, since: Timestamp) -> Self {
        let status = match readiness {
            Readiness::Ready => ConditionStatus::True,
            Readiness::NotReady => ConditionStatus::False,
            Readiness::Unknown => ConditionStatus::Unknown,
        };
        let ready = Condition {
            status,
            reason: Arc::default(),
            message: Arc::default(),
            since,
            generation: None,
        };
        [(Arc::from(READY), ready)].into_iter().collect()
    }

    /// The condition of a type; `None` where nothing is said of it.
    pub fn get(&self, kind: &str) -> Option<&Condition> {
        self.by_type.get(kind)
    }

    /// The node's readiness; `Unknown` where nothing is said of it.
    pub fn readiness(&self) -> Readiness {
        match self.get(READY).map(|ready| ready.status) {
            Some(ConditionStatus::True) => Readiness::Ready,
            Some(ConditionStatus::False) => Readiness::NotReady,
            Some(ConditionStatus::Unknown) | None => Readiness::Unknown,
        }
    }

    /// All conditions, by type.
    pub fn iter(&self) -> impl Iterator<Item = (&Arc<str>, &Condition)> {
        self.by_type.iter()
    }
}

impl FromIterator<(Arc<str>, Condition)> for NodeConditions {
    /// Of a type given twice the last counts.
    fn from_iter<I: IntoIterator<Item = (Arc<str>, Condition)>>(conditions: I) -> Self {
        Self {
            by_type: conditions.into_iter().collect(),
        }
    }
}
