//! Which pods matter to provisioning, and which belong together.
//!
//! A pod that is evicted comes back under another name and uid; its owner and template stay. What is promised is therefore
//! promised to a [`GroupId`]. Pods without an owner are groups of one.

use serde::{Deserialize, Serialize};

use crate::fixed_hash::hash_of;
use crate::model::{OwnerKind, Pod};
use crate::time::Timestamp;

/// Pods of one owner and one template.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct GroupId(u64);

impl GroupId {
    /// The group of a pod.
    pub fn of(pod: &Pod) -> Self {
        match &pod.owner {
            Some(owner) => Self(hash_of(&(&pod.name.namespace, &owner.uid, &pod.spec))),
            None => Self(hash_of(&pod.uid)),
        }
    }

    /// As 16 hexadecimal digits, for annotations.
    pub fn to_text(self) -> String {
        format!("{:016x}", self.0)
    }

    /// Reads what [`GroupId::to_text`] wrote.
    pub fn parse(text: &str) -> Option<Self> {
        u64::from_str_radix(text, 16).ok().map(Self)
    }
}

fn is_served(pod: &Pod) -> bool {
    !pod.is_owned_by(OwnerKind::DaemonSet) && !pod.is_owned_by(OwnerKind::Node)
}

/// Whether a pod waits for a node: not bound, found unschedulable, neither ended nor asked to go, and not tied to nodes by
/// its owner (a daemon, a mirror). Nominations are looked at elsewhere.
pub fn wants_node(pod: &Pod) -> bool {
    pod.node.is_none() && pod.unschedulable && pod.is_active() && is_served(pod)
}

/// Whether a bound pod must run somewhere else when its node goes: active, or a StatefulSet's pod on its way out, which
/// must be gone before its successor exists.
pub fn is_reschedulable(pod: &Pod) -> bool {
    let counts = pod.is_active()
        || (pod.deleting.is_some()
            && !pod.is_terminal()
            && pod.is_owned_by(OwnerKind::StatefulSet));
    counts && is_served(pod)
}

/// Whether a pod on a node that is going will be moved: reschedulable, and not asking to be left alone now.
pub fn is_displaced(pod: &Pod, now: Timestamp) -> bool {
    is_reschedulable(pod) && !pod.is_protected(now)
}
