//! Volumes of a node that is drained: its instance ends once they are detached, so that a pod that needs them elsewhere does not wait for
//! an instance that answers no more.
//!
//! Not waited for: volumes of pods that a drain leaves where they are, and whatever is still attached when the time for the drain is
//! over. Nor is anything once the instance is being ended.

use std::collections::BTreeSet;
use std::sync::Arc;

use plimsoll_base::ids::ObjectName;
use plimsoll_base::time::Timestamp;
use plimsoll_model::{
    ConditionType, DesiredCondition, Pod, VolumeAttachment, Volumes, is_left_by_drain,
};

use super::ClaimView;

const AWAITED: &str = "AwaitingVolumeDetachment";
const ELAPSED: &str = "TerminationGracePeriodElapsed";

/// Volumes attached to a node, and all that is known of volumes, which says whose they are.
#[derive(Clone, Debug)]
pub struct Attached<'a> {
    /// The volumes, by name of the attachment.
    pub attachments: Vec<&'a VolumeAttachment>,
    /// Volumes and their claims.
    pub volumes: &'a Volumes,
}

impl<'a> Attached<'a> {
    /// The volumes that are waited for, with these pods on the node.
    pub(super) fn waited_for(&self, pods: &[&Pod], now: Timestamp) -> Vec<&'a VolumeAttachment> {
        if self.attachments.is_empty() {
            return Vec::new();
        }
        let staying = pods.iter().filter(|pod| is_left_by_drain(pod, now));
        let kept: BTreeSet<&Arc<str>> = staying.flat_map(|pod| self.volumes_of(pod)).collect();
        let attachments = self.attachments.iter().copied();
        let waited_for = attachments.filter(|own| {
            let volume = own.volume.as_ref();
            volume.is_some_and(|volume| !kept.contains(volume))
        });
        waited_for.collect()
    }

    fn volumes_of(&self, pod: &Pod) -> impl Iterator<Item = &Arc<str>> {
        let ObjectName { namespace, name } = &pod.name;
        let volumes = pod.spec.volumes.iter();
        let names = volumes.map(move |volume| volume.claim_name(name));
        let names = names.map(move |claim| ObjectName::new(Arc::clone(namespace), claim));
        names.filter_map(move |claim| self.volumes.claims.get(&claim)?.volume.as_ref())
    }
}

/// State of the volumes of a drained node.
pub(super) enum Detachment<'a> {
    /// None is left that is waited for.
    Done,
    /// These are.
    Waits(Vec<&'a VolumeAttachment>),
    /// Some are, and the time for the drain is over.
    Elapsed,
}

impl<'a> Detachment<'a> {
    /// State of those of a claim's node.
    pub(super) fn of(view: &ClaimView<'a>, now: Timestamp) -> Self {
        let left = view.attached.waited_for(&view.pods, now);
        let deadline = view.claim.drain_deadline();
        if left.is_empty() {
            Self::Done
        } else if deadline.is_some_and(|deadline| now >= deadline) {
            Self::Elapsed
        } else {
            Self::Waits(left)
        }
    }

    /// As the claim's condition.
    pub(super) fn condition(&self) -> DesiredCondition {
        let kind = ConditionType::VolumesDetached;
        match self {
            Self::Done => DesiredCondition::holds(kind),
            Self::Waits(_) => DesiredCondition::unknown(kind, AWAITED, AWAITED),
            Self::Elapsed => DesiredCondition::fails(kind, ELAPSED, ELAPSED),
        }
    }
}
