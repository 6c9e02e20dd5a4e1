//! Disruption in the engine: when candidates are sought; commands then wait, are confirmed one by one, and begin.
//!
//! Of one thing at a time: a pass, a wait, or a confirmation; never while waiting pods are planned for. Nothing is asked
//! unless some node is empty, drifted or consolidatable, and nothing is asked twice of a world that has not changed.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_base::event_reason::EventReason;
use plimsoll_base::ids::{ClaimName, PoolName};
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_cluster::{PromisedTarget, assignments};
use plimsoll_disrupt::consolidate;
use plimsoll_disrupt::drift::{self, Drift};
use plimsoll_lifecycle::{DisruptionFacts, DriftFinding};
use plimsoll_model::action::{Action, ConsiderRequest, ObjectKey};
use plimsoll_model::command::{Command, Decision, DisruptionQuestion, HeldPool, Refused};
use plimsoll_model::snapshot::{Activity, PastMove, Snapshot};
use plimsoll_model::{ConsolidationPolicy, NodeClaim, NodePool};

use super::Engine;
use super::counts::CommandKind;
use super::failed::FailedDecisions;
use super::notes::{DriftFound, Hint, Hints};
use super::search_pace::{POLL, SearchPace};

/// Where disruption stands.
#[derive(Clone, Debug, Default)]
pub(super) struct Disruption {
    stage: Stage,
    asks: u64,
    last_pass: Option<LastPass>,
    pace: SearchPace,
    /// `true` if a command of the last pass did not hold or could not begin.
    lapsed: bool,
    /// `true` if policies have changed since what is under way was asked for.
    found_before: bool,
    failed: FailedDecisions,
    moves: Vec<PastMove>,
    told: BTreeMap<ClaimName, String>,
    /// Last words on pools of which no node may go.
    told_pools: BTreeMap<PoolName, String>,
    refused: Refused,
}

/// The last pass that came to nothing.
#[derive(Clone, Copy, Debug)]
struct LastPass {
    at: Timestamp,
    revisions: (u64, u64),
    wake: Option<Timestamp>,
    searched: bool,
}

#[derive(Clone, Debug, Default)]
enum Stage {
    #[default]
    Resting,
    /// A pass is out, at a world of these revisions.
    Deciding {
        id: u64,
        searched: bool,
        revisions: (u64, u64),
    },
    /// Commands must hold until then.
    Waiting {
        commands: Vec<Command>,
        until: Timestamp,
    },
    /// The first command is looked at again; the rest will be.
    Confirming {
        id: u64,
        kind: CommandKind,
        members: Vec<ClaimName>,
        snapshot: Arc<Snapshot>,
        rest: Vec<Command>,
    },
}

impl Disruption {
    /// How many moves were refused so far, by whom.
    pub(super) fn refused(&self) -> Refused {
        self.refused
    }

    /// `true` if a command is looked at again: room that it counts on must not be given away meanwhile.
    pub(super) fn is_confirming(&self) -> bool {
        matches!(self.stage, Stage::Confirming { .. })
    }

    pub(super) fn remember(&mut self, past: PastMove, keep: Span) {
        let since = past.at - keep;
        self.moves.retain(|have| have.at > since);
        self.moves.push(past);
    }

    pub(super) fn forget(&mut self, claim: &ClaimName) {
        self.told.remove(claim);
    }

    /// The last pass does not count any more.
    pub(super) fn forget_last_pass(&mut self) {
        self.last_pass = None;
    }

    /// Lets what earlier passes found count no more; what one that is under way finds counts until it rests.
    pub(super) fn search_again(&mut self) {
        self.last_pass = None;
        self.pace = SearchPace::default();
        self.found_before = !matches!(self.stage, Stage::Resting);
    }

    /// Nothing is under way any more.
    fn rest(&mut self) {
        self.stage = Stage::Resting;
        if std::mem::take(&mut self.found_before) {
            self.search_again();
        }
    }

    /// When the next pass is due, in a world of these revisions; `None` when there is nothing to look for.
    fn due(&self, hints: Hints, revisions: (u64, u64)) -> Option<Timestamp> {
        const NOW: Timestamp = Timestamp::from_millis(i64::MIN);
        let quick = hints.empty > 0 || hints.drifted > 0;
        let settled = self.pace.settled().unwrap_or(NOW);
        let next_search = || self.pace.next(hints.consolidatable).unwrap_or(settled);
        let search = (hints.consolidatable > 0).then(next_search);
        let Some(last_pass) = self.last_pass else {
            return if quick { Some(settled) } else { search };
        };
        if last_pass.revisions == revisions {
            let unsearched = search.filter(|_| !last_pass.searched);
            return unsearched.into_iter().chain(last_pass.wake).min();
        }
        let quick = quick.then(|| settled.max(last_pass.at + POLL));
        quick.into_iter().chain(search).min()
    }
}

