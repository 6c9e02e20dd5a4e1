//! The last event of a pod on a claim's node, written on the claim: from it `consolidateAfter` counts, in Karpenter too.
//!
//! As with Karpenter it is written for ten seconds at once: what happens sooner after what is written, or after the node was complete,
//! waits until they are over. So it is never further behind than that, and a burst of pods costs one write of each claim. What happens
//! before a node is complete is not written: `consolidateAfter` counts from that at the earliest.

use plimsoll_base::time::{Span, Timestamp};
use plimsoll_model::ClaimPhase;
use plimsoll_model::action::{ClaimChange, Purpose};

use super::{ClaimView, Step};

/// The least time from what is written to the next write.
const COARSENESS: Span = Span::from_secs(10);

/// Asks for the last event to be written where what is written is older, unless a change of the claim is on its way.
pub(super) fn tell(view: &ClaimView<'_>, now: Timestamp, step: &mut Step) {
    let claim = view.claim;
    let written = claim.last_pod_event;
    let last = view.last_pod_event.map(whole_second);
    let is_complete = claim.deleting.is_none() && claim.phase() == ClaimPhase::Initialized;
    let since = claim.phase_since();
    let known = written.map_or(since, |written| written.max(since));
    let Some(last) = last.filter(|last| is_complete && *last > known) else {
        return;
    };
    let due = known + COARSENESS;
    if now < due {
        step.wake_at(due);
    } else if !step.changes_claim() {
        let change = ClaimChange {
            last_pod_event: Some(last),
            ..ClaimChange::default()
        };
        step.change_claim(view, Purpose::MarkPodEvent, change);
    }
}

/// An instant as the API server writes it.
fn whole_second(at: Timestamp) -> Timestamp {
    Timestamp::from_millis(at.millis() / 1000 * 1000)
}
