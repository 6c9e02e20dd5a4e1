//! Commands under way: nodes are tainted, and once the replacements are ready asked to go. How one begins is in [`begin`](super::begin).
//!
//! Where a replacement or a taint does not come, or takes too long, all is taken back but
//! the replacements: the nodes stay, untainted, and what was bought is capacity like any other.

use std::collections::{BTreeMap, BTreeSet};

use plimsoll_base::ids::ClaimName;
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_cluster::{PromisedTarget, node_of};
use plimsoll_lifecycle::{DeletionCause, Step};
use plimsoll_model::action::Action;
use plimsoll_model::{ClaimPhase, DisruptionReason, MoveCost, NodeClaim, is_reschedulable};

use super::Engine;
use super::counts::CommandKind;
use super::ledger::AccountKey;

/// Bounds on how long replacements and taints may take to be there, and what each node under way adds.
const SHORTEST_LIMIT: i64 = 600_000;
const LONGEST_LIMIT: i64 = 3_600_000;
const LIMIT_PER_NODE: i64 = 80;

/// All commands under way. One is looked at when something happened to a claim that it is about, or its time is over.
#[derive(Clone, Debug, Default)]
pub(super) struct CommandQueue {
    /// By number, in the order in which they began.
    commands: BTreeMap<u64, UnderWay>,
    begun: u64,
    of_member: BTreeMap<ClaimName, (u64, DisruptionReason)>,
    /// Replacements that are not ready yet, and whose they are.
    of_awaited: BTreeMap<ClaimName, u64>,
    /// How many commands keep room on a target.
    kept: BTreeMap<PromisedTarget, u32>,
    /// Commands whose nodes have not been asked to go, the oldest first.
    waiting: BTreeSet<(Timestamp, u64)>,
    /// Members that are to be asked to go.
    leaving: BTreeSet<ClaimName>,
    /// Commands to be looked at, and the claims of each to which something happened.
    touched: BTreeMap<u64, BTreeSet<ClaimName>>,
    /// Claims that had no instance when they were found to replace nodes of a command that lacks other replacements.
    pub(super) abandoned: BTreeSet<ClaimName>,
    /// Claims that are no more, though others bear their names by now.
    gone: BTreeSet<ClaimName>,
}

/// One command under way.
#[derive(Clone, Debug)]
pub(super) struct UnderWay {
    pub(super) reason: DisruptionReason,
    /// Its kind, as it began.
    pub(super) kind: CommandKind,
    pub(super) members: BTreeSet<ClaimName>,
    /// Members whose nodes are not seen to be tainted.
    pub(super) untainted: BTreeSet<ClaimName>,
    /// Replacements that are not ready yet.
    pub(super) awaited: BTreeSet<ClaimName>,
    /// Replacements that were seen to have their instance.
    pub(super) launched: BTreeSet<ClaimName>,
    pub(super) account: AccountKey,
    /// Where room is kept for the pods.
    pub(super) targets: BTreeSet<PromisedTarget>,
    /// Claims whose nodes go when the members have gone.
    pub(super) later: BTreeSet<ClaimName>,
    pub(super) begun: Timestamp,
    pub(super) drains: bool,
}

impl CommandQueue {
    pub(super) fn has(&self, claim: &ClaimName) -> bool {
        self.of_member.contains_key(claim)
    }

    /// Why a command disrupts a claim; `None` where none does.
    pub(super) fn reason_of(&self, claim: &ClaimName) -> Option<DisruptionReason> {
        self.of_member.get(claim).map(|(_, reason)| *reason)
    }

    pub(super) fn members(&self) -> impl Iterator<Item = &ClaimName> {
        self.of_member.keys()
    }

    /// Claims whose nodes go when the members of a command have gone.
    pub(super) fn later(&self) -> impl Iterator<Item = &ClaimName> {
        self.commands.values().flat_map(|command| &command.later)
    }

    /// Why a claim is to be asked to go now.
    pub(super) fn must_go(&self, claim: &ClaimName) -> Option<DeletionCause> {
        self.leaving.get(claim)?;
        let (_, reason) = self.of_member.get(claim)?;
        Some(DeletionCause::Command(*reason))
    }

    /// `true` if room on a target is kept for pods that have not come yet.
    pub(super) fn keeps(&self, target: &PromisedTarget) -> bool {
        self.kept.contains_key(target)
    }

