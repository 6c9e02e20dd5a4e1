//! From waiting pods to a question: which pods ask, when the batch is ripe, and what is handed out.
//!
//! Never two solves at once, and none while a command is being confirmed. Pods that a plan left without a place are looked at again after [`AGAIN`] if anything at all
//! has changed; where nothing has, the same snapshot would give the same plan.

use std::sync::Arc;

use plimsoll_base::batch::Batch;
use plimsoll_base::ids::ClaimName;
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_cluster::{GroupId, assignments, open_pods};
use plimsoll_model::action::{Action, SolveRequest};
use plimsoll_model::snapshot::{Activity, Settings, Snapshot};
use plimsoll_model::{Pod, is_displaced, wants_node};

use super::Engine;
use super::failed::FailedDecisions;

/// How long until pods that found no place are looked at again.
const AGAIN: Span = Span::from_secs(10);

/// Where provisioning stands.
#[derive(Clone, Debug, Default)]
pub(super) struct Provision {
    pub(super) batch: Batch,
    pub(super) solving: Option<Solving>,
    pub(super) solves: u64,
    pub(super) failed: FailedDecisions,
    leftover: Option<Leftover>,
    market_revision: u64,
    /// `true` if all waiting pods are to ask for a decision, though nothing about them has changed.
    pub(super) all_ask: bool,
    /// `true` if the next decision is not to wait for more pods.
    at_once: bool,
}

/// A question handed out.
#[derive(Clone, Debug)]
pub(super) struct Solving {
    pub(super) id: u64,
    pub(super) snapshot: Arc<Snapshot>,
    /// The world it was asked about: it may have changed by the time of the answer.
    revisions: (u64, u64),
}

/// Pods without a place, and the world in which that was so.
#[derive(Clone, Copy, Debug)]
struct Leftover {
    again: Timestamp,
    revisions: (u64, u64),
    changed: bool,
}

impl Provision {
    pub(super) fn next_wake(&self, settings: &Settings) -> Option<Timestamp> {
        let batch = match self.solving {
            Some(_) => None,
            None => self.batch.ends_at(settings.batch_idle, settings.batch_max),
        };
        let batch = batch.map(|end| self.failed.delays(end));
        let again = self
            .leftover
            .filter(|leftover| leftover.changed)
            .map(|leftover| leftover.again);
        batch.into_iter().chain(again).min()
    }

    /// `true` if nothing is being planned nor about to be. While failures put planning off it is not waited for.
    pub(super) fn is_idle(&self, settings: &Settings) -> bool {
        let batch = self.batch.ends_at(settings.batch_idle, settings.batch_max);
        self.solving.is_none() && (batch.is_none() || self.failed.is_pausing())
    }

    pub(super) fn market_revision(&self) -> u64 {
        self.market_revision
    }

    pub(super) fn market_changed(&mut self) {
        self.market_revision += 1;
    }
}

impl Engine {
    /// A pod asks for a decision if it waits for a node and stands for no promise that is written on it.
    pub(super) fn trigger(&mut self, pod: &Pod, now: Timestamp) {
        if self.cluster.wants_node(pod) && !self.nominations.holds(&pod.name) {
            self.provision.batch.trigger(&pod.uid, now);
        }
    }

    /// The first pod of a group for which the scheduler has found no room asks for all that it has not tried yet: what it finds of them
    /// one by one is nothing new.
    pub(super) fn trigger_equals(&mut self, pod: &Pod, now: Timestamp) {
        if !wants_node(pod) {
            return;
        }
        let group = self.cluster.group_of(&pod.name);
        if let Some(group) = group.filter(|group| self.cluster.without_room(*group) == 1) {
            self.trigger_group(group, now);
        }
    }

    /// All waiting pods ask, and all nodes that are deleting that have pods to be moved.
    pub(super) fn trigger_all(&mut self, now: Timestamp) {
        let pods: Vec<Arc<Pod>> = self
            .cluster
            .unbound_groups()
            .flat_map(|group| self.cluster.unbound_of(group))
            .cloned()
            .collect();
        for pod in pods {
            self.trigger(&pod, now);
        }
        let deleting: Vec<_> = self.cluster.deleting().cloned().collect();
        for node in deleting {
            if let Some(claim) = self.cluster.claim_on(&node).map(|claim| claim.name.clone()) {
                self.trigger_deleting(&claim, now);
            }
        }
    }

