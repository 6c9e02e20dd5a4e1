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
//! without an answer. Policies of one hook may share the pools among them ([`crate::bindings`]). A ranking policy that forbids offerings is never stood in for, since pods must not land where it forbids them to.

use std::sync::Arc;

use plimsoll_base::time::Timestamp;
use plimsoll_disrupt::outlook::Outlook;
use plimsoll_model::command::{DisruptionQuestion, Settled};
use plimsoll_model::plan::Note;
use plimsoll_model::snapshot::Snapshot;
use plimsoll_model::{LabelSelector, NodePool};
use plimsoll_schedule::Session;

use crate::allow::Budgeter;
use crate::any::AnyModule;
use crate::bindings::{Bindings, Part};
use crate::breaker::Breaker;
use crate::consider::{Advisers, Considered, consider, outlooks};
use crate::decide::{Decision, Ranker, decide_within};
use crate::manifest::Hook;
use crate::module::{BudgetModule, ConsolidationModule, Module};
use crate::named::Named;
use crate::observer::{Observed, Observer};
use crate::outcome::Fault;
use crate::policies::Policies;
use crate::slot::WithFallback;
use crate::together::{Held, Serving, Together};

/// Policies that decide together, watched and replaceable.
#[derive(Clone, Debug)]
pub struct Generation {
    number: u64,
    rank: Bindings<Observed<Module>>,
    consolidate: Bindings<Observed<ConsolidationModule>>,
    budget: Bindings<Observed<BudgetModule>>,
    observers: Vec<Arc<dyn Observer>>,
}

/// A module that has passed all gates, for the hook that it answers.
#[derive(Clone, Debug)]
pub enum Successor {
    /// Ranks.
    Rank(Module),
    /// Values consolidation moves.
    Consolidate(ConsolidationModule),
    /// Says how many nodes may be removed.
    Budget(BudgetModule),
}

impl From<AnyModule> for Successor {
    fn from(module: AnyModule) -> Self {
        match module {
            AnyModule::Rank(module) => Self::Rank(module),
            AnyModule::Consolidate(module) => Self::Consolidate(module),
            AnyModule::Budget(module) => Self::Budget(module),
        }
    }
}

/// The name under which a policy serves, and the pools that it serves unless they name another.
#[derive(Clone, Debug)]
pub struct Binding {
    /// The name, one of its hook.
    pub name: Arc<str>,
    /// When the policy was made, if that is known: of several that select a pool the oldest answers, of those made at once the first by
    /// name. Of others the one that served first does.
    pub created: Option<Timestamp>,
    /// Selects pools by their own labels.
    pub serves: LabelSelector,
    /// Who is told of the calls of this policy alone, beside those who are told of all.
    pub observer: Option<Arc<dyn Observer>>,
}

impl Binding {
    /// A policy of this name for every pool.
    pub fn of_all(name: &str) -> Self {
        Self {
            name: name.into(),
            created: None,
            serves: LabelSelector::all(Vec::new()),
            observer: None,
        }
    }
}

impl Generation {
    /// The first generation: no module served before these. Each serves every pool, under the name of its module.
    pub fn first(policies: Policies) -> Self {
        let mut first = Self {
            number: 1,
            rank: Bindings::new(Hook::Rank),
            consolidate: Bindings::new(Hook::Consolidate),
            budget: Bindings::new(Hook::Budget),
            observers: policies.observers,
        };
        let rank = policies.rank.map(Successor::Rank);
        let consolidate = policies.consolidate.map(Successor::Consolidate);
        let budget = policies.budget.into_iter().map(Successor::Budget);
        for successor in rank.into_iter().chain(consolidate).chain(budget) {
            let binding = first.unused_binding(&successor);
            first.put(&binding, successor, Breaker::default());
        }
        first
    }

    /// A binding to all pools by the name of a module, or that name with a number where it is taken.
    fn unused_binding(&self, successor: &Successor) -> Binding {
        let (hook, name) = match successor {
            Successor::Rank(module) => (Hook::Rank, module.name()),
            Successor::Consolidate(module) => (Hook::Consolidate, module.name()),
            Successor::Budget(module) => (Hook::Budget, module.name()),
        };
        let numbered = (2..).map(|number| format!("{name}-{number}"));
        let mut names = std::iter::once(name.to_owned()).chain(numbered);
        let unused = names.find(|name| !self.names(hook).contains(&name.as_str()));
        Binding::of_all(&unused.unwrap_or_default())
    }

    /// Its number: one more than that of the generation it was made from.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The generation after this one, in which a module of that health serves under a name. The others keep theirs.
    pub(crate) fn succeeded_by(
        &self,
        binding: &Binding,
        successor: Successor,
        health: Breaker,
    ) -> Self {
        let mut next = self.next();
        next.put(binding, successor, health);
        next
    }

