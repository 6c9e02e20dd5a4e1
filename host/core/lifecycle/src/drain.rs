//! Moving pods off a node in waves, under the disruption budgets of workloads.
//!
//! Waves follow Karpenter: ordinary pods, their daemons, critical pods, critical daemons; a later wave waits until the
//! earlier is gone. Pods that ask to be left alone are waited for and not evicted. Daemons that tolerate the leaving taint,
//! mirrors, and pods that are stuck that are deleting are not waited for. Where the drain has a deadline, a pod that would not
//! end by then is asked to go in time to do so, out of turn and whatever budgets and its own wish say; one that is deleting
//! and would take longer gets what is left.

use plimsoll_base::time::{Span, Timestamp};
use plimsoll_model::action::{ObjectKey, Purpose, Request, Write};
use plimsoll_model::{OwnerKind, Pod, STUCK, is_waited_for};

use crate::{Step, Want};

/// The least that a pod has to end: none would be at once, and another of its name might run while it still does.
const LAST_GRACE: Span = Span::from_secs(1);
/// Priority from which a pod is critical: that of `system-cluster-critical`.
const CRITICAL: i32 = 2_000_000_000;

/// Asks for the next wave to be moved; whether nothing is left to wait for.
pub(crate) fn evict(
    pods: &[&Pod],
    deadline: Option<Timestamp>,
    now: Timestamp,
    step: &mut Step,
) -> bool {
    let waiting: Vec<&&Pod> = pods.iter().filter(|pod| is_waited_for(pod, now)).collect();
    for gone_by in waiting.iter().filter_map(|pod| pod.deleting) {
        step.wake_at(gone_by + STUCK);
    }
    let forced = |pod: &&&Pod| deadline.and_then(|deadline| within(pod, deadline, now));
    if let Some(deadline) = deadline {
        let starts = waiting.iter().filter(|pod| pod.deleting.is_none());
        for at in starts.map(|pod| deadline - pod.termination_grace()) {
            if at > now {
                step.wake_at(at);
            }
        }
    }
    let graceful = waiting.iter().filter(|pod| forced(pod).is_none());
    let first = graceful.map(|pod| wave(pod)).min();
    for pod in &waiting {
        let protected = pod.is_protected(now);
        if let Some(until) = pod.protected_until().filter(|_| protected) {
            step.wake_at(until);
        }
        let within = forced(pod);
        let its_turn = Some(wave(pod)) == first && !protected && pod.deleting.is_none();
        if within.is_some() || its_turn {
            step.wants.push(Want {
                object: ObjectKey::Pod(pod.uid.clone()),
                uid: None,
                purpose: Purpose::Evict,
                version: None,
                request: Request::Write(Write::Evict {
                    pod: pod.name.clone(),
                    uid: pod.uid.clone(),
                    within,
                }),
            });
        }
    }
    waiting.is_empty()
}

/// The time that a pod gets to end, in whole seconds, where it would not end by the deadline otherwise; `None` where it would, or
/// cannot be hurried any more.
fn within(pod: &Pod, deadline: Timestamp, now: Timestamp) -> Option<Span> {
    let left = deadline.since(now).millis() / 1000 * 1000;
    let left = Span::from_millis(left).max(LAST_GRACE);
    let is_late = match pod.deleting {
        Some(gone_by) => gone_by > deadline && gone_by > now + left,
        None => now >= deadline - pod.termination_grace(),
    };
    is_late.then_some(left)
}

fn wave(pod: &Pod) -> (bool, bool) {
    let daemon = pod.is_owned_by(OwnerKind::DaemonSet);
    (pod.spec.priority >= CRITICAL, daemon)
}
