//! Moving pods off a node in waves, under the disruption budgets of workloads.
//!
//! Waves follow the incumbent: ordinary pods, their daemons, critical pods, critical daemons; a later wave waits until the
//! earlier is gone. Pods that ask to be left alone are waited for and not evicted. Daemons that tolerate the leaving taint, mirrors, and pods that are stuck that are deleting are not
//! waited for. When the time allowed is over, what remains is moved regardless of
//! budgets, and so is what is deleting but would take its time.

use crate::action::{ObjectKey, Purpose, Request, Write};
use crate::lifecycle::{Step, Want};
use crate::model::{OwnerKind, Pod, STUCK, is_waited_for};
use crate::time::{Span, Timestamp};

/// How long a pod has to end once the time allowed for the drain is over.
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
    let forced = deadline.is_some_and(|deadline| now >= deadline);
    if let Some(deadline) = deadline.filter(|deadline| *deadline > now) {
        step.wake_at(deadline);
    }
    let first = waiting.iter().map(|pod| wave(pod)).min();
    for pod in &waiting {
        let protected = pod.is_protected(now);
        if let Some(until) = pod.protected_until().filter(|_| protected) {
            step.wake_at(until);
        }
        let its_turn = Some(wave(pod)) == first && !protected;
        let lingers = |gone_by: Timestamp| gone_by > now + LAST_GRACE;
        let overdue = forced && pod.deleting.is_none_or(lingers);
        let due = overdue || (its_turn && pod.deleting.is_none());
        if due {
            step.wants.push(Want {
                object: ObjectKey::Pod(pod.uid.clone()),
                uid: None,
                purpose: Purpose::Evict,
                version: None,
                request: Request::Write(Write::Evict {
                    pod: pod.name.clone(),
                    uid: pod.uid.clone(),
                    within: forced.then_some(LAST_GRACE),
                }),
            });
        }
    }
    waiting.is_empty()
}

fn wave(pod: &Pod) -> (bool, bool) {
    let daemon = pod.is_owned_by(OwnerKind::DaemonSet);
    (pod.spec.priority >= CRITICAL, daemon)
}
