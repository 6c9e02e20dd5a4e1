//! Pods that a plan leaves without a place, and remarks about plans, told on the objects: the same once, and few at a time.

use std::collections::{BTreeMap, BTreeSet};

use plimsoll_base::event_reason::EventReason;
use plimsoll_base::fixed_hash::hash_of;
use plimsoll_base::ids::Uid;
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_model::action::{Action, ObjectKey};
use plimsoll_model::plan::{Note, Plan, Refusal};
use plimsoll_model::snapshot::Snapshot;

use super::{Engine, report};

/// The most pods that are told of one plan; the others are told of later ones.
const MOST: usize = 100;
/// The same is told again after this long, so that it is found among events, which servers keep for an hour.
const AGAIN: Span = Span::from_secs(1800);

/// Pods that were told why they have no place, and notes that were told.
#[derive(Clone, Debug, Default)]
pub(super) struct ToldPods {
    pods: BTreeMap<Uid, (u64, Timestamp)>,
    notes: BTreeSet<Note>,
}

impl Engine {
    /// Tells pods without a place why, and pools and pods what the plan remarks of them.
    pub(super) fn tell_unplaced(
        &mut self,
        snapshot: &Snapshot,
        plan: &Plan,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        let before = std::mem::take(&mut self.told_pods.pods);
        let mut left = MOST;
        for unplaced in &plan.unplaced {
            let pod = snapshot.pods.get(unplaced.pod);
            let Some(pod) = pod.filter(|pod| !pod.is_spare()) else {
                continue;
            };
            let words = unplaced.reason.to_string();
            let said = hash_of(&words);
            let told = before.get(&pod.uid).copied();
            // Events live for about as long as no other node is bought.
            let is_lasting = matches!(unplaced.reason, Refusal::Unused(_));
            let told = told.filter(|(had, at)| *had == said && (is_lasting || now < *at + AGAIN));
            if told.is_none() && left == 0 {
                continue;
            }
            if told.is_none() {
                left -= 1;
                let object = ObjectKey::Pod(pod.uid.clone());
                actions.push(report(object, EventReason::FailedScheduling, words, now));
            }
            let entry = told.unwrap_or((said, now));
            self.told_pods.pods.insert(pod.uid.clone(), entry);
        }
        self.tell_notes(plan, now, actions);
    }

    fn tell_notes(&mut self, plan: &Plan, now: Timestamp, actions: &mut Vec<Action>) {
        let notes: BTreeSet<&Note> = plan.notes.iter().take(MOST).collect();
        self.told_pods.notes.retain(|note| notes.contains(note));
        for note in notes {
            let pod = note.pod.as_ref().and_then(|pod| self.cluster.pods.get(pod));
            let object = match (pod, &note.pool) {
                (Some(pod), _) => ObjectKey::Pod(pod.uid.clone()),
                (None, Some(pool)) => ObjectKey::Pool(pool.clone()),
                (None, None) => continue,
            };
            if self.told_pods.notes.insert(note.clone()) {
                let reason = note.kind.reason();
                actions.push(report(object, reason, note.text.clone(), now));
            }
        }
    }
}
