//! Static pools are brought to the number of nodes that they keep, and down to it.
//!
//! A pool is looked at when it, one of its claims or the state of one of them has changed. What is missing is asked for within
//! `limits.nodes` and the ceilings on buying; what is too much is asked to go, without regard to budgets, and drained like any
//! node. Nothing has to be remembered: claims asked to go are set apart so that they are counted once, and after a restart
//! the claims are counted anew.
//!
//! A pool that is held back by something other than its own limit is looked at again after [`AGAIN`]. Claims that end without
//! ever having had an instance put off the next of their pool, ever longer, up to a minute.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plimsoll_base::event_reason::EventReason;
use plimsoll_base::ids::{ClaimName, PoolName};
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_cluster::{PromisedTarget, node_of};
use plimsoll_disrupt::drift;
use plimsoll_disrupt::static_pool::{self, Member, Standing};
use plimsoll_lifecycle::{DeletionCause, Instance};
use plimsoll_model::action::{Action, ObjectKey, Purpose};
use plimsoll_model::catalogue::{Catalogue, Overlaid};
use plimsoll_model::plan::{LaunchOption, PlannedClaim};
use plimsoll_model::{NodeClaim, NodePool};

use super::commit::{CommitVerdict, PodCounts};
use super::naming::ClaimPurpose;
use super::runaway::Tally;
use super::{Engine, report};

/// How long until a pool is looked at again that was granted nothing: as long as Karpenter waits.
const AGAIN: Span = Span::from_secs(30);
/// The longest that failed claims put off the next.
const LONGEST_PAUSE: Span = Span::from_secs(60);

/// Memory of static pools between events.
#[derive(Clone, Debug, Default)]
pub(super) struct StaticPools {
    /// Pools to be looked at now.
    due: BTreeSet<PoolName>,
    /// Pools to be looked at again whether or not anything changes.
    again: BTreeMap<PoolName, Timestamp>,
    /// Claims that are to be asked to go.
    leaving: BTreeSet<ClaimName>,
    /// How many claims in a row ended without an instance, and until when the next is put off.
    back_off: BTreeMap<PoolName, (u32, Timestamp)>,
    /// Last message about each pool that is short.
    told: BTreeMap<PoolName, String>,
}

impl StaticPools {
    pub(super) fn look_at(&mut self, pool: &PoolName) {
        self.due.insert(pool.clone());
    }

    pub(super) fn must_go(&self, claim: &ClaimName) -> Option<DeletionCause> {
        self.leaving
            .contains(claim)
            .then_some(DeletionCause::Surplus)
    }

    pub(super) fn forget(&mut self, claim: &ClaimName) {
        self.leaving.remove(claim);
    }

    pub(super) fn next_wake(&self) -> Option<Timestamp> {
        self.again.values().min().copied()
    }

    fn take_due(&mut self, now: Timestamp) -> BTreeSet<PoolName> {
        let mut due = std::mem::take(&mut self.due);
        let over = self.again.iter().filter(|(_, at)| **at <= now);
        due.extend(over.map(|(pool, _)| pool.clone()));
        for pool in &due {
            self.again.remove(pool);
        }
        due
    }
}

impl Engine {
    /// A claim is no more: one that never had an instance and was not asked to go by us puts off the next of its pool.
    pub(super) fn note_end(&mut self, claim: &NodeClaim, now: Timestamp) {
        let pool = self.cluster.pools.get(claim.pool.as_str());
        let is_static = pool.is_some_and(|pool| pool.replicas.is_some());
        let wanted = self.static_pools.leaving.contains(&claim.name);
        if !is_static || wanted || claim.provider_id.is_some() {
            return;
        }
        let back_off = self.static_pools.back_off.entry(claim.pool.clone());
        let (failures, until) = back_off.or_insert((0, now));
        *failures = failures.saturating_add(1);
        let pause = Span::from_millis(1000 << (*failures - 1).min(6));
        *until = now + pause.min(LONGEST_PAUSE);
    }

    /// The claims of a pool, those asked for and not seen among them, and those that commands set apart as deleting.
    pub(super) fn standing(&self, pool: &PoolName) -> Standing {
        let seen = self.cluster.claim_counts(pool);
        let mut standing = Standing {
            staying: seen.staying,
            deleting: seen.deleting,
        };
        for claim in self.unseen_of(pool) {
            let set_apart = self.cluster.marked(&claim.name).is_some();
            standing.count(claim, set_apart);
        }
        standing
    }

    /// Claims of a pool that were asked for and not seen.
    fn unseen_of<'e>(&'e self, pool: &'e PoolName) -> impl Iterator<Item = &'e Arc<NodeClaim>> {
        let asked = self.expected.asked();
        let own = asked.filter(move |claim| claim.pool == *pool);
        own.filter(|claim| self.cluster.claims.get(&claim.name).is_none())
    }

