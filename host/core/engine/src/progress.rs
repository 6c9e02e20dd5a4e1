//! Events of what goes well, in Karpenter's words: a claim that comes a step further, and pods that are expected somewhere.

use std::collections::{BTreeMap, BTreeSet};

use plimsoll_base::event_reason::EventReason;
use plimsoll_base::ids::ClaimName;
use plimsoll_base::time::Timestamp;
use plimsoll_model::action::{Action, ObjectKey};
use plimsoll_model::plan::{Plan, Target as Place};
use plimsoll_model::snapshot::Snapshot;
use plimsoll_model::{ClaimPhase, NodeClaim};

use super::{Engine, report};

/// The most pods that are told of one plan: more would never be sent.
const MOST: usize = 100;

impl Engine {
    /// Tells of the steps that a claim has come further since it was looked at last. Those of before this process are told already.
    pub(super) fn tell_progress(
        &mut self,
        claim: &NodeClaim,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        let reached = claim.phase();
        let at_first = if self.synced == Some(now) {
            reached
        } else {
            ClaimPhase::Created
        };
        let told = &mut self.notes.of(&claim.name).told_phase;
        let before = told.unwrap_or(at_first);
        *told = Some(before.max(reached));
        let steps = ClaimPhase::STEPS.into_iter();
        for (phase, kind) in steps.filter(|(phase, _)| before < *phase && *phase <= reached) {
            let reason = match phase {
                ClaimPhase::Created => continue,
                ClaimPhase::Launched => EventReason::Launched,
                ClaimPhase::Registered => EventReason::Registered,
                ClaimPhase::Initialized => EventReason::Initialized,
            };
            let because = claim.conditions.get(kind);
            let because = because.map_or(kind.as_str(), |said| &said.reason);
            let words = format!(
                "Status condition transitioned, Type: {}, Status: Unknown -> True, Reason: {because}",
                kind.as_str()
            );
            let object = ObjectKey::Claim(claim.name.clone());
            actions.push(report(object, reason, words, now));
        }
    }
}

/// Tells pods that wait where a plan expects them: on claims that were asked for, by row, and on nodes in the rows that promise it.
pub(super) fn tell_placed(
    (snapshot, plan): (&Snapshot, &Plan),
    (bought, promised): (&BTreeMap<usize, ClaimName>, &BTreeSet<usize>),
    now: Timestamp,
    actions: &mut Vec<Action>,
) {
    let placed = plan.placements.iter().filter_map(|placement| {
        let pod = snapshot.pods.get(placement.pod)?;
        let waits = pod.node.is_none() && !pod.is_spare();
        let place = place(snapshot, placement.target, (bought, promised));
        place.filter(|_| waits).map(|place| (pod, place))
    });
    for (pod, place) in placed.take(MOST) {
        let object = ObjectKey::Pod(pod.uid.clone());
        let words = format!("Pod should schedule on: {place}");
        actions.push(report(object, EventReason::Nominated, words, now));
    }
}

/// A place by its objects; `None` where nothing was bought or promised.
fn place(
    snapshot: &Snapshot,
    place: Place,
    (bought, promised): (&BTreeMap<usize, ClaimName>, &BTreeSet<usize>),
) -> Option<String> {
    let (claim, node) = match place {
        Place::New(row) => (Some(bought.get(&row)?), None),
        Place::Existing(row) if !promised.contains(&row) => return None,
        Place::Existing(row) => {
            let seen = snapshot.nodes.get(row)?;
            let claim = seen.claim.as_ref().map(|claim| &claim.name);
            (claim, seen.node.as_ref().map(|node| &node.name))
        }
    };
    let claim = claim.map(|name| format!("nodeclaim/{name}"));
    let node = node.map(|name| format!("node/{name}"));
    let parts: Vec<String> = claim.into_iter().chain(node).collect();
    Some(parts.join(", ")).filter(|words| !words.is_empty())
}
