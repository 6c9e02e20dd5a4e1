//! A shadow: a candidate that is asked beside the active policy about the same frozen inputs, and what would have been otherwise.
//!
//! ```text
//! decision ─► answer ─► what follows from it
//!     └─► is it its turn? ─► queue (a queue, a thread) ─► verifier (asks the candidate, compares) ─► log
//! ```
//!
//! It only observes ([`Observer`]): the active policy has answered before the candidate is asked, and nothing that the candidate says is done.
//! Decisions do not wait for it: what was decided is handed to a thread of its own, over a queue that has room for a few and skips what is
//! beyond, which is counted ([`WhenBehind`] says who waits instead where all is compared). Beside a cluster the candidate's calls have places of their
//! own, and lower limits ([`SHADOW_SHARE`](crate::SHADOW_SHARE)); where decisions wait for it, those of a module that decides. Since one thread takes decisions in their order, its results
//! depend on them alone.
//!
//! A ranking candidate makes a plan of its own for the snapshot, and launch lists for the claims of the active one; consolidation and
//! budget candidates get the very question that the active policy got. What is counted: agreement, launch lists, what the difference
//! costs at list prices, moves more and fewer, budgets wider and narrower, faults, fuel. The newest differences are kept, so many of them.
//!
//! The active policy of the candidate's hook must be a module; for ranking the core's own list prices will do.

mod allowances;
mod lists;
mod log;
mod moves;
mod plans;
mod queue;
mod verifier;

use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

use plimsoll_model::snapshot::Snapshot;
use plimsoll_schedule::Session;

pub use lists::Lists;
pub use log::{Differing, ShadowLog};
pub use queue::WhenBehind;

use crate::any::AnyModule;
use crate::consider::Considered;
use crate::decide::Decision;
use crate::manifest::Hook;
use crate::module::BudgetModule;
use crate::observer::{Asked, Observer};
use queue::TaskQueue;
use verifier::{Answered, Task, Verifier};

/// How much a shadow is asked and what it keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShadowSettings {
    /// It is asked about every so many decisions, 1 for all.
    pub every: u64,
    /// Differences kept, the newest; the sums are about all.
    pub keep: usize,
    /// Decisions that may lie before it; each holds its snapshot.
    pub queue: usize,
    /// Treatment of a decision for which there is no room. Where it waits, the shadow has the limits of a module that decides.
    pub when_behind: WhenBehind,
}

impl Default for ShadowSettings {
    /// Those of a live cluster.
    fn default() -> Self {
        Self {
            every: 1,
            keep: 100,
            queue: 4,
            when_behind: WhenBehind::PassOver,
        }
    }
}

/// Asks a candidate beside the active policy. Dropping it ends its thread, after the call that is under way.
pub struct Shadow {
    name: String,
    hook: Hook,
    /// The policy that it is compared with, where several are asked.
    active: Option<AnyModule>,
    every: u64,
    seen: Mutex<Seen>,
    log: Arc<Mutex<ShadowLog>>,
    queue: TaskQueue<Task>,
}

impl fmt::Debug for Shadow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shadow")
            .field("name", &self.name)
            .field("hook", &self.hook)
            .finish_non_exhaustive()
    }
}

#[derive(Default)]
struct Seen {
    /// Decisions seen, asked about or not.
    decisions: u64,
    /// Fuel of the active ranking policy in decisions that are being made, by the thread that makes each.
    fuel: Vec<(ThreadId, u64)>,
}

impl Shadow {
    /// A shadow that has not been asked yet, beside that policy; beside whichever is asked where none is named. Fails where the system has
    /// no thread for it.
    pub fn begin(
        candidate: AnyModule,
        active: Option<AnyModule>,
        settings: ShadowSettings,
    ) -> io::Result<Self> {
        let ShadowSettings {
            every,
            keep,
            queue,
            when_behind,
        } = settings;
        let log: Arc<Mutex<ShadowLog>> = Arc::default();
        let manifest = candidate.manifest();
        let (name, hook) = (manifest.name.clone(), manifest.hook);
        let mut verifier = Verifier {
            candidate: match when_behind {
                WhenBehind::PassOver => candidate.in_shadow(),
                WhenBehind::Wait => candidate,
            },
            session: Session::default(),
            keep,
            log: Arc::clone(&log),
        };
        let queue = TaskQueue::begin("shadow", queue, when_behind, move |task| {
            verifier.take(task);
        });
        Ok(Self {
            name,
            hook,
            active,
            every: every.max(1),
            seen: Mutex::default(),
            log,
            queue: queue?,
        })
    }

    /// Its name, from its manifest.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Counts so far; what is under way is not in it.
    pub fn log(&self) -> ShadowLog {
        self.entries().clone()
    }

    /// Waits until it has been asked about everything so far, and says what it has come to.
    pub fn settle(&self) -> ShadowLog {
        self.queue.settle();
        self.log()
    }

    fn entries(&self) -> MutexGuard<'_, ShadowLog> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `true` if this is the budget policy that it is compared with: others are asked, too.
    fn is_beside(&self, asked: &BudgetModule) -> bool {
        self.active.as_ref().is_none_or(|active| {
            active.sha256() == asked.sha256() && active.settings() == asked.settings()
        })
    }

    /// Hands a decision over, if it is its turn.
    fn ask(&self, task: impl FnOnce() -> Task) {
        let mut seen = self.seen();
        let is_due = seen.decisions.is_multiple_of(self.every);
        seen.decisions += 1;
        drop(seen);
        if is_due && !self.queue.ask(task) {
            self.entries().passed_over += 1;
        }
    }

    /// Notes fuel of the active ranking policy, in the decision that this thread makes.
    fn spent(&self, fuel: u64) {
        let (own, mut seen) = (thread::current().id(), self.seen());
        match seen.fuel.iter_mut().find(|(thread, _)| *thread == own) {
            Some((_, spent)) => *spent += fuel,
            None => seen.fuel.push((own, fuel)),
        }
    }

    /// Fuel of the active ranking policy in the decision that this thread has made.
    fn take_spent(&self) -> u64 {
        let (own, mut seen) = (thread::current().id(), self.seen());
        let place = seen.fuel.iter().position(|(thread, _)| *thread == own);
        place.map_or(0, |place| seen.fuel.swap_remove(place).1)
    }
}

impl Observer for Shadow {
    fn asked(&self, call: &Asked<'_>) {
        match (self.hook, call) {
            (Hook::Rank, Asked::Price(_) | Asked::Order(_)) => self.spent(call.fuel()),
            (Hook::Consolidate, Asked::Score(ended)) => {
                self.ask(|| Task::Moves(Answered::of(ended)));
            }
            (Hook::Budget, Asked::Allow(ended)) if self.is_beside(ended.module) => {
                self.ask(|| Task::Budgets(Answered::of(ended)));
            }
            _ => {}
        }
    }

    fn planned(&self, snapshot: &Snapshot, decision: &Decision) {
        if self.hook != Hook::Rank {
            return;
        }
        let fuel = self.take_spent();
        let nothing_to_buy = decision.plan.claims.is_empty() && decision.plan.unplaced.is_empty();
        if !nothing_to_buy {
            self.ask(|| Task::Plan {
                snapshot: Box::new(snapshot.clone()),
                active: Box::new(decision.plan.clone()),
                fuel,
            });
        }
    }

    /// Drops the fuel that the calls of a disruption decision took: they are no part of a plan.
    fn considered(&self, _snapshot: &Snapshot, _considered: &Considered) {
        self.take_spent();
    }
}
