//! Onlookers: told of every call of a module and of every decision, and without a say in any.
//!
//! Records and shadows stand here. An onlooker is told when a module has answered and cannot change it; what it fails at is its own
//! matter. It is told on the thread that decides, and its time is that thread's: what takes long it does elsewhere. Where decisions are made at the same time, as a controller
//! does, what it is told of one may come between what it is told of another; of each by itself it is told in order.

use std::fmt;
use std::sync::Arc;

use plimsoll_core::allow::{AllowAnswer, AllowQuestion, Allowances};
use plimsoll_core::rank::{
    LaunchLists, OrderAnswer, OrderQuestion, PriceAnswer, PriceQuestion, Prices,
};
use plimsoll_core::score::{ScoreAnswer, ScoreQuestion, Verdicts};
use plimsoll_core::snapshot::Snapshot;

use crate::allow::Budgeter;
use crate::consider::Considered;
use crate::decide::{Decision, Ranker};
use crate::manifest::Unit;
use crate::module::{BudgetModule, Checked, ConsolidationModule, Module};
use crate::outcome::{Called, Fault};
use crate::score::Consolidator;

/// A call of a module that has ended: who was asked, what, and what came of it.
#[derive(Clone, Copy, Debug)]
#[expect(
    missing_docs,
    reason = "the fields are the parts that the enum's own sentence names"
)]
pub enum Asked<'c> {
    /// For prices.
    Price {
        module: &'c Module,
        question: &'c PriceQuestion,
        called: &'c Called<Checked<PriceAnswer, Prices>>,
    },
    /// For an order of launch lists.
    Order {
        module: &'c Module,
        question: &'c OrderQuestion,
        called: &'c Called<Checked<OrderAnswer, LaunchLists>>,
    },
    /// For values of moves.
    Score {
        module: &'c ConsolidationModule,
        question: &'c ScoreQuestion,
        called: &'c Called<Checked<ScoreAnswer, Verdicts>>,
    },
    /// For allowances.
    Allow {
        module: &'c BudgetModule,
        question: &'c AllowQuestion,
        called: &'c Called<Checked<AllowAnswer, Allowances>>,
    },
}

impl Asked<'_> {
    /// Fuel that the call used.
    pub fn fuel(&self) -> u64 {
        match self {
            Self::Price { called, .. } => called.fuel,
            Self::Order { called, .. } => called.fuel,
            Self::Score { called, .. } => called.fuel,
            Self::Allow { called, .. } => called.fuel,
        }
    }
}

/// Told of what policies are asked and of what is decided.
pub trait Onlooker: fmt::Debug + Send + Sync {
    /// A module was asked and has answered, or has failed to.
    fn asked(&self, _call: &Asked<'_>) {}

    /// A plan was decided for a snapshot.
    fn planned(&self, _snapshot: &Snapshot, _decision: &Decision) {}

    /// Disruption was decided for a snapshot.
    fn considered(&self, _snapshot: &Snapshot, _considered: &Considered) {}
}

/// A module, and who is told of its calls.
#[derive(Clone, Debug)]
pub(crate) struct Overheard<M> {
    pub(crate) module: M,
    pub(crate) onlookers: Vec<Arc<dyn Onlooker>>,
}

impl<M> Overheard<M> {
    fn tell(&self, call: &Asked<'_>) {
        for onlooker in &self.onlookers {
            onlooker.asked(call);
        }
    }
}

impl Ranker for Overheard<Module> {
    fn name(&self) -> &str {
        self.module.name()
    }

    fn unit(&self) -> Unit {
        self.module.unit()
    }

    fn orders(&self) -> bool {
        self.module.orders()
    }

    fn vetoes(&self) -> bool {
        self.module.vetoes()
    }

    fn price(&self, question: &PriceQuestion) -> Result<Prices, Fault> {
        let module = &self.module;
        let called = module.price(question);
        self.tell(&Asked::Price {
            module,
            question,
            called: &called,
        });
        called.result.map(|checked| checked.typed)
    }

    fn order(&self, question: &OrderQuestion) -> Result<LaunchLists, Fault> {
        let module = &self.module;
        let called = module.order(question);
        self.tell(&Asked::Order {
            module,
            question,
            called: &called,
        });
        called.result.map(|checked| checked.typed)
    }
}

impl Consolidator for Overheard<ConsolidationModule> {
    fn name(&self) -> &str {
        self.module.name()
    }

    fn score(&self, question: &ScoreQuestion) -> Result<Verdicts, Fault> {
        let module = &self.module;
        let called = module.score(question);
        self.tell(&Asked::Score {
            module,
            question,
            called: &called,
        });
        called.result.map(|checked| checked.typed)
    }
}

impl Budgeter for Overheard<BudgetModule> {
    fn name(&self) -> &str {
        self.module.name()
    }

    fn allow(&self, question: &AllowQuestion) -> Result<Allowances, Fault> {
        let module = &self.module;
        let called = module.allow(question);
        self.tell(&Asked::Allow {
            module,
            question,
            called: &called,
        });
        called.result.map(|checked| checked.typed)
    }
}
