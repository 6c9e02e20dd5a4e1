//! Events on a NodePool about what its specification means here: each once while it holds, and again when it comes back.

use plimsoll_base::event_reason::EventReason;
use plimsoll_base::ids::PoolName;
use plimsoll_base::time::Timestamp;
use plimsoll_model::NodePool;
use plimsoll_model::action::{Action, ObjectKey};

use super::super::{Engine, report};

impl Engine {
    /// Writes the events that a pool has not had.
    pub(super) fn remark_on_pool(
        &mut self,
        name: &PoolName,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        let Some(pool) = self.cluster.pools.get(name.as_str()) else {
            return;
        };
        let remark = match self.market.catalogues().not_served(&pool.class) {
            Some(other) => Some((
                EventReason::NodeClassNotServed,
                format!("left to another controller: spec.template.spec.{other}"),
            )),
            None => limitless_budget(pool),
        };
        let Some((reason, words)) = remark else {
            self.statuses.remarked.remove(name);
            return;
        };
        let before = self.statuses.remarked.insert(name.clone(), reason);
        if before != Some(reason) {
            actions.push(report(ObjectKey::Pool(name.clone()), reason, words, now));
        }
    }
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
