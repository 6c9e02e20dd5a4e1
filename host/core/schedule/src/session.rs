//! A session of decisions: what pools sell, and the tables and prices made of it, kept from one to the next.
//!
//! Nothing of it changes a decision; it only spares reading the same catalogue again. Clones share what they keep, and decisions at
//! the same time do not wait for one another: each works with what it was lent.

use std::sync::{Arc, Mutex, PoisonError};

use plimsoll_model::snapshot::Snapshot;

use super::prepared::{Prepared, prepare_with};
use super::prices::sale::Offers;

/// A series of decisions about one cluster.
#[derive(Clone, Default)]
pub struct Session {
    last: Arc<Mutex<Option<Arc<Offers>>>>,
}

impl Session {
    /// Offers of the pools of a snapshot: those read last, where they still hold, else read anew.
    pub fn offers(&self, snapshot: &Snapshot) -> Arc<Offers> {
        let last = || self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let earlier = last().clone();
        let offers = Offers::of(snapshot, earlier.as_ref());
        *last() = Some(Arc::clone(&offers));
        offers
    }

    /// Reads a snapshot and works out what has to be priced; the same as [`super::prepare`], sooner.
    pub fn prepare<'s>(&self, snapshot: &'s Snapshot) -> Prepared<'s> {
        prepare_with(snapshot, Some(&self.offers(snapshot)))
    }
}