    /// Something happened to a claim, its node, or an order about either.
    pub(super) fn touch(&mut self, claim: &ClaimName) {
        let of_member = self.of_member.get(claim).map(|(number, _)| *number);
        let of_awaited = self.of_awaited.get(claim).copied();
        for number in of_member.into_iter().chain(of_awaited) {
            let claims = self.touched.entry(number).or_default();
            claims.insert(claim.clone());
        }
    }

    /// A claim is no more, though another bears its name by now.
    pub(super) fn lose(&mut self, claim: &ClaimName) {
        if self.has(claim) || self.of_awaited.contains_key(claim) {
            self.gone.insert(claim.clone());
            self.touch(claim);
        }
    }

    /// Looks at every command that wants nothing but a fresh view.
    pub(super) fn touch_ready(&mut self) {
        for (_, number) in &self.waiting {
            let command = self.commands.get(number);
            if command.is_some_and(UnderWay::is_ready) {
                self.touched.entry(*number).or_default();
            }
        }
    }

    pub(super) fn next_wake(&self) -> Option<Timestamp> {
        let (begun, _) = self.waiting.first()?;
        Some(*begun + self.limit())
    }

    fn limit(&self) -> Span {
        self.limit_with(0)
    }

    /// How long commands may take to be ready with so many more nodes under way.
    pub(super) fn limit_with(&self, more: usize) -> Span {
        let nodes = i64::try_from(self.of_member.len() + more).unwrap_or(i64::MAX);
        let limit = nodes.saturating_mul(LIMIT_PER_NODE);
        Span::from_millis(limit.clamp(SHORTEST_LIMIT, LONGEST_LIMIT))
    }

    /// A command begins; it is looked at before the next input.
    pub(super) fn push(&mut self, command: UnderWay) {
        self.begun += 1;
        let number = self.begun;
        let reason = command.reason;
        let members = command.members.iter().cloned();
        self.of_member
            .extend(members.map(|claim| (claim, (number, reason))));
        let awaited = command.awaited.iter().cloned();
        self.of_awaited.extend(awaited.map(|claim| (claim, number)));
        for target in &command.targets {
            *self.kept.entry(target.clone()).or_default() += 1;
        }
        let claims = command.members.union(&command.awaited).cloned();
        self.touched.insert(number, claims.collect());
        self.waiting.insert((command.begun, number));
        self.commands.insert(number, command);
    }

    /// A command has come to its end: no room is kept for it any more.
    fn close(&mut self, number: u64, command: &UnderWay) {
        self.waiting.remove(&(command.begun, number));
        for claim in &command.awaited {
            self.of_awaited.remove(claim);
        }
        for target in &command.targets {
            if let Some(times) = self.kept.get_mut(target) {
                *times -= 1;
                if *times == 0 {
                    self.kept.remove(target);
                }
            }
        }
    }

    /// Commands to be looked at now: those touched, and those whose time is over, in the order in which they began.
    fn take_due(&mut self, limit: Span, now: Timestamp) -> BTreeMap<u64, BTreeSet<ClaimName>> {
        let mut due = std::mem::take(&mut self.touched);
        let oldest = self.waiting.iter();
        let late = oldest.take_while(|(begun, _)| now >= *begun + limit);
        for (_, number) in late {
            due.entry(*number).or_default();
        }
        due
    }
}

impl UnderWay {
    /// `true` if every node is tainted and every replacement there.
    fn is_ready(&self) -> bool {
        self.untainted.is_empty() && self.awaited.is_empty()
    }
}

/// How far a command has come.
enum Progress {
    Waits,
    Ready,
    Fails(String),
}

impl Engine {
    /// Moves commands on as far as they go, those to which something happened.
    pub(super) fn step_queue(&mut self, now: Timestamp, actions: &mut Vec<Action>) {
        let limit = self.queue.limit();
        let gone = std::mem::take(&mut self.queue.gone);
        for (number, claims) in self.queue.take_due(limit, now) {
            let Some(mut command) = self.queue.commands.remove(&number) else {
                continue;
            };
            for name in &claims {
                let is_gone = gone.contains(name) || self.cluster.claims.get(name).is_none();
                if is_gone && command.members.contains(name) {
                    if command.drains {
                        self.ledger.goes(command.account, name);
                    }
                    self.let_go(&mut command, name);
                }
            }
            if !command.drains {
                match self.progress(&mut command, (&claims, &gone), limit, now, actions) {
                    Progress::Waits => {}
                    Progress::Ready => {
                        self.queue.waiting.remove(&(command.begun, number));
                        self.drain(&mut command, now, actions);
                    }
                    Progress::Fails(why) => self.roll_back(&mut command, &why, now, actions),
                }
            }
            if command.members.is_empty() {
                self.queue.close(number, &command);
                self.settle(command.account, now, actions);
            } else {
                self.queue.commands.insert(number, command);
            }
        }
    }

