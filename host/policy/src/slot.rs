//! A module in service: asked and followed as its breaker says, and the last good one behind it.
//!
//! What is done with a module is settled once for a decision, at the snapshot's time: nothing that other decisions come to changes it
//! half-way, so that an answer never mixes two modules.

use std::cell::OnceCell;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use plimsoll_base::time::Timestamp;
use plimsoll_hooks::allow::{AllowQuestion, Allowances};
use plimsoll_hooks::rank::{LaunchLists, OrderQuestion, PriceQuestion, Prices};
use plimsoll_hooks::score::{ScoreQuestion, Verdicts};

use crate::allow::Budgeter;
use crate::breaker::{ANSWERS, Admission, Breaker, Turn};
use crate::decide::{Ranker, RankerFacts};
use crate::fingerprint;
use crate::manifest::Unit;
use crate::named::Named;
use crate::observer::Observable;
use crate::outcome::{Fault, Outcome};
use crate::score::Consolidator;

/// A module and its health. Decisions of all generations that it serves in see the same health.
#[derive(Debug)]
pub(crate) struct ModuleSlot<M> {
    module: M,
    health: Mutex<Health>,
}

/// Standing of a module: its breaker, and the last failure that counted against it.
#[derive(Debug)]
struct Health {
    breaker: Breaker,
    failed: Option<Fault>,
}

impl<M> ModuleSlot<M> {
    fn new(module: M, breaker: Breaker) -> Arc<Self> {
        let health = Mutex::new(Health {
            breaker,
            failed: None,
        });
        Arc::new(Self { module, health })
    }

    fn health(&self) -> MutexGuard<'_, Health> {
        self.health.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The module, under the name that it serves by, as one decision at `now` asks it.
    fn watched<'s>(&'s self, name: &'s str, now: Timestamp) -> Watched<'s, M> {
        let health = self.health();
        let admission = health.breaker.admission(now);
        let is_aside = admission == Admission::SetAside;
        Watched {
            slot: self,
            name,
            now,
            admission,
            refusal: is_aside.then(|| set_aside(health.failed.as_ref())),
        }
    }
}

/// The place of one policy: the module that serves, and the one that served well before it.
#[derive(Debug)]
pub(crate) struct Place<M> {
    pub(crate) serving: Arc<ModuleSlot<M>>,
    pub(crate) last_good: Option<Arc<ModuleSlot<M>>>,
}

impl<M> Clone for Place<M> {
    fn clone(&self) -> Self {
        Self {
            serving: Arc::clone(&self.serving),
            last_good: self.last_good.clone(),
        }
    }
}

impl<M> Place<M> {
    /// The place of a module of that health where none served before.
    pub(crate) fn first(module: M, breaker: Breaker) -> Self {
        Self {
            serving: ModuleSlot::new(module, breaker),
            last_good: None,
        }
    }

    /// The same place with another module, of that health. The one that served stands behind it, unless it was set aside; then the one behind it does.
    pub(crate) fn succeeded_by(&self, module: M, breaker: Breaker) -> Self {
        let was_good = matches!(self.serving.health().breaker, Breaker::Followed(_));
        Self {
            serving: ModuleSlot::new(module, breaker),
            last_good: if was_good {
                Some(Arc::clone(&self.serving))
            } else {
                self.last_good.clone()
            },
        }
    }

    /// Both, under the name that they serve by, as one decision at `now` asks them.
    pub(crate) fn watched<'s>(&'s self, name: &'s str, now: Timestamp) -> WithFallback<'s, M> {
        let behind = self.last_good.as_ref();
        WithFallback {
            serving: self.serving.watched(name, now),
            last_good: behind.map(|slot| slot.watched(name, now)),
            instead: OnceCell::new(),
        }
    }
}

/// A module, asked as its breaker says and noted.
#[derive(Debug)]
pub(crate) struct Watched<'s, M> {
    slot: &'s ModuleSlot<M>,
    name: &'s str,
    now: Timestamp,
    admission: Admission,
    /// Why it is not asked at all.
    refusal: Option<Fault>,
}

impl<M> Watched<'_, M> {
    /// `true` if its answers count.
    pub(crate) fn is_followed(&self) -> bool {
        self.admission == Admission::Followed
    }

    /// Why it is not asked at all.
    pub(crate) fn refusal(&self) -> Option<Fault> {
        self.refusal.clone()
    }

    /// Puts a question, unless the module is set aside.
    fn ask<T>(
        &self,
        question: impl FnOnce() -> u64,
        put: impl FnOnce(&M) -> Result<T, Fault>,
    ) -> Result<T, Fault>
    where
        M: Observable,
    {
        if let Some(refusal) = self.refusal() {
            return Err(refusal);
        }
        let answer = put(&self.slot.module);
        let outcome = answer
            .as_ref()
            .map_or_else(|fault| fault.outcome, |_| Outcome::Ok);
        let turn = {
            let mut health = self.slot.health();
            let failed = answer.as_ref().err().filter(|_| outcome.blames_module());
            if let Some(fault) = failed {
                health.failed = Some(fault.clone());
            }
            (health.breaker).note(self.admission, self.now, outcome, question)
        };
        if let Some(turn) = turn {
            let observers = self.slot.module.observers();
            for observer in observers {
                observer.turned(turn);
            }
        }
        match (answer, turn) {
            (Err(mut fault), Some(Turn::SetAside(cause, span))) => {
                let failed = fault.sentence;
                fault.sentence = format!("{failed}; {cause}, and is set aside for {span}");
                Err(fault)
            }
            (Ok(_), _) if !self.is_followed() => Err(on_trial(turn == Some(Turn::Returned))),
            (answer, _) => answer,
        }
    }
}

