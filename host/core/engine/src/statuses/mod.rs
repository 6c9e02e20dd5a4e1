//! Statuses of pools, overlays and buffers: when each is looked at, and the one write that brings it to what it is to be.
//!
//! What is said follows from the objects, from what the provider says of its classes and from what plans came to; it is written where
//! it differs from what is seen, and looked at again once that write has ended. Capacity of pools is counted every five seconds at
//! most, as Karpenter does.

mod buffer;
mod hash;
mod health;
mod overlay;
mod pool;
mod remarks;
mod validation;

use std::collections::{BTreeMap, BTreeSet};

use plimsoll_base::event_reason::EventReason;
use plimsoll_base::ids::{ClaimName, ObjectName, PoolName};
use plimsoll_base::labels::Labels;
use plimsoll_base::time::Timestamp;
use plimsoll_cluster::SeenStatus;
use plimsoll_lifecycle::Want;
use plimsoll_model::action::{Action, ObjectKey, Purpose, Request, StatusChange, Write};
use plimsoll_model::provider::ClassStatus;
use plimsoll_model::{ClaimPhase, ClassRef, ConditionType, DesiredCondition, NodeClaim, NodePool};

use super::Engine;
use super::asked::GoneAsks;
use health::RegistrationHealth;
use overlay::RefusedOverlays;

/// Statuses to be looked at, and what they are made of beside the objects.
#[derive(Clone, Debug, Default)]
pub(super) struct StatusWatch {
    /// Classes as the provider told of them last; `None` before it has.
    classes: Option<BTreeMap<ClassRef, ClassStatus>>,
    health: RegistrationHealth,
    gone_asks: GoneAsks,
    overlays: RefusedOverlays,
    /// What plans last came to for buffers.
    verdicts: BTreeMap<ObjectName, DesiredCondition>,
    due: BTreeSet<ObjectKey>,
    timers: BTreeMap<ObjectKey, Timestamp>,
    /// Pools whose capacity may have changed since it was counted last.
    uncounted: BTreeSet<PoolName>,
    /// When the capacity of a pool was counted last.
    counted: BTreeMap<PoolName, Timestamp>,
    /// Events about the specifications of pools that hold now: reason and words.
    remarked: BTreeMap<PoolName, BTreeSet<(EventReason, String)>>,
}

impl StatusWatch {
    /// A status is looked at with the next step.
    pub(super) fn look_at(&mut self, object: &ObjectKey) {
        let is_own = matches!(
            object,
            ObjectKey::Pool(_) | ObjectKey::Overlay(_) | ObjectKey::Buffer(_)
        );
        if is_own {
            self.due.insert(object.clone());
        }
    }

    /// Something changed that counts for the capacity of these pools.
    pub(super) fn count_anew(&mut self, pools: &BTreeSet<PoolName>) {
        self.uncounted.extend(pools.iter().cloned());
        self.due.extend(pools.iter().cloned().map(ObjectKey::Pool));
    }

    fn look_again(&mut self, object: ObjectKey, at: Timestamp) {
        let timer = self.timers.entry(object).or_insert(at);
        *timer = at.min(*timer);
    }

    /// When the next status is to be looked at again.
    pub(super) fn next_wake(&self) -> Option<Timestamp> {
        self.timers.values().min().copied()
    }

    fn take_due(&mut self, now: Timestamp) -> BTreeSet<ObjectKey> {
        let mut due = std::mem::take(&mut self.due);
        self.timers.retain(|object, at| {
            let is_due = *at <= now;
            if is_due {
                due.insert(object.clone());
            }
            !is_due
        });
        due
    }

    fn forget(&mut self, object: &ObjectKey) {
        self.timers.remove(object);
        match object {
            ObjectKey::Pool(pool) => {
                self.counted.remove(pool);
                self.uncounted.remove(pool);
                self.health.forget(pool);
                self.remarked.remove(pool);
            }
            ObjectKey::Buffer(buffer) => {
                self.verdicts.remove(buffer);
            }
            _ => {}
        }
    }
}

impl Engine {
    /// The provider tells of its classes.
    pub(super) fn note_classes(&mut self, classes: Vec<(ClassRef, ClassStatus)>) {
        self.statuses.classes = Some(classes.into_iter().collect());
        for pool in self.cluster.pools.objects() {
            self.statuses.look_at(&ObjectKey::Pool(pool.name.clone()));
            let is_ready = self.is_ready(&pool);
            // Pods that it can serve from now on are not kept waiting.
            self.provision.all_ask |= is_ready && !pool.ready;
            self.cluster.set_ready(&pool.name, is_ready);
        }
    }