    /// The generation after this one, in which the policy of that name serves other pools; `None` where there is none.
    pub(crate) fn with_selection(&self, hook: Hook, binding: &Binding) -> Option<Self> {
        let mut next = self.next();
        let (name, serves) = (&*binding.name, binding.serves.clone());
        let is_there = match hook {
            Hook::Rank => next.rank.select(name, serves),
            Hook::Consolidate => next.consolidate.select(name, serves),
            Hook::Budget => next.budget.select(name, serves),
        };
        is_there.then_some(next)
    }

    /// The generation after this one, without the policy of that name; `None` where there is none.
    pub(crate) fn without(&self, hook: Hook, name: &str) -> Option<Self> {
        let mut next = self.next();
        let was_there = match hook {
            Hook::Rank => next.rank.withdraw(name),
            Hook::Consolidate => next.consolidate.withdraw(name),
            Hook::Budget => next.budget.withdraw(name),
        };
        was_there.then_some(next)
    }

    fn next(&self) -> Self {
        let mut next = self.clone();
        next.number += 1;
        next
    }

    fn put(&mut self, binding: &Binding, successor: Successor, health: Breaker) {
        let own = binding.observer.iter().cloned();
        let observers: Vec<_> = self.observers.iter().cloned().chain(own).collect();
        match successor {
            Successor::Rank(module) => {
                let module = Observed { module, observers };
                self.rank.put(binding, module, health);
            }
            Successor::Consolidate(module) => {
                let module = Observed { module, observers };
                self.consolidate.put(binding, module, health);
            }
            Successor::Budget(module) => {
                let module = Observed { module, observers };
                self.budget.put(binding, module, health);
            }
        }
    }

