//! Objects of one kind by key, with versions: the latest word counts, in whatever order words arrive.

use std::borrow::Borrow;
use std::hash::Hash;
use std::sync::Arc;

use plimsoll_model::{Keyed, Version};

use super::name_index::NameIndex;

/// Deletions remembered per kind. An older event about a forgotten one would be a watch that runs thousands of deletions late.
const REMEMBERED_DELETIONS: usize = 8192;

/// An object and the version it was seen at.
#[derive(Debug, PartialEq)]
pub struct Seen<T> {
    /// The object.
    pub object: Arc<T>,
    /// Its version.
    pub version: Version,
}

impl<T> Clone for Seen<T> {
    fn clone(&self) -> Self {
        Self {
            object: Arc::clone(&self.object),
            version: self.version,
        }
    }
}

/// Objects of one kind.
#[derive(Clone, Debug)]
pub struct Store<T: Keyed> {
    rows: NameIndex<T::Key, Seen<T>>,
    gone: NameIndex<T::Key, Version>,
    revision: u64,
}

impl<T: Keyed> Default for Store<T> {
    fn default() -> Self {
        Self {
            rows: NameIndex::default(),
            gone: NameIndex::default(),
            revision: 0,
        }
    }
}

impl<T: Keyed + PartialEq> Store<T> {
    /// Takes in an object. `None` when it tells nothing new; otherwise what was there before.
    pub fn apply(&mut self, object: Arc<T>, version: Version) -> Option<Option<Arc<T>>> {
        let key = object.key();
        if self.gone.get(&key).is_some_and(|gone| version <= *gone) {
            return None;
        }
        if let Some(have) = self.rows.get_mut(&key) {
            if version < have.version || (version == have.version && object == have.object) {
                return None;
            }
            have.version = version;
            if object == have.object {
                return None;
            }
            self.revision += 1;
            return Some(Some(std::mem::replace(&mut have.object, object)));
        }
        self.revision += 1;
        self.gone.remove(&key);
        self.rows.insert(key, Seen { object, version });
        Some(None)
    }

    /// Takes in a deletion. `None` when it is older than what is known; otherwise what was there.
    pub fn remove(&mut self, key: &T::Key, version: Version) -> Option<Arc<T>> {
        if self
            .rows
            .get(key)
            .is_some_and(|have| version < have.version)
        {
            return None;
        }
        let gone = self.gone.get_or_default(key);
        *gone = version.max(*gone);
        let removed = self.rows.remove(key).map(|seen| seen.object);
        self.revision += u64::from(removed.is_some());
        self.forget_old_deletions();
        removed
    }

    fn forget_old_deletions(&mut self) {
        if self.gone.len() <= REMEMBERED_DELETIONS {
            return;
        }
        let gone = self.gone.unordered();
        let mut versions: Vec<Version> = gone.map(|(_, version)| *version).collect();
        versions.sort_unstable();
        let middle = versions[versions.len() / 2];
        self.gone.retain(|_, version| *version > middle);
    }

    /// An object by key.
    pub fn get<Q: Ord + Hash + ?Sized>(&self, key: &Q) -> Option<&Arc<T>>
    where
        T::Key: Borrow<Q>,
    {
        self.rows.get(key).map(|seen| &seen.object)
    }

    /// An object by key, with its version.
    pub fn seen<Q: Ord + Hash + ?Sized>(&self, key: &Q) -> Option<&Seen<T>>
    where
        T::Key: Borrow<Q>,
    {
        self.rows.get(key)
    }

    /// Objects in an order that means nothing, though it is the same in every run.
    pub fn unordered(&self) -> impl Iterator<Item = &Arc<T>> {
        self.rows.unordered().map(|(_, seen)| &seen.object)
    }

    /// Objects in key order. Takes a sort.
    pub fn sorted(&self) -> Vec<&Arc<T>> {
        let rows = self.rows.sorted().into_iter();
        rows.map(|(_, seen)| &seen.object).collect()
    }

    /// Objects in key order, to be kept. Takes a sort.
    pub fn objects(&self) -> Vec<Arc<T>> {
        self.sorted().into_iter().cloned().collect()
    }

    /// Number of changes so far: equal numbers mean equal objects.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// `true` if there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq)]
    struct Row(&'static str, u32);

    impl Keyed for Row {
        type Key = &'static str;

        fn key(&self) -> Self::Key {
            self.0
        }
    }

    fn a(value: u32) -> Arc<Row> {
        Arc::new(Row("a", value))
    }

    #[test]
    fn an_older_event_does_not_undo_a_newer_one() {
        let mut store = Store::default();
        store.apply(a(2), Version(5));
        assert!(store.apply(a(1), Version(4)).is_none());
        assert_eq!(store.get(&"a"), Some(&a(2)));
    }

    #[test]
    fn an_event_from_before_the_deletion_does_not_bring_the_object_back() {
        let mut store = Store::default();
        store.apply(a(1), Version(1));
        assert!(store.remove(&"a", Version(3)).is_some());
        assert!(store.apply(a(1), Version(2)).is_none());
        assert!(store.is_empty());
        assert!(store.apply(a(7), Version(4)).is_some());
    }

    #[test]
    fn a_repeated_event_tells_nothing_new() {
        let mut store = Store::default();
        assert!(store.apply(a(1), Version(1)).is_some());
        assert!(store.apply(a(1), Version(1)).is_none());
        assert!(store.apply(a(1), Version(2)).is_none());
    }
}
