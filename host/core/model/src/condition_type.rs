//! Types of conditions that we read and write, and those that `Ready` of each kind of object depends on.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Type of a condition that we read and write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ConditionType {
    /// The cloud has given the claim an instance.
    Launched,
    /// The claim's node has joined.
    Registered,
    /// The claim's node is ready, free of start-up taints, and has all its resources.
    Initialized,
    /// The claim's node has no pods left that are waited for.
    Drained,
    /// The claim's node has no volumes attached that are waited for.
    VolumesDetached,
    /// The end of the claim's instance has been asked for, and the cloud has agreed.
    InstanceTerminating,
    /// The claim's node has what was promised of it.
    ConsistentStateFound,
    /// The claim's node has been quiet for as long as its pool wants it to be before it is consolidated; absent until then.
    Consolidatable,
    /// The claim no longer is what its pool or its class says; absent while it is.
    Drifted,
    /// A command disrupts the claim, for this reason; absent where none does.
    DisruptionReason,
    /// The specification of a pool or overlay can be followed.
    ValidationSucceeded,
    /// The class that a pool names is there and can be used.
    NodeClassReady,
    /// Of the last nodes bought for a pool most have joined; says nothing of whether it is used.
    NodeRegistrationHealthy,
    /// What a buffer refers to is there, so that its room can be worked out.
    ReadyForProvisioning,
    /// All room of a buffer is on nodes that are there.
    Provisioning,
    /// All of what it depends on is true.
    Ready,
}

impl ConditionType {
    /// Every type: of claims in the order in which one gets there, then of other objects.
    pub const ALL: [Self; 16] = [
        Self::Launched,
        Self::Registered,
        Self::Initialized,
        Self::Drained,
        Self::VolumesDetached,
        Self::InstanceTerminating,
        Self::ConsistentStateFound,
        Self::Consolidatable,
        Self::Drifted,
        Self::DisruptionReason,
        Self::ValidationSucceeded,
        Self::NodeClassReady,
        Self::NodeRegistrationHealthy,
        Self::ReadyForProvisioning,
        Self::Provisioning,
        Self::Ready,
    ];
    /// Types that `Ready` of a claim depends on.
    pub const OF_CLAIMS: &[Self] = &[Self::Launched, Self::Registered, Self::Initialized];
    /// Types that `Ready` of a pool depends on.
    pub const OF_POOLS: &[Self] = &[Self::ValidationSucceeded, Self::NodeClassReady];
    /// Types that `Ready` of an overlay depends on.
    pub const OF_OVERLAYS: &[Self] = &[Self::ValidationSucceeded];
    /// Buffers have no `Ready`.
    pub const OF_BUFFERS: &[Self] = &[];

    /// The name as the API writes it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Launched => "Launched",
            Self::Registered => "Registered",
            Self::Initialized => "Initialized",
            Self::Drained => "Drained",
            Self::VolumesDetached => "VolumesDetached",
            Self::InstanceTerminating => "InstanceTerminating",
            Self::ConsistentStateFound => "ConsistentStateFound",
            Self::Consolidatable => "Consolidatable",
            Self::Drifted => "Drifted",
            Self::DisruptionReason => "DisruptionReason",
            Self::ValidationSucceeded => "ValidationSucceeded",
            Self::NodeClassReady => "NodeClassReady",
            Self::NodeRegistrationHealthy => "NodeRegistrationHealthy",
            Self::ReadyForProvisioning => "ReadyForProvisioning",
            Self::Provisioning => "Provisioning",
            Self::Ready => "Ready",
        }
    }

    /// The type of a name; `None` for those of others.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.as_str() == name)
    }
}

impl fmt::Display for ConditionType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
