//! Groups of pods that matter to provisioning.
//!
//! A pod that is evicted comes back under another name and uid; its owner and template stay. What is promised is therefore
//! promised to a [`GroupId`]. Pods without an owner are groups of one.

use plimsoll_base::fixed_hash::hash_of;
use plimsoll_model::Pod;
use serde::{Deserialize, Serialize};

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
