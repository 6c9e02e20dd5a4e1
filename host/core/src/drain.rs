//! Moving pods off a node in waves, under the disruption budgets of workloads.
//!
//! Waves follow the incumbent: ordinary pods, their daemons, critical pods, critical daemons; a later wave waits until the
//! earlier is gone. Daemons that tolerate the leaving taint, mirrors, and pods that are stuck on their way out are not
//! waited for. When the time allowed is over, what remains is moved regardless of budgets.

use crate::action::{ObjectKey, Purpose, Request, Write};
use crate::lifecycle::{DISRUPTED_TAINT, Step, Want};
use crate::model::{Effect, OwnerKind, Pod, Taint};
use crate::time::{Span, Timestamp};

/// Priority from which a pod is critical: that of `system-cluster-critical`.
const CRITICAL: i32 = 2_000_000_000;
/// A pod that should have been gone for this long is no longer waited for.
const STUCK: Span = Span::from_secs(60);

/// Asks for the next wave to be moved; whether nothing is left to wait for.
pub(crate) fn evict(
    pods: &[&Pod],
    deadline: Option<Timestamp>,
    now: Timestamp,
    step: &mut Step,
) -> bool {
    let waiting: Vec<&&Pod> = pods
        .iter()
        .filter(|pod| is_waited_for(pod, now, step))
        .collect();
    let forced = deadline.is_some_and(|deadline| now >= deadline);
    if let Some(deadline) = deadline.filter(|deadline| *deadline > now) {
        step.wake_at(deadline);
    }
    let first = waiting.iter().map(|pod| wave(pod)).min();
    for pod in &waiting {
        let due = pod.deleting.is_none() && (forced || Some(wave(pod)) == first);
        if due {
            step.wants.push(Want {
                object: ObjectKey::Pod(pod.uid.clone()),
                purpose: Purpose::Evict,
                version: None,
                request: Request::Write(Write::Evict {
                    pod: pod.name.clone(),
                    uid: pod.uid.clone(),
                    force: forced,
                }),
            });
        }
    }
    waiting.is_empty()
}

fn is_waited_for(pod: &Pod, now: Timestamp, step: &mut Step) -> bool {
    if pod.is_terminal() || pod.is_owned_by(OwnerKind::Node) || tolerates_leaving(pod) {
        return false;
    }
    let stuck_at = pod.deleting.map(|deleting| deleting + STUCK);
    match stuck_at {
        Some(at) if now >= at => false,
        Some(at) => {
            step.wake_at(at);
            true
        }
        None => true,
    }
}

fn tolerates_leaving(pod: &Pod) -> bool {
    let taint = Taint {
        key: DISRUPTED_TAINT.into(),
        value: "".into(),
        effect: Effect::NoSchedule,
    };
    let mut tolerations = pod.spec.tolerations.iter();
    tolerations.any(|toleration| toleration.tolerates(&taint))
}

fn wave(pod: &Pod) -> (bool, bool) {
    let daemon = pod.is_owned_by(OwnerKind::DaemonSet);
    (pod.spec.priority >= CRITICAL, daemon)
}
