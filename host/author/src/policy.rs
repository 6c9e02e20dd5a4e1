//! An accepted policy of whichever hook its manifest names: what suites, laws and benches are held against.

use plimsoll_core::hook::Settings;
use plimsoll_policy::{
    BudgetModule, ConsolidationModule, Engine, Given, Hook, Manifest, Module, Refusal,
};

/// A policy that has passed all gates.
#[derive(Debug, Clone)]
pub enum Policy {
    /// It says which machines to buy.
    Rank(Module),
    /// It says which moves are worth it.
    Consolidate(ConsolidationModule),
    /// It says how many nodes may go now.
    Budget(BudgetModule),
}

impl Policy {
    /// Takes a module in for the hook that its manifest names, or says at which step it failed and why.
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

    /// The same policy under other settings, which it has to agree to.
    pub fn under(&self, settings: &Settings) -> Result<Self, Refusal> {
        Ok(match self {
            Self::Rank(module) => Self::Rank(module.under(settings)?),
            Self::Consolidate(module) => Self::Consolidate(module.under(settings)?),
            Self::Budget(module) => Self::Budget(module.under(settings)?),
        })
    }
}
