//! Reports to owners of pods on what becomes of their wish not to be disrupted: one that cannot be understood is ignored, and one for a
//! time is over once that has passed.
//!
//! Told once by each process, of pods on nodes of ours, when their node's claim is looked at. Words of the events are ours, their reasons
//! Karpenter's.

use std::collections::BTreeMap;

use plimsoll_base::event_reason::EventReason;
use plimsoll_base::ids::{ClaimName, Uid};
use plimsoll_base::time::Timestamp;
use plimsoll_model::action::{Action, ObjectKey};
use plimsoll_model::{DoNotDisrupt, Pod};

use super::{Engine, report};

/// Reason of the last report on each pod's wish.
#[derive(Clone, Debug, Default)]
pub(super) struct ToldWishes(BTreeMap<Uid, EventReason>);

impl ToldWishes {
    /// The pod is no more.
    pub(super) fn forget(&mut self, pod: &Uid) {
        self.0.remove(pod);
    }

    /// The report that is due on a pod's wish now; `None` where it was told, or there is nothing to tell.
    fn due(&mut self, pod: &Pod, now: Timestamp) -> Option<(EventReason, String)> {
        if !pod.is_active() {
            return None;
        }
        let told = self.0.get(&pod.uid).copied();
        let (reason, words) = match &pod.do_not_disrupt {
            DoNotDisrupt::No | DoNotDisrupt::Always => return None,
            DoNotDisrupt::Malformed(text) => (
                EventReason::InvalidDoNotDisruptAnnotation,
                format!(
                    "annotation karpenter.sh/do-not-disrupt is \"{text}\" and is ignored; expected true, or a time such as 30m or 1h30m"
                ),
            ),
            DoNotDisrupt::For(span) => match pod.protected_until() {
                Some(until) if now < until => (
                    EventReason::DoNotDisruptUntil,
                    format!(
                        "not disrupted before it has run for {span}: for another {}",
                        until.since(now)
                    ),
                ),
                // One that had ended before anybody looked is nothing new.
                Some(_) if told == Some(EventReason::DoNotDisruptUntil) => (
                    EventReason::DoNotDisruptGracePeriodElapsed,
                    format!("it has run for {span} and may be disrupted from now on"),
                ),
                Some(_) | None => return None,
            },
        };
        if told == Some(reason) {
            return None;
        }
        self.0.insert(pod.uid.clone(), reason);
        Some((reason, words))
    }
}

impl Engine {
    /// Tells owners of the pods on a claim's node what becomes of their wishes, and looks again once the first of those ends.
    pub(super) fn tell_wishes(
        &mut self,
        name: &ClaimName,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        let Some(claim) = self.cluster.claims.get(name) else {
            return;
        };
        let nodes = self.cluster.nodes_of(claim).iter();
        let pods = nodes.flat_map(|node| self.cluster.pods_on(&node.name));
        let mut ends: Option<Timestamp> = None;
        for pod in pods {
            if let Some((reason, words)) = self.told_wishes.due(pod, now) {
                let object = ObjectKey::Pod(pod.uid.clone());
                actions.push(report(object, reason, words, now));
            }
            let end = pod.protected_until().filter(|end| *end > now);
            ends = ends.into_iter().chain(end).min();
        }
        if let Some(end) = ends {
            self.notes.set_timer(name, end);
        }
    }
}
