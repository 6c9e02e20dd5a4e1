//! Which pods can be asked to leave a node that goes, and which are waited for.

use crate::lifecycle::leaving_taint;
use crate::model::{OwnerKind, Pod};
use crate::time::{Span, Timestamp};

/// A pod that should have been gone for this long is no longer waited for.
pub(crate) const STUCK: Span = Span::from_secs(60);

/// Whether a pod puts up with the taint of nodes on their way out: it stays until the end.
pub(crate) fn tolerates_leaving(pod: &Pod) -> bool {
    let taint = leaving_taint();
    let mut tolerations = pod.spec.tolerations.iter();
    tolerations.any(|toleration| toleration.tolerates(&taint))
}

/// Whether a pod may be evicted: active, no mirror, not staying until the end, and not asking to be left alone now.
pub(crate) fn is_evictable(pod: &Pod, now: Timestamp) -> bool {
    pod.is_active()
        && !pod.is_owned_by(OwnerKind::Node)
        && !tolerates_leaving(pod)
        && !pod.is_protected(now)
}

/// Whether a drain waits for a pod: it has not ended, is no mirror, does not stay until the end, and is not stuck on its
/// way out. Pods that ask to be left alone are waited for.
pub(crate) fn is_waited_for(pod: &Pod, now: Timestamp) -> bool {
    let stuck = pod.deleting.is_some_and(|gone_by| now >= gone_by + STUCK);
    !pod.is_terminal() && !pod.is_owned_by(OwnerKind::Node) && !tolerates_leaving(pod) && !stuck
}
