//! Statuses of pools, overlays and buffers, kept apart from the objects: decisions do not read them, so that the objects stay as they
//! were when only their status changes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plimsoll_base::ids::Uid;
use plimsoll_model::action::ObjectKey;
use plimsoll_model::{CapacityBuffer, HasStatus, NodeOverlay, NodePool, Status, Version};

/// A status as it was last seen.
#[derive(Clone, Debug, PartialEq)]
pub struct SeenStatus {
    /// Uid of the object; `None` for kinds whose uids are not read.
    pub uid: Option<Uid>,
    /// Version of the object.
    pub version: Version,
    /// The status.
    pub status: Status,
}

/// Statuses by object.
#[derive(Clone, Debug, Default)]
pub(super) struct Statuses {
    seen: BTreeMap<ObjectKey, SeenStatus>,
    touched: BTreeSet<ObjectKey>,
}

/// An object whose status is kept.
pub(super) trait Identified: HasStatus {
    /// The object, and its uid where that is read.
    fn identity(&self) -> (ObjectKey, Option<Uid>);
}

impl Identified for NodePool {
    fn identity(&self) -> (ObjectKey, Option<Uid>) {
        (ObjectKey::Pool(self.name.clone()), Some(self.uid.clone()))
    }
}

impl Identified for NodeOverlay {
    fn identity(&self) -> (ObjectKey, Option<Uid>) {
        (ObjectKey::Overlay(Arc::clone(&self.name)), None)
    }
}

impl Identified for CapacityBuffer {
    fn identity(&self) -> (ObjectKey, Option<Uid>) {
        (ObjectKey::Buffer(self.name.clone()), Some(self.uid.clone()))
    }
}

impl Statuses {
    /// Takes an object's status off it and keeps it, unless a later one is known.
    pub(super) fn take<T: Identified>(&mut self, mut object: Arc<T>, version: Version) -> Arc<T> {
        let (key, uid) = object.identity();
        let status = T::take_status(&mut object);
        let seen = SeenStatus {
            uid,
            version,
            status,
        };
        let known = self.seen.get(&key);
        if known.is_none_or(|known| known.version < version) {
            self.touched.insert(key.clone());
            self.seen.insert(key, seen);
        }
        object
    }

    /// An object is no more, as of a version.
    pub(super) fn remove(&mut self, key: &ObjectKey, version: Version) {
        let known = self.seen.get(key);
        if known.is_some_and(|known| known.version <= version) {
            self.seen.remove(key);
            self.touched.insert(key.clone());
        }
    }

    /// The status of an object as it was last seen.
    pub(super) fn get(&self, key: &ObjectKey) -> Option<&SeenStatus> {
        self.seen.get(key)
    }

    /// Objects whose status was seen anew, or that are no more, since this was last asked.
    pub(super) fn take_touched(&mut self) -> BTreeSet<ObjectKey> {
        std::mem::take(&mut self.touched)
    }
}