    /// Plans a snapshot. Offers of the pools are kept in the session, and read anew only where they changed.
    pub fn plan(&self, snapshot: &Snapshot, session: &Session) -> Decision {
        let parts = self.rank.parts(snapshot);
        let decision = match &parts[..] {
            [] => plan_at_list_prices(snapshot, session),
            [alone] if alone.is_whole => rank_with(&alone.asked, snapshot, session),
            parts => rank_together(parts, snapshot, session),
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
        let considered = self.advised(snapshot, |advisers| {
            consider(snapshot, question, advisers, session)
        });
        for observer in &self.observers {
            observer.considered(snapshot, &considered);
        }
        considered
    }

    /// Outlooks of the nodes in these rows of a snapshot: whether each goes now, and otherwise why not; the session as in
    /// [`Generation::plan`].
    pub fn outlooks(
        &self,
        snapshot: &Snapshot,
        rows: &[usize],
        session: &Session,
    ) -> (Vec<Outlook>, Considered) {
        let mut found = Vec::new();
        let considered = self.advised(snapshot, |advisers| {
            let (outlooks, considered) = outlooks(snapshot, rows, advisers, session);
            found = outlooks;
            considered
        });
        (found, considered)
    }

    /// Considers with the policies that serve; what went wrong with any of them is in the result.
    fn advised(
        &self,
        snapshot: &Snapshot,
        consider: impl FnOnce(&Advisers<'_>) -> Considered,
    ) -> Considered {
        let ranks = self.rank.parts(snapshot);
        let scores = self.consolidate.parts(snapshot);
        let allows = self.budget.parts(snapshot);
        let (ranked, scored) = (Together::of(&ranks), Together::of(&scores));
        let held = self.held(snapshot);
        let serving: Vec<_> = allows.iter().map(Serving::of).collect();
        let budgeters = serving.iter().map(|part| part as &dyn Budgeter);
        let budgeters: Vec<&dyn Budgeter> = budgeters
            .chain(held.iter().map(|pool| pool as &dyn Budgeter))
            .collect();
        let advisers = Advisers {
            ranker: match &ranks[..] {
                [] => None,
                [alone] if alone.is_whole => Some(&alone.asked),
                _ => Some(&ranked),
            },
            consolidator: match &scores[..] {
                [] => None,
                [alone] if alone.is_whole => Some(&alone.asked),
                _ => Some(&scored),
            },
            budgeters: &budgeters,
        };
        let mut considered = consider(&advisers);
        for failed in ranked
            .failures
            .take()
            .into_iter()
            .chain(scored.failures.take())
        {
            considered.notes.push(failed.sentence());
            considered.faults.push((failed.policy, failed.fault));
        }
        considered.notes.extend(held.iter().map(Held::sentence));
        let stood_in = (ranks.iter().filter_map(stood_in))
            .chain(scores.iter().filter_map(stood_in))
            .chain(allows.iter().filter_map(stood_in));
        considered.notes.extend(stood_in);
        considered
    }

    /// Tells those who look on of a command that came to its end, or to the end of the hour after it.
    pub fn settled(&self, settled: &Settled) {
        for observer in &self.observers {
            observer.settled(settled);
        }
    }

    /// Pools that ask by name for policies that are not there: none of their nodes goes for what can wait.
    fn held(&self, snapshot: &Snapshot) -> Vec<Held> {
        let missing = |pool: &Arc<NodePool>| {
            let (_, policy) = self.missing(pool)?;
            Some(Held {
                pool: pool.name.clone(),
                policy: Arc::clone(policy),
            })
        };
        snapshot.pools.iter().filter_map(missing).collect()
    }

    /// The first policy that a pool asks for by name and that does not serve, with its hook; `None` where all do.
    pub fn missing<'p>(&self, pool: &'p NodePool) -> Option<(Hook, &'p Arc<str>)> {
        let of = |hook| match hook {
            Hook::Rank => self.rank.missing(pool),
            Hook::Consolidate => self.consolidate.missing(pool),
            Hook::Budget => self.budget.missing(pool),
        };
        let mut hooks = Hook::ALL.into_iter();
        hooks.find_map(|hook| Some((hook, of(hook)?)))
    }

    /// Names of the policies of a hook that answer for a pool: of budgets all, of the other hooks at most one.
    pub fn answering(&self, hook: Hook, pool: &NodePool) -> Vec<&str> {
        match hook {
            Hook::Rank => self.rank.answering(pool).collect(),
            Hook::Consolidate => self.consolidate.answering(pool).collect(),
            Hook::Budget => self.budget.answering(pool).collect(),
        }
    }

    /// When the policy of that name was made; `None` where that is not known, and where none of that hook serves under it.
    pub fn created(&self, hook: Hook, name: &str) -> Option<Timestamp> {
        match hook {
            Hook::Rank => self.rank.created(name),
            Hook::Consolidate => self.consolidate.created(name),
            Hook::Budget => self.budget.created(name),
        }
    }

    /// Names of the policies of a hook, the oldest first.
    pub fn names(&self, hook: Hook) -> Vec<&str> {
        match hook {
            Hook::Rank => self.rank.names().collect(),
            Hook::Consolidate => self.consolidate.names().collect(),
            Hook::Budget => self.budget.names().collect(),
        }
    }
}

/// A remark on a policy whose last good module has answered.
fn stood_in<M>(part: &Part<'_, M>) -> Option<String> {
    let (name, why) = (part.asked.name(), part.asked.instead()?);
    Some(format!(
        "policy {name}: {why}; its last good generation decided"
    ))
}

/// Decides with several ranking policies, or with one that serves some of the pools.
fn rank_together(
    parts: &[Part<'_, Observed<Module>>],
    snapshot: &Snapshot,
    session: &Session,
) -> Decision {
    let together = Together::of(parts);
    let mut decision = decide_within(&together, snapshot, session);
    let note = Note::of_plan;
    for failed in together.failures.take() {
        decision.plan.notes.push(note(failed.sentence()));
        decision.faults.push((failed.policy, failed.fault));
    }
    let stood_in = parts.iter().filter_map(stood_in);
    decision.plan.notes.extend(stood_in.map(note));
    decision
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
        let decision = decide_within(serving, snapshot, session);
        if !decision.faults.is_empty() {
            module.tell_fallback();
        }
        return decision;
    }
    // A module that is not asked needs no plan of its own to be thrown away.
    let failed = if let Some(refusal) = refusal {
        vec![(serving.name().to_owned(), refusal)]
    } else {
        let decision = decide_within(serving, snapshot, session);
        if decision.faults.is_empty() {
            return decision;
        }
        decision.faults
    };
    module.tell_fallback();
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
    with_faults(decision, failed, instead)
}

/// A decision that was made instead, with what went wrong before.
fn with_faults(mut decision: Decision, failed: Vec<(String, Fault)>, instead: &str) -> Decision {
    let told = failed
        .iter()
        .map(|(name, fault)| Note::of_plan(format!("policy {name}: {fault}; {instead}")));
    decision.plan.notes.extend(told);
    decision.faults.splice(0..0, failed);
    decision
}

/// The plan where no policy ranks.
fn plan_at_list_prices(snapshot: &Snapshot, session: &Session) -> Decision {
    let prepared = session.prepare(snapshot);
    Decision {
        plan: plimsoll_schedule::finish(&prepared, None),
        faults: Vec::new(),
        at_policy_prices: false,
    }
}