    /// How far a command has come, now that something happened to some of its claims, or some of them are gone though others
    /// bear their names.
    fn progress(
        &mut self,
        command: &mut UnderWay,
        (claims, gone): (&BTreeSet<ClaimName>, &BTreeSet<ClaimName>),
        limit: Span,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) -> Progress {
        let mut lost = None;
        for name in claims {
            if !command.awaited.contains(name) {
                continue;
            }
            match self.cluster.claims.get(name) {
                _ if gone.contains(name) => lost = Some(name),
                Some(claim) if claim.deleting.is_some() => lost = Some(name),
                Some(claim) if claim.phase() == ClaimPhase::Initialized => {
                    command.awaited.remove(name);
                    self.queue.of_awaited.remove(name);
                }
                Some(claim) if claim.phase() >= ClaimPhase::Launched => {
                    if command.launched.insert(name.clone()) {
                        Self::announce_awaited(name, now, actions);
                    }
                }
                None if self.expected.get(name).is_none() => lost = Some(name),
                Some(_) | None => {}
            }
        }
        if let Some(name) = lost {
            return Progress::Fails(format!("replacement {name} did not come"));
        }
        for name in claims {
            if !command.members.contains(name) {
                continue;
            }
            if self.taint_member(name, now, actions) {
                command.untainted.remove(name);
            } else {
                command.untainted.insert(name.clone());
            }
        }
        if command.is_ready() && self.freshness.is_fresh() {
            Progress::Ready
        } else if now >= command.begun + limit {
            Progress::Fails(format!("not ready within {limit}"))
        } else {
            Progress::Waits
        }
    }

    /// Taints a member's node; whether it is seen to be tainted.
    fn taint_member(
        &mut self,
        name: &ClaimName,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) -> bool {
        let node = node_of(&PromisedTarget::Claim(name.clone()), &self.cluster);
        let Some(seen) = node.and_then(|node| self.cluster.nodes.seen(&node).cloned()) else {
            return true;
        };
        let mut step = Step::default();
        let tainted = step.taint(&seen.object, seen.version);
        for want in step.wants {
            if let Some(at) = self.order(want, now, actions) {
                self.notes.set_timer(name, at);
            }
        }
        tainted
    }

    /// Nothing is missing any more: the nodes are asked to go. An empty one that pods have come to meanwhile stays.
    fn drain(&mut self, command: &mut UnderWay, now: Timestamp, actions: &mut Vec<Action>) {
        command.drains = true;
        if command.reason.facts().saves {
            self.account_drain(command.account, &command.members);
        }
        for name in command.members.clone() {
            let claim = self.cluster.claims.get(&name);
            let is_used = claim.is_some_and(|claim| !self.is_empty(claim));
            if is_used && !command.reason.facts().moves_pods {
                self.let_go(command, &name);
                self.step_claim(&name, now, actions);
                continue;
            }
            self.queue.leaving.insert(name.clone());
            self.announce_going(&name, command.reason.as_str(), now, actions);
            self.step_claim(&name, now, actions);
        }
    }

    /// `true` if no pod on a claim's node minds being moved.
    pub(super) fn is_empty(&self, claim: &NodeClaim) -> bool {
        let node = self.cluster.nodes_of(claim).first();
        let mut pods = node
            .into_iter()
            .flat_map(|node| self.cluster.pods_on(&node.name));
        !pods.any(|pod| is_reschedulable(pod) && MoveCost::of_pod(pod) > MoveCost::ZERO)
    }

    fn roll_back(
        &mut self,
        command: &mut UnderWay,
        why: &str,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        self.counts.roll_back(command.kind, command.awaited.len());
        for name in command.members.clone() {
            self.announce_staying(&name, why, now, actions);
            self.let_go(command, &name);
            self.step_claim(&name, now, actions);
        }
    }

    /// A node is no longer part of a command. Where it stays, its own step takes the taint off.
    fn let_go(&mut self, command: &mut UnderWay, name: &ClaimName) {
        command.members.remove(name);
        command.untainted.remove(name);
        self.queue.of_member.remove(name);
        self.queue.leaving.remove(name);
        self.cluster.unmark(name);
        self.dirty_claims.insert(name.clone());
    }
}
