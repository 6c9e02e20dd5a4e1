//! Pools for tests of budget policies.

use super::{Names, columns, context, each, set_zone};
use crate::bindings::budgeter::exports::plimsoll::policy::budgeter;
use crate::bindings::configure::plimsoll::policy::types::Context;
use crate::budget::{Allowance, AllowanceAnswer, Budget, PoolTable};
use crate::time::{Date, TimeOfDay, TimeZone};

/// Pools, each with a row for emptiness, one for consolidation and one for drift, at some time.
///
/// Steps after [`pool`](Self::pool) change the three rows of the pool added last.
///
/// ```
/// use plimsoll_sdk::budget::*;
/// use plimsoll_sdk::testing::Pools;
///
/// struct OneAtATime;
/// impl Budget for OneAtATime {
///     type Settings = NoSettings;
///     fn allow(&self, _pool: &Pool, _settings: &NoSettings) -> Allowance {
///         Allowance::nodes(1, Reason::NONE)
///     }
/// }
///
/// let pools = Pools::at("2026-11-22", "09:30").pool("general", 20);
/// assert_eq!(pools.allowances(&OneAtATime, &NoSettings)[2].count(), 1);
/// ```
#[derive(Debug, Clone)]
pub struct Pools {
    names: Names,
    context: Context,
    rows: budgeter::Pools,
}

impl Pools {
    /// No pool, at a date and time of day in UTC. Panics on text that is none.
    pub fn at(date: &str, time: &str) -> Self {
        let date = Date::parse(date).expect("a date is written 2026-12-24");
        let time = TimeOfDay::parse(time).expect("a time of day is written 22:30");
        let seconds = date.days() * 86_400 + i64::from(time.minutes()) * 60;
        let now = u64::try_from(seconds).expect("tests play after 1970");
        Self {
            names: Names::default(),
            context: context(now),
            rows: columns::no_allow_pools(),
        }
    }

    /// Says how many minutes the clock of a zone is ahead of UTC. A policy that asks for another, save UTC, panics.
    #[must_use]
    pub fn zone(mut self, zone: &TimeZone, offset_minutes: i16) -> Self {
        set_zone(&mut self.context, zone, offset_minutes);
        self
    }

    /// Adds a pool of so many nodes: all ready, nothing happening, a tenth declared as its budget.
    #[must_use]
    pub fn pool(mut self, name: &str, nodes: u32) -> Self {
        for reason in 0..3 {
            columns::push_allow_pool(&mut self.rows, &mut self.names, name, reason, nodes);
        }
        self
    }

    /// Nodes that are not ready.
    #[must_use]
    pub fn not_ready(mut self, nodes: u32) -> Self {
        set_rows(&mut self.rows.not_ready, nodes);
        self
    }

    /// Deleting nodes.
    #[must_use]
    pub fn disrupting(mut self, nodes: u32) -> Self {
        set_rows(&mut self.rows.disrupting, nodes);
        self
    }

    /// Pods that wait for a node of the pool.
    #[must_use]
    pub fn pending_pods(mut self, pods: u32) -> Self {
        set_rows(&mut self.rows.pending_pods, pods);
        self
    }

    /// Evictions in the last hour.
    #[must_use]
    pub fn recent_evictions(mut self, evictions: u32) -> Self {
        set_rows(&mut self.rows.recent_evictions, evictions);
        self
    }

    /// Launches that failed in the last hour.
    #[must_use]
    pub fn recent_failures(mut self, launches: u32) -> Self {
        set_rows(&mut self.rows.recent_failures, launches);
        self
    }

    /// The policy's allowances: emptiness, consolidation and drift of each pool.
    #[track_caller]
    pub fn allowances<P: Budget>(&self, policy: &P, settings: &P::Settings) -> Vec<Allowance> {
        let table = self.table();
        each(
            policy.allowances(&table, settings),
            table.len(),
            AllowanceAnswer::get,
        )
    }

    /// The whole question, for policies that take it.
    pub fn table(&self) -> PoolTable {
        let symbols = self.names.symbols();
        PoolTable::new(self.context.clone(), symbols, self.rows.clone())
    }
}

/// Sets the three rows of the pool added last.
fn set_rows(column: &mut [u32], value: u32) {
    let start = column.len().saturating_sub(3);
    column[start..].fill(value);
}
