//! Plan fidelity: pods that the scheduler bound where they were planned, told apart by why they needed a place.

use std::collections::BTreeMap;

use plimsoll_base::ids::Uid;
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_engine::{Engine, Input, Landing};
use plimsoll_model::action::{Answer, Outcome};
use plimsoll_model::{Object, Pod};

/// How long a pod that left a deleting node is waited for: as long as a launch that registers late.
const RETURNS: Span = Span::from_secs(15 * 60);

/// Counts of bound pods that stood for a promise.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fidelity {
    /// Those that were pending: the scheduler had found no node for them before they were bound.
    pub pending: LandingCounts,
    /// Those that came in the place of pods that left deleting nodes.
    pub evicted: LandingCounts,
    /// When pods left deleting nodes and have not been seen to come back, oldest first, by owner.
    returning: BTreeMap<Uid, Vec<Timestamp>>,
}

/// Bindings by how they stand to what was planned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LandingCounts {
    /// Bound to a node that their group was promised.
    pub as_planned: u64,
    /// Bound elsewhere, before any node promised to their group could be used.
    pub sooner: u64,
    /// Bound elsewhere, though one promised could be used.
    pub elsewhere: u64,
}

impl Fidelity {
    /// Counts a binding, before the engine hears of it.
    pub fn observe(&mut self, engine: &Engine, input: &Input, now: Timestamp) {
        match input {
            Input::Applied(Object::Pod(pod), _)
            | Input::Outcome(_, Outcome::Done(Answer::Object(Object::Pod(pod), _))) => {
                let Some(node) = &pod.node else { return };
                let before = engine.cluster().pods.get(&pod.name);
                let waited = before.filter(|before| before.node.is_none() && before.uid == pod.uid);
                if let Some(waited) = waited {
                    self.bound(waited, now, || engine.landings(now).of(pod, node));
                }
            }
            Input::Deleted(Object::Pod(pod), _) => {
                let node = pod.node.as_ref();
                if node.is_some_and(|node| engine.cluster().is_deleting(node)) {
                    self.left(pod, now);
                }
            }
            _ => {}
        }
    }

    /// A pod that waited is being bound. One that fits at once, and was not nominated, was in no plan.
    fn bound(&mut self, waited: &Pod, now: Timestamp, landing: impl FnOnce() -> Option<Landing>) {
        let counts = if self.returns(waited, now) {
            &mut self.evicted
        } else if waited.unschedulable || waited.nominated.is_some() {
            &mut self.pending
        } else {
            return;
        };
        match landing() {
            Some(Landing::AsPlanned) => counts.as_planned += 1,
            Some(Landing::Sooner) => counts.sooner += 1,
            Some(Landing::Elsewhere) => counts.elsewhere += 1,
            None => {}
        }
    }

    /// A pod of a deleting node is gone: its owner makes another in its place.
    fn left(&mut self, pod: &Pod, now: Timestamp) {
        let Some(owner) = &pod.owner else { return };
        let times = self.returning.entry(owner.uid.clone()).or_default();
        times.push(now);
        self.returning.retain(|_, times| {
            times.retain(|left| *left + RETURNS > now);
            !times.is_empty()
        });
    }

    /// `true` if a pod comes in the place of one that left a deleting node; each of those is counted once.
    fn returns(&mut self, pod: &Pod, now: Timestamp) -> bool {
        let Some(times) = pod
            .owner
            .as_ref()
            .and_then(|owner| self.returning.get_mut(&owner.uid))
        else {
            return false;
        };
        let found = times.iter().position(|left| *left + RETURNS > now);
        found.map(|at| times.remove(at)).is_some()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use plimsoll_base::ids::ObjectName;
    use plimsoll_model::{Owner, OwnerKind};

    use super::*;

    fn pod(name: &str, unschedulable: bool) -> Pod {
        let owner = Owner {
            kind: OwnerKind::ReplicaSet,
            name: Arc::from("web"),
            uid: Uid::from("web"),
        };
        Pod {
            owner: Some(owner),
            unschedulable,
            ..Pod::pending(Uid::from(name), ObjectName::new("default", name), START)
        }
    }

    const START: Timestamp = Timestamp::from_millis(0);

    #[test]
    fn a_pod_that_left_a_deleting_node_comes_back_once_and_not_after_a_quarter_of_an_hour() {
        let mut fidelity = Fidelity::default();
        fidelity.left(&pod("gone", false), START);
        let elsewhere = || Some(Landing::Elsewhere);
        fidelity.bound(&pod("replacement", false), START, elsewhere);
        fidelity.bound(&pod("pending", true), START, || Some(Landing::AsPlanned));
        fidelity.bound(&pod("fits-at-once", false), START, elsewhere);
        let counts = |fidelity: &Fidelity| {
            (
                fidelity.evicted.elsewhere,
                fidelity.pending.as_planned,
                fidelity.pending.elsewhere,
            )
        };
        assert_eq!(counts(&fidelity), (1, 1, 0));
        fidelity.left(&pod("gone-too", false), START);
        fidelity.bound(&pod("late", true), START + RETURNS, elsewhere);
        assert_eq!(counts(&fidelity), (1, 1, 1));
    }
}