impl Engine {
    pub(super) fn revisions(&self) -> (u64, u64) {
        (self.cluster.revision(), self.provision.market_revision())
    }

    /// `true` if nothing stands in the way of disruption: what is seen is what is there, and no waiting pods are planned for.
    fn may_disrupt(&self) -> bool {
        self.freshness.is_fresh() && self.provision.is_idle(&self.settings)
    }

    pub(super) fn disruption_wake(&self) -> Option<Timestamp> {
        if !self.may_disrupt() {
            return None;
        }
        match &self.disruption.stage {
            Stage::Waiting { until, .. } => Some(self.disruption.failed.delays(*until)),
            Stage::Resting => {
                let due = self.disruption.due(self.notes.hints(), self.revisions());
                due.map(|at| self.disruption.failed.delays(at))
            }
            Stage::Deciding { .. } | Stage::Confirming { .. } => None,
        }
    }

    /// Follows whether a claim's node is worth disrupting, and sets down when it may become so.
    pub(super) fn watch_disruption(&mut self, claim: &NodeClaim, now: Timestamp) {
        let pool = self.cluster.pools.get(claim.pool.as_str()).cloned();
        let pool = pool.filter(|_| claim.deleting.is_none() && !self.queue.has(&claim.name));
        // What is not understood says nothing: neither that a node has drifted nor that it has not.
        let pool = pool.filter(|pool| {
            let unread = [&pool.unread, &claim.unread];
            unread.iter().all(|unread| unread.problem.is_none())
        });
        let hint = pool.map(|pool| self.hint(&pool, claim, now));
        let hint = hint.unwrap_or_default();
        let before = self.notes.set_hint(&claim.name, hint);
        let fresh_empty = hint.is_empty && !before.is_empty;
        if fresh_empty || (hint.is_consolidatable && !before.is_consolidatable) {
            self.disruption.pace.freshen(now);
        }
    }

    fn hint(&mut self, pool: &NodePool, claim: &NodeClaim, now: Timestamp) -> Hint {
        let name = &claim.name;
        let drift = self.drift(pool, claim, now);
        if let Some(until) = drift.until {
            self.notes.set_timer(name, until);
        }
        let mut hint = Hint {
            is_drifted: drift.drift.is_some(),
            ..Hint::default()
        };
        let event = self.last_pod_event(name);
        match consolidate::consolidatable_from(pool, claim, event) {
            None => {}
            Some(from) if from > now => self.notes.set_timer(name, from),
            Some(_) => {
                hint.is_empty = self.is_empty(claim);
                hint.is_consolidatable =
                    !hint.is_empty && pool.disruption.policy != ConsolidationPolicy::WhenEmpty;
            }
        }
        hint
    }

    /// Whether a node is drifted: looked at anew where something has changed, or its age lets more be looked at.
    fn drift(&mut self, pool: &NodePool, claim: &NodeClaim, now: Timestamp) -> DriftFound {
        let known = self.notes.get(&claim.name);
        let known = known.and_then(|notes| notes.drift.clone());
        if let Some(known) = known.filter(|known| known.until.is_none_or(|at| at > now)) {
            return known;
        }
        let catalogue = self.market.catalogues().of(&pool.class);
        let type_checked = claim.created + drift::TYPE_CHECKED_AFTER;
        let found = DriftFound {
            drift: drift::drift(pool, claim, catalogue, now),
            until: (type_checked > now).then_some(type_checked),
        };
        self.notes.of(&claim.name).drift = Some(found.clone());
        found
    }

    /// Facts about the disruption of a claim, to be written on it; `None` where its pool is gone.
    pub(super) fn disruption_facts(&self, claim: &NodeClaim) -> Option<DisruptionFacts> {
        let pool = self.cluster.pools.get(claim.pool.as_str())?;
        let event = self.last_pod_event(&claim.name);
        let is_understood = pool.unread.problem.is_none() && claim.unread.problem.is_none();
        Some(DisruptionFacts {
            drift: if is_understood {
                self.drift_finding(&claim.name)
            } else {
                DriftFinding::Unknown
            },
            consolidatable_from: consolidate::consolidatable_from(pool, claim, event),
            reason: self.queue.reason_of(&claim.name),
        })
    }

