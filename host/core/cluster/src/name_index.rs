//! Values by name, for look-ups: a fixed hash of the name comes before the name.
//!
//! Names of one cluster are long and begin alike, and each is a text of its own somewhere in memory. A map in the order of names
//! reads dozens of them for one look-up, so that the larger the cluster the dearer it is. Here numbers are compared that stand
//! side by side, and one name at the end. Names whose hash is taken stand in a second map, in their own order, so that no
//! choice of names makes look-ups slow.
//!
//! The order of rows is the same in every run and means nothing: output sorts them.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::hash::Hash;

use plimsoll_base::fixed_hash::order_of;

/// Values by name, in no order that means anything.
#[derive(Clone, Debug)]
pub struct NameIndex<K, V> {
    by_hash: BTreeMap<u64, (K, V)>,
    /// Names that came while another had their hash. A name is in one of both.
    clashing: BTreeMap<K, V>,
}

impl<K, V> Default for NameIndex<K, V> {
    fn default() -> Self {
        Self {
            by_hash: BTreeMap::new(),
            clashing: BTreeMap::new(),
        }
    }
}

impl<K: Ord + Hash, V> NameIndex<K, V> {
    /// The value of a name; `None` where it has none.
    pub fn get<Q: Ord + Hash + ?Sized>(&self, name: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        match self.by_hash.get(&order_of(name)) {
            Some((have, value)) if have.borrow() == name => Some(value),
            _ => self.clashing.get(name),
        }
    }

    /// The value of a name, to be changed; `None` where it has none.
    pub fn get_mut<Q: Ord + Hash + ?Sized>(&mut self, name: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        match self.by_hash.get_mut(&order_of(name)) {
            Some((have, value)) if (*have).borrow() == name => Some(value),
            _ => self.clashing.get_mut(name),
        }
    }

    /// The value of a name, to be changed, made where it has none.
    pub fn get_or_default(&mut self, name: &K) -> &mut V
    where
        K: Clone,
        V: Default,
    {
        if self.clashing.contains_key(name) {
            return self.clashing.entry(name.clone()).or_default();
        }
        let own = self.by_hash.entry(order_of(name));
        let (have, value) = own.or_insert_with(|| (name.clone(), V::default()));
        if have == name {
            value
        } else {
            self.clashing.entry(name.clone()).or_default()
        }
    }

    /// Sets the value of a name; the one that it had, if any.
    pub fn insert(&mut self, name: K, value: V) -> Option<V> {
        if let Some(have) = self.get_mut(&name) {
            return Some(std::mem::replace(have, value));
        }
        match self.by_hash.entry(order_of(&name)) {
            Entry::Vacant(free) => {
                free.insert((name, value));
            }
            Entry::Occupied(_) => {
                self.clashing.insert(name, value);
            }
        }
        None
    }

    /// Takes a name out; the value that it had, if any.
    pub fn remove<Q: Ord + Hash + ?Sized>(&mut self, name: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        match self.by_hash.entry(order_of(name)) {
            Entry::Occupied(own) if own.get().0.borrow() == name => Some(own.remove().1),
            _ => self.clashing.remove(name),
        }
    }

    /// How many names have a value.
    pub fn len(&self) -> usize {
        self.by_hash.len() + self.clashing.len()
    }

    /// `true` if no name has a value.
    pub fn is_empty(&self) -> bool {
        self.by_hash.is_empty() && self.clashing.is_empty()
    }

    /// Names and values in an order that means nothing.
    pub fn unordered(&self) -> impl Iterator<Item = (&K, &V)> {
        let own = self.by_hash.values().map(|(name, value)| (name, value));
        own.chain(&self.clashing)
    }

    /// Values in an order that means nothing, to be changed.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        let own = self.by_hash.values_mut().map(|(_, value)| value);
        own.chain(self.clashing.values_mut())
    }

    /// Names and values by name. Takes a sort.
    pub fn sorted(&self) -> Vec<(&K, &V)> {
        let mut rows: Vec<_> = self.unordered().collect();
        rows.sort_unstable_by_key(|(name, _)| *name);
        rows
    }

    /// Keeps names that a question is answered yes for.
    pub fn retain(&mut self, mut is_kept: impl FnMut(&K, &V) -> bool) {
        self.by_hash.retain(|_, (name, value)| is_kept(name, value));
        self.clashing.retain(|name, value| is_kept(name, value));
    }
}

#[cfg(test)]
mod tests {
    use std::hash::Hasher;

    use proptest::prelude::*;

    use super::*;

    /// A name whose hash is that of many others.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    struct Clashing(u8);

    impl Hash for Clashing {
        fn hash<H: Hasher>(&self, state: &mut H) {
            (self.0 % 2).hash(state);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn names_are_told_apart_though_their_hashes_are_the_same(
            steps in proptest::collection::vec((0..4_u8, 0..6_u8), 1..60),
        ) {
            let mut index = NameIndex::default();
            let mut expected = BTreeMap::new();
            for (value, (kind, name)) in steps.into_iter().enumerate() {
                let name = Clashing(name);
                match kind {
                    0 => prop_assert_eq!(index.insert(name, value), expected.insert(name, value)),
                    1 => prop_assert_eq!(index.remove(&name), expected.remove(&name)),
                    2 => {
                        let (own, other) = (index.get_or_default(&name), expected.entry(name).or_default());
                        prop_assert_eq!(&own, &other);
                        (*own, *other) = (value, value);
                    }
                    _ => {
                        index.retain(|have, _| *have != name);
                        expected.retain(|have, _| *have != name);
                    }
                }
                prop_assert_eq!(index.sorted(), expected.iter().collect::<Vec<_>>());
                prop_assert_eq!(index.len(), expected.len());
                for name in (0..6).map(Clashing) {
                    prop_assert_eq!(index.get(&name), expected.get(&name));
                    prop_assert_eq!(index.get_mut(&name), expected.get_mut(&name));
                }
            }
        }
    }
}
