//! Several policies of one hook in one decision, each heard for the pools that it serves.
//!
//! Each is asked the whole question, so that it sees the cluster as it would alone; of its answer the rows of its pools count, and what goes
//! wrong with it touches these alone. Rows of pools that no policy serves are answered as the host does without one.

mod allow;
mod rank;
mod score;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::bindings::Part;
use crate::named::Named;
use crate::outcome::Fault;
use crate::slot::WithFallback;

pub(crate) use allow::{Held, Serving};

/// Policies of one hook that answer as one.
pub(crate) struct Together<'s, M> {
    parts: &'s [Part<'s, M>],
    name: String,
    pub(crate) failures: Failures,
    /// Parts that failed to order launch lists, and why nothing is bought for their pools.
    unordered: RefCell<BTreeMap<usize, Arc<str>>>,
}

impl<'s, M> Together<'s, M> {
    /// These, under all their names.
    pub(crate) fn of(parts: &'s [Part<'s, M>]) -> Self
    where
        WithFallback<'s, M>: Named,
    {
        let names: Vec<&str> = parts.iter().map(|part| part.asked.name()).collect();
        Self {
            parts,
            name: names.join(" and "),
            failures: Failures::default(),
            unordered: RefCell::default(),
        }
    }
}

impl<M> Named for Together<'_, M> {
    fn name(&self) -> &str {
        &self.name
    }
}

/// A policy that failed for its pools, and what was done there without it.
#[derive(Debug)]
pub(crate) struct Failed {
    pub(crate) policy: String,
    pub(crate) fault: Fault,
    pub(crate) instead: &'static str,
}

impl Failed {
    /// The failure as a sentence for people.
    pub(crate) fn sentence(&self) -> String {
        let Self {
            policy,
            fault,
            instead,
        } = self;
        format!("policy {policy} failed for its pools: {fault}; {instead}")
    }
}

/// Failures while a question was answered, kept until the decision is made.
#[derive(Debug, Default)]
pub(crate) struct Failures(RefCell<Vec<Failed>>);

impl Failures {
    fn add(&self, policy: &str, fault: Fault, instead: &'static str) {
        self.0.borrow_mut().push(Failed {
            policy: policy.to_owned(),
            fault,
            instead,
        });
    }

    /// All so far, which are forgotten.
    pub(crate) fn take(&self) -> Vec<Failed> {
        self.0.take()
    }
}
