//! Claims whose hash follows rules of another version: while their pool's does, too, they take the pool's hash as it is now, so that a
//! change of the rules is no drift.
//!
//! One that has drifted keeps its hash, under the version of ours, and so stays drifted. Claims come before their pool: once that bears
//! our version, those that do not are left alone. Rules are Karpenter's.

use std::sync::Arc;

use plimsoll_model::action::{ClaimChange, Purpose};
use plimsoll_model::{
    ConditionType,
    template_hash::{self, HASH_ANNOTATION, HASH_VERSION, HASH_VERSION_ANNOTATION},
};

use super::{ClaimView, Step};

/// Asks for the annotations, unless a change of the claim is on its way.
pub(super) fn migrate(view: &ClaimView<'_>, step: &mut Step) {
    let claim = view.claim;
    let is_due = claim.deleting.is_none() && !template_hash::is_current(&claim.annotations);
    let Some(hash) = view.migrated_hash.as_ref().filter(|_| is_due) else {
        return;
    };
    let mut change = ClaimChange::default();
    let mut write = |key: &str, value: Arc<str>| change.annotations.insert(Arc::from(key), value);
    write(HASH_VERSION_ANNOTATION, Arc::from(HASH_VERSION));
    if claim.conditions.get(ConditionType::Drifted).is_none() {
        write(HASH_ANNOTATION, Arc::clone(hash));
    }
    if !step.changes_claim() {
        step.change_claim(view, Purpose::MarkHash, change);
    }
}