    fn claims_of<'e>(&'e self, pool: &'e PoolName) -> impl Iterator<Item = &'e Arc<NodeClaim>> {
        let seen = self.cluster.claims.unordered();
        let own = seen.filter(move |claim| claim.pool == *pool);
        own.chain(self.unseen_of(pool))
    }

    /// `true` if every claim of a pool that stays has an instance.
    fn all_launched(&self, pool: &PoolName) -> bool {
        let stays = |claim: &Arc<NodeClaim>| self.cluster.marked(&claim.name).is_none();
        self.cluster.claim_counts(pool).unlaunched == 0 && !self.unseen_of(pool).any(stays)
    }

    fn staying<'e>(&'e self, pool: &'e PoolName) -> impl Iterator<Item = &'e Arc<NodeClaim>> {
        self.claims_of(pool).filter(|claim| {
            let marked = self.cluster.marked(&claim.name).is_some();
            !marked && claim.deleting.is_none() && !claim.is_instance_terminating()
        })
    }

    pub(super) fn step_static_pools(&mut self, now: Timestamp, actions: &mut Vec<Action>) {
        let changed = self.cluster.take_changed_pools();
        self.statuses.count_anew(&changed);
        self.static_pools.due.extend(changed);
        for name in self.static_pools.take_due(now) {
            let pool = self.cluster.pools.get(&name).cloned();
            let pool = pool.filter(|pool| self.market.catalogues().serves(&pool.class));
            let keeps = pool.and_then(|pool| Some((static_pool::keeps_number(&pool)?, pool)));
            if let Some((replicas, pool)) = keeps.filter(|_| self.settings.static_capacity) {
                self.step_static_pool(&pool, replicas, now, actions);
            } else {
                self.static_pools.back_off.remove(&name);
                self.static_pools.told.remove(&name);
            }
        }
    }

    fn step_static_pool(
        &mut self,
        pool: &Arc<NodePool>,
        replicas: u32,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        let standing = self.standing(&pool.name);
        let short = match (standing.missing(replicas), standing.excess(replicas)) {
            (0, 0) => {
                if self.all_launched(&pool.name) {
                    self.static_pools.back_off.remove(&pool.name);
                }
                None
            }
            (0, _) if !self.freshness.is_fresh() => {
                self.freshness.hold_surplus(&pool.name);
                None
            }
            // The number may not be what its author meant.
            (0, _) if pool.unread.problem.is_some() => None,
            (0, excess) => {
                self.trim(pool, excess, now, actions);
                None
            }
            (missing, _) if pool.ready => {
                let missing = missing - self.recall(&pool.name, missing, now, actions);
                if self.put_off(&pool.name, now) {
                    return;
                }
                self.fill(pool, missing, now, actions)
            }
            _ => None,
        };
        let Some(why) = short else {
            self.static_pools.told.remove(&pool.name);
            return;
        };
        let have = self.standing(&pool.name).staying;
        let words = format!("has {have} of {replicas} nodes: {why}");
        let told = &mut self.static_pools.told;
        if told.insert(pool.name.clone(), words.clone()).as_ref() != Some(&words) {
            let object = ObjectKey::Pool(pool.name.clone());
            actions.push(report(object, EventReason::ReplicasNotReached, words, now));
        }
    }

    /// Keeps claims that were to go and have not been asked yet, the furthest come first; how many.
    fn recall(
        &mut self,
        pool: &PoolName,
        missing: u32,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) -> u32 {
        let leaving = self.static_pools.leaving.iter();
        let mut claims: Vec<_> = leaving
            .filter_map(|name| self.cluster.claims.get(name))
            .filter(|claim| claim.pool == *pool && claim.deleting.is_none())
            .filter(|claim| {
                let object = ObjectKey::Claim(claim.name.clone());
                !self
                    .orders
                    .is_busy(&object, Some(&claim.uid), Purpose::DeleteClaim)
            })
            .map(|claim| (Reverse(claim.phase()), claim.name.clone()))
            .collect();
        claims.sort_unstable();
        claims.truncate(missing as usize);
        for (_, name) in &claims {
            self.static_pools.leaving.remove(name);
            self.cluster.unmark(name);
            self.step_claim(name, now, actions);
        }
        u32::try_from(claims.len()).unwrap_or(missing)
    }

    /// `true` if failed claims put off the next one; it is looked at again then.
    fn put_off(&mut self, pool: &PoolName, now: Timestamp) -> bool {
        let back_off = self.static_pools.back_off.get(pool);
        let until = back_off.map(|(_, until)| *until).filter(|at| *at > now);
        if let Some(until) = until {
            self.static_pools.again.insert(pool.clone(), until);
        }
        until.is_some()
    }

