//! One table of shared values, so that equal strings, label sets and pod specifications are held once.
//!
//! A cluster of 50,000 pods has a few hundred templates; without sharing their specifications alone would take hundreds
//! of megabytes. The tables are never iterated, so their order cannot be seen.

use std::borrow::Borrow;
use std::collections::HashSet;
use std::collections::hash_map::DefaultHasher;
use std::hash::{BuildHasherDefault, Hash};
use std::sync::Arc;

use plimsoll_core::labels::Labels;
use plimsoll_core::model::PodSpec;
use plimsoll_core::resources::ResourceName;

/// A set with the same hashes in every process.
type Table<T> = HashSet<T, BuildHasherDefault<DefaultHasher>>;

/// Shares equal values among the objects that are read through it.
#[derive(Debug, Default)]
pub struct Interner {
    texts: Table<Arc<str>>,
    labels: Table<Arc<Labels>>,
    specs: Table<Arc<PodSpec>>,
}

impl Interner {
    /// An empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// The shared copy of a text.
    pub fn text(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.texts.get(text) {
            return Arc::clone(known);
        }
        let made: Arc<str> = Arc::from(text);
        self.texts.insert(Arc::clone(&made));
        made
    }

    /// A map of texts with keys and values shared, the map itself not.
    pub fn map<'a>(
        &mut self,
        entries: impl IntoIterator<Item = (&'a String, &'a String)>,
    ) -> Labels {
        entries
            .into_iter()
            .map(|(key, value)| (self.text(key), self.text(value)))
            .collect()
    }

    /// The shared copy of a set of labels.
    pub fn labels<'a>(
        &mut self,
        entries: impl IntoIterator<Item = (&'a String, &'a String)>,
    ) -> Arc<Labels> {
        let labels = self.map(entries);
        share(&mut self.labels, labels)
    }

    /// The shared copy of a pod specification.
    pub fn spec(&mut self, spec: PodSpec) -> Arc<PodSpec> {
        share(&mut self.specs, spec)
    }

    /// The name of a resource, its text shared.
    pub fn resource(&mut self, name: &str) -> ResourceName {
        match ResourceName::from(name) {
            ResourceName::Other(_) => ResourceName::Other(self.text(name)),
            known => known,
        }
    }
}

fn share<T: Hash + Eq>(table: &mut Table<Arc<T>>, value: T) -> Arc<T>
where
    Arc<T>: Borrow<T>,
{
    if let Some(known) = table.get(&value) {
        return Arc::clone(known);
    }
    let made = Arc::new(value);
    table.insert(Arc::clone(&made));
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_specifications_and_labels_share_one_copy() {
        let mut interner = Interner::new();
        let spec = |priority| PodSpec {
            priority,
            ..PodSpec::default()
        };
        let first = interner.spec(spec(1));
        assert!(Arc::ptr_eq(&first, &interner.spec(spec(1))));
        assert!(!Arc::ptr_eq(&first, &interner.spec(spec(2))));
        let entries = [("app".to_owned(), "web".to_owned())];
        let pairs = || entries.iter().map(|(key, value)| (key, value));
        let labels = interner.labels(pairs());
        assert!(Arc::ptr_eq(&labels, &interner.labels(pairs())));
    }
}
