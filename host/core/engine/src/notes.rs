//! Memory of claims between events, all that there is of one in one row: what the cloud said, whether its node is worth
//! disrupting, and when to look at it again. All of it can be asked for, or found, again.
//!
//! The row is removed with its claim. Drift and the capacity that a node teaches are looked at again when the claim, its node, its
//! pool or the types for sale change, and not at events of pods.

use std::collections::{BTreeMap, BTreeSet};

use plimsoll_base::ids::ClaimName;
use plimsoll_base::time::Timestamp;
use plimsoll_cluster::NameIndex;
use plimsoll_disrupt::drift::Drift;
use plimsoll_lifecycle::{DeletionCause, DriftFinding, FailedLaunch, Instance, Interruption};
use plimsoll_model::ClaimPhase;
use plimsoll_model::action::LaunchedInstance;

use super::launches::LaunchNotes;

/// Memory of all claims: those seen, and those asked for.
#[derive(Clone, Debug, Default)]
pub(super) struct Notes {
    by_claim: NameIndex<ClaimName, ClaimNotes>,
    /// Claims to look at again, by when.
    timers: BTreeMap<Timestamp, BTreeSet<ClaimName>>,
    hints: Hints,
}

/// Memory of one claim.
#[derive(Clone, Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own, and no two exclude one another"
)]
pub(super) struct ClaimNotes {
    pub(super) machine: Option<LaunchedInstance>,
    pub(super) launch: LaunchNotes,
    pub(super) instance: Instance,
    /// Why its last launch failed.
    pub(super) failure: Option<FailedLaunch>,
    /// The API server would not have it made.
    pub(super) rejected: bool,
    /// Its class could not be used.
    pub(super) refused: bool,
    /// Its instance is not there any more.
    pub(super) vanished: bool,
    /// Its instance has its names.
    pub(super) is_tagged: bool,
    /// The word of the cloud for which it has to go.
    pub(super) interrupted: Option<Interruption>,
    /// When people were last told that its node is unhealthy and stays.
    pub(super) told_of_unhealthy: Option<Timestamp>,
    /// How far people were told that it has come.
    pub(super) told_phase: Option<ClaimPhase>,
    pub(super) last_pod_event: Option<Timestamp>,
    /// The cause for which it was asked to go, until it is seen to go.
    pub(super) deletes: Option<DeletionCause>,
    /// `true` once its node was seen to have joined.
    pub(super) joined: bool,
    /// `true` once it was counted as one whose node did not join.
    pub(super) late: bool,
    /// `true` if its node was held against the room that it was asked for.
    pub(super) judged: bool,
    /// `None` after something changed that drift depends on.
    pub(super) drift: Option<DriftFound>,
    /// Drift of its instance from its class, as the provider said with the last list.
    pub(super) instance_drift: DriftFinding,
    hint: Hint,
    timer: Option<Timestamp>,
}

/// Drift of a node as it was last looked at.
#[derive(Clone, Debug)]
pub(super) struct DriftFound {
    pub(super) drift: Option<Drift>,
    /// When that may change though nothing else does; `None` for never.
    pub(super) until: Option<Timestamp>,
}

/// Reasons for which a claim's node is worth disrupting.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hint {
    pub(super) is_empty: bool,
    pub(super) is_drifted: bool,
    pub(super) is_consolidatable: bool,
}

/// Numbers of nodes that are worth disrupting, by reason.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hints {
    pub(super) empty: usize,
    pub(super) drifted: usize,
    pub(super) consolidatable: usize,
}

impl Hints {
    fn replace(&mut self, before: Hint, after: Hint) {
        let count = |count: &mut usize, before: bool, after: bool| {
            *count = *count + usize::from(after) - usize::from(before);
        };
        count(&mut self.empty, before.is_empty, after.is_empty);
        count(&mut self.drifted, before.is_drifted, after.is_drifted);
        count(
            &mut self.consolidatable,
            before.is_consolidatable,
            after.is_consolidatable,
        );
    }
}

impl Notes {
    /// Memory of a claim; `None` where nothing was noted.
    pub(super) fn get(&self, claim: &ClaimName) -> Option<&ClaimNotes> {
        self.by_claim.get(claim)
    }

