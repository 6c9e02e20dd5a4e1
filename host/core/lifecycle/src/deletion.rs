//! Causes for which a claim is asked to go: the words for people, and Karpenter's name for those that disrupt a node.

use plimsoll_model::DisruptionReason;

use super::Interruption;

/// The cause for which a claim is asked to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DeletionCause {
    /// Somebody asked its node to go.
    NodeDeleted,
    /// The cloud says that its instance ends, or should.
    Interrupted(Interruption),
    /// Its instance is not there any more.
    InstanceGone,
    /// Its class is missing or not ready.
    ClassUnusable,
    /// Its node has been unhealthy for too long.
    Unhealthy,
    /// It was bought for a command that lacks other replacements.
    CommandIncomplete,
    /// Its static pool keeps fewer nodes.
    Surplus,
    /// A command disrupts it.
    Command(DisruptionReason),
    /// None of the offerings that it names can be had.
    OutOfStock,
    /// It got no instance in time.
    LaunchTimeout,
    /// Its node did not join in time.
    RegistrationTimeout,
    /// It has reached its age.
    Expired,
}

impl DeletionCause {
    /// `true` if another event tells of it on the claim: that it is disrupted, what the cloud says, or why it got no instance.
    pub const fn is_told(self) -> bool {
        matches!(
            self,
            Self::Interrupted(_)
                | Self::ClassUnusable
                | Self::Unhealthy
                | Self::Command(_)
                | Self::OutOfStock
        )
    }

    /// The cause in words, as events have it.
    pub const fn because(self) -> &'static str {
        match self {
            Self::NodeDeleted => "its node was asked to go",
            Self::Interrupted(interruption) => interruption.facts().words,
            Self::InstanceGone => "its instance is gone",
            Self::ClassUnusable => "its class cannot be used",
            Self::Unhealthy => "its node is unhealthy",
            Self::CommandIncomplete => "what it replaces was not replaced whole",
            Self::Surplus => "its pool keeps fewer nodes",
            Self::Command(reason) => reason.facts().because,
            Self::OutOfStock => "nothing it names can be had",
            Self::LaunchTimeout => "no instance in time",
            Self::RegistrationTimeout => "no node in time",
            Self::Expired => "it has reached its age",
        }
    }

    /// Karpenter's name for the reason in metrics; `None` where it counts no disruption: people asked the node to go, a pool
    /// was made smaller, or a purchase was given up.
    pub const fn label(self) -> Option<&'static str> {
        Some(match self {
            Self::NodeDeleted | Self::CommandIncomplete | Self::Surplus => return None,
            Self::Interrupted(interruption) => interruption.facts().label,
            Self::InstanceGone => "garbage_collected",
            Self::ClassUnusable => "nodeclass_not_ready",
            Self::Unhealthy => "unhealthy",
            Self::Command(reason) => reason.facts().label,
            Self::OutOfStock => "insufficient_capacity",
            Self::LaunchTimeout => "launch_timeout",
            Self::RegistrationTimeout => "registration_timeout",
            Self::Expired => "expired",
        })
    }
}
