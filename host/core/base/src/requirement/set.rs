//! Requirements on many keys, and when one set is compatible with another.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::one::Requirement;
use crate::labels::LabelKey;

/// Requirements by key; a key that is absent allows anything.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Requirements {
    by_key: BTreeMap<LabelKey, Requirement>,
}

/// Keys that the left side of a compatibility test may leave undefined although the right side asks for them.
#[derive(Clone, Copy)]
pub enum Undefined<'a> {
    /// None: an existing node has the labels it has.
    Refused,
    /// Those for which the function says yes: a new node will have every well-known label.
    Allowed(&'a dyn Fn(&LabelKey) -> bool),
    /// All: only keys on both sides are compared.
    Ignored,
}

impl Undefined<'_> {
    fn allows(self, key: &LabelKey) -> bool {
        match self {
            Self::Refused => false,
            Self::Allowed(allows) => allows(key),
            Self::Ignored => true,
        }
    }
}

/// The first key on which two sets disagree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Incompatible {
    /// The requirement that was asked.
    pub asked: Requirement,
    /// The requirement that stands against it; `None` when the key is not known at all.
    pub have: Option<Requirement>,
}

impl fmt::Display for Incompatible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.have {
            Some(have) => write!(f, "asks {}, there is {have}", self.asked),
            None => write!(f, "asks {}, a label that is not known here", self.asked),
        }
    }
}

impl Requirements {
    /// No requirement.
    pub const fn new() -> Self {
        Self {
            by_key: BTreeMap::new(),
        }
    }

    /// Each label as `In [value]`.
    pub fn from_labels<'a>(labels: impl IntoIterator<Item = (&'a Arc<str>, &'a Arc<str>)>) -> Self {
        let one = |(key, value): (&Arc<str>, &Arc<str>)| {
            Requirement::one_of(LabelKey::from(key.as_ref()), [Arc::clone(value)])
        };
        labels.into_iter().map(one).collect()
    }

    /// Narrows by one more requirement.
    pub fn add(&mut self, requirement: Requirement) {
        match self.by_key.get_mut(requirement.key()) {
            Some(have) => *have = have.intersect(&requirement),
            None => {
                self.by_key.insert(requirement.key().clone(), requirement);
            }
        }
    }

    /// Narrows by all of `other`.
    pub fn add_all(&mut self, other: &Self) {
        for requirement in other.iter() {
            self.add(requirement.clone());
        }
    }

    /// Both at once.
    #[must_use]
    pub fn intersect(&self, other: &Self) -> Self {
        let mut result = self.clone();
        result.add_all(other);
        result
    }

    /// Replaces what is said of the requirement's key.
    pub fn replace(&mut self, requirement: Requirement) {
        self.by_key.insert(requirement.key().clone(), requirement);
    }

    /// Forgets a key.
    pub fn remove(&mut self, key: &str) {
        self.by_key.remove(key);
    }

    /// Requirement on a key; `None` allows anything.
    pub fn get(&self, key: &str) -> Option<&Requirement> {
        self.by_key.get(key)
    }

    /// Requirements in key order.
    pub fn iter(&self) -> impl Iterator<Item = &Requirement> {
        self.by_key.values()
    }

    /// How many keys are constrained.
    pub fn len(&self) -> usize {
        self.by_key.len()
    }

    /// `true` if nothing is required.
    pub fn is_empty(&self) -> bool {
        self.by_key.is_empty()
    }

    /// `Ok` if a candidate with these requirements may take pods that ask for `incoming`; the first key that disagrees as the
    /// error.
    ///
    /// A key that the candidate leaves undefined must be allowed by `undefined`, or be satisfied by absence. Keys on both
    /// sides must overlap, unless absence satisfies both.
    pub fn accepts(
        &self,
        incoming: &Self,
        undefined: Undefined<'_>,
    ) -> Result<(), Box<Incompatible>> {
        for asked in incoming.iter() {
            let have = self.by_key.get(asked.key());
            let fine = match have {
                Some(have) => have.agrees_with(asked),
                None => asked.allows_absence() || undefined.allows(asked.key()),
            };
            if !fine {
                return Err(Box::new(Incompatible {
                    asked: asked.clone(),
                    have: have.cloned(),
                }));
            }
        }
        Ok(())
    }
}

impl FromIterator<Requirement> for Requirements {
    fn from_iter<I: IntoIterator<Item = Requirement>>(requirements: I) -> Self {
        let mut result = Self::new();
        for requirement in requirements {
            result.add(requirement);
        }
        result
    }
}

impl fmt::Display for Requirements {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, requirement) in self.iter().enumerate() {
            if at > 0 {
                f.write_str(", ")?;
            }
            write!(f, "{requirement}")?;
        }
        Ok(())
    }
}
