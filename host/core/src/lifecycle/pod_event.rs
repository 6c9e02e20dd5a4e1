//! The last event of a pod on a claim's node, written on the claim: from it `consolidateAfter` counts, whoever counts.
//!
//! As with the incumbent it is written for ten seconds at once: what happens sooner after what is written waits until they are
//! over. So it is never further behind than that, and a burst of pods costs one write of each claim. Until a node is complete nothing
//! is written, since nothing counts from it yet.

use super::{ClaimView, Step};
use crate::action::{ClaimChange, Purpose};
use crate::model::ClaimPhase;
use crate::time::{Span, Timestamp};

/// The least time from what is written to the next write.
const COARSENESS: Span = Span::from_secs(10);

/// Asks for the last event to be written where what is written is older, unless a change of the claim is on its way.
pub(super) fn tell(view: &ClaimView<'_>, now: Timestamp, step: &mut Step) {
    let claim = view.claim;
    let written = claim.last_pod_event;
    let last = view.last_pod_event.map(whole_second);
    let counts = claim.deleting.is_none() && claim.phase() == ClaimPhase::Initialized;
    let Some(last) = last.filter(|last| Some(*last) > written && counts) else {
        return;
    };
    let due = written.map_or(last, |written| written + COARSENESS);
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