    /// `true` if a pool may be used: as far as its specification and its class say, or else its conditions.
    pub(super) fn is_ready(&self, pool: &NodePool) -> bool {
        match self.pool_conditions(pool) {
            Some(conditions) => conditions.iter().all(DesiredCondition::is_true),
            None => pool.ready,
        }
    }

    /// A claim is no more: where it counts against the minute's ceiling still, its pool says so from now on.
    pub(super) fn note_gone_ask(&mut self, claim: &NodeClaim, now: Timestamp) {
        if self.statuses.gone_asks.note(claim, now) {
            self.statuses.look_at(&ObjectKey::Pool(claim.pool.clone()));
        }
    }

    /// Annotations that an earlier process left on a pool for this one; `None` where the pool was not seen.
    pub(super) fn pool_memory(&self, pool: &PoolName) -> Option<&Labels> {
        let seen = self.cluster.status(&ObjectKey::Pool(pool.clone()))?;
        Some(&seen.status.memory)
    }

    /// When claims of a pool that are no more were asked for within the last minute, as the pool says.
    pub(super) fn recall_gone_asks(&mut self, pool: &PoolName, now: Timestamp) -> Vec<Timestamp> {
        let seen = self.cluster.status(&ObjectKey::Pool(pool.clone()));
        let asks = &mut self.statuses.gone_asks;
        seen.map(|seen| asks.recall(pool, &seen.status, now))
            .unwrap_or_default()
    }

    /// Counts, once, that a claim's node has joined. Those that are there at the start have been counted before.
    pub(super) fn note_joined(&mut self, claim: &NodeClaim) {
        if claim.phase() < ClaimPhase::Registered {
            return;
        }
        let was_known = std::mem::replace(&mut self.notes.of(&claim.name).joined, true);
        let counts = !was_known && self.synced.is_some();
        if counts && self.statuses.health.joined(&claim.pool) {
            self.statuses.look_at(&ObjectKey::Pool(claim.pool.clone()));
        }
    }

    /// Counts, once, that a claim's node has not joined in time.
    pub(super) fn note_late(&mut self, name: &ClaimName) {
        let Some(claim) = self.cluster.claims.get(name).cloned() else {
            return;
        };
        if std::mem::replace(&mut self.notes.of(name).late, true) {
            return;
        }
        let launched = claim.conditions.get(ConditionType::Launched);
        let why = launched.filter(|_| claim.phase() == ClaimPhase::Created);
        let (reason, words) = match why {
            Some(why) if !why.reason.is_empty() => (&*why.reason, why.message.to_string()),
            _ => (
                "RegistrationFailed",
                format!("the node of claim {name} did not join in time"),
            ),
        };
        if self.statuses.health.failed(&claim.pool, reason, &words) {
            self.statuses.look_at(&ObjectKey::Pool(claim.pool.clone()));
        }
    }

    pub(super) fn step_statuses(&mut self, now: Timestamp, actions: &mut Vec<Action>) {
        self.judge_overlays();
        let due = self.statuses.take_due(now);
        for object in due {
            let Some(seen) = self.cluster.status(&object).cloned() else {
                self.statuses.forget(&object);
                continue;
            };
            let change = match &object {
                ObjectKey::Pool(name) => {
                    self.remark_on_pool(name, now, actions);
                    self.pool_status(name, &seen, now)
                }
                ObjectKey::Overlay(name) => self.overlay_status(name, &seen),
                ObjectKey::Buffer(name) => self.buffer_status(name, &seen, now),
                _ => None,
            };
            if let Some(change) = change {
                self.change_status(object, &seen, change, now, actions);
            }
        }
    }

    fn change_status(
        &mut self,
        object: ObjectKey,
        seen: &SeenStatus,
        change: StatusChange,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        let want = Want {
            object: object.clone(),
            uid: seen.uid.clone(),
            purpose: Purpose::MarkStatus,
            version: Some(seen.version),
            request: Request::Write(Write::ChangeStatus(object.clone(), Box::new(change))),
        };
        if let Some(at) = self.order(want, now, actions) {
            self.statuses.look_again(object, at);
        }
    }
}
