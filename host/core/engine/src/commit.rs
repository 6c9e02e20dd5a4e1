//! From a plan to claims asked for and promises made, after another look at what may have changed meanwhile.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plimsoll_base::ids::ClaimName;
use plimsoll_base::time::Timestamp;
use plimsoll_cluster::{ANNOTATION, GroupId, PromisedTarget, bound_of, to_annotation};
use plimsoll_model::action::Action;
use plimsoll_model::plan::{Plan, PlannedClaim, Target as Place};
use plimsoll_model::snapshot::Snapshot;
use plimsoll_model::{NodeClaim, is_displaced};

use super::Engine;
use super::naming::ClaimPurpose;
use super::progress::tell_placed;
use super::runaway::Tally;
use super::spare::for_spare_alone;

/// Pods that go to one place, counted by group.
pub(super) type PodCounts = BTreeMap<GroupId, u32>;

/// Decision on a planned claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CommitVerdict {
    /// It is asked for.
    Buys,
    /// A ceiling on buying holds it, or that equal launches were undersized; which, in words.
    Held(String),
    /// Its pool is gone or would exceed its limits, or nothing is left of what it was to be bought as.
    Refused,
}

impl Engine {
    /// Carries out the plan for the question that is open; any other is late and skipped.
    pub(super) fn commit(
        &mut self,
        id: u64,
        plan: &Plan,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        let open = self.provision.solving.take_if(|solving| solving.id == id);
        let Some(solving) = open else { return };
        self.provision.failed.succeed();
        let (pod_counts, stale) = self.pod_counts(&solving.snapshot, plan, now);
        let purposes = ClaimPurpose::of_plan(&solving.snapshot, plan);
        let mut tally = Tally::default();
        let mut held: BTreeMap<usize, String> = BTreeMap::new();
        let (mut bought, mut promised) = (BTreeMap::new(), BTreeSet::new());
        let mut refused = stale;
        // Spare room comes last where ceilings leave no room for all.
        let spare = for_spare_alone(&solving.snapshot, plan);
        let spare = spare
            .into_iter()
            .map(|row| (Place::New(row), PodCounts::new()));
        for (place, pods) in pod_counts.into_iter().chain(spare) {
            let done = match place {
                Place::Existing(row) => {
                    let counted = self.less_unused(&solving.snapshot, row, &pods);
                    let target = self.promise_existing(&solving.snapshot, row, &counted, now);
                    promised.extend(target.is_some().then_some(row));
                    target.is_some() && counted.len() == pods.len()
                }
                Place::New(row) => plan.claims.get(row).is_some_and(|planned| {
                    let verdict = match self.was_undersized(planned, &pods) {
                        Some(words) => CommitVerdict::Held(words),
                        None => self.may_buy(planned, &mut tally, now),
                    };
                    match &verdict {
                        CommitVerdict::Buys => {
                            self.note_relaunch(planned, &pods);
                            let (name, _) = self.free_name(&planned.pool, &purposes[row], 0);
                            self.ledger.buys(&name, &planned.options, &pods);
                            self.ask_for(planned, &pods, name.clone(), now);
                            bought.insert(row, name);
                        }
                        CommitVerdict::Held(words) => {
                            held.insert(row, words.clone());
                        }
                        CommitVerdict::Refused => {}
                    }
                    verdict == CommitVerdict::Buys
                }),
            };
            refused |= !done;
        }
        tell_placed(
            (&solving.snapshot, plan),
            (&bought, &promised),
            now,
            actions,
        );
        self.tell_held(&solving.snapshot, plan, &held, now, actions);
        self.tell_unplaced(&solving.snapshot, plan, now, actions);
        self.tell_buffers(&solving.snapshot, plan, &held, now, actions);
        let exists = |row: usize| {
            let pod = solving.snapshot.pods.get(row);
            pod.is_none_or(|pod| !pod.is_spare())
        };
        if refused || plan.unplaced.iter().any(|unplaced| exists(unplaced.pod)) {
            self.remember_leftover(&solving, now);
        }
    }

