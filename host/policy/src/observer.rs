//! Observers: told of every call of a module and of every decision, and without a say in any.
//!
//! Records and shadows stand here. An observer is told when a module has answered and cannot change it; what it fails at is its own
//! matter. It is told on the thread that decides, and its time is that thread's: what takes long it does elsewhere. Where decisions are made at the same time, as a controller
//! does, what it is told of one may come between what it is told of another; of each by itself it is told in order.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use plimsoll_hooks::allow::{AllowAnswer, AllowQuestion, Allowances};
use plimsoll_hooks::rank::{
    LaunchLists, OrderAnswer, OrderQuestion, PriceAnswer, PriceQuestion, Prices,
};
use plimsoll_hooks::score::{ScoreAnswer, ScoreQuestion, Verdicts};
use plimsoll_model::command::Settled;
use plimsoll_model::snapshot::Snapshot;

use crate::allow::Budgeter;
use crate::breaker::Turn;
use crate::consider::Considered;
use crate::decide::{Decision, Ranker, RankerFacts};
use crate::manifest::Hook;
use crate::module::{BudgetModule, Checked, ConsolidationModule, Module};
use crate::named::Named;
use crate::outcome::{Called, Fault, Outcome};
use crate::score::Consolidator;

/// A call of a module that has ended: who was asked, what, and what came of it.
#[derive(Debug)]
pub struct EndedCall<'c, M, Question, Raw, Typed> {
    /// The module.
    pub module: &'c M,
    /// The question.
    pub question: &'c Question,
    /// The answer, as it came and checked, or why there is none, with what the call cost.
    pub called: &'c Called<Checked<Raw, Typed>>,
    /// Time that went by until it was there.
    pub took: Duration,
}

macro_rules! asked {
    ($($(#[$doc:meta])* $hook:ident $asked:ident: $module:ty, $question:ty, $raw:ty, $typed:ty;)*) => {
        /// A call of a module that has ended, by the question that it was asked.
        #[derive(Debug)]
        pub enum Asked<'c> {
            $($(#[$doc])* $asked(EndedCall<'c, $module, $question, $raw, $typed>),)*
        }

        impl Asked<'_> {
            /// The function that was asked, such as `Price`.
            pub fn function(&self) -> &'static str {
                match self {
                    $(Self::$asked(_) => stringify!($asked),)*
                }
            }

            /// `true` if there is no answer that counts.
            pub fn failed(&self) -> bool {
                match self {
                    $(Self::$asked(call) => call.called.result.is_err(),)*
                }
            }

            /// Why there is no answer that counts; `None` where there is one.
            pub fn fault(&self) -> Option<&Fault> {
                match self {
                    $(Self::$asked(call) => call.called.result.as_ref().err(),)*
                }
            }

            /// Fuel that the call used.
            pub fn fuel(&self) -> u64 {
                match self {
                    $(Self::$asked(call) => call.called.fuel,)*
                }
            }

            /// Time that went by until the answer was there.
            pub fn took(&self) -> Duration {
                match self {
                    $(Self::$asked(call) => call.took,)*
                }
            }

            /// The class of the call.
            pub fn outcome(&self) -> Outcome {
                match self {
                    $(Self::$asked(call) => call.called.outcome(),)*
                }
            }

            /// The hook that was asked.
            pub const fn hook(&self) -> Hook {
                match self {
                    $(Self::$asked(_) => Hook::$hook,)*
                }
            }
        }

        $(impl<'c> From<EndedCall<'c, $module, $question, $raw, $typed>> for Asked<'c> {
            fn from(call: EndedCall<'c, $module, $question, $raw, $typed>) -> Self {
                Self::$asked(call)
            }
        })*
    };
}

