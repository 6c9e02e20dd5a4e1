//! A shadow: a candidate that is asked beside the active policy about the same frozen inputs, and what would have been otherwise.
//!
//! It looks on ([`Onlooker`]): the active policy has answered before the candidate is asked, and nothing that the candidate says is done.
//! What it takes is time: it is asked on the thread that decides, which goes on when it has answered too. A ranking candidate makes a plan
//! of its own for the snapshot; consolidation and budget candidates get the very question that the active policy got. What is counted: agreement, what the difference costs at list prices, moves more and fewer, budgets wider and
//! narrower, faults, fuel. The newest differences are kept, so many of them.
//!
//! The active policy of the candidate's hook must be a module; for ranking the core's own list prices will do.

mod allowances;
mod moves;
mod plans;

use std::collections::VecDeque;
use std::fmt;
use std::slice::from_ref;
use std::sync::{Arc, Mutex, PoisonError};

use plimsoll_core::schedule::Offers;
use plimsoll_core::snapshot::Snapshot;
use plimsoll_core::units::PricePerHour;
use serde::Serialize;

use crate::any::AnyModule;
use crate::decide::{Decision, decide_again};
use crate::module::{BudgetModule, Checked, Module};
use crate::onlooker::{Asked, Onlooker, Overheard};
use crate::outcome::{Called, Fault};

/// How much a shadow is asked and what it keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShadowSettings {
    /// It is asked about every so many decisions, 1 for all.
    pub every: u64,
    /// Differences kept, the newest; the sums are about all.
    pub keep: usize,
}

impl Default for ShadowSettings {
    fn default() -> Self {
        Self {
            every: 1,
            keep: 100,
        }
    }
}

/// What a shadow has come to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Book {
    /// Decisions about which both were asked.
    pub decisions: u64,
    /// Those on which they differ.
    pub differ: u64,
    /// Launches, moves or rows that were compared.
    pub compared: u64,
    /// Those on which both agree: the same first choice, worth it or not, the same allowance.
    pub agree: u64,
    /// Pairs of candidates of launch lists that stand in the same order, less those that stand the other way round.
    pub in_order: i64,
    /// All such pairs.
    pub pairs: i64,
    /// What the shadow's choices cost more than the active ones, all decisions together; negative where they cost less. At list
    /// prices; moves of a consolidation policy at the prices that decide.
    pub regret: PricePerHour,
    /// Pods that the shadow leaves waiting more than the active policy; negative where it leaves fewer.
    pub waiting: i64,
    /// Moves that only the shadow would make.
    pub extra_moves: u64,
    /// Moves that only the active policy would make.
    pub missing_moves: u64,
    /// Budgets that the shadow leaves wider.
    pub wider: u64,
    /// Budgets that it makes narrower.
    pub narrower: u64,
    /// Calls of the shadow that failed.
    pub faults: u64,
    /// Decisions in which a call of the shadow hung on the machine, such as a deadline; such a decision counts here and nowhere else.
    pub hung: u64,
    /// The last of the faults, in words.
    pub last_fault: Option<String>,
    /// Fuel of the shadow's calls.
    pub fuel: u64,
    /// Fuel of the active policy's calls about the same.
    pub active_fuel: u64,
    /// The newest differences, oldest first.
    pub differing: VecDeque<Differing>,
}

/// One decision on which both differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Differing {
    /// Its number among those compared, from 1.
    pub number: u64,
    /// When, Unix seconds.
    pub unix_s: u64,
    /// What was decided.
    pub active: String,
    /// What the shadow would have decided.
    pub shadow: String,
    /// What that would cost more at list prices; negative for less.
    pub regret: PricePerHour,
}

/// What one decision comes to.
#[derive(Debug, Default)]
struct Compared {
    rows: u64,
    agree: u64,
    in_order: i64,
    pairs: i64,
    regret: PricePerHour,
    waiting: i64,
    extra_moves: u64,
    missing_moves: u64,
    wider: u64,
    narrower: u64,
    /// Both sides in words, where they differ.
    words: Option<(String, String)>,
}