    /// Pods by place, less those that need none any more. Whether a placement made no sense.
    pub(super) fn pod_counts(
        &self,
        snapshot: &Snapshot,
        plan: &Plan,
        now: Timestamp,
    ) -> (BTreeMap<Place, PodCounts>, bool) {
        let mut pod_counts: BTreeMap<Place, PodCounts> = BTreeMap::new();
        let mut odd = false;
        for placement in &plan.placements {
            let Some(planned) = snapshot.pods.get(placement.pod) else {
                odd = true;
                continue;
            };
            let Some(pod) = self.cluster.pods.get(&planned.name) else {
                continue;
            };
            let waits = match &pod.node {
                None => pod.is_active(),
                Some(_) => planned.node == pod.node && is_displaced(pod, now),
            };
            if let Some(group) = self.cluster.group_of(&pod.name)
                && waits
                && pod.uid == planned.uid
            {
                let pods = pod_counts.entry(placement.target).or_default();
                *pods.entry(group).or_default() += 1;
            }
        }
        (pod_counts, odd)
    }

    /// Promises room on a node that is there; what it was promised on, unless it is not any more.
    pub(super) fn promise_existing(
        &mut self,
        snapshot: &Snapshot,
        row: usize,
        pods: &PodCounts,
        now: Timestamp,
    ) -> Option<PromisedTarget> {
        let node = snapshot.nodes.get(row)?;
        let target = match (&node.claim, &node.node) {
            (Some(claim), _) => PromisedTarget::Claim(claim.name.clone()),
            (None, Some(node)) => PromisedTarget::Node(node.name.clone()),
            (None, None) => return None,
        };
        let there = match &target {
            PromisedTarget::Claim(name) => match self.cluster.claims.get(name) {
                Some(claim) => claim.deleting.is_none() && self.cluster.marked(name).is_none(),
                None => self.expected.get(name).is_some(),
            },
            PromisedTarget::Node(name) => self
                .cluster
                .nodes
                .get(name)
                .is_some_and(|node| node.deleting.is_none()),
        };
        if !there {
            return None;
        }
        for (group, count) in pods {
            let had = bound_of(*group, &target, &self.cluster);
            self.promises.make(&target, *group, *count, had, now);
            self.dirty_groups.insert(*group);
        }
        if let PromisedTarget::Claim(name) = &target {
            self.dirty_claims.insert(name.clone());
        }
        self.plan_lapse(&target);
        Some(target)
    }

    /// Decision on buying a claim: its pool is still there, and an offering that it names is still to be had within the pool's
    /// limits and the ceilings on buying. In a static pool claims count until they are gone, so that it never has more than
    /// `limits.nodes`.
    pub(super) fn may_buy(
        &mut self,
        planned: &PlannedClaim,
        tally: &mut Tally,
        now: Timestamp,
    ) -> CommitVerdict {
        let Some(pool) = self.cluster.pools.get(planned.pool.as_str()).cloned() else {
            return CommitVerdict::Refused;
        };
        let ours = self.market.catalogues().serves(&pool.class);
        if pool.deleting.is_some() || !pool.ready || !ours || planned.options.is_empty() {
            return CommitVerdict::Refused;
        }
        if pool.replicas.is_some() && self.standing(&pool.name).headroom(&pool) == 0 {
            return CommitVerdict::Refused;
        }
        match self.charge(&pool, planned, tally, now) {
            Ok(()) => CommitVerdict::Buys,
            Err(verdict) => verdict,
        }
    }

    /// Asks for a claim of this name and promises its room.
    pub(super) fn ask_for(
        &mut self,
        planned: &PlannedClaim,
        pods: &PodCounts,
        name: ClaimName,
        now: Timestamp,
    ) {
        let claim = Arc::new(new_claim(planned, name, pods, now));
        let target = PromisedTarget::Claim(claim.name.clone());
        for (group, count) in pods {
            self.promises.make(&target, *group, *count, 0, now);
        }
        self.dirty_claims.insert(claim.name.clone());
        self.runaway.note(&planned.pool, now);
        self.launches.expect(&claim);
        self.expected.ask(claim);
    }
}

/// The object to be created, with its promises.
fn new_claim(
    planned: &PlannedClaim,
    name: ClaimName,
    pods: &PodCounts,
    now: Timestamp,
) -> NodeClaim {
    let mut claim = planned.to_claim(name, now);
    let promises = Arc::from(to_annotation(pods));
    claim.annotations.insert(Arc::from(ANNOTATION), promises);
    claim
}