    /// Asks for so many claims, as far as that is allowed; why not for all of them, in words.
    fn fill(
        &mut self,
        pool: &Arc<NodePool>,
        missing: u32,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) -> Option<String> {
        if missing == 0 {
            return None;
        }
        let catalogue = self.sold_by(pool);
        let mut planned = static_pool::planned(pool, &catalogue, &self.settings);
        let mut tally = Tally::default();
        let claims = self.staying(&pool.name).map(AsRef::as_ref);
        let mut zones = static_pool::zones(claims, &catalogue);
        let mut first = 0;
        for _ in 0..missing {
            static_pool::spread(&mut planned, &zones);
            self.drop_exhausted(&mut planned, &mut tally, now);
            let verdict = self.may_buy(&planned, &mut tally, now);
            if verdict != CommitVerdict::Buys {
                return Some(self.held_back(pool, &planned, verdict, now));
            }
            let (name, ordinal) = self.free_name(&pool.name, &ClaimPurpose::Replica, first);
            first = ordinal + 1;
            self.ask_for(&planned, &PodCounts::new(), name.clone(), now);
            if let Some(chosen) = planned.chosen() {
                *zones.entry(Arc::clone(&chosen.zone)).or_insert(0) += 1;
            }
            self.step_claim(&name, now, actions);
        }
        None
    }

    /// Ways to buy out of reservations that have nothing left are no ways any more.
    fn drop_exhausted(&mut self, planned: &mut PlannedClaim, tally: &mut Tally, now: Timestamp) {
        let draws = |option: &LaunchOption| option.reservation.is_some();
        if !planned.options.iter().any(draws) {
            return;
        }
        static_pool::drop_exhausted(planned, self.left(tally, now));
    }

    /// Why a claim was not asked for; looked at again after a while where nothing that the pool says is the cause.
    fn held_back(
        &mut self,
        pool: &NodePool,
        planned: &PlannedClaim,
        verdict: CommitVerdict,
        now: Timestamp,
    ) -> String {
        if self.standing(&pool.name).headroom(pool) == 0 {
            return "limits.nodes allows no more, deleting nodes among them".to_owned();
        }
        let again = &mut self.static_pools.again;
        again.insert(pool.name.clone(), now + AGAIN);
        match verdict {
            CommitVerdict::Held(words) => words,
            _ if planned.options.is_empty() => {
                "nothing that its template requires can be had now".to_owned()
            }
            _ => "its limits allow no more".to_owned(),
        }
    }

    /// Offers of the pools, with the overlays that hold for them.
    pub(super) fn overlaid(&self) -> Overlaid {
        let listed = self.market.catalogues();
        let pools = self.cluster.pools.objects();
        if !self.settings.node_overlays {
            return Overlaid::plain(listed, &pools);
        }
        Overlaid::new(listed, &pools, &self.cluster.overlays.objects())
    }

    /// Catalogue of a pool, with the overlays that hold for it.
    fn sold_by(&self, pool: &NodePool) -> Arc<Catalogue> {
        Arc::clone(self.overlaid().of(&pool.name))
    }

    /// Asks so many claims to go.
    fn trim(&mut self, pool: &NodePool, excess: u32, now: Timestamp, actions: &mut Vec<Action>) {
        let catalogue = self.market.catalogues().of(&pool.class);
        let members = self.staying(&pool.name).map(|claim| {
            let node = node_of(&PromisedTarget::Claim(claim.name.clone()), &self.cluster);
            let pods = node.iter().flat_map(|node| self.cluster.pods_on(node));
            Member {
                claim,
                pods: pods.map(AsRef::as_ref).collect(),
                drifted: drift::drift(pool, claim, catalogue, now).is_some(),
            }
        });
        for name in static_pool::leaving(members.collect(), excess, now) {
            let unseen = self.cluster.claims.get(&name).is_none();
            if unseen && !self.may_come(&name) {
                self.forget_claim(&name);
                continue;
            }
            self.static_pools.leaving.insert(name.clone());
            self.cluster.mark(&name, now);
            self.step_claim(&name, now, actions);
        }
    }

    /// `true` if a claim that was asked for and not seen may yet be made.
    fn may_come(&self, name: &ClaimName) -> bool {
        let object = ObjectKey::Claim(name.clone());
        let notes = self.notes.get(name);
        self.orders.is_busy(&object, None, Purpose::Create)
            || self.orders.is_busy(&object, None, Purpose::Find)
            || notes.is_some_and(|notes| notes.instance == Instance::Unsure)
    }
}
