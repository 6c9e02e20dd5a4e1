//! Asks a shadow what was decided without it, and holds its answers against those that count.
//!
//! It works on frozen inputs alone: the snapshot or the question, and what the active policy made of it. So it may come as late as it
//! likes, and what it finds is the same whenever it does.

use std::slice::from_ref;
use std::sync::{Arc, Mutex, PoisonError};

use plimsoll_hooks::allow::{AllowQuestion, Allowances};
use plimsoll_hooks::score::{ScoreQuestion, Verdicts};
use plimsoll_model::plan::Plan;
use plimsoll_model::snapshot::Snapshot;
use plimsoll_schedule::Session;

use super::lists::Priced;
use super::log::{Compared, ShadowLog};
use super::{allowances, lists, moves, plans};
use crate::any::AnyModule;
use crate::decide::decide_within;
use crate::module::{Checked, Module};
use crate::observer::{Asked, EndedCall, Observed, Observer};
use crate::outcome::{Called, Fault};

/// Something that was decided, as far as a shadow of its hook has to know it.
pub(super) enum Task {
    /// Plan of instances to buy.
    Plan {
        snapshot: Box<Snapshot>,
        active: Box<Plan>,
        /// Fuel of the active policy's calls for it.
        fuel: u64,
    },
    /// Values of moves.
    Moves(Answered<ScoreQuestion, Verdicts>),
    /// How many nodes may be down.
    Budgets(Answered<AllowQuestion, Allowances>),
}

/// A question that the active policy has been asked.
pub(super) struct Answered<Question, Typed> {
    question: Box<Question>,
    /// Its answer; `None` where it failed to give one.
    active: Option<Typed>,
    /// Fuel of its call.
    fuel: u64,
}

/// A shadow at work.
pub(super) struct Verifier {
    /// The candidate, under the limits that it is asked under.
    pub(super) candidate: AnyModule,
    /// Offers that its plans keep from one to the next.
    pub(super) session: Session,
    /// Differences kept.
    pub(super) keep: usize,
    /// Where results are entered.
    pub(super) log: Arc<Mutex<ShadowLog>>,
}

/// Result of asking: fuel, faults and the comparison.
type Found = (u64, Vec<Fault>, Compared);

impl<Question: Clone, Typed: Clone> Answered<Question, Typed> {
    /// Of a call that has ended.
    pub(super) fn of<M, Raw>(ended: &EndedCall<'_, M, Question, Raw, Typed>) -> Self {
        Self {
            question: Box::new(ended.question.clone()),
            active: typed(ended.called).cloned(),
            fuel: ended.called.fuel,
        }
    }

    /// Asks the shadow the same, and compares.
    fn again<Raw>(
        &self,
        ask: impl FnOnce(&Question) -> Called<Checked<Raw, Typed>>,
        compare: impl FnOnce(&Question, Option<&Typed>, Option<&Typed>) -> Compared,
    ) -> Found {
        let now = ask(&self.question);
        let compared = compare(&self.question, self.active.as_ref(), typed(&now));
        (now.fuel, faults(&now).to_vec(), compared)
    }
}

impl Verifier {
    /// Asks about one decision and enters what comes of it. Of a decision for another hook there is nothing to ask.
    pub(super) fn take(&mut self, task: Task) {
        let Self {
            candidate, session, ..
        } = self;
        let (at, active_fuel, found) = match (candidate, task) {
            (
                AnyModule::Rank(module),
                Task::Plan {
                    snapshot,
                    active,
                    fuel,
                },
            ) => {
                let at = u64::try_from(snapshot.now.millis() / 1000).unwrap_or(0);
                (at, fuel, plan(module, session, &snapshot, &active))
            }
            (AnyModule::Consolidate(module), Task::Moves(asked)) => {
                let found = asked.again(|question| module.score(question), moves::compare);
                (asked.question.context.now_unix_s, asked.fuel, found)
            }
            (AnyModule::Budget(module), Task::Budgets(asked)) => {
                let found = asked.again(|question| module.allow(question), allowances::compare);
                (asked.question.context.now_unix_s, asked.fuel, found)
            }
            _ => return,
        };
        let (fuel, faults, compared) = found;
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        if log.note((active_fuel, fuel), &faults) {
            log.add(at, compared, self.keep);
        }
    }
}

/// A plan of its own for the same snapshot, and its launch lists for the claims of the active one.
fn plan(module: &Module, session: &Session, snapshot: &Snapshot, active: &Plan) -> Found {
    let heard: Arc<Heard> = Arc::default();
    let asked = Observed {
        module: module.clone(),
        observers: vec![heard.clone()],
    };
    let own = decide_within(&asked, snapshot, session);
    let mut compared = plans::compare(active, &own.plan);
    let (fuel, priced) = heard.told();
    let mut faults: Vec<Fault> = own.faults.into_iter().map(|(_, fault)| fault).collect();
    // One that failed has said already what it is good for.
    if faults.is_empty() {
        let offers = session.offers(snapshot);
        match lists::compare(module, snapshot, &offers, active, priced.as_ref()) {
            Ok(lists) => compared.lists = lists,
            Err(fault) => faults.push(fault),
        }
    }
    (fuel, faults, compared)
}

/// The checked answer; nothing where there is none.
pub(super) fn typed<Raw, Typed>(called: &Called<Checked<Raw, Typed>>) -> Option<&Typed> {
    called.result.as_ref().ok().map(|checked| &checked.typed)
}

/// Why a call gave no answer, where it gave none.
fn faults<T>(called: &Called<T>) -> &[Fault] {
    called.result.as_ref().err().map_or(&[], from_ref)
}

/// Adds up the fuel of calls, and keeps prices.
#[derive(Debug, Default)]
struct Heard(Mutex<(u64, Option<Priced>)>);

impl Heard {
    fn told(&self) -> (u64, Option<Priced>) {
        let mut heard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        (heard.0, heard.1.take())
    }
}

impl Observer for Heard {
    fn asked(&self, call: &Asked<'_>) {
        let mut heard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        heard.0 += call.fuel();
        if let Asked::Price(ended) = call
            && let Some(prices) = typed(ended.called)
        {
            heard.1 = Some((ended.question.pools.clone(), prices.clone()));
        }
    }
}
