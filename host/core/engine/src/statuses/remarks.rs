//! Events on a NodePool about what its specification means here: each once while it holds, and again when it comes back.

use std::collections::BTreeSet;

use plimsoll_base::event_reason::EventReason;
use plimsoll_base::ids::PoolName;
use plimsoll_base::time::Timestamp;
use plimsoll_model::NodePool;
use plimsoll_model::action::{Action, ObjectKey};

use super::super::{Engine, report};
use super::validation;

impl Engine {
    /// Writes the events that a pool has not had.
    pub(super) fn remark_on_pool(
        &mut self,
        name: &PoolName,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        let catalogues = self.market.catalogues();
        let Some(pool) = self.cluster.pools.get(name.as_str()) else {
            return;
        };
        // Before the provider has listed what it sells, no class is known to be another's.
        if catalogues.provider().classes.is_empty() {
            return;
        }
        let remarks = match catalogues.not_served(&pool.class) {
            Some(other) => BTreeSet::from([(
                EventReason::NodeClassNotServed,
                format!("left to another controller: spec.template.spec.{other}"),
            )]),
            None => limitless_budget(pool)
                .into_iter()
                .chain(not_followed(pool))
                .collect(),
        };
        let before = if remarks.is_empty() {
            self.statuses.remarked.remove(name)
        } else {
            self.statuses.remarked.insert(name.clone(), remarks.clone())
        };
        let before = before.unwrap_or_default();
        for (reason, words) in remarks.into_iter().filter(|own| !before.contains(own)) {
            actions.push(report(ObjectKey::Pool(name.clone()), reason, words, now));
        }
    }
}

/// Parts of a specification that are ignored, and schedules of budgets that cannot be read.
fn not_followed(pool: &NodePool) -> Option<(EventReason, String)> {
    let words = validation::remarks(pool);
    let is_valid = pool.unread.problem.is_none();
    (is_valid && !words.is_empty()).then_some((EventReason::FailedValidation, words))
}

/// A budget that limits nothing, since its list of reasons is empty: a client that drops empty lists makes it every reason.
fn limitless_budget(pool: &NodePool) -> Option<(EventReason, String)> {
    let mut budgets = pool.disruption.budgets.iter();
    let at = budgets.position(|budget| budget.reasons.limit_nothing())?;
    let words = format!(
        "spec.disruption.budgets[{at}].reasons is an empty list: the budget limits nothing; leave the field out to limit every reason"
    );
    Some((EventReason::EmptyBudgetReasons, words))
}