/// A question that is not put, since the module failed too often; the last time so.
fn set_aside(failed: Option<&Fault>) -> Fault {
    let last = failed.map_or_else(String::new, |fault| {
        format!(", the last time with {}: {fault}", fault.outcome)
    });
    quarantined(format!("it is set aside, since it failed too often{last}"))
}

/// An answer on trial, which does not count.
fn on_trial(was_last: bool) -> Fault {
    quarantined(if was_last {
        format!("it answered {ANSWERS} times on trial, and is followed from now on")
    } else {
        String::from("it answers on trial, and is not followed yet")
    })
}

fn quarantined(sentence: String) -> Fault {
    Fault {
        outcome: Outcome::Quarantined,
        sentence,
    }
}

impl<M> Named for Watched<'_, M> {
    fn name(&self) -> &str {
        self.name
    }
}

impl<M: Ranker + Observable> Ranker for Watched<'_, M> {
    fn facts(&self) -> RankerFacts {
        self.slot.module.facts()
    }

    fn price(&self, question: &PriceQuestion) -> Result<Prices, Fault> {
        self.ask(
            || fingerprint::of_price(question),
            |module| module.price(question),
        )
    }

    fn order(&self, question: &OrderQuestion) -> Result<LaunchLists, Fault> {
        self.ask(
            || fingerprint::of_order(question),
            |module| module.order(question),
        )
    }
}

impl<M: Consolidator + Observable> Consolidator for Watched<'_, M> {
    fn score(&self, question: &ScoreQuestion) -> Result<Verdicts, Fault> {
        self.ask(
            || fingerprint::of_score(question),
            |module| module.score(question),
        )
    }
}

impl<M: Budgeter + Observable> Budgeter for Watched<'_, M> {
    fn allow(&self, question: &AllowQuestion) -> Result<Allowances, Fault> {
        self.ask(
            || fingerprint::of_allow(question),
            |module| module.allow(question),
        )
    }
}

/// The module of a place and the last good one behind it, in one decision. Of hooks that put one question to a policy: where the module is
/// not followed the one behind it answers; where it fails the hook does what it does without an answer.
#[derive(Debug)]
pub(crate) struct WithFallback<'s, M> {
    pub(crate) serving: Watched<'s, M>,
    pub(crate) last_good: Option<Watched<'s, M>>,
    /// Why the one behind has answered.
    instead: OnceCell<String>,
}

impl<M> WithFallback<'_, M> {
    /// Why the one behind has answered, where it has.
    pub(crate) fn instead(&self) -> Option<&str> {
        self.instead.get().map(String::as_str)
    }
}

impl<M: Observable> WithFallback<'_, M> {
    /// Puts a question to the module that serves; where its answer does not count, its observers are told.
    fn put<'a, T>(
        &'a self,
        put: impl Fn(&'a Watched<'_, M>) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let answer = put(&self.serving);
        if answer.is_err() {
            self.tell_fallback();
        }
        answer
    }

    /// Tells observers of the module that serves that its answer does not count.
    pub(crate) fn tell_fallback(&self) {
        for observer in self.serving.slot.module.observers() {
            observer.fell_back();
        }
    }

    fn ask<'a, T>(
        &'a self,
        put: impl Fn(&'a Watched<'_, M>) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let answer = self.put(&put);
        match &self.last_good {
            Some(behind) if !self.serving.is_followed() => {
                let instead = put(behind);
                if let (Err(fault), Ok(_)) = (answer, &instead) {
                    self.instead.get_or_init(|| fault.sentence);
                }
                instead
            }
            _ => answer,
        }
    }
}

impl<M> Named for WithFallback<'_, M> {
    fn name(&self) -> &str {
        self.serving.name()
    }
}

impl<M: Ranker + Observable> WithFallback<'_, M> {
    fn stood_in<'a, T>(
        &'a self,
        put: impl Fn(&'a Watched<'_, M>) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let failed = match self.put(&put) {
            Err(fault) if !self.serving.facts().vetoes => fault,
            answer => return answer,
        };
        let behind = self.last_good.as_ref();
        match behind
            .filter(|behind| behind.facts().unit == self.facts().unit)
            .map(put)
        {
            Some(Ok(instead)) => {
                self.instead.get_or_init(|| failed.to_string());
                Ok(instead)
            }
            _ => Err(failed),
        }
    }
}

/// Prices for a decision about nodes. The one behind answers also where the serving one fails, as it plans then; one that forbids
/// offerings is never stood in for.
impl<M: Ranker + Observable> Ranker for WithFallback<'_, M> {
    fn facts(&self) -> RankerFacts {
        self.serving.facts()
    }

    fn price(&self, question: &PriceQuestion) -> Result<Prices, Fault> {
        self.stood_in(|module| module.price(question))
    }

    /// Who has answered for prices orders, too: no decision is made of two modules' answers. One that gives no prices is stood in for.
    fn order(&self, question: &OrderQuestion) -> Result<LaunchLists, Fault> {
        match (&self.last_good, self.instead()) {
            (Some(behind), Some(_)) => {
                self.tell_fallback();
                behind.order(question)
            }
            _ if self.facts().unit == Unit::Dollars => self.put(|module| module.order(question)),
            _ => self.stood_in(|module| module.order(question)),
        }
    }
}

impl<M: Consolidator + Observable> Consolidator for WithFallback<'_, M> {
    fn score(&self, question: &ScoreQuestion) -> Result<Verdicts, Fault> {
        self.ask(|module| module.score(question))
    }
}

impl<M: Budgeter + Observable> Budgeter for WithFallback<'_, M> {
    fn allow(&self, question: &AllowQuestion) -> Result<Allowances, Fault> {
        self.ask(|module| module.allow(question))
    }
}
