//! Pods by what becomes of them: which wait for a node, which move when theirs goes, which can be asked to leave and which are
//! waited for.

use plimsoll_base::time::{Span, Timestamp};

use super::{OwnerKind, Pod, PodPhase, leaving_taint};

/// A pod that should have been gone for this long is no longer waited for.
pub const STUCK: Span = Span::from_secs(60);

/// `true` if a pod belongs to its node: daemons and mirrors of static pods.
pub fn is_fixed(pod: &Pod) -> bool {
    pod.is_owned_by(OwnerKind::DaemonSet) || pod.is_owned_by(OwnerKind::Node)
}

/// `true` if a pod waits for a node: not bound, found unschedulable, neither ended nor asked to go, and not tied to nodes by
/// its owner (a daemon, a mirror). Nominations are looked at elsewhere.
pub fn wants_node(pod: &Pod) -> bool {
    pod.node.is_none() && pod.unschedulable && pod.is_active() && !is_fixed(pod)
}

/// `true` if a bound pod must run somewhere else when its node goes: active, or a StatefulSet's pod that is deleting, which
/// must be gone before its successor exists.
pub fn is_reschedulable(pod: &Pod) -> bool {
    let counts = pod.is_active()
        || (pod.deleting.is_some()
            && !pod.is_terminal()
            && pod.is_owned_by(OwnerKind::StatefulSet));
    counts && !is_fixed(pod)
}

/// `true` if a pod on a node that is deleting will be moved: reschedulable, and not asking to be left alone now.
pub fn is_displaced(pod: &Pod, now: Timestamp) -> bool {
    is_reschedulable(pod) && !pod.is_protected(now)
}

/// `true` if a pod puts up with the taint of nodes that are deleting: it stays until the end.
fn tolerates_leaving(pod: &Pod) -> bool {
    let taint = leaving_taint();
    let mut tolerations = pod.spec.tolerations.iter();
    tolerations.any(|toleration| toleration.tolerates(&taint))
}

/// `true` if a pod may be evicted: active, no mirror, not staying until the end, and not asking to be left alone now.
pub fn is_evictable(pod: &Pod, now: Timestamp) -> bool {
    pod.is_active()
        && !pod.is_owned_by(OwnerKind::Node)
        && !tolerates_leaving(pod)
        && !pod.is_protected(now)
}

/// `true` if the eviction of a pod is held against disruption budgets: not that of one that has ended, is deleting, or is bound and has
/// not begun to run, however many budgets select it (`canIgnorePDB` of the API server).
pub fn asks_budgets(pod: &Pod) -> bool {
    pod.is_active() && pod.phase != PodPhase::Pending
}

/// `true` if a drain waits for a pod: it has not ended, is no mirror, does not stay until the end, and is not stuck on its
/// way out. Pods that ask to be left alone are waited for.
pub fn is_waited_for(pod: &Pod, now: Timestamp) -> bool {
    !pod.is_terminal() && !is_left_by_drain(pod, now)
}

/// `true` if a drain leaves a pod where it is: it is a mirror, stays until the end, or is stuck on its way out.
pub fn is_left_by_drain(pod: &Pod, now: Timestamp) -> bool {
    let stuck = pod.deleting.is_some_and(|gone_by| now >= gone_by + STUCK);
    pod.is_owned_by(OwnerKind::Node) || tolerates_leaving(pod) || stuck
}