/// Asks a candidate beside the active policy.
pub struct Shadow {
    candidate: AnyModule,
    /// The policy that it is compared with, where several are asked.
    active: Option<AnyModule>,
    settings: ShadowSettings,
    state: Mutex<State>,
}

impl fmt::Debug for Shadow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shadow")
            .field("candidate", &self.candidate)
            .finish_non_exhaustive()
    }
}

#[derive(Default)]
struct State {
    book: Book,
    /// Decisions seen, asked about or not.
    seen: u64,
    /// Fuel of the active policy since the last plan.
    active_fuel: u64,
    /// What pools sell, as the shadow's last plan read it.
    offers: Option<Arc<Offers>>,
}

impl Shadow {
    /// A shadow that has not been asked yet, beside that policy; beside whichever is asked where none is named.
    pub fn new(candidate: AnyModule, active: Option<AnyModule>, settings: ShadowSettings) -> Self {
        Self {
            candidate,
            active,
            settings,
            state: Mutex::default(),
        }
    }

    /// What it has come to so far.
    pub fn book(&self) -> Book {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.book.clone()
    }

    /// Whether this is the budget policy that it is compared with: others are asked, too.
    fn is_beside(&self, asked: &BudgetModule) -> bool {
        self.active.as_ref().is_none_or(|active| {
            active.sha256() == asked.sha256() && active.settings() == asked.settings()
        })
    }

    /// Whether it is this decision's turn.
    fn is_due(&self) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.seen += 1;
        (state.seen - 1).is_multiple_of(self.settings.every.max(1))
    }

    fn with_state<R>(&self, change: impl FnOnce(&mut State) -> R) -> R {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Enters a decision that both were asked about.
    fn enter(&self, unix_s: u64, fuel: (u64, u64), faults: &[Fault], compared: Compared) {
        let keep = self.settings.keep;
        self.with_state(|state| {
            if state.book.note(fuel, faults) {
                state.book.add(unix_s, compared, keep);
            }
        });
    }

    /// A candidate that ranks plans for the same snapshot.
    fn plans_too(&self, module: &Module, snapshot: &Snapshot, active: &Decision) {
        let active_fuel = self.with_state(|state| std::mem::take(&mut state.active_fuel));
        let nothing_to_buy = active.plan.claims.is_empty() && active.plan.unplaced.is_empty();
        if nothing_to_buy || !self.is_due() {
            return;
        }
        let meter: Arc<Meter> = Arc::default();
        let asked = Overheard {
            module: module.clone(),
            onlookers: vec![meter.clone()],
        };
        let mut offers = self.with_state(|state| state.offers.take());
        let shadow = decide_again(&asked, snapshot, &mut offers);
        self.with_state(|state| state.offers = offers);
        let unix_s = u64::try_from(snapshot.now.millis() / 1000).unwrap_or(0);
        let compared = plans::compare(&active.plan, &shadow.plan);
        let fuel = (active_fuel, meter.fuel());
        self.enter(unix_s, fuel, &shadow.faults, compared);
    }
}

impl Onlooker for Shadow {
    fn asked(&self, call: &Asked<'_>) {
        match (&self.candidate, call) {
            (AnyModule::Rank(_), Asked::Price { called, .. }) => self.spent(called),
            (AnyModule::Rank(_), Asked::Order { called, .. }) => self.spent(called),
            (
                AnyModule::Consolidate(module),
                Asked::Score {
                    question, called, ..
                },
            ) if self.is_due() => {
                let now = module.score(question);
                let fuel = (called.fuel, now.fuel);
                let compared = moves::compare(question, typed(called), typed(&now));
                let at = question.context.now_unix_s;
                self.enter(at, fuel, faults(&now), compared);
            }
            (
                AnyModule::Budget(module),
                Asked::Allow {
                    module: active,
                    question,
                    called,
                },
            ) if self.is_beside(active) && self.is_due() => {
                let now = module.allow(question);
                let fuel = (called.fuel, now.fuel);
                let compared = allowances::compare(question, typed(called), typed(&now));
                let at = question.context.now_unix_s;
                self.enter(at, fuel, faults(&now), compared);
            }
            _ => {}
        }
    }

    fn planned(&self, snapshot: &Snapshot, decision: &Decision) {
        if let AnyModule::Rank(module) = &self.candidate {
            self.plans_too(module, snapshot, decision);
        }
    }
}