    /// The pool is asked first. What is written of the instance stands until a list says otherwise.
    fn drift_finding(&self, name: &ClaimName) -> DriftFinding {
        let notes = self.notes.get(name);
        let Some((notes, found)) = notes.and_then(|notes| Some((notes, notes.drift.as_ref()?)))
        else {
            return DriftFinding::Unknown;
        };
        let written = |drift: &Drift| DriftFinding::Drifted(Arc::from(drift.as_str()));
        let found = found.drift.as_ref();
        let of_pool = found.filter(|drift| !matches!(drift, Drift::Instance(_)));
        match (of_pool, &notes.instance_drift) {
            (Some(drift), _) => written(drift),
            (None, DriftFinding::Unknown) => found.map_or(DriftFinding::Same, written),
            (None, said) => said.clone(),
        }
    }

    pub(super) fn step_disruption(&mut self, now: Timestamp, actions: &mut Vec<Action>) {
        if !self.may_disrupt() || self.disruption.failed.holds(now) {
            return;
        }
        match &mut self.disruption.stage {
            Stage::Deciding { .. } | Stage::Confirming { .. } => {}
            Stage::Waiting { until, .. } if *until > now => {}
            Stage::Waiting { commands, .. } => {
                let commands = std::mem::take(commands);
                self.confirm_next(commands, now, actions);
            }
            Stage::Resting => {
                let due = self.disruption.due(self.notes.hints(), self.revisions());
                if due.is_some_and(|due| due <= now) {
                    self.begin_pass(now, actions);
                }
            }
        }
    }

    fn begin_pass(&mut self, now: Timestamp, actions: &mut Vec<Action>) {
        let consolidatable = self.notes.hints().consolidatable;
        let next = self.disruption.pace.next(consolidatable);
        let searched = consolidatable > 0 && next.is_none_or(|at| at <= now);
        let question = DisruptionQuestion::Pass {
            consolidate: searched,
        };
        let revisions = self.revisions();
        let (id, _) = self.ask(question, now, actions);
        self.disruption.stage = Stage::Deciding {
            id,
            searched,
            revisions,
        };
    }

    /// Has the first of the commands looked at again, or rests when none is left.
    fn confirm_next(
        &mut self,
        mut commands: Vec<Command>,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        if commands.is_empty() {
            // Where all was done as decided the next pass need not wait; else the same would be decided again at once.
            let lapsed = std::mem::take(&mut self.disruption.lapsed);
            self.disruption.last_pass = lapsed.then(|| LastPass {
                at: now,
                revisions: self.revisions(),
                wake: Some(now + self.disruption.pace.pause()),
                searched: true,
            });
            if lapsed {
                self.disruption.pace.lapse();
            }
            self.disruption.rest();
            return;
        }
        let first = commands.remove(0);
        let kind = CommandKind::of(&first);
        let members = first.members.clone();
        let question = DisruptionQuestion::Confirm(Box::new(first));
        let (id, snapshot) = self.ask(question, now, actions);
        self.disruption.stage = Stage::Confirming {
            id,
            kind,
            members,
            snapshot,
            rest: commands,
        };
    }

    fn ask(
        &mut self,
        question: DisruptionQuestion,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) -> (u64, Arc<Snapshot>) {
        let assigned = assignments(&self.promises, &self.cluster, now);
        let snapshot = self.freeze(&assigned, self.activity(now), now);
        self.disruption.asks += 1;
        let id = self.disruption.asks;
        actions.push(Action::Consider(Box::new(ConsiderRequest {
            id,
            snapshot: Arc::clone(&snapshot),
            question,
        })));
        (id, snapshot)
    }

    /// Facts beside the objects that decisions about disruption read.
    pub(super) fn activity(&self, now: Timestamp) -> Activity {
        let promised = self.promises.targets().into_iter();
        let is_awaited = |target: &PromisedTarget| {
            self.is_kept(target) || self.promises.awaits_pods(target, &self.cluster, now)
        };
        let promised = promised
            .filter(is_awaited)
            .filter_map(|target| match target {
                PromisedTarget::Claim(name) => Some(name),
                PromisedTarget::Node(_) => None,
            });
        let is_seen = |name: &ClaimName| self.cluster.claims.get(name).is_some();
        let mut activity = Activity {
            pod_events: Arc::clone(&self.pod_events),
            promised: promised
                .filter(is_seen)
                .chain(self.claims_to_be_used())
                .collect(),
            under_way: self
                .queue
                .members()
                .chain(self.queue.later())
                .cloned()
                .collect(),
            moves: self.disruption.moves.clone(),
            ..Activity::default()
        };
        self.recent.tell(&mut activity, now);
        activity
    }

