//! Spare room in the engine: when it may be lacking, who is asked to plan for it, and what buffers are told.
//!
//! Pods that the scheduler puts into spare room wait for no node, so nothing else would ask for a decision. One is asked for
//! when the world has changed since the last (a pod took room, a node went, a workload grew) and when a window opens or
//! closes; never twice within [`AGAIN`], and never of a world that has not changed, so that room which is not on sale is asked
//! for once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plimsoll_base::ids::{ObjectName, Uid};
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_model::action::{Action, ObjectKey};
use plimsoll_model::buffers::next_change;
use plimsoll_model::plan::{Plan, Target as Place};
use plimsoll_model::snapshot::Snapshot;
use plimsoll_schedule::spare::verdicts;

use super::Engine;

/// The shortest time between two decisions that only spare room asks for.
const AGAIN: Span = Span::from_secs(10);

/// Memory of spare room between decisions.
#[derive(Clone, Debug, Default)]
pub(super) struct SpareWatch {
    /// `true` if anything is asked for, as far as is known: until then only windows count.
    pub(super) may_ask: bool,
    decided: Option<Decided>,
    told: BTreeMap<ObjectName, String>,
}

/// The last decision, and the world it was made in.
#[derive(Clone, Copy, Debug)]
struct Decided {
    at: Timestamp,
    revisions: (u64, u64),
    /// When buffers may ask for something else by themselves.
    until: Option<Timestamp>,
}

impl SpareWatch {
    /// The last decision does not count any more.
    pub(super) fn decide_again(&mut self) {
        self.decided = None;
    }
}

impl Engine {
    /// When spare room is to be planned for; `None` where nothing asks for any or all was said.
    fn spare_due(&self) -> Option<Timestamp> {
        const NOW: Timestamp = Timestamp::from_millis(i64::MIN);
        let none = self.cluster.buffers.is_empty();
        if !self.settings.capacity_buffers || (none && self.spare.told.is_empty()) {
            return None;
        }
        match self.spare.decided {
            None => Some(NOW),
            Some(decided) if self.spare.may_ask && decided.revisions != self.revisions() => {
                let again = decided.at + AGAIN;
                Some(decided.until.map_or(again, |until| until.min(again)))
            }
            Some(decided) => decided.until,
        }
    }

    /// `true` if spare room is to be planned for now.
    pub(super) fn wants_spare(&self, now: Timestamp) -> bool {
        self.spare_due().is_some_and(|due| due <= now)
    }

    /// When to look again; nothing while a decision is being made or about to be, which will look at spare room, too.
    pub(super) fn spare_wake(&self) -> Option<Timestamp> {
        let rests = self.provision.is_idle(&self.settings) && !self.disruption.is_confirming();
        let due = self.spare_due().filter(|_| rests);
        due.map(|at| self.provision.failed.delays(at))
    }

    /// Opens a batch where spare room may be lacking.
    pub(super) fn trigger_spare(&mut self, now: Timestamp) {
        if self.spare_wake().is_some_and(|due| due <= now) {
            let asks = Uid::from("capacity-buffers");
            self.provision.batch.trigger(&asks, now);
        }
    }

    /// A decision is being made on a snapshot: it covers all spare room of this world.
    pub(super) fn note_spare(&mut self, snapshot: &Snapshot, now: Timestamp) {
        self.spare.may_ask = snapshot.pods.iter().any(|pod| pod.is_spare());
        let buffers = self.cluster.buffers.objects();
        self.spare.decided = Some(Decided {
            at: now,
            revisions: self.revisions(),
            until: next_change(&buffers, now),
        });
    }

    /// Tells each buffer how it stands, once for as long as that does not change.
    pub(super) fn tell_buffers(
        &mut self,
        snapshot: &Snapshot,
        plan: &Plan,
        held: &BTreeMap<usize, String>,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        let holding = holding(snapshot, plan, held);
        let mut before = std::mem::take(&mut self.spare.told);
        for mut verdict in verdicts(snapshot, plan) {
            if let Some(words) = holding.get(&verdict.buffer) {
                verdict.message = format!("{}; not bought: {words}", verdict.message);
            }
            self.note_verdict(&verdict);
            let words = format!("{} {}", verdict.state, verdict.message);
            let known = before.remove(&verdict.buffer);
            if known.as_ref() != Some(&words) {
                let object = ObjectKey::Buffer(verdict.buffer.clone());
                let reason = verdict.state.event();
                actions.push(super::report(object, reason, verdict.message, now));
            }
            self.spare.told.insert(verdict.buffer, words);
        }
    }
}

/// Why room of buffers is not bought, where some of it was planned on claims that are held back.
fn holding<'h>(
    snapshot: &Snapshot,
    plan: &Plan,
    held: &'h BTreeMap<usize, String>,
) -> BTreeMap<ObjectName, &'h str> {
    let why = plan.placements.iter().filter_map(|placement| {
        let Place::New(row) = placement.target else {
            return None;
        };
        let pod = snapshot.pods.get(placement.pod)?;
        let buffer = pod.owner.as_ref().filter(|_| pod.is_spare())?;
        let namespace = Arc::clone(&pod.name.namespace);
        let name = ObjectName::new(namespace, Arc::clone(&buffer.name));
        Some((name, held.get(&row)?.as_str()))
    });
    why.collect()
}

/// Claims of a plan that hold nothing but spare room: no pod that exists was planned onto them.
pub(super) fn for_spare_alone(snapshot: &Snapshot, plan: &Plan) -> BTreeSet<usize> {
    let exists = |row: usize| snapshot.pods.get(row).is_some_and(|pod| !pod.is_spare());
    let mut rows: BTreeSet<usize> = (0..plan.claims.len()).collect();
    for placement in plan.placements.iter().filter(|placed| exists(placed.pod)) {
        if let Place::New(row) = placement.target {
            rows.remove(&row);
        }
    }
    rows
}
