//! The health of one module in service, as its calls tell: what is worth telling of it is put down for the task of its Policy.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use plimsoll_api::kinds::RememberedModule;
use plimsoll_base::time::Span;
use plimsoll_policy::{Asked, Cause, Fault, Observer, Outcome, RecentCalls, Turn};
use tokio::sync::Notify;

use super::calls::Calls;

/// News that wait at most; a task that is so far behind is told of the rest by later ones.
const MOST_NEWS: usize = 64;

/// Something that happened to a module in service.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct News {
    pub(super) module: RememberedModule,
    pub(super) happened: Happened,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Happened {
    /// It failed in a way that it had not since it began to serve or came back.
    Failed(Fault),
    /// It is set aside for so long, for that reason.
    SetAside(Cause, Span),
    /// It is followed again.
    Returned,
}

/// News of the modules of one Policy, in their order.
#[derive(Debug, Default)]
pub(super) struct Bulletin {
    waiting: Mutex<Vec<News>>,
    arrived: Notify,
}

impl Bulletin {
    /// Ends once there may be news.
    pub(super) async fn arrived(&self) {
        self.arrived.notified().await;
    }

    /// The news since the last look.
    pub(super) fn take(&self) -> Vec<News> {
        std::mem::take(&mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn put(&self, news: News) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.len() < MOST_NEWS {
            waiting.push(news);
        }
        drop(waiting);
        self.arrived.notify_one();
    }
}

/// Told of the calls of one module in service.
#[derive(Debug)]
pub(super) struct Health {
    module: RememberedModule,
    calls: Arc<Calls>,
    bulletin: Arc<Bulletin>,
    /// Ways to fail that have been told.
    told: Mutex<BTreeSet<Outcome>>,
    recent: Mutex<RecentCalls>,
}

impl Health {
    pub(super) fn new(
        module: RememberedModule,
        calls: Arc<Calls>,
        bulletin: Arc<Bulletin>,
    ) -> Self {
        Self {
            module,
            calls,
            bulletin,
            told: Mutex::default(),
            recent: Mutex::default(),
        }
    }

    /// How its last calls ended.
    pub(super) fn recent(&self) -> MutexGuard<'_, RecentCalls> {
        self.recent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes note of a call; whether its Policy is ready may be another than before.
    fn note(&self, function: &'static str, fault: Option<&Fault>) {
        let mut recent = self.recent();
        let was_failing = recent.is_failing();
        recent.note(function, fault);
        let is_failing = recent.is_failing();
        drop(recent);
        if was_failing != is_failing {
            self.bulletin.arrived.notify_one();
        }
    }

    fn failed(&self, fault: &Fault) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.insert(fault.outcome) {
            self.put(Happened::Failed(fault.clone()));
        }
    }

    fn put(&self, happened: Happened) {
        let module = self.module.clone();
        self.bulletin.put(News { module, happened });
    }
}

impl Observer for Health {
    fn fell_back(&self) {
        self.calls.fell_back();
    }

    fn asked(&self, call: &Asked<'_>) {
        self.calls.asked(call);
        self.note(call.function(), call.fault());
        if let Some(fault) = call.fault() {
            self.failed(fault);
        }
    }

    fn turned(&self, turn: Turn) {
        self.put(match turn {
            Turn::SetAside(cause, span) => Happened::SetAside(cause, span),
            Turn::Returned => {
                let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
                told.clear();
                self.recent().forget();
                Happened::Returned
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::Telemetry;

    fn no_calls() -> Arc<Calls> {
        Arc::new(Calls::new(&Arc::from("policy"), Telemetry::default()))
    }

    fn fault(outcome: Outcome) -> Fault {
        Fault {
            outcome,
            sentence: "it failed".to_owned(),
        }
    }

    #[test]
    fn a_way_to_fail_is_news_once_until_the_module_is_back() {
        let bulletin = Arc::new(Bulletin::default());
        let module = RememberedModule::default();
        let health = Health::new(module, no_calls(), Arc::clone(&bulletin));
        for outcome in [Outcome::Trap, Outcome::Fuel, Outcome::Trap] {
            health.failed(&fault(outcome));
        }
        let happened = |bulletin: &Bulletin| {
            let news = bulletin.take().into_iter();
            news.map(|news| news.happened).collect::<Vec<_>>()
        };
        let (trap, fuel) = (fault(Outcome::Trap), fault(Outcome::Fuel));
        let failed = Happened::Failed;
        assert_eq!(happened(&bulletin), [failed(trap.clone()), failed(fuel)]);
        health.turned(Turn::Returned);
        health.failed(&trap);
        assert_eq!(happened(&bulletin), [Happened::Returned, failed(trap)]);
    }

    #[test]
    fn news_that_nobody_takes_do_not_pile_up() {
        let bulletin = Arc::new(Bulletin::default());
        let health = Health::new(
            RememberedModule::default(),
            no_calls(),
            Arc::clone(&bulletin),
        );
        (0..1_000).for_each(|_| health.turned(Turn::Returned));
        assert_eq!(bulletin.take().len(), MOST_NEWS);
    }
}