    /// Takes in the answer to the question that is open; any other is late and skipped.
    pub(super) fn considered(
        &mut self,
        id: u64,
        decision: Decision,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        self.disruption.failed.succeed();
        match std::mem::take(&mut self.disruption.stage) {
            Stage::Deciding {
                id: open,
                searched,
                revisions,
            } if open == id => self.finish_pass(decision, searched, revisions, now, actions),
            Stage::Confirming {
                id: open,
                kind,
                members,
                snapshot,
                rest,
            } if open == id => {
                self.disruption.refused.add(decision.refused);
                if decision.commands.is_empty() {
                    self.counts.lapse(kind);
                    self.disruption.lapsed = true;
                    if kind.reason.facts().saves {
                        self.announce_dropped(&members, decision.refused, now, actions);
                    }
                }
                if !self.may_disrupt() {
                    // Waiting pods may be given the room that was counted on, and what was counted on may be no more: looked at once
                    // more when they have theirs, and the view is fresh.
                    let commands = decision.commands.into_iter().chain(rest).collect();
                    let until = now;
                    self.disruption.stage = Stage::Waiting { commands, until };
                    return;
                }
                for command in decision.commands {
                    let begun = self.begin(command, &snapshot, now, actions);
                    self.disruption.lapsed |= !begun;
                }
                // The next snapshot is made of this one.
                drop(snapshot);
                self.confirm_next(rest, now, actions);
            }
            other => self.disruption.stage = other,
        }
    }

    /// The answer to the question that is open cannot be had; any other is late and skipped. Commands that were to be confirmed are
    /// dropped: what still holds is found anew.
    pub(super) fn unconsidered(&mut self, id: u64, now: Timestamp) {
        let is_open = match &self.disruption.stage {
            Stage::Deciding { id: open, .. } | Stage::Confirming { id: open, .. } => *open == id,
            Stage::Resting | Stage::Waiting { .. } => false,
        };
        if is_open {
            self.disruption.rest();
            self.disruption.failed.fail(now);
        }
    }

    /// Takes in what a pass came to; the world may have changed since it was asked about.
    fn finish_pass(
        &mut self,
        decision: Decision,
        searched: bool,
        revisions: (u64, u64),
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        self.tell(&decision, now, actions);
        self.disruption.refused.add(decision.refused);
        if searched {
            let found = !decision.commands.is_empty();
            let pace = &mut self.disruption.pace;
            pace.searched(found, revisions, decision.wake, now);
        }
        if decision.commands.is_empty() {
            self.disruption.last_pass = Some(LastPass {
                at: now,
                revisions,
                wake: decision.wake,
                searched,
            });
            self.disruption.rest();
            return;
        }
        self.announce_found(&decision.commands, now, actions);
        let wait = decision.commands.iter().map(Command::wait).max();
        let until = now + wait.unwrap_or_default();
        self.disruption.stage = Stage::Waiting {
            commands: decision.commands,
            until,
        };
    }

    /// Tells why nodes stay, once for as long as the words do not change.
    fn tell(&mut self, decision: &Decision, now: Timestamp, actions: &mut Vec<Action>) {
        for held in &decision.held {
            if self.disruption.told.get(&held.claim) == Some(&held.words) {
                continue;
            }
            let told = &mut self.disruption.told;
            told.insert(held.claim.clone(), held.words.clone());
            let reason = held.event.reason();
            for object in self.claim_and_node(&held.claim) {
                actions.push(super::report(object, reason, held.words.clone(), now));
            }
        }
        let before = std::mem::take(&mut self.disruption.told_pools);
        for HeldPool { pool, words } in &decision.held_pools {
            if before.get(pool) != Some(words) {
                let object = ObjectKey::Pool(pool.clone());
                let reason = EventReason::DisruptionBlocked;
                actions.push(super::report(object, reason, words.clone(), now));
            }
            let told = &mut self.disruption.told_pools;
            told.insert(pool.clone(), words.clone());
        }
    }
}
