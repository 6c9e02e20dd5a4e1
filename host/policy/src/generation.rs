//! One generation of policies: the set that a decision begins with and keeps to its end.
//!
//! ```text
//! Policies ─► Generation 1 ─► a module is replaced ─► Generation 2 ─► ...
//!                │                                        │
//!           decisions under way                     decisions from now on
//! ```
//!
//! A generation never changes; what changes from decision to decision is the health of its modules, which generations share. Where a
//! module is set aside, the last good one of its place answers, and people are told; where there is none, the hook does what it does
//! without an answer. A ranking policy that forbids offerings is never stood in for, since pods must not land where it forbids them to.

use std::sync::Arc;

use plimsoll_core::command::DisruptionQuestion;
use plimsoll_core::plan::Note;
use plimsoll_core::schedule::{self, Session};
use plimsoll_core::snapshot::Snapshot;

use crate::allow::Budgeter;
use crate::consider::{Advisers, Considered, consider};
use crate::decide::{Decision, Ranker, decide_within};
use crate::module::{BudgetModule, ConsolidationModule, Module};
use crate::named::Named;
use crate::observer::{Observed, Observer};
use crate::outcome::Fault;
use crate::policies::Policies;
use crate::slot::{Place, WithFallback};

/// Policies that decide together, watched and replaceable.
#[derive(Clone, Debug)]
pub struct Generation {
    number: u64,
    rank: Option<Place<Observed<Module>>>,
    consolidate: Option<Place<Observed<ConsolidationModule>>>,
    budget: Vec<Place<Observed<BudgetModule>>>,
    observers: Vec<Arc<dyn Observer>>,
}

/// A module that has passed all gates, with the place that it is for.
#[derive(Clone, Debug)]
pub enum Successor {
    /// The ranking policy.
    Rank(Module),
    /// The consolidation policy.
    Consolidate(ConsolidationModule),
    /// The budget policy at that place among those there are; behind all of them it is one more.
    Budget(usize, BudgetModule),
}

impl Generation {
    /// The first generation: nobody served before these.
    pub fn first(policies: Policies) -> Self {
        let Policies {
            rank,
            consolidate,
            budget,
            observers,
        } = policies;
        let rank = rank.map(|module| observed(module, &observers));
        let consolidate = consolidate.map(|module| observed(module, &observers));
        let budget = budget.into_iter();
        let budget = budget.map(|module| Place::first(observed(module, &observers)));
        Self {
            number: 1,
            rank: rank.map(Place::first),
            consolidate: consolidate.map(Place::first),
            budget: budget.collect(),
            observers,
        }
    }

    /// Its number: one more than that of the generation it was made from.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The generation after this one, with one module replaced. The others keep their health.
    pub(crate) fn succeeded_by(&self, successor: Successor) -> Self {
        let mut next = self.clone();
        next.number += 1;
        match successor {
            Successor::Rank(module) => {
                put(&mut next.rank, observed(module, &self.observers));
            }
            Successor::Consolidate(module) => {
                put(&mut next.consolidate, observed(module, &self.observers));
            }
            Successor::Budget(place, module) => {
                let module = observed(module, &self.observers);
                match next.budget.get_mut(place) {
                    Some(there) => *there = there.succeeded_by(module),
                    None => next.budget.push(Place::first(module)),
                }
            }
        }
        next
    }

    /// Plans a snapshot. Offers of the pools are kept in the session, and read anew only where they changed.
    pub fn plan(&self, snapshot: &Snapshot, session: &Session) -> Decision {
        let decision = match &self.rank {
            Some(place) => rank_with(&place.watched(snapshot.now), snapshot, session),
            None => plan_at_list_prices(snapshot, session),
        };
        for observer in &self.observers {
            observer.planned(snapshot, &decision);
        }
        decision
    }

