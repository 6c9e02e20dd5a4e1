//! The cloud's word on an instance that is going to end, or may: the words for people, and Karpenter's names for it.

use plimsoll_base::event_reason::EventReason;
use plimsoll_base::time::Timestamp;
use plimsoll_model::ClaimPhase;
use plimsoll_model::action::{ClaimChange, Purpose};
use serde::{Deserialize, Serialize};

use super::{ClaimView, DeletionCause, Step};

/// A word of the cloud on one of its instances.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Interruption {
    /// The cloud takes a spot instance back.
    SpotReclaimed,
    /// The cloud takes an instance of a reservation back that may be interrupted.
    ReservationReclaimed,
    /// The cloud has planned work on the machine below.
    ScheduledChange,
    /// Somebody stops the instance.
    Stopping,
    /// Somebody ends the instance.
    Terminating,
    /// Checks of the instance fail: what runs on it is not to be counted on.
    InstanceImpaired,
    /// Checks of the machine below fail, likewise.
    SystemImpaired,
    /// Work on the instance is scheduled.
    ScheduledEvent,
    /// A spot instance is more likely than others to be taken back; its node stays.
    RebalanceRecommended,
}

/// Names and words of one [`Interruption`].
#[derive(Clone, Copy, Debug)]
pub struct InterruptionFacts {
    /// Karpenter's name for it in metrics.
    pub label: &'static str,
    /// Karpenter's reason for events about it.
    pub event: EventReason,
    /// The words of events.
    pub words: &'static str,
}

impl Interruption {
    /// `true` if the node has to be drained.
    pub const fn ends_instance(self) -> bool {
        !matches!(self, Self::RebalanceRecommended)
    }

    /// `true` if nothing on the node is waited for: it may not answer any more.
    pub const fn is_forceful(self) -> bool {
        matches!(self, Self::InstanceImpaired | Self::SystemImpaired)
    }

    /// Its names and words.
    pub const fn facts(self) -> InterruptionFacts {
        let (label, event, words) = match self {
            Self::SpotReclaimed => (
                "spot_interrupted",
                EventReason::SpotInterrupted,
                "the cloud takes its spot instance back",
            ),
            Self::ReservationReclaimed => (
                "capacity_reservation_interrupted",
                EventReason::CapacityReservationInstanceInterrupted,
                "the cloud takes its instance back, which is of a reservation that may be interrupted",
            ),
            Self::ScheduledChange => (
                "scheduled_change",
                EventReason::InstanceUnhealthy,
                "the cloud has planned work on the machine of its instance",
            ),
            Self::Stopping => (
                "instance_stopped",
                EventReason::InstanceStopping,
                "its instance is being stopped",
            ),
            Self::Terminating => (
                "instance_terminated",
                EventReason::InstanceTerminating,
                "its instance is being ended",
            ),
            Self::InstanceImpaired => (
                "instance_status",
                EventReason::InstanceUnhealthy,
                "checks of its instance fail",
            ),
            Self::SystemImpaired => (
                "system_status",
                EventReason::InstanceUnhealthy,
                "checks of the machine of its instance fail",
            ),
            Self::ScheduledEvent => (
                "event_status",
                EventReason::InstanceUnhealthy,
                "the cloud has scheduled work on its instance",
            ),
            Self::RebalanceRecommended => (
                "rebalance_recommendation",
                EventReason::SpotRebalanceRecommendation,
                "its spot instance is more likely than others to be taken back; it stays",
            ),
        };
        InterruptionFacts {
            label,
            event,
            words,
        }
    }
}

/// Keeps new pods off the node of a claim that is removed since the cloud ends its instance, without waiting until the claim and the node are seen
/// to go: there are two minutes at most, and a word that comes to nothing finds the node's taint taken off again.
pub(super) fn keep_pods_off(view: &ClaimView<'_>, cause: DeletionCause, step: &mut Step) {
    let node = view.node.filter(|_| !view.ambiguous);
    if let Some((node, version)) = node
        && matches!(cause, DeletionCause::Interrupted(_))
        && view.claim.phase() >= ClaimPhase::Registered
    {
        step.begin_drain(node, version);
    }
}

/// Writes the deadline of the drain, as past, on a claim whose node is not to be counted on, before it goes; `true` where it does.
pub(super) fn drain_at_once(
    view: &ClaimView<'_>,
    cause: DeletionCause,
    now: Timestamp,
    step: &mut Step,
) -> bool {
    let is_forceful =
        matches!(cause, DeletionCause::Interrupted(interruption) if interruption.is_forceful());
    let is_due = is_forceful && view.claim.drained_by.is_none();
    if is_due {
        let change = ClaimChange {
            drained_by: Some(now),
            ..ClaimChange::default()
        };
        step.change_claim(view, Purpose::MarkDeadline, change);
    }
    is_due
}
