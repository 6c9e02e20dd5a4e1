//! Statuses of pools, overlays and buffers at the API server, and the classes that pools name.
//!
//! A new specification is a new generation and leaves the status as it is; a write of the status leaves the specification. A pool that
//! a recording calls not ready is one whose class is not.

use std::sync::Arc;

use plimsoll_base::time::Timestamp;
use plimsoll_engine::Input;
use plimsoll_model::action::{ObjectKey, Outcome, Reason, StatusChange};
use plimsoll_model::provider::ClassStatus;
use plimsoll_model::{
    ClassRef, Condition, ConditionStatus, ConditionType, HasStatus, NodePool, Object, Stamp, Status,
};

use crate::execute::done;
use crate::world::World;

/// The object as orders about its status name it; `None` for kinds that have none of ours.
pub(crate) fn key(object: &Object) -> Option<ObjectKey> {
    match object {
        Object::Pool(pool) => Some(ObjectKey::Pool(pool.name.clone())),
        Object::Overlay(overlay) => Some(ObjectKey::Overlay(Arc::clone(&overlay.name))),
        Object::Buffer(buffer) => Some(ObjectKey::Buffer(buffer.name.clone())),
        _ => None,
    }
}

/// An object as it is applied over one that is there.
pub(crate) fn applied(before: Option<&Object>, object: Object) -> Object {
    match (before, object) {
        (Some(Object::Pool(before)), Object::Pool(mut pool)) => {
            if !before.status.conditions.is_empty() {
                Arc::make_mut(&mut pool).ready = before.ready;
            }
            over(before, pool).into()
        }
        (Some(Object::Overlay(before)), Object::Overlay(overlay)) => over(before, overlay).into(),
        (Some(Object::Buffer(before)), Object::Buffer(buffer)) => over(before, buffer).into(),
        (_, object) => object,
    }
}

fn over<T: HasStatus + PartialEq>(before: &Arc<T>, object: Arc<T>) -> T {
    let mut object = Arc::unwrap_or_clone(object);
    object.status_mut().clone_from(before.status());
    if object != **before {
        object.status_mut().generation += 1;
    }
    object
}

impl World {
    /// Brings a status to what it is to be.
    pub(crate) fn bring_status(&mut self, key: &ObjectKey, change: &StatusChange) -> Outcome {
        let now = self.now;
        let Some(object) = self.api.other(key) else {
            return Outcome::Refused(Reason::NotFound);
        };
        let changed = match object.clone() {
            Object::Pool(pool) => {
                let mut pool = NodePool::clone(&pool);
                bring(&mut pool.status, change, ConditionType::OF_POOLS, now);
                let ready = pool.status.conditions.get(ConditionType::Ready);
                pool.ready = ready.is_none_or(|ready| ready.status == ConditionStatus::True);
                Object::from(pool)
            }
            Object::Overlay(mut overlay) => {
                let status = Arc::make_mut(&mut overlay).status_mut();
                bring(status, change, ConditionType::OF_OVERLAYS, now);
                Object::Overlay(overlay)
            }
            Object::Buffer(mut buffer) => {
                let status = Arc::make_mut(&mut buffer).status_mut();
                bring(status, change, ConditionType::OF_BUFFERS, now);
                Object::Buffer(buffer)
            }
            other => other,
        };
        if changed != *object {
            self.api.put_status(changed.clone());
        }
        done(changed, self.api.version_of_status(key).unwrap_or_default())
    }

    /// A pool is there, or another than it was: its class is as ready as it says.
    pub(crate) fn class_of(&mut self, pool: &NodePool) {
        let before = self.classes.insert(pool.class.clone(), pool.ready);
        if before != Some(pool.ready) {
            self.announcements.push(self.told_classes());
        }
    }

    /// All classes, as the provider tells of them.
    pub(crate) fn told_classes(&self) -> Input {
        let told = |(class, is_ready): (&ClassRef, &bool)| {
            let (status, reason) = if *is_ready {
                (ConditionStatus::True, "Ready")
            } else {
                (ConditionStatus::False, "NotReady")
            };
            let ready = Condition {
                status,
                reason: Arc::from(reason),
                message: Arc::from(""),
                since: Timestamp::default(),
                generation: Some(1),
            };
            let status = ClassStatus {
                generation: 1,
                deleting: false,
                ready: Some(ready),
            };
            (class.clone(), status)
        };
        Input::Classes(self.classes.iter().map(told).collect())
    }
}

fn bring(status: &mut Status, change: &StatusChange, dependents: &[ConditionType], now: Timestamp) {
    status.nodes = change.nodes().or(status.nodes);
    if let Some(resources) = &change.resources {
        status.resources.clone_from(resources);
    }
    status.class_generation = change.class_generation.or(status.class_generation);
    status.units = change.units.or(status.units);
    status.memory.extend(change.memory.clone());
    status.memory.retain(|_, text| !text.is_empty());
    if change.template.is_some() {
        status.template.clone_from(&change.template);
    }
    let generation = status.generation;
    let says = |desired| status.conditions.says_of(desired, generation);
    if !change.conditions.iter().all(says) {
        let stamp = Stamp {
            created: Timestamp::default(),
            now,
            generation,
            deleting: false,
        };
        status
            .conditions
            .say(&change.conditions, dependents, &stamp);
    }
}
