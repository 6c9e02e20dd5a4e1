//! Budget policies that serve some of the pools, and pools that ask for a policy which is not there.

use std::collections::BTreeSet;
use std::sync::Arc;

use plimsoll_base::ids::PoolName;
use plimsoll_hooks::allow::{AllowQuestion, Allowance, Allowances};

use crate::allow::Budgeter;
use crate::bindings::Part;
use crate::named::Named;
use crate::outcome::Fault;
use crate::slot::WithFallback;

/// A budget policy for its pools alone.
pub(crate) struct Serving<'s, B> {
    policy: &'s B,
    pools: &'s BTreeSet<PoolName>,
}

impl<'s, M> Serving<'s, WithFallback<'s, M>> {
    pub(crate) fn of(part: &'s Part<'s, M>) -> Self {
        Self {
            policy: &part.asked,
            pools: &part.pools,
        }
    }
}

impl<B: Named> Named for Serving<'_, B> {
    fn name(&self) -> &str {
        self.policy.name()
    }
}

impl<B: Budgeter> Budgeter for Serving<'_, B> {
    fn serves(&self, pool: &str) -> bool {
        self.pools.contains(pool)
    }

    fn allow(&self, question: &AllowQuestion) -> Result<Allowances, Fault> {
        self.policy.allow(question)
    }
}

/// A pool none of whose nodes may be removed, since it asks by name for a policy that is not there.
pub(crate) struct Held {
    pub(crate) pool: PoolName,
    pub(crate) policy: Arc<str>,
}

impl Held {
    pub(crate) fn sentence(&self) -> String {
        let Self { pool, policy } = self;
        format!(
            "pool {pool} asks for policy {policy}, which does not serve; none of its nodes is disrupted for consolidation, emptiness or drift"
        )
    }
}

impl Named for Held {
    fn name(&self) -> &str {
        &self.policy
    }
}

impl Budgeter for Held {
    fn serves(&self, pool: &str) -> bool {
        self.pool.as_str() == pool
    }

    fn allow(&self, question: &AllowQuestion) -> Result<Allowances, Fault> {
        let none = Allowance {
            nodes: 0,
            reason: 0,
        };
        Ok(Allowances {
            rows: vec![none; question.pools.len()],
            recheck_after: None,
        })
    }
}
