//! Health of registration: the nodes that are bought for a pool join, but for one of the last four at most.
//!
//! It is told and changes nothing else. What was told before a restart stands; it counts no more once the pool or its class is another.

use std::collections::{BTreeMap, VecDeque};

use plimsoll_base::ids::PoolName;
use plimsoll_model::{ConditionStatus, ConditionType, DesiredCondition, NodePool, Status};

/// Nodes that count.
const LAST: usize = 4;
/// Nodes of them that may not have joined.
const MOST_FAILED: usize = 1;
const KIND: ConditionType = ConditionType::NodeRegistrationHealthy;

/// Fate of the last nodes of each pool.
#[derive(Clone, Debug, Default)]
pub(super) struct RegistrationHealth {
    pools: BTreeMap<PoolName, Last>,
}

#[derive(Clone, Debug, Default)]
struct Last {
    /// Whether each of the last nodes joined, the oldest first.
    joined: VecDeque<bool>,
    /// What is to be said; `None` where that stays as it is.
    verdict: Option<DesiredCondition>,
}

impl Last {
    fn add(&mut self, joined: bool) -> bool {
        if self.joined.len() == LAST {
            self.joined.pop_front();
        }
        self.joined.push_back(joined);
        let failed = self.joined.iter().filter(|joined| !**joined).count();
        failed <= MOST_FAILED
    }
}

impl RegistrationHealth {
    /// A node has joined; whether that may change what is said.
    pub(super) fn joined(&mut self, pool: &PoolName) -> bool {
        let last = self.pools.entry(pool.clone()).or_default();
        let is_healthy = last.add(true);
        if is_healthy {
            last.verdict = Some(DesiredCondition::holds(KIND));
        }
        is_healthy
    }

    /// A node has not joined in time, and why; whether that may change what is said.
    pub(super) fn failed(&mut self, pool: &PoolName, reason: &str, message: &str) -> bool {
        let last = self.pools.entry(pool.clone()).or_default();
        let is_healthy = last.add(false);
        if !is_healthy {
            last.verdict = Some(DesiredCondition::fails(KIND, reason, message));
        }
        !is_healthy
    }

    /// The pool is no more.
    pub(super) fn forget(&mut self, pool: &PoolName) {
        self.pools.remove(pool);
    }

    /// Condition of a pool whose class is of this generation, where that is known.
    pub(super) fn condition(
        &mut self,
        pool: &NodePool,
        status: &Status,
        class: Option<i64>,
    ) -> DesiredCondition {
        let said = status.conditions.get(KIND);
        let is_current = class.is_none_or(|class| status.class_generation == Some(class));
        let said = said.filter(|said| is_current && said.generation == Some(status.generation));
        let Some(said) = said else {
            self.forget(&pool.name);
            return DesiredCondition::awaited(KIND);
        };
        let last = self.pools.entry(pool.name.clone()).or_default();
        if last.joined.is_empty() {
            match said.status {
                ConditionStatus::True => last.joined.extend([true]),
                ConditionStatus::False => last.joined.extend([false; 2]),
                ConditionStatus::Unknown => {}
            }
        }
        // What is said already keeps its words.
        let is_new = |verdict: &&DesiredCondition| verdict.status != said.status;
        let verdict = last.verdict.as_ref().filter(is_new).cloned();
        last.verdict.clone_from(&verdict);
        verdict.unwrap_or_else(|| DesiredCondition::repeated(KIND, said))
    }
}
