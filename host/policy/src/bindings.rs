//! The policies of one hook, each with the pools that it serves.
//!
//! ```text
//! NodePool ─► its annotation names a policy? ─► that one; where there is none, the pool is held
//!          └► else the policies whose selector its labels meet: of several the oldest, of budgets all
//! ```

use std::collections::BTreeSet;
use std::sync::Arc;

use plimsoll_base::ids::PoolName;
use plimsoll_base::time::Timestamp;
use plimsoll_model::snapshot::Snapshot;
use plimsoll_model::{LabelSelector, NodePool};

use crate::breaker::Breaker;
use crate::generation::Binding;
use crate::manifest::Hook;
use crate::slot::{Place, WithFallback};

/// A policy in service.
#[derive(Debug)]
struct Bound<M> {
    name: Arc<str>,
    created: Option<Timestamp>,
    serves: LabelSelector,
    place: Place<M>,
}

impl<M> Bound<M> {
    /// `true` if this one comes before a binding: it is older, or as old and the first by name. Those whose age is not known stay in the
    /// order in which they came.
    fn is_before(&self, binding: &Binding) -> bool {
        let ages = self.created.zip(binding.created);
        ages.is_none_or(|(own, other)| (own, &self.name) < (other, &binding.name))
    }
}

impl<M> Clone for Bound<M> {
    fn clone(&self) -> Self {
        Self {
            name: Arc::clone(&self.name),
            created: self.created,
            serves: self.serves.clone(),
            place: self.place.clone(),
        }
    }
}

/// The policies of one hook, the oldest first.
#[derive(Debug)]
pub(crate) struct Bindings<M> {
    hook: Hook,
    bound: Vec<Bound<M>>,
}

impl<M> Clone for Bindings<M> {
    fn clone(&self) -> Self {
        Self {
            hook: self.hook,
            bound: self.bound.clone(),
        }
    }
}

/// A policy as one decision asks it, with the pools that it answers for.
pub(crate) struct Part<'s, M> {
    pub(crate) asked: WithFallback<'s, M>,
    /// Names of those pools.
    pub(crate) pools: BTreeSet<PoolName>,
    /// `true` if these are all that there are.
    pub(crate) is_whole: bool,
}

impl<M> Bindings<M> {
    pub(crate) fn new(hook: Hook) -> Self {
        Self {
            hook,
            bound: Vec::new(),
        }
    }

    /// Lets a module of that health serve under a name from now on; the one that served under it stands behind.
    pub(crate) fn put(&mut self, binding: &Binding, module: M, health: Breaker) {
        let (name, created) = (&binding.name, binding.created);
        let there = self.bound.iter().position(|own| own.name == *name);
        let before = there.filter(|at| self.bound[*at].created == created);
        let place = match there {
            Some(at) => self.bound[at].place.succeeded_by(module, health),
            None => Place::first(module, health),
        };
        let bound = Bound {
            name: Arc::clone(name),
            created,
            serves: binding.serves.clone(),
            place,
        };
        if let Some(at) = before {
            self.bound[at] = bound;
            return;
        }
        self.bound.retain(|own| own.name != *name);
        let older = self.bound.iter().take_while(|own| own.is_before(binding));
        let at = older.count();
        self.bound.insert(at, bound);
    }

    /// Lets a policy serve other pools; `false` where none serves under that name.
    pub(crate) fn select(&mut self, name: &str, serves: LabelSelector) -> bool {
        let there = self.bound.iter_mut().find(|own| *own.name == *name);
        there.map(|own| own.serves = serves).is_some()
    }

    /// Ends the service of a policy; `false` where none serves under that name.
    pub(crate) fn withdraw(&mut self, name: &str) -> bool {
        let before = self.bound.len();
        self.bound.retain(|own| *own.name != *name);
        self.bound.len() < before
    }

    /// Names of those that answer for a pool.
    pub(crate) fn answering<'r>(&'r self, pool: &NodePool) -> impl Iterator<Item = &'r str> {
        let places = self.of(pool).into_iter();
        places.map(|at| &*self.bound[at].name)
    }

    /// Names of those that serve.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.bound.iter().map(|own| &*own.name)
    }

    /// When the policy of that name was made; `None` where that is not known, and where none serves under it.
    pub(crate) fn created(&self, name: &str) -> Option<Timestamp> {
        let own = self.bound.iter().find(|own| *own.name == *name)?;
        own.created
    }

    /// The policies that answer for pools of a snapshot, as one decision asks them.
    pub(crate) fn parts(&self, snapshot: &Snapshot) -> Vec<Part<'_, M>> {
        let rows: Vec<Vec<usize>> = snapshot.pools.iter().map(|pool| self.of(pool)).collect();
        let mut parts = Vec::new();
        for (at, own) in self.bound.iter().enumerate() {
            let pools = snapshot.pools.iter().zip(&rows);
            let served = pools.filter(|(_, row)| row.contains(&at));
            let pools: BTreeSet<PoolName> = served.map(|(pool, _)| pool.name.clone()).collect();
            let is_whole = pools.len() == rows.len();
            // Without pools nothing is decided that a policy could be left out of.
            if is_whole || !pools.is_empty() {
                parts.push(Part {
                    asked: own.place.watched(&own.name, snapshot.now),
                    pools,
                    is_whole,
                });
            }
        }
        parts
    }

    /// Policies that answer for a pool, by their places.
    fn of(&self, pool: &NodePool) -> Vec<usize> {
        let mut bound = self.bound.iter().enumerate();
        if let Some(named) = self.hook.named_by(pool) {
            let own = bound.find(|(_, own)| own.name == *named);
            return own.map(|(at, _)| at).into_iter().collect();
        }
        let matching = bound.filter(|(_, own)| own.serves.matches(&pool.own_labels));
        let most = match self.hook {
            Hook::Budget => usize::MAX,
            Hook::Rank | Hook::Consolidate => 1,
        };
        matching.map(|(at, _)| at).take(most).collect()
    }

    /// The policy that a pool asks for by name where none serves under it.
    pub(crate) fn missing<'p>(&self, pool: &'p NodePool) -> Option<&'p Arc<str>> {
        let named = self.hook.named_by(pool)?;
        let mut bound = self.bound.iter();
        (!bound.any(|own| own.name == *named)).then_some(named)
    }
}

impl Hook {
    /// The policy that a pool asks for by name; `None` where it takes those that select it.
    pub fn named_by(self, pool: &NodePool) -> Option<&Arc<str>> {
        let names = &pool.policies;
        match self {
            Self::Rank => names.rank.as_ref(),
            Self::Consolidate => names.consolidate.as_ref(),
            Self::Budget => names.budget.as_ref(),
        }
    }
}