impl Shadow {
    fn spent<T>(&self, called: &Called<T>) {
        self.with_state(|state| state.active_fuel += called.fuel);
    }
}

/// The checked answer; nothing where there is none.
fn typed<Raw, Typed>(called: &Called<Checked<Raw, Typed>>) -> Option<&Typed> {
    called.result.as_ref().ok().map(|checked| &checked.typed)
}

/// Why a call gave no answer, where it gave none.
fn faults<T>(called: &Called<T>) -> &[Fault] {
    called.result.as_ref().err().map_or(&[], from_ref)
}

impl Book {
    /// Notes what the calls about one decision used and failed at; whether it is compared, which it is not where any of them hung on the
    /// machine.
    fn note(&mut self, fuel: (u64, u64), faults: &[Fault]) -> bool {
        if faults.iter().any(|fault| !fault.outcome.is_deterministic()) {
            self.hung += 1;
            return false;
        }
        self.decisions += 1;
        (self.active_fuel, self.fuel) = (self.active_fuel + fuel.0, self.fuel + fuel.1);
        self.faults += faults.len() as u64;
        if let Some(fault) = faults.last() {
            self.last_fault = Some(fault.sentence.clone());
        }
        true
    }

    fn add(&mut self, unix_s: u64, compared: Compared, keep: usize) {
        self.compared += compared.rows;
        self.agree += compared.agree;
        self.in_order += compared.in_order;
        self.pairs += compared.pairs;
        self.regret += compared.regret;
        self.waiting += compared.waiting;
        self.extra_moves += compared.extra_moves;
        self.missing_moves += compared.missing_moves;
        self.wider += compared.wider;
        self.narrower += compared.narrower;
        let Some((active, shadow)) = compared.words else {
            return;
        };
        self.differ += 1;
        if self.differing.len() >= keep {
            self.differing.pop_front();
        }
        if keep > 0 {
            self.differing.push_back(Differing {
                number: self.decisions,
                unix_s,
                active,
                shadow,
                regret: compared.regret,
            });
        }
    }

    /// Share of what was compared on which both agree, in thousandths; `None` where nothing was.
    pub fn agreement(&self) -> Option<u64> {
        (self.agree * 1000).checked_div(self.compared)
    }

    /// Kendall's tau of launch lists for the same pods, in thousandths from -1,000 to 1,000; `None` where there were none.
    pub fn order(&self) -> Option<i64> {
        (self.in_order * 1000).checked_div(self.pairs)
    }
}

/// Adds up the fuel of calls.
#[derive(Debug, Default)]
struct Meter(Mutex<u64>);

impl Meter {
    fn fuel(&self) -> u64 {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Onlooker for Meter {
    fn asked(&self, call: &Asked<'_>) {
        let fuel = match call {
            Asked::Price { called, .. } => called.fuel,
            Asked::Order { called, .. } => called.fuel,
            Asked::Score { called, .. } => called.fuel,
            Asked::Allow { called, .. } => called.fuel,
        };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) += fuel;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Outcome;

    fn fault(outcome: Outcome) -> Fault {
        Fault {
            outcome,
            sentence: outcome.label().to_owned(),
        }
    }

    #[test]
    fn every_call_that_failed_counts_and_the_last_is_told() {
        let mut book = Book::default();
        assert!(book.note((1, 2), &[fault(Outcome::Trap), fault(Outcome::Fuel)]));
        assert!(book.note((3, 4), &[]));
        assert_eq!((book.decisions, book.faults), (2, 2));
        assert_eq!((book.active_fuel, book.fuel), (4, 6));
        assert_eq!(book.last_fault.as_deref(), Some("fuel"));
    }

    #[test]
    fn a_call_that_hung_on_the_machine_counts_for_the_decision_wherever_it_stands() {
        let mut book = Book::default();
        let second = [fault(Outcome::Trap), fault(Outcome::Deadline)];
        assert!(!book.note((1, 2), &second));
        assert_eq!((book.decisions, book.faults, book.hung), (0, 0, 1));
        assert_eq!((book.active_fuel, book.fuel), (0, 0));
    }
}