    /// Decides about nodes; the session as in [`Generation::plan`].
    pub fn consider(
        &self,
        snapshot: &Snapshot,
        question: &DisruptionQuestion,
        session: &Session,
    ) -> Considered {
        let now = snapshot.now;
        let ranker = self.rank.as_ref().map(|place| place.watched(now));
        let consolidator = self.consolidate.as_ref().map(|place| place.watched(now));
        let budgets: Vec<_> = self.budget.iter().map(|place| place.watched(now)).collect();
        let budgeters: Vec<&dyn Budgeter> = budgets.iter().map(|both| both as _).collect();
        let advisers = Advisers {
            ranker: ranker.as_ref().map(|both| both as _),
            consolidator: consolidator.as_ref().map(|both| both as _),
            budgeters: &budgeters,
        };
        let mut considered = consider(snapshot, question, &advisers, session);
        let prices = ranker
            .iter()
            .filter_map(|both| Some((both.name(), both.instead()?)));
        let values = consolidator
            .iter()
            .filter_map(|both| Some((both.name(), both.instead()?)));
        let caps = budgets
            .iter()
            .filter_map(|both| Some((both.name(), both.instead()?)));
        let stood_in = prices.chain(values).chain(caps);
        considered.notes.extend(
            stood_in.map(|(name, why)| {
                format!("policy {name}: {why}; its last good generation decided")
            }),
        );
        for observer in &self.observers {
            observer.considered(snapshot, &considered);
        }
        considered
    }

    /// The name of the policy that ranks, where one does.
    pub fn ranks(&self) -> Option<&str> {
        let place = self.rank.as_ref()?;
        Some(place.serving.module().name())
    }
}

fn put<M>(place: &mut Option<Place<M>>, module: M) {
    *place = Some(match place.as_ref() {
        Some(there) => there.succeeded_by(module),
        None => Place::first(module),
    });
}

fn observed<M>(module: M, observers: &[Arc<dyn Observer>]) -> Observed<M> {
    Observed {
        module,
        observers: observers.to_vec(),
    }
}

/// Decides with the module that serves; with the last good one, wholly, where that one failed or is not followed.
fn rank_with(
    module: &WithFallback<'_, Observed<Module>>,
    snapshot: &Snapshot,
    session: &Session,
) -> Decision {
    let WithFallback {
        serving, last_good, ..
    } = module;
    let refusal = serving.refusal();
    // One that forbids offerings holds by itself, set aside or not.
    if serving.facts().vetoes || (refusal.is_none() && last_good.is_none()) {
        return decide_within(serving, snapshot, session);
    }
    // A module that is not asked needs no plan of its own to be thrown away.
    let failed = if let Some(refusal) = refusal {
        vec![refusal]
    } else {
        let decision = decide_within(serving, snapshot, session);
        if decision.faults.is_empty() {
            return decision;
        }
        decision.faults
    };
    let (decision, instead) = match last_good {
        Some(behind) => {
            let decision = decide_within(behind, snapshot, session);
            let instead = if decision.faults.is_empty() {
                "its last good generation decided"
            } else {
                "its last good generation failed, too"
            };
            (decision, instead)
        }
        None => (
            plan_at_list_prices(snapshot, session),
            "list prices were taken",
        ),
    };
    with_faults(decision, serving.name(), failed, instead)
}

/// A decision that was made instead, with what went wrong before.
fn with_faults(mut decision: Decision, name: &str, failed: Vec<Fault>, instead: &str) -> Decision {
    let told = failed.iter().map(|fault| Note {
        pool: None,
        pod: None,
        text: format!("policy {name}: {fault}; {instead}"),
    });
    decision.plan.notes.extend(told);
    decision.faults.splice(0..0, failed);
    decision
}

/// The plan where nobody ranks.
fn plan_at_list_prices(snapshot: &Snapshot, session: &Session) -> Decision {
    let prepared = session.prepare(snapshot);
    Decision {
        plan: schedule::finish(&prepared, None),
        faults: Vec::new(),
        at_policy_prices: false,
    }
}
