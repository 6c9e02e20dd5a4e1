//! One table of shared values, so that equal strings, label sets and pod specifications are held once.
//!
//! A cluster of 50,000 pods has a few hundred templates; without sharing their specifications alone would take hundreds
//! of megabytes. What nothing else holds any more is forgotten from time to time, so that objects which come and go leave
//! nothing. The tables are never iterated otherwise, so their order cannot be seen.

use std::borrow::Borrow;
use std::collections::HashSet;
use std::collections::hash_map::DefaultHasher;
use std::hash::{BuildHasherDefault, Hash};
use std::sync::Arc;

use plimsoll_base::labels::Labels;
use plimsoll_base::resources::ResourceName;
use plimsoll_model::PodSpec;

/// A set with the same hashes in every process.
type Table<T> = HashSet<T, BuildHasherDefault<DefaultHasher>>;

/// Amount that a scheduler counts of a pod whose resize is under way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ResizeRule {
    /// The larger amount of each container: Kubernetes up to 1.36.
    ByContainer,
    /// The larger amount of the pod: Kubernetes from 1.37 on.
    ByPod,
    /// The larger of both, where the scheduler's version is not known, as in files.
    #[default]
    Larger,
}

/// Shares equal values among the objects that are read through it.
#[derive(Debug, Default)]
pub struct Interner {
    texts: Table<Arc<str>>,
    labels: Table<Arc<Labels>>,
    specs: Table<Arc<PodSpec>>,
    /// Number of values from which the next look is for those that nothing holds.
    look_at: usize,
    /// The rule by which the scheduler of these objects counts resizes.
    pub resizes: ResizeRule,
}

/// Number of values up to which none is forgotten.
const FEW: usize = 4096;

impl Interner {
    /// An empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of values that are held.
    pub fn len(&self) -> usize {
        self.texts.len() + self.labels.len() + self.specs.len()
    }

    /// `true` if no value is held.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Forgets values that nothing else holds, each time that there are twice as many as were left before. Whole ones go first, since
    /// they hold the texts that they are made of.
    fn forget_unused(&mut self) {
        if self.len() < self.look_at.max(FEW) {
            return;
        }
        self.specs.retain(|spec| Arc::strong_count(spec) > 1);
        self.labels.retain(|labels| Arc::strong_count(labels) > 1);
        self.texts.retain(|text| Arc::strong_count(text) > 1);
        self.look_at = 2 * self.len();
    }

    /// The shared copy of a text.
    pub fn text(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.texts.get(text) {
            return Arc::clone(known);
        }
        self.forget_unused();
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
        self.forget_unused();
        share(&mut self.labels, labels)
    }

    /// The shared copy of a pod specification.
    pub fn spec(&mut self, spec: PodSpec) -> Arc<PodSpec> {
        self.forget_unused();
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

    #[test]
    fn values_that_nobody_holds_any_more_are_forgotten_and_others_stay_shared() {
        let mut interner = Interner::new();
        let entries = |name: String| [("job".to_owned(), name)];
        let kept = entries("kept".to_owned());
        let held = interner.labels(kept.iter().map(|(key, value)| (key, value)));
        for number in 0..100_000 {
            let own = entries(format!("job-{number}"));
            interner.labels(own.iter().map(|(key, value)| (key, value)));
            interner.text(&format!("uid-{number}"));
        }
        assert!(interner.len() <= FEW, "{} values", interner.len());
        let again = interner.labels(kept.iter().map(|(key, value)| (key, value)));
        assert!(Arc::ptr_eq(&held, &again));
    }
}