    /// Memory of a claim, to be changed.
    pub(super) fn of(&mut self, claim: &ClaimName) -> &mut ClaimNotes {
        self.by_claim.get_or_default(claim)
    }

    /// Memory of every claim, in an order that means nothing.
    pub(super) fn unordered(&self) -> impl Iterator<Item = (&ClaimName, &ClaimNotes)> {
        self.by_claim.unordered()
    }

    /// The claim is no more.
    pub(super) fn forget(&mut self, claim: &ClaimName) {
        if let Some(own) = self.by_claim.remove(claim) {
            self.hints.replace(own.hint, Hint::default());
            if let Some(at) = own.timer {
                self.unset_timer(claim, at);
            }
        }
    }

    /// Something changed that the drift of every claim depends on.
    pub(super) fn forget_drift(&mut self) {
        for own in self.by_claim.values_mut() {
            own.drift = None;
        }
    }

    /// Numbers of nodes that are worth disrupting, by reason.
    pub(super) fn hints(&self) -> Hints {
        self.hints
    }

    /// Notes the reasons to disrupt a claim's node; those of before.
    pub(super) fn set_hint(&mut self, claim: &ClaimName, hint: Hint) -> Hint {
        let own = self.by_claim.get_or_default(claim);
        let before = std::mem::replace(&mut own.hint, hint);
        self.hints.replace(before, hint);
        before
    }

    /// Looks at a claim at a time, unless it is looked at before.
    pub(super) fn set_timer(&mut self, claim: &ClaimName, at: Timestamp) {
        let own = self.by_claim.get_or_default(claim);
        if own.timer.is_some_and(|before| before <= at) {
            return;
        }
        if let Some(before) = own.timer.replace(at) {
            self.unset_timer(claim, before);
        }
        self.timers.entry(at).or_default().insert(claim.clone());
    }

    fn unset_timer(&mut self, claim: &ClaimName, at: Timestamp) {
        if let Some(claims) = self.timers.get_mut(&at) {
            claims.remove(claim);
            if claims.is_empty() {
                self.timers.remove(&at);
            }
        }
    }

    /// When the next claim is to be looked at again.
    pub(super) fn next_wake(&self) -> Option<Timestamp> {
        self.timers.keys().next().copied()
    }

    /// Claims whose time has come, by name.
    pub(super) fn take_due(&mut self, now: Timestamp) -> BTreeSet<ClaimName> {
        let mut due = BTreeSet::new();
        while let Some(entry) = self.timers.first_entry() {
            if *entry.key() > now {
                break;
            }
            for claim in entry.remove() {
                if let Some(own) = self.by_claim.get_mut(&claim) {
                    own.timer = None;
                }
                due.insert(claim);
            }
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_of_a_claim_that_is_no_more() {
        let mut notes = Notes::default();
        let [one, other] = ["a", "b"].map(ClaimName::from);
        for claim in [&one, &other] {
            let hint = Hint {
                is_empty: true,
                ..Hint::default()
            };
            notes.set_hint(claim, hint);
            notes.set_timer(claim, Timestamp::from_millis(9));
        }
        notes.set_timer(&one, Timestamp::from_millis(7));
        notes.forget(&one);
        assert_eq!(notes.hints().empty, 1);
        assert_eq!(notes.next_wake(), Some(Timestamp::from_millis(9)));
        notes.forget(&other);
        assert_eq!((notes.hints().empty, notes.next_wake()), (0, None));
        assert_eq!(notes.unordered().count(), 0);
    }

    #[test]
    fn a_claim_is_looked_at_once_and_at_the_first_of_its_times() {
        let mut notes = Notes::default();
        let claim = ClaimName::from("a");
        for at in [9, 7, 8] {
            notes.set_timer(&claim, Timestamp::from_millis(at));
        }
        assert!(notes.take_due(Timestamp::from_millis(6)).is_empty());
        assert!(notes.take_due(Timestamp::from_millis(7)).contains(&claim));
        assert_eq!(notes.next_wake(), None);
    }
}
