//! The last event of a pod on each claim's node, from which `consolidateAfter` counts: as it was seen, and after a restart as the
//! objects tell.
//!
//! It is written on the claim ([`plimsoll_lifecycle`]), pods say when they started, and those that are deleting were asked to a moment
//! ago. What ended while no process looked has left no trace.

use std::sync::Arc;

use plimsoll_base::ids::ClaimName;
use plimsoll_base::time::Timestamp;
use plimsoll_model::catalogue::LAUNCH_ORDER_ANNOTATION;
use plimsoll_model::{NodeClaim, OwnerKind, Pod};

use super::Engine;

impl Engine {
    /// Time of the last event of a pod on the claim's node, as it was seen, or is written on the claim. Of a claim that we did not
    /// make and that says nothing, events before the start are not known; to be safe the last of them is taken to be at the start.
    pub(super) fn last_pod_event(&self, name: &ClaimName) -> Option<Timestamp> {
        let noted = self.notes.get(name).and_then(|notes| notes.last_pod_event);
        let claim = self.cluster.claims.get(name);
        let written = claim.and_then(|claim| claim.last_pod_event);
        let is_ours =
            |claim: &Arc<NodeClaim>| claim.annotations.contains_key(LAUNCH_ORDER_ANNOTATION);
        let silent = self.synced.filter(|_| !claim.is_some_and(is_ours));
        noted.max(written).or(silent)
    }

    /// Follows the last event on a claim's node in what decisions are told: something was noted of it, or the claim changed.
    pub(super) fn follow_pod_event(&mut self, name: &ClaimName) {
        let is_there = self.cluster.claims.get(name).is_some();
        let last = self.last_pod_event(name).filter(|_| is_there);
        if self.pod_events.get(name) == last.as_ref() {
            return;
        }
        let told = Arc::make_mut(&mut self.pod_events);
        match last {
            Some(at) => told.insert(name.clone(), at),
            None => told.remove(name),
        };
    }

    /// Finds out, after a restart, when pods that are on a claim's node came or were asked to go.
    pub(super) fn recall_pod_event(&mut self, claim: &NodeClaim, now: Timestamp) {
        let nodes = self.cluster.nodes_of(claim).iter();
        let pods = nodes.flat_map(|node| self.cluster.pods_on(&node.name));
        let pods = pods.filter(|pod| !pod.is_owned_by(OwnerKind::DaemonSet));
        let event = |pod: &Arc<Pod>| {
            // Deleted a moment ago, at an unknown time.
            let asked = pod.deleting.map(|_| now);
            asked.or(pod.started)
        };
        let events = pods.filter_map(event);
        let last = events.map(|at| at.min(now)).max();
        if last > claim.last_pod_event {
            self.notes.of(&claim.name).last_pod_event = last;
        }
    }
}
