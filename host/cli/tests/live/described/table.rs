//! The table of events: where each comes in tests, or why it cannot come in the lab.

use plimsoll_base::event_reason::EventReason;

use EventReason as R;

/// Where an event comes in tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comes {
    /// In the lab, in a test below.
    Here,
    /// In the lab, in another test of this binary that looks as those below do.
    Beside,
    /// Nowhere in the lab, and why.
    No(&'static str),
}

pub(super) const EC2: &str = "only EC2 says so: live/aws";
const GATES: &str =
    "a gate of modules: each has a case in tests/guests, and all are written as DigestMismatch is";

/// Each reason with its place; one without does not compile.
pub(super) fn comes(reason: EventReason) -> Comes {
    match reason {
        R::Nominated
        | R::DoNotDisruptUntil
        | R::DoNotDisruptGracePeriodElapsed
        | R::InvalidDoNotDisruptAnnotation
        | R::Evicted
        | R::Disrupted
        | R::Launched
        | R::Registered
        | R::Initialized
        | R::Deleting
        | R::DisruptionLaunching
        | R::DisruptionWaitingReadiness
        | R::DisruptionTerminating
        | R::DisruptionBlocked
        | R::AwaitingVolumeDetachment
        | R::FitsExistingCapacity
        | R::RequiresNewCapacity
        | R::BufferEmpty
        | R::NotReadyForProvisioning
        | R::Serving
        | R::NoNodePools
        | R::Shadowing
        | R::ShadowCompared
        | R::ServedByAnother
        | R::BytesMissing
        | R::DigestMismatch
        | R::HookMismatch
        | R::SettingsRefused
        | R::FailedScheduling
        | R::InsufficientCapacityError
        | R::LaunchFailed
        | R::NodeClassNotReady
        | R::NodeClassNotServed
        | R::TerminationGracePeriodExpiring
        | R::SpotInterrupted
        | R::InstanceTerminating
        | R::TerminatingOnInterruption
        | R::FailedDraining
        | R::NoCompatibleInstanceTypes
        | R::EmptyBudgetReasons
        | R::ReplicasNotReached
        | R::PolicyMissing
        | R::Forbidden
        | R::NotFound
        | R::FailedCreate
        | R::FailedUpdate
        | R::FailedDelete => Comes::Here,
        R::ConsolidationCandidate
        | R::SavingPredicted
        | R::FailedValidation
        | R::PolicyFailed
        | R::Quarantined => Comes::Beside,
        R::SpotRebalanceRecommendation
        | R::CapacityReservationInstanceInterrupted
        | R::InstanceStopping
        | R::InstanceUnhealthy
        | R::InstanceEndedEarly
        | R::WaitingOnNodeClaimTermination => Comes::No(EC2),
        R::Unconsolidatable => {
            Comes::No("whether a node saves nothing depends on its prices: host/core/disrupt/tests")
        }
        R::SavingRealised => Comes::No("an hour after its command"),
        R::Unhealthy | R::NodeRepairBlocked => {
            Comes::No("a node has to be unhealthy for ten minutes: tests/scenarios")
        }
        R::ConsolidationRejected => Comes::No(
            "a saving has to be lost in the fifteen seconds of its validation: host/core/disrupt/tests",
        ),
        R::SchedulingNote => Comes::No("a plan has to lower minimum values: tests/scheduling"),
        R::UnregisteredTaintMissing => {
            Comes::No("KWOK's nodes always come with their taint: host/core/lifecycle/tests")
        }
        R::FailedConsistencyCheck => {
            Comes::No("KWOK's nodes always have what was promised: host/core/lifecycle/tests")
        }
        R::Saturated => Comes::No("the machine has to be out of room: tests/guests"),
        R::CompilerMissing => Comes::No("the program has its compiler"),
        R::InvalidSpec => Comes::No("the API server refuses it before: tests/lab, admission"),
        R::BytesUnreadable => Comes::No("the API server has to give no answer about a ConfigMap"),
        R::PackageIncomplete
        | R::TooLarge
        | R::CompressionRefused
        | R::NotAComponent
        | R::ShapeRefused
        | R::InvalidModule
        | R::ImportsForbidden
        | R::ManifestRefused
        | R::HookMissing
        | R::InterfaceUnknown
        | R::LimitExceeded
        | R::SignalMissing
        | R::CompileFailed
        | R::InterfaceMismatch
        | R::StartFailed
        | R::SelfTestRefused
        | R::SelfTestFailed => Comes::No(GATES),
    }
}

