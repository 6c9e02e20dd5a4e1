//! Reasons of events, all there are, each with its type: one table, from which an event cannot differ.
//!
//! Names and types are Karpenter's where it has the event.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Type of an event, as `kubectl` shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EventType {
    /// Something has happened that belongs to a node's life.
    Normal,
    /// Something is not as it was asked for, or is taken away.
    Warning,
}

impl EventType {
    /// As the API writes it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Normal => "Normal",
            Self::Warning => "Warning",
        }
    }
}

macro_rules! reasons {
    ($($kind:ident { $($(#[$doc:meta])* $name:ident,)* })*) => {
        /// Reason of an event, in Pascal case as it is written.
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        )]
        pub enum EventReason {
            $($($(#[$doc])* $name,)*)*
        }

        impl EventReason {
            /// Every reason.
            pub const ALL: &'static [Self] = &[$($(Self::$name,)*)*];

            /// As it is written.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $($(Self::$name => stringify!($name),)*)*
                }
            }

            /// The type of all events of this reason.
            pub const fn event_type(self) -> EventType {
                match self {
                    $($(Self::$name)|* => EventType::$kind,)*
                }
            }
        }
    };
}

reasons! {
    Normal {
        /// Pod: the claim or node that it is expected on.
        Nominated,
        /// Pod or NodePool: a remark about the plan.
        SchedulingNote,
        /// Pod: it is not disrupted for a while, as it asks.
        DoNotDisruptUntil,
        /// Pod: that while is over.
        DoNotDisruptGracePeriodElapsed,
        /// Pod: it was evicted.
        Evicted,
        /// Pod: it was deleted, since the drain of its node must end.
        Disrupted,
        /// NodeClaim: it has its instance.
        Launched,
        /// NodeClaim: its node has joined.
        Registered,
        /// NodeClaim: its node is complete.
        Initialized,
        /// NodeClaim: it was asked to go, for something that no other event tells.
        Deleting,
        /// NodeClaim: it replaces nodes that are disrupted.
        DisruptionLaunching,
        /// NodeClaim: nodes that it replaces wait for it.
        DisruptionWaitingReadiness,
        /// NodeClaim and Node: it is disrupted.
        DisruptionTerminating,
        /// NodeClaim, Node or NodePool: it may not be disrupted now.
        DisruptionBlocked,
        /// NodeClaim and Node: consolidation leaves it alone.
        Unconsolidatable,
        /// NodeClaim and Node: a saving was found.
        ConsolidationCandidate,
        /// NodeClaim and Node: a saving that was found is none any more.
        ConsolidationRejected,
        /// NodeClaim and Node: its spot instance may be taken back.
        SpotRebalanceRecommendation,
        /// Node: volumes are still attached.
        AwaitingVolumeDetachment,
        /// NodePool: a command has saved something, at list prices.
        SavingPredicted,
        /// NodePool: a saving, an hour later.
        SavingRealised,
        /// CapacityBuffer: its room is there.
        FitsExistingCapacity,
        /// CapacityBuffer: some of its room is not there yet.
        RequiresNewCapacity,
        /// CapacityBuffer: it asks for nothing.
        BufferEmpty,
        /// NodePool: its class is of another provider, whose controller serves it.
        NodeClassNotServed,
        /// Node class: it waits for NodeClaims.
        WaitingOnNodeClaimTermination,
        /// Policy: its module serves.
        Serving,
        /// Policy: its module is loaded, and no NodePool is left to it.
        NoNodePools,
        /// Policy: its module is asked in shadow.
        Shadowing,
        /// Policy: how its module, in shadow, compares with what decides.
        ShadowCompared,
    }
    Warning {
        /// Pod: it has no place. NodePool: no plan could be made.
        FailedScheduling,
        /// Pod: its annotation cannot be read.
        InvalidDoNotDisruptAnnotation,
        /// NodeClaim: the cloud has none of what it names.
        InsufficientCapacityError,
        /// NodeClaim or NodePool: its class cannot be used.
        NodeClassNotReady,
        /// NodeClaim: the cloud would not launch it.
        LaunchFailed,
        /// NodeClaim: its node is unhealthy and is replaced.
        Unhealthy,
        /// NodeClaim: its node has come without the taint.
        UnregisteredTaintMissing,
        /// NodeClaim: its node is not what was promised.
        FailedConsistencyCheck,
        /// NodeClaim: its instance has ended before it joined.
        InstanceEndedEarly,
        /// NodeClaim and Node: the drain has a deadline.
        TerminationGracePeriodExpiring,
        /// NodeClaim, Node and NodePool: an unhealthy node is not replaced.
        NodeRepairBlocked,
        /// NodeClaim and Node: the cloud takes its spot instance back.
        SpotInterrupted,
        /// NodeClaim and Node: the cloud takes its reserved instance back.
        CapacityReservationInstanceInterrupted,
        /// NodeClaim and Node: its instance is being stopped.
        InstanceStopping,
        /// NodeClaim and Node: its instance is being ended.
        InstanceTerminating,
        /// NodeClaim and Node: its instance is not to be counted on.
        InstanceUnhealthy,
        /// NodeClaim and Node: it was asked to go for what the cloud says.
        TerminatingOnInterruption,
        /// Node: its pods cannot be moved now.
        FailedDraining,
        /// NodePool: its requirements leave no instance type.
        NoCompatibleInstanceTypes,
        /// NodePool: one of its budgets limits nothing.
        EmptyBudgetReasons,
        /// NodePool: it has fewer nodes than it asks for.
        ReplicasNotReached,
        /// NodePool: a policy that it names does not serve.
        PolicyMissing,
        /// NodePool: a kind may not be watched.
        Forbidden,
        /// NodePool: a kind is not served.
        NotFound,
        /// NodePool: the API server would not have a NodeClaim of it.
        FailedCreate,
        /// Any object: the API server would not have it changed.
        FailedUpdate,
        /// NodeClaim or Node: the API server would not have it deleted.
        FailedDelete,
        /// Any object: it cannot be read.
        FailedValidation,
        /// CapacityBuffer: its request cannot be worked out.
        NotReadyForProvisioning,
        /// Policy: another one serves pools of its selection.
        ServedByAnother,
        /// Policy: a call of its module failed.
        PolicyFailed,
        /// Policy: its module is set aside.
        Quarantined,
        /// Policy: there is no room for its module now.
        Saturated,
        /// Policy: its specification cannot be read.
        InvalidSpec,
        /// Policy: its module cannot be read.
        BytesUnreadable,
        /// Policy: its module is not there.
        BytesMissing,
        /// Policy: parts of its module are missing.
        PackageIncomplete,
        /// Policy: its module is another one.
        DigestMismatch,
        /// Policy: its module is too large.
        TooLarge,
        /// Policy: its module cannot be unpacked.
        CompressionRefused,
        /// Policy: its module is no component.
        NotAComponent,
        /// Policy: its module is built in a way that is not taken.
        ShapeRefused,
        /// Policy: its module is not valid.
        InvalidModule,
        /// Policy: its module asks for what is not given.
        ImportsForbidden,
        /// Policy: its module's manifest is not taken.
        ManifestRefused,
        /// Policy: its module has no hook.
        HookMissing,
        /// Policy: its module is of another interface.
        InterfaceUnknown,
        /// Policy: its module is for another hook.
        HookMismatch,
        /// Policy: its module asks for more than it may.
        LimitExceeded,
        /// Policy: a column that its module reads is not there.
        SignalMissing,
        /// Policy: its settings are not taken.
        SettingsRefused,
        /// Policy: modules cannot be compiled here.
        CompilerMissing,
        /// Policy: its module cannot be compiled.
        CompileFailed,
        /// Policy: its module does not fit its interface.
        InterfaceMismatch,
        /// Policy: its module does not start.
        StartFailed,
        /// Policy: its module's answers to the trial questions are not taken.
        SelfTestRefused,
        /// Policy: its module fails on the trial questions.
        SelfTestFailed,
    }
}

impl EventReason {
    /// The reason that is written so; `None` where there is none.
    pub fn parse(text: &str) -> Option<Self> {
        let mut all = Self::ALL.iter().copied();
        all.find(|reason| reason.as_str() == text)
    }

    /// `true` if something is not as it was asked for, or is taken away.
    pub fn is_warning(self) -> bool {
        self.event_type() == EventType::Warning
    }
}

impl fmt::Display for EventReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Karpenter's events, with their types.
    const KARPENTERS: [(&str, EventType); 30] = [
        ("DisruptionBlocked", EventType::Normal),
        ("DisruptionLaunching", EventType::Normal),
        ("DisruptionWaitingReadiness", EventType::Normal),
        ("DisruptionTerminating", EventType::Normal),
        ("Unconsolidatable", EventType::Normal),
        ("ConsolidationCandidate", EventType::Normal),
        ("ConsolidationRejected", EventType::Normal),
        ("FailedScheduling", EventType::Warning),
        ("NoCompatibleInstanceTypes", EventType::Warning),
        ("Nominated", EventType::Normal),
        ("InvalidDoNotDisruptAnnotation", EventType::Warning),
        ("DoNotDisruptUntil", EventType::Normal),
        ("DoNotDisruptGracePeriodElapsed", EventType::Normal),
        ("Disrupted", EventType::Normal),
        ("Evicted", EventType::Normal),
        ("FailedDraining", EventType::Warning),
        ("AwaitingVolumeDetachment", EventType::Normal),
        ("TerminationGracePeriodExpiring", EventType::Warning),
        ("NodeRepairBlocked", EventType::Warning),
        ("FailedConsistencyCheck", EventType::Warning),
        ("InsufficientCapacityError", EventType::Warning),
        ("UnregisteredTaintMissing", EventType::Warning),
        ("NodeClassNotReady", EventType::Warning),
        ("WaitingOnNodeClaimTermination", EventType::Normal),
        ("SpotInterrupted", EventType::Warning),
        ("SpotRebalanceRecommendation", EventType::Normal),
        ("InstanceStopping", EventType::Warning),
        ("InstanceTerminating", EventType::Warning),
        ("InstanceUnhealthy", EventType::Warning),
        ("TerminatingOnInterruption", EventType::Warning),
    ];

    #[test]
    fn events_that_karpenter_has_are_of_its_type() {
        for (name, kind) in KARPENTERS {
            let reason = EventReason::parse(name);
            assert_eq!(reason.map(EventReason::event_type), Some(kind), "{name}");
        }
    }

    #[test]
    fn a_reason_is_read_back_as_it_is_written() {
        for reason in EventReason::ALL.iter().copied() {
            assert_eq!(EventReason::parse(reason.as_str()), Some(reason));
            assert_eq!(reason.to_string(), reason.as_str());
        }
        let names: BTreeSet<&str> = EventReason::ALL.iter().map(|own| own.as_str()).collect();
        assert_eq!(names.len(), EventReason::ALL.len());
        assert_eq!(EventReason::parse("Off"), None);
    }
}
