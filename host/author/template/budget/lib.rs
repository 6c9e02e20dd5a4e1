//! Lets nodes go while few pods wait: what is there is needed more than what could be saved.

use std::time::Duration;

use plimsoll_sdk::budget::*;

/// Settings, as they appear in the Policy object. Their JSON Schema comes from this struct.
#[derive(Debug, Settings)]
pub struct Options {
    /// Pods waiting for a pool at which none of its nodes goes.
    #[setting(default = 10, min = 1)]
    pub waiting_pods: u32,
}

reasons! {
    EMPTY = "nothing but daemons runs there",
    WAITING = "pods wait for the pool",
    CALM = "few pods wait",
}

/// When to ask again although nothing else has changed.
const RECHECK_AFTER: Duration = Duration::from_secs(60);

/// The policy.
#[derive(Debug)]
pub struct NewPolicy;

impl Budget for NewPolicy {
    type Settings = Options;

    /// How many nodes of this pool may be down at once, for the reason that is asked about.
    fn allow(&self, pool: &Pool, options: &Options) -> Allowance {
        if pool.disruption() == Disruption::Emptiness {
            return Allowance::as_declared(EMPTY);
        }
        if pool.pending_pods() >= options.waiting_pods {
            return Allowance::none(WAITING).until(RECHECK_AFTER);
        }
        Allowance::as_declared(CALM)
    }
}

export_budget!(NewPolicy);

#[cfg(test)]
mod tests {
    use plimsoll_sdk::testing::Pools;

    use super::*;

    #[test]
    fn no_node_goes_while_pods_wait() {
        let pools = Pools::at("2026-11-22", "09:30").pool("general", 20).pending_pods(10);
        let allowances = pools.allowances(&NewPolicy, &Options::default());
        assert_eq!(allowances[0], Allowance::as_declared(EMPTY));
        assert_eq!((allowances[1].count(), allowances[1].reason()), (0, WAITING));
    }
}
