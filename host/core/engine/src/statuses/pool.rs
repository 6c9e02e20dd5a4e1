//! Status of a pool: its conditions, and the capacity of its nodes.
//!
//! Reasons are Karpenter's.

use std::sync::Arc;

use plimsoll_base::ids::PoolName;
use plimsoll_base::labels::Labels;
use plimsoll_base::resources::Resources;
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_cluster::SeenStatus;
use plimsoll_model::action::{ObjectKey, StatusChange};
use plimsoll_model::provider::ClassStatus;
use plimsoll_model::{
    ASKED_ANNOTATION, ConditionStatus, ConditionType, DesiredCondition, NodePool,
    UNDERSIZED_ANNOTATION,
};

use super::super::Engine;
use super::validation;

/// The least time between two looks at a pool's capacity: as long as in Karpenter.
const COUNTED: Span = Span::from_secs(5);

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
            None => {
                DesiredCondition::holds_since(valid, valid.as_str(), &validation::remarks(pool))
            }
            Some(fault) => DesiredCondition::fails(valid, "NodePoolValidationFailed", &fault),
        };
        Some([valid, of_class(pool, classes.get(&pool.class))])
    }

    /// The change that brings a pool's status to what it is to be; `None` where it is so, and for pools of others.
    pub(super) fn pool_status(
        &mut self,
        name: &PoolName,
        seen: &SeenStatus,
        now: Timestamp,
    ) -> Option<StatusChange> {
        let pool = self.cluster.pools.get(name.as_str()).cloned()?;
        if !self.market.catalogues().serves(&pool.class) {
            return None;
        }
        let status = &seen.status;
        let capacity = self.unsaid_capacity(name, &status.resources, now);
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
        let change = StatusChange {
            memory: self.unsaid_memory(&pool, &status.memory, now),
            conditions,
            resources: capacity,
            class_generation: class.filter(|own| Some(*own) != status.class_generation),
            ..StatusChange::default()
        };
        (change != StatusChange::default()).then_some(change)
    }

    /// Annotations for the next process that a pool does not have as they are to be; those to be taken off are empty.
    fn unsaid_memory(&mut self, pool: &NodePool, said: &Labels, now: Timestamp) -> Labels {
        let asked = self.statuses.gone_asks.text(&pool.name, now);
        let undersized = self.undersized.text(&pool.name);
        let wanted = [
            asked.map(|text| (Arc::from(ASKED_ANNOTATION), text)),
            Some((Arc::from(UNDERSIZED_ANNOTATION), undersized)),
        ];
        let wanted = wanted.into_iter().flatten();
        let wanted = wanted.chain(self.pool_hash(pool, said, now));
        let says = |key: &Arc<str>| said.get(key).map_or("", AsRef::as_ref);
        wanted.filter(|(key, text)| says(key) != &**text).collect()
    }

    /// What a pool's nodes have, where that is not what it says and is to be said now; a pool that said it a moment ago is looked at
    /// again once it is due.
    fn unsaid_capacity(
        &mut self,
        pool: &PoolName,
        said: &Resources,
        now: Timestamp,
    ) -> Option<Resources> {
        if !self.statuses.uncounted.contains(pool) {
            return None;
        }
        let last = self.statuses.counted.get(pool);
        let next = last.map_or(now, |last| *last + COUNTED);
        if next > now {
            let object = ObjectKey::Pool(pool.clone());
            self.statuses.look_again(object, next);
            return None;
        }
        self.statuses.counted.insert(pool.clone(), now);
        let capacity = self.cluster.capacity(pool);
        if capacity == *said {
            self.statuses.uncounted.remove(pool);
            return None;
        }
        Some(capacity)
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
