//! Candidates in shadow: asked beside the policies that decide, without a say.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock, RwLockWriteGuard};

use plimsoll_model::snapshot::Snapshot;
use plimsoll_policy::{Asked, Considered, Decision, Observer, Shadow, ShadowLog};

/// The shadows that there are, by their Policies. Clones are one.
#[derive(Clone, Debug, Default)]
pub struct Shadows(Arc<RwLock<BTreeMap<String, Arc<Shadow>>>>);

impl Shadows {
    pub(super) fn put(&self, policy: &str, shadow: Shadow) {
        self.all_mut().insert(policy.to_owned(), Arc::new(shadow));
    }

    pub(super) fn end(&self, policy: &str) {
        // Its thread ends with it, and decisions must not wait for that.
        let ended = self.all_mut().remove(policy);
        drop(ended);
    }

    /// Counts of a Policy's shadow; `None` where it has none.
    pub(super) fn log(&self, policy: &str) -> Option<ShadowLog> {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        Some(all.get(policy)?.log())
    }

    fn all_mut(&self) -> RwLockWriteGuard<'_, BTreeMap<String, Arc<Shadow>>> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn each(&self, tell: impl Fn(&Shadow)) {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        all.values().for_each(|shadow| tell(shadow));
    }
}

impl Observer for Shadows {
    fn asked(&self, call: &Asked<'_>) {
        self.each(|shadow| shadow.asked(call));
    }

    fn planned(&self, snapshot: &Snapshot, decision: &Decision) {
        self.each(|shadow| shadow.planned(snapshot, decision));
    }

    fn considered(&self, snapshot: &Snapshot, considered: &Considered) {
        self.each(|shadow| shadow.considered(snapshot, considered));
    }
}
