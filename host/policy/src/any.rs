//! An accepted module of whatever hook, for those who take any: tools that compare, replay and explain.

use plimsoll_core::hook::Settings;

use crate::accept::Given;
use crate::engine::Engine;
use crate::gate::Refusal;
use crate::manifest::{Hook, Manifest};
use crate::module::{BudgetModule, ConsolidationModule, Module};
use crate::policies::Policies;

/// A module that has passed all gates of its hook.
#[derive(Clone, Debug)]
pub enum AnyModule {
    /// Which machines to buy.
    Rank(Module),
    /// Which moves are worth it.
    Consolidate(ConsolidationModule),
    /// How many nodes may go now.
    Budget(BudgetModule),
}

impl AnyModule {
    /// Takes a module in for the hook that its manifest names.
    pub fn accept(engine: &Engine, stored: &[u8], settings: Given<'_>) -> Result<Self, Refusal> {
        Ok(match engine.inspect(stored)?.manifest.hook {
            Hook::Rank => Self::Rank(engine.accept_with(stored, settings)?),
            Hook::Consolidate => {
                Self::Consolidate(engine.accept_consolidation_with(stored, settings)?)
            }
            Hook::Budget => Self::Budget(engine.accept_budget_with(stored, settings)?),
        })
    }

    /// What the module says of itself.
    pub fn manifest(&self) -> &Manifest {
        match self {
            Self::Rank(module) => module.manifest(),
            Self::Consolidate(module) => module.manifest(),
            Self::Budget(module) => module.manifest(),
        }
    }

    /// The settings it was accepted with, defaults filled in.
    pub fn settings(&self) -> &Settings {
        match self {
            Self::Rank(module) => module.settings(),
            Self::Consolidate(module) => module.settings(),
            Self::Budget(module) => module.settings(),
        }
    }

    /// The same module under other settings, which it has to agree to.
    pub fn under(&self, settings: &Settings) -> Result<Self, Refusal> {
        Ok(match self {
            Self::Rank(module) => Self::Rank(module.under(settings)?),
            Self::Consolidate(module) => Self::Consolidate(module.under(settings)?),
            Self::Budget(module) => Self::Budget(module.under(settings)?),
        })
    }

    /// SHA-256 of its component.
    pub fn sha256(&self) -> &str {
        match self {
            Self::Rank(module) => module.sha256(),
            Self::Consolidate(module) => module.sha256(),
            Self::Budget(module) => module.sha256(),
        }
    }

    /// The policies with this one for its hook, beside other budgets.
    pub fn join(self, policies: &mut Policies) {
        match self {
            Self::Rank(module) => policies.rank = Some(module),
            Self::Consolidate(module) => policies.consolidate = Some(module),
            Self::Budget(module) => policies.budget.push(module),
        }
    }
}

impl Policies {
    /// All modules of the set.
    pub fn modules(&self) -> impl Iterator<Item = AnyModule> + '_ {
        let rank = self.rank.iter().cloned().map(AnyModule::Rank);
        let consolidate = self.consolidate.iter().cloned();
        let budget = self.budget.iter().cloned().map(AnyModule::Budget);
        rank.chain(consolidate.map(AnyModule::Consolidate))
            .chain(budget)
    }
}