    /// The waiting pods of one group ask.
    pub(super) fn trigger_group(&mut self, group: GroupId, now: Timestamp) {
        let pods: Vec<Arc<Pod>> = self.cluster.unbound_of(group).cloned().collect();
        for pod in pods {
            self.trigger(&pod, now);
        }
    }

    /// A node that is deleting asks for a decision if it has pods to be moved.
    pub(super) fn trigger_deleting(&mut self, name: &ClaimName, now: Timestamp) {
        let Some(claim) = self.cluster.claims.get(name) else {
            return;
        };
        if claim.deleting.is_none() {
            return;
        }
        let moved = self.cluster.nodes_of(claim).iter().any(|node| {
            self.cluster
                .pods_on(&node.name)
                .any(|pod| is_displaced(pod, now))
        });
        if moved {
            let uid = claim.uid.clone();
            self.provision.batch.trigger(&uid, now);
        }
    }

    /// Other policies decide: all that waits asks at once, and savings are looked for as if they never had been.
    pub(super) fn note_policies_changed(&mut self) {
        self.disruption.search_again();
        self.replan();
    }

    /// All that waits asks at once.
    pub(super) fn replan(&mut self) {
        self.spare.decide_again();
        self.provision.all_ask = true;
        self.provision.at_once = true;
    }

    pub(super) fn step_provision(&mut self, now: Timestamp, actions: &mut Vec<Action>) {
        self.recheck_leftover(now);
        self.trigger_spare(now);
        // While a decision is under way spare room opens no batch.
        if self.provision.solving.is_none() && std::mem::take(&mut self.provision.at_once) {
            self.provision.batch.end_at(now);
        }
        let busy = self.provision.solving.is_some() || self.disruption.is_confirming();
        if busy || self.provision.failed.holds(now) || !self.is_batch_due(now) {
            return;
        }
        self.provision.batch.close();
        let assigned = assignments(&self.promises, &self.cluster, now);
        let waits = !open_pods(&self.cluster, &assigned, now).is_empty();
        if !waits && !self.wants_spare(now) {
            return;
        }
        let snapshot = self.freeze(&assigned, Activity::default(), now);
        self.note_spare(&snapshot, now);
        self.provision.solves += 1;
        let id = self.provision.solves;
        self.provision.leftover = None;
        self.provision.solving = Some(Solving {
            id,
            snapshot: Arc::clone(&snapshot),
            revisions: self.revisions(),
        });
        actions.push(Action::Solve(SolveRequest { id, snapshot }));
    }

    /// `true` if the time for a decision has come; while the scheduler is behind it has not, but for pods that it leaves for longer than
    /// a batch takes at most.
    fn is_batch_due(&mut self, now: Timestamp) -> bool {
        let (idle, max) = (self.settings.batch_idle, self.settings.batch_max);
        let (batch, cluster) = (&mut self.provision.batch, &self.cluster);
        let is_behind = |at: Timestamp| {
            let mut untried = cluster.pods_of_untried_groups();
            untried.any(|pod| pod.created <= at && at < pod.created + max)
        };
        batch.is_due(idle, max, now, is_behind)
    }

    /// Pods were left without a place: remembers the world in which that was so.
    pub(super) fn remember_leftover(&mut self, solving: &Solving, now: Timestamp) {
        self.provision.leftover = Some(Leftover {
            again: now + AGAIN,
            revisions: solving.revisions,
            changed: false,
        });
    }

    fn recheck_leftover(&mut self, now: Timestamp) {
        let most = self.settings.runaway.equal_relaunches;
        let over = self.runaway.is_over(now) | self.undersized.is_over(most, now);
        if over | self.node_use.is_over(now) {
            self.spare.decide_again();
            self.provision.all_ask = true;
        }
        if std::mem::take(&mut self.provision.all_ask) {
            self.trigger_all(now);
        }
        let revisions = self.revisions();
        let Some(leftover) = &mut self.provision.leftover else {
            return;
        };
        leftover.changed |= revisions != leftover.revisions;
        if leftover.changed && now >= leftover.again {
            self.provision.leftover = None;
            self.trigger_all(now);
        }
    }
}
