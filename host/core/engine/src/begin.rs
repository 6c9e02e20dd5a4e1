//! Commands that begin: their nodes count as deleting from now on, their pods stand for the room promised to them, and
//! replacements are asked for, each with all that another process needs to take the command up again ([`resume`](super::resume)).
//!
//! From here on the command is the [`queue`](super::queue)'s.

use std::collections::BTreeSet;
use std::sync::Arc;

use plimsoll_base::event_reason::EventReason;
use plimsoll_base::ids::{ClaimName, Uid};
use plimsoll_base::time::Timestamp;
use plimsoll_cluster::{Cluster, PromisedTarget};
use plimsoll_model::NodeClaim;
use plimsoll_model::action::{Action, ObjectKey};
use plimsoll_model::command::{BegunCommand, Command};
use plimsoll_model::plan::{PlannedClaim, Target as Place};
use plimsoll_model::snapshot::Snapshot;

use super::commit::{CommitVerdict, PodCounts};
use super::counts::CommandKind;
use super::ledger::CommandAccount;
use super::naming::ClaimPurpose;
use super::notes::Hint;
use super::queue::UnderWay;
use super::resume::CommandRecord;
use super::runaway::Tally;
use super::spare::for_spare_alone;
use super::{Engine, report};

/// Annotation of a claim with the claims that it replaces, comma separated.
pub(super) const REPLACES_ANNOTATION: &str = "plimsoll.dev/replaces";

/// Claims that a claim was bought to replace, as they are written on it; empty where it was bought for none.
pub fn replaced_by(claim: &NodeClaim) -> Vec<ClaimName> {
    let written = claim.annotations.get(REPLACES_ANNOTATION);
    let names = written.map_or("", AsRef::as_ref).split(',');
    let names = names.filter(|name| !name.is_empty());
    names.map(ClaimName::from).collect()
}

/// All that the replacements of a command have in common.
struct ReplacementMarks {
    /// Least uid of the claims that are removed.
    least: Option<Uid>,
    /// Annotations by which a later process takes the command up again.
    annotations: [(Arc<str>, Arc<str>); 2],
    /// Sentence that tells of each.
    words: String,
}

impl ReplacementMarks {
    fn of(command: &Command, cluster: &Cluster, now: Timestamp) -> Self {
        let uid = |name: &ClaimName| Some(cluster.claims.get(name)?.uid.clone());
        let replaced: Vec<&str> = command.members.iter().map(ClaimName::as_str).collect();
        let replaced = replaced.join(",");
        let words = format!("replaces {replaced}: {}", command.reason.as_str());
        let replaces = (Arc::from(REPLACES_ANNOTATION), Arc::from(replaced));
        Self {
            least: command.members.iter().filter_map(uid).min(),
            annotations: [replaces, CommandRecord::of(command, now).annotation()],
            words,
        }
    }
}

