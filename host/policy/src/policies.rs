//! The policies that decide together: at most one that ranks, at most one that consolidates, any number of budgets.

use std::sync::Arc;

use plimsoll_core::disrupt::Question;
use plimsoll_core::schedule::{self, Offers};
use plimsoll_core::snapshot::Snapshot;

use crate::allow::Budgeter;
use crate::consider::{Advisers, Considered, consider};
use crate::decide::{Decision, decide_again};
use crate::module::{BudgetModule, ConsolidationModule, Module};
use crate::onlooker::{Onlooker, Overheard};
use crate::score::Consolidator;

/// One set of policies. Where a hook has none, the core decides by itself: list prices, moves worth what they save, declared
/// budgets.
#[derive(Clone, Debug, Default)]
pub struct Policies {
    /// Which machines to buy.
    pub rank: Option<Module>,
    /// Which moves are worth it.
    pub consolidate: Option<ConsolidationModule>,
    /// How many nodes may go now; the least counts.
    pub budget: Vec<BudgetModule>,
    /// Who is told of every call and decision.
    pub onlookers: Vec<Arc<dyn Onlooker>>,
}

impl Policies {
    /// What to buy. What pools sell is kept in `offers`, and read anew only where it changed.
    pub fn plan(&self, snapshot: &Snapshot, offers: &mut Option<Arc<Offers>>) -> Decision {
        let decision = if let Some(module) = &self.rank {
            decide_again(&self.overheard(module), snapshot, offers)
        } else {
            let prepared = schedule::prepare_again(snapshot, offers.as_ref());
            *offers = Some(Arc::clone(prepared.offers()));
            Decision {
                plan: schedule::finish(&prepared, None),
                faults: Vec::new(),
                at_policy_prices: false,
            }
        };
        for onlooker in &self.onlookers {
            onlooker.planned(snapshot, &decision);
        }
        decision
    }

    /// What should become of nodes; `offers` as in [`Policies::plan`].
    pub fn consider(
        &self,
        snapshot: &Snapshot,
        question: &Question,
        offers: &mut Option<Arc<Offers>>,
    ) -> Considered {
        let budgeters = self.budget.iter().map(|module| self.overheard(module));
        let budgeters: Vec<Overheard<'_, BudgetModule>> = budgeters.collect();
        let budgeters = budgeters.iter().map(|overheard| overheard as &dyn Budgeter);
        let budgeters: Vec<&dyn Budgeter> = budgeters.collect();
        let consolidator = self
            .consolidate
            .as_ref()
            .map(|module| self.overheard(module));
        let advisers = Advisers {
            consolidator: (consolidator.as_ref()).map(|overheard| overheard as &dyn Consolidator),
            budgeters: &budgeters,
        };
        let considered = consider(snapshot, question, &advisers, offers);
        for onlooker in &self.onlookers {
            onlooker.considered(snapshot, &considered);
        }
        considered
    }

    fn overheard<'p, M>(&'p self, module: &'p M) -> Overheard<'p, M> {
        Overheard {
            module,
            onlookers: &self.onlookers,
        }
    }
}
