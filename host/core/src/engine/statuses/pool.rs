//! Status of a pool: its conditions, and the capacity of its nodes.
//!
//! Reasons are the incumbent's, as are the rules of what counts: instances that are there and neither deleting nor about to be, each
//! with what its node has once that is complete, and what its claim says before.

use std::collections::{BTreeMap, BTreeSet};

use super::super::Engine;
use super::validation;
use crate::action::{ObjectKey, StatusChange};
use crate::ids::PoolName;
use crate::model::{
    ClaimPhase, ConditionStatus, ConditionType, DesiredCondition, NodeClaim, NodePool,
};
use crate::provider::ClassStatus;
use crate::resources::{ResourceName, Resources};
use crate::state::SeenStatus;
use crate::time::{Span, Timestamp};

/// The least time between two counts of a pool's capacity.
const COUNTED: Span = Span::from_secs(5);
/// Resources that are told of every pool, of one without nodes, too.
const TOLD: [ResourceName; 5] = [
    ResourceName::Cpu,
    ResourceName::Memory,
    ResourceName::Pods,
    ResourceName::EphemeralStorage,
    ResourceName::Nodes,
];

impl Engine {
    /// Conditions that say whether a pool may be used; `None` where nothing is known of classes, and for pools of others.
    pub(super) fn pool_conditions(&self, pool: &NodePool) -> Option<[DesiredCondition; 2]> {
        let classes = self.statuses.classes.as_ref()?;
        let catalogues = self.market.catalogues();
        if !catalogues.serves(&pool.class) {
            return None;
        }
        let valid = ConditionType::ValidationSucceeded;
        let valid = match validation::fault(pool, catalogues.provider()) {
            None => DesiredCondition::holds(valid),
            Some(fault) => DesiredCondition::fails(valid, "NodePoolValidationFailed", &fault),
        };
        Some([valid, of_class(pool, classes.get(&pool.class))])
    }

    /// The change that brings a pool's status to what it is to be; `None` where it is so, and for pools of others.
    pub(super) fn pool_status(
        &mut self,
        name: &PoolName,
        seen: &SeenStatus,
        capacity: Option<&Resources>,
        now: Timestamp,
    ) -> Option<StatusChange> {
        let pool = self.cluster.pools.get(name.as_str()).cloned()?;
        if !self.market.catalogues().serves(&pool.class) {
            return None;
        }
        let status = &seen.status;
        if capacity.is_some_and(|all| *all == status.resources) {
            self.statuses.uncounted.remove(name);
        }
        let class = self.statuses.classes.as_ref();
        let class = class.and_then(|classes| classes.get(&pool.class));
        let class = class.map(|class| class.generation);
        let mut conditions: Vec<DesiredCondition> = Vec::new();
        if let Some(own) = self.pool_conditions(&pool) {
            let is_ready = own.iter().all(DesiredCondition::is_true);
            conditions.extend(own);
            let health = &mut self.statuses.health;
            conditions.push(health.condition(&pool, status, class));
            self.cluster.set_ready(name, is_ready);
        }
        conditions.retain(|said| !status.conditions.says_of(said, status.generation));
        let asked = self.statuses.gone_asks.text(name, now);
        let change = StatusChange {
            asked: asked.filter(|text| status.asked.as_ref() != Some(text)),
            conditions,
            resources: capacity.filter(|all| **all != status.resources).cloned(),
            class_generation: class.filter(|own| Some(*own) != status.class_generation),
            ..StatusChange::default()
        };
        (change != StatusChange::default()).then_some(change)
    }

    /// Capacity of the pools among these whose status is to say it anew; others are looked at again when that is due.
    pub(super) fn capacities(
        &mut self,
        due: &BTreeSet<ObjectKey>,
        now: Timestamp,
    ) -> BTreeMap<PoolName, Resources> {
        let nothing: Resources = TOLD.into_iter().map(|name| (name, 0)).collect();
        let mut sums = BTreeMap::new();
        for object in due {
            let ObjectKey::Pool(name) = object else {
                continue;
            };
            if !self.statuses.uncounted.contains(name) {
                continue;
            }
            let last = self.statuses.counted.get(name);
            let next = last.map_or(now, |last| *last + COUNTED);
            if next <= now {
                sums.insert(name.clone(), nothing.clone());
                self.statuses.counted.insert(name.clone(), now);
            } else {
                self.statuses.look_again(object.clone(), next);
            }
        }
        if sums.is_empty() {
            return sums;
        }
        for claim in self.cluster.claims.unordered() {
            let Some(sum) = sums.get_mut(&claim.pool) else {
                continue;
            };
            if let Some(capacity) = self.capacity(claim) {
                let nodes = sum.get(&ResourceName::Nodes) + 1;
                sum.add(capacity);
                sum.set(ResourceName::Nodes, nodes);
            }
        }
        sums
    }

    /// What a claim's node counts for in its pool; `None` where it does not.
    fn capacity<'e>(&'e self, claim: &'e NodeClaim) -> Option<&'e Resources> {
        let stays = claim.deleting.is_none() && self.cluster.marked(&claim.name).is_none();
        if !stays || claim.provider_id.is_none() {
            return None;
        }
        let complete = claim.phase() == ClaimPhase::Initialized;
        let node = self.cluster.nodes_of(claim).first().filter(|_| complete);
        Some(node.map_or(&claim.capacity, |node| &node.capacity))
    }
}

/// Whether a pool's class can be used, and otherwise why not, by name.
fn of_class(pool: &NodePool, class: Option<&ClassStatus>) -> DesiredCondition {
    let kind = ConditionType::NodeClassReady;
    let named = format!("{} {}", pool.class.kind, pool.class.name);
    let fails = |reason: &str, words: &str| {
        DesiredCondition::fails(kind, reason, &format!("{named} {words}"))
    };
    let Some(class) = class else {
        return fails("NodeClassNotFound", "does not exist");
    };
    if class.deleting {
        return fails("NodeClassTerminating", "is being deleted");
    }
    let ready = class.ready.as_ref();
    match ready.map(|ready| (ready.status, ready)) {
        Some((ConditionStatus::True, _)) => DesiredCondition::holds(kind),
        Some((ConditionStatus::False, ready)) => {
            let reason = if ready.reason.is_empty() {
                "NodeClassNotReady"
            } else {
                &ready.reason
            };
            fails(reason, &format!("is not ready: {}", ready.message))
        }
        Some((ConditionStatus::Unknown, _)) | None => fails(
            "NodeClassReadinessUnknown",
            "does not say whether it is ready",
        ),
    }
}
