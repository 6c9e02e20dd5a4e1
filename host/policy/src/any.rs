//! An accepted module of whatever hook, for those who take any: tools that compare, replay and explain.

use plimsoll_hooks::hook::PolicySettings;

use crate::accept::Given;
use crate::engine::Engine;
use crate::gate::Refusal;
use crate::limits::{CallLimits, Limits};
use crate::manifest::{Hook, Manifest};
use crate::module::{BudgetModule, ConsolidationModule, Module};
use crate::policies::Policies;
use crate::records::vectors::{self, SelfTest};

/// A module that has passed all gates of its hook.
#[derive(Clone, Debug)]
pub enum AnyModule {
    /// Ranks the nodes to buy.
    Rank(Module),
    /// Values consolidation moves.
    Consolidate(ConsolidationModule),
    /// How many nodes may be removed now.
    Budget(BudgetModule),
}

impl AnyModule {
    /// Takes a module in for the hook that its manifest names.
    pub fn accept(engine: &Engine, stored: &[u8], settings: Given<'_>) -> Result<Self, Refusal> {
        Ok(match engine.inspect(stored)?.manifest.hook {
            Hook::Rank => Self::Rank(engine.accept_with(stored, settings)?),
            Hook::Consolidate => Self::Consolidate(engine.accept_with(stored, settings)?),
            Hook::Budget => Self::Budget(engine.accept_with(stored, settings)?),
        })
    }

    /// The same, but that nothing is bought where it fails, as if it forbade offerings; modules of other hooks hold by themselves.
    #[must_use]
    pub fn holding(self) -> Self {
        match self {
            Self::Rank(module) => Self::Rank(module.holding()),
            other => other,
        }
    }

    /// Manifest of the module.
    pub fn manifest(&self) -> &Manifest {
        match self {
            Self::Rank(module) => module.manifest(),
            Self::Consolidate(module) => module.manifest(),
            Self::Budget(module) => module.manifest(),
        }
    }

    /// The settings it was accepted with, defaults filled in.
    pub fn settings(&self) -> &PolicySettings {
        match self {
            Self::Rank(module) => module.settings(),
            Self::Consolidate(module) => module.settings(),
            Self::Budget(module) => module.settings(),
        }
    }

    /// The same module under other settings, which it has to agree to.
    pub fn under(&self, settings: &PolicySettings) -> Result<Self, Refusal> {
        Ok(match self {
            Self::Rank(module) => Self::Rank(module.under(settings)?),
            Self::Consolidate(module) => Self::Consolidate(module.under(settings)?),
            Self::Budget(module) => Self::Budget(module.under(settings)?),
        })
    }

    /// Puts vectors to it, each under its own settings: decision records, as a module carries them in its section. Refused where they
    /// are no such records, or where an answer is another one than was recorded.
    pub fn hold_to(&self, vectors: &[u8]) -> Result<SelfTest, Refusal> {
        vectors::hold(self, vectors)
    }

    /// Limits of a call about so many rows.
    pub fn limits_of_call(&self, rows: usize) -> CallLimits {
        match self {
            Self::Rank(module) => module.limits_of_call(rows),
            Self::Consolidate(module) => module.limits_of_call(rows),
            Self::Budget(module) => module.limits_of_call(rows),
        }
    }

    /// Limits of its calls.
    pub(crate) fn limits(&self) -> &Limits {
        match self {
            Self::Rank(module) => module.limits(),
            Self::Consolidate(module) => module.limits(),
            Self::Budget(module) => module.limits(),
        }
    }

    /// The same module, asked beside those that decide.
    pub(crate) fn in_shadow(self) -> Self {
        match self {
            Self::Rank(module) => Self::Rank(module.in_shadow()),
            Self::Consolidate(module) => Self::Consolidate(module.in_shadow()),
            Self::Budget(module) => Self::Budget(module.in_shadow()),
        }
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