impl Engine {
    /// Begins a command whose plan was made on this snapshot. Where a pool's limits or a ceiling on buying forbid it, or equal
    /// launches were undersized, nothing happens, and the answer is no; what the members themselves take of either does not count.
    pub(super) fn begin(
        &mut self,
        command: Command,
        snapshot: &Snapshot,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) -> bool {
        let pod_counts = self.pods_of_targets(&command, snapshot, now);
        let claims = &command.plan.claims;
        let back_off = |(place, pods): &(Place, PodCounts)| match place {
            Place::New(row) => claims
                .get(*row)
                .and_then(|it| self.was_undersized(it, pods))
                .is_some(),
            Place::Existing(_) => false,
        };
        if pod_counts.iter().any(back_off) || !self.set_apart(&command, now) {
            return false;
        }
        let pods = pod_counts.iter().flat_map(|(_, pods)| pods.values()).sum();
        let mut targets = BTreeSet::new();
        let mut awaited = BTreeSet::new();
        let mut account = CommandAccount::open(&command, &self.cluster, now);
        let marks = ReplacementMarks::of(&command, &self.cluster, now);
        for (place, pods) in pod_counts {
            match place {
                Place::Existing(row) => {
                    targets.extend(self.promise_existing(snapshot, row, &pods, now));
                }
                Place::New(row) => {
                    let Some(planned) = claims.get(row) else {
                        continue;
                    };
                    let name = self.ask_for_replacement(planned, row, &pods, &marks, now);
                    let object = ObjectKey::Claim(name.clone());
                    let words = marks.words.clone();
                    actions.push(report(object, EventReason::DisruptionLaunching, words, now));
                    targets.insert(PromisedTarget::Claim(name.clone()));
                    account.buys(&name, &planned.options);
                    awaited.insert(name);
                }
            }
        }
        for member in &command.members {
            self.disruption.forget(member);
            self.notes.set_hint(member, Hint::default());
            self.dirty_claims.insert(member.clone());
        }
        self.counts.begin(&command, &self.cluster);
        let begun = BegunCommand::of(&command, &awaited, pods, now);
        actions.push(Action::Begin(Box::new(begun)));
        let kind = CommandKind::of(&command);
        if let Some(past) = command.past {
            let keep = self.settings.churn.reversal_cooldown;
            self.disruption.remember(past, keep);
        }
        self.begun
            .add(command.reason, command.members.len(), command.list_saving);
        let later = command.later.into_iter().map(|node| node.claim).collect();
        let members: BTreeSet<ClaimName> = command.members.into_iter().collect();
        let account = self.ledger.open(account);
        self.queue.push(UnderWay {
            reason: command.reason,
            kind,
            untainted: members.clone(),
            members,
            awaited,
            launched: BTreeSet::new(),
            account,
            targets,
            later,
            begun: now,
            drains: false,
        });
        true
    }

    /// Pods of a command's plan by the node or claim that they go to; claims that hold spare room alone have none.
    fn pods_of_targets(
        &self,
        command: &Command,
        snapshot: &Snapshot,
        now: Timestamp,
    ) -> Vec<(Place, PodCounts)> {
        let (pod_counts, _) = self.pod_counts(snapshot, &command.plan, now);
        let spare = for_spare_alone(snapshot, &command.plan).into_iter();
        let spare = spare.map(|row| (Place::New(row), PodCounts::new()));
        pod_counts.into_iter().chain(spare).collect()
    }

    /// Asks for the claim at a row of a command's plan, with what a later process needs to know of the command written on it; its name.
    fn ask_for_replacement(
        &mut self,
        planned: &PlannedClaim,
        row: usize,
        pods: &PodCounts,
        marks: &ReplacementMarks,
        now: Timestamp,
    ) -> ClaimName {
        let mut planned = planned.clone();
        planned
            .annotations
            .extend(marks.annotations.iter().cloned());
        self.note_relaunch(&planned, pods);
        let purpose = ClaimPurpose::Replaces(marks.least.clone(), row);
        let (name, _) = self.free_name(&planned.pool, &purpose, 0);
        self.ask_for(&planned, pods, name.clone(), now);
        name
    }

    /// Counts the members as deleting, unless one of them goes already or a pool's limits refuse what is to come in their place;
    /// whether they are.
    fn set_apart(&mut self, command: &Command, now: Timestamp) -> bool {
        let goes = |name: &ClaimName| {
            let claim = self.cluster.claims.get(name);
            self.cluster.marked(name).is_some() || claim.is_none_or(|it| it.deleting.is_some())
        };
        if command.members.iter().any(goes) {
            return false;
        }
        for member in &command.members {
            self.cluster.mark(member, now);
        }
        let mut tally = Tally::default();
        let mut claims = command.plan.claims.iter();
        let allowed =
            claims.all(|claim| self.may_buy(claim, &mut tally, now) == CommitVerdict::Buys);
        if !allowed {
            for member in &command.members {
                self.cluster.unmark(member);
            }
        }
        allowed
    }
}