/// Events of pods, claims and pools while all goes on.
pub(super) const OF_LIVES: &[R] = &[
    R::Nominated,
    R::Launched,
    R::Registered,
    R::Initialized,
    R::FailedScheduling,
    R::LaunchFailed,
    R::NodeClassNotReady,
    R::NodeClassNotServed,
    R::InsufficientCapacityError,
    R::NoCompatibleInstanceTypes,
    R::EmptyBudgetReasons,
    R::ReplicasNotReached,
    R::PolicyMissing,
    R::InvalidDoNotDisruptAnnotation,
    R::DoNotDisruptUntil,
    R::DoNotDisruptGracePeriodElapsed,
    R::DisruptionBlocked,
];

/// Events of nodes that are removed.
pub(super) const OF_ENDS: &[R] = &[
    R::Deleting,
    R::TerminationGracePeriodExpiring,
    R::FailedDraining,
    R::Evicted,
    R::Disrupted,
    R::AwaitingVolumeDetachment,
    R::DisruptionLaunching,
    R::DisruptionWaitingReadiness,
    R::DisruptionTerminating,
];

/// Events of Policies and CapacityBuffers.
pub(super) const OF_POLICIES_AND_BUFFERS: &[R] = &[
    R::NoNodePools,
    R::Shadowing,
    R::ShadowCompared,
    R::ServedByAnother,
    R::DigestMismatch,
    R::BytesMissing,
    R::SettingsRefused,
    R::HookMismatch,
    R::RequiresNewCapacity,
    R::FitsExistingCapacity,
    R::BufferEmpty,
    R::NotReadyForProvisioning,
];

/// Events of kinds that are not seen.
pub(super) const OF_KINDS: &[R] = &[R::Forbidden, R::NotFound];

/// Events of writes that the API server refuses.
pub(super) const OF_WRITES: &[R] = &[R::FailedCreate, R::FailedUpdate, R::FailedDelete];

/// Events of instances that the cloud ends.
pub(super) const OF_INSTANCES: &[R] = &[
    R::SpotInterrupted,
    R::InstanceTerminating,
    R::TerminatingOnInterruption,
];

/// Events of moves to save money, in another test.
pub(in super::super) const OF_SAVINGS: &[R] = &[R::ConsolidationCandidate, R::SavingPredicted];
/// Events of modules that fail, in another test.
pub(in super::super) const OF_FAULTS: &[R] = &[R::PolicyFailed, R::Quarantined];
/// Events of objects that cannot be read, in another test.
pub(in super::super) const OF_UNREADABLE: &[R] = &[R::FailedValidation];

#[test]
fn every_reason_that_comes_in_the_lab_is_waited_for() {
    let here = [
        OF_LIVES,
        OF_ENDS,
        OF_POLICIES_AND_BUFFERS,
        OF_KINDS,
        OF_WRITES,
        OF_INSTANCES,
        &[R::Serving],
    ]
    .concat();
    let beside = [OF_SAVINGS, OF_FAULTS, OF_UNREADABLE].concat();
    for reason in R::ALL {
        let comes = comes(*reason);
        assert_eq!(here.contains(reason), comes == Comes::Here, "{reason}");
        assert_eq!(beside.contains(reason), comes == Comes::Beside, "{reason}");
    }
}