// Who is asked, what, and what comes back as it came and checked.
asked! {
    /// For prices.
    Rank Price: Module, PriceQuestion, PriceAnswer, Prices;
    /// For an order of launch lists.
    Rank Order: Module, OrderQuestion, OrderAnswer, LaunchLists;
    /// For values of moves.
    Consolidate Score: ConsolidationModule, ScoreQuestion, ScoreAnswer, Verdicts;
    /// For allowances.
    Budget Allow: BudgetModule, AllowQuestion, AllowAnswer, Allowances;
}

/// Told of what policies are asked and of what is decided.
pub trait Observer: fmt::Debug + Send + Sync {
    /// A module was asked and has answered, or has failed to.
    fn asked(&self, _call: &Asked<'_>) {}

    /// A module was set aside since it keeps failing, or is followed again. Of use to those who are told of one module alone.
    fn turned(&self, _turn: Turn) {}

    /// A question was not decided by a module's answer, since it failed or is set aside. Of use to those who are told of one module alone.
    fn fell_back(&self) {}

    /// A plan was decided for a snapshot.
    fn planned(&self, _snapshot: &Snapshot, _decision: &Decision) {}

    /// Disruption was decided for a snapshot.
    fn considered(&self, _snapshot: &Snapshot, _considered: &Considered) {}

    /// A command came to its end, or to the end of the hour after it.
    fn settled(&self, _settled: &Settled) {}
}

/// Puts a question to a module and tells observers what came of it.
pub fn ask_observed<'o, M, Question, Raw, Typed>(
    module: &M,
    question: &Question,
    ask: impl FnOnce(&M, &Question) -> Called<Checked<Raw, Typed>>,
    observers: impl IntoIterator<Item = &'o dyn Observer>,
) -> Called<Checked<Raw, Typed>>
where
    for<'c> Asked<'c>: From<EndedCall<'c, M, Question, Raw, Typed>>,
{
    let begun = Instant::now();
    let called = ask(module, question);
    let call = Asked::from(EndedCall {
        module,
        question,
        called: &called,
        took: begun.elapsed(),
    });
    for observer in observers {
        observer.asked(&call);
    }
    called
}

/// A module, and who is told of its calls.
#[derive(Clone, Debug)]
pub(crate) struct Observed<M> {
    pub(crate) module: M,
    pub(crate) observers: Vec<Arc<dyn Observer>>,
}

/// A module or policy with observers of its health.
pub(crate) trait Observable {
    /// The observers.
    fn observers(&self) -> &[Arc<dyn Observer>];
}

impl<M> Observable for Observed<M> {
    fn observers(&self) -> &[Arc<dyn Observer>] {
        &self.observers
    }
}

impl<M> Observed<M> {
    /// Asks the module and tells who looks on.
    fn ask<Question, Raw, Typed>(
        &self,
        question: &Question,
        ask: impl FnOnce(&M, &Question) -> Called<Checked<Raw, Typed>>,
    ) -> Result<Typed, Fault>
    where
        for<'c> Asked<'c>: From<EndedCall<'c, M, Question, Raw, Typed>>,
    {
        let observers = self.observers.iter().map(AsRef::as_ref);
        let called = ask_observed(&self.module, question, ask, observers);
        called.result.map(|checked| checked.typed)
    }
}

impl<M: Named> Named for Observed<M> {
    fn name(&self) -> &str {
        self.module.name()
    }
}

impl Ranker for Observed<Module> {
    fn facts(&self) -> RankerFacts {
        self.module.facts()
    }

    fn price(&self, question: &PriceQuestion) -> Result<Prices, Fault> {
        self.ask(question, Module::price)
    }

    fn order(&self, question: &OrderQuestion) -> Result<LaunchLists, Fault> {
        self.ask(question, Module::order)
    }
}

impl Consolidator for Observed<ConsolidationModule> {
    fn score(&self, question: &ScoreQuestion) -> Result<Verdicts, Fault> {
        self.ask(question, ConsolidationModule::score)
    }
}

impl Budgeter for Observed<BudgetModule> {
    fn allow(&self, question: &AllowQuestion) -> Result<Allowances, Fault> {
        self.ask(question, BudgetModule::allow)
    }
}
