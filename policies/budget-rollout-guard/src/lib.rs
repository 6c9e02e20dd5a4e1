//! Nodes go while all is well, and few at a time. README.md has the rule.

use std::time::Duration;

use plimsoll_sdk::budget::*;

/// Settings, as they appear in the Policy object.
#[derive(Debug, Settings)]
pub struct Options {
    /// Share of the pool's nodes that may be down at once, at least one.
    #[setting(default = 0.05, min = 0, max = 1)]
    pub share_at_once: f64,
    /// Share of the pool's nodes that may be not ready before everything stops.
    #[setting(default = 0.1, min = 0, max = 1)]
    pub not_ready_share: f64,
    /// Pods waiting for the pool at which everything stops.
    #[setting(default = 20, min = 1)]
    pub pending_pods: u32,
    /// Evictions per node within an hour at which everything stops.
    #[setting(default = 2, min = 0)]
    pub evictions_per_node: f64,
    /// Failed launches within an hour at which everything stops.
    #[setting(default = 3, min = 1)]
    pub failures: u32,
}

reasons! {
    WELL = "all is well: few at a time",
    NOT_READY = "too many nodes are not ready",
    PENDING = "too many pods wait",
    EVICTIONS = "too many evictions within the hour",
    FAILURES = "too many launches failed within the hour",
    EMPTY = "nothing but daemons runs there",
}

/// When to ask again while something looks wrong: counts of the last hour fall without anything happening.
const RECHECK_AFTER: Duration = Duration::from_mins(5);

/// Few at a time, and none while something looks wrong.
#[derive(Debug)]
pub struct RolloutGuard;

impl Budget for RolloutGuard {
    type Settings = Options;

    fn allow(&self, pool: &Pool, options: &Options) -> Allowance {
        let nodes = f64::from(pool.nodes());
        if pool.disruption() == Disruption::Emptiness {
            return Allowance::as_declared(EMPTY);
        }
        let worries = [
            (
                f64::from(pool.not_ready()) > options.not_ready_share * nodes,
                NOT_READY,
            ),
            (pool.pending_pods() >= options.pending_pods, PENDING),
            (
                f64::from(pool.recent_evictions()) >= (options.evictions_per_node * nodes).max(1.0),
                EVICTIONS,
            ),
            (pool.recent_failures() >= options.failures, FAILURES),
        ];
        match worries.into_iter().find(|(worrying, _)| *worrying) {
            Some((_, reason)) => Allowance::none(reason).until(RECHECK_AFTER),
            None => Allowance::nodes(share(options.share_at_once * nodes), WELL),
        }
    }
}

export_budget!(RolloutGuard);

/// That many nodes, cut to whole ones, and one at least.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of a count lies between 0 and the count"
)]
fn share(nodes: f64) -> u32 {
    (nodes as u32).max(1)
}

#[cfg(test)]
mod tests {
    use plimsoll_sdk::testing::Pools;

    use super::*;

    fn pool(nodes: u32) -> Pools {
        Pools::at("2026-11-22", "09:30").pool("general", nodes)
    }

    /// Consolidation and drift are held alike, and emptiness never is.
    #[track_caller]
    fn check(pools: &Pools, count: u32, reason: Reason) {
        let allowances = pools.allowances(&RolloutGuard, &Options::default());
        let free = Allowance::as_declared(EMPTY);
        let held = Allowance::nodes(count, reason);
        assert_eq!(allowances, [free, held, held]);
    }

    #[test]
    fn a_twentieth_may_be_down_at_once_and_one_in_any_case() {
        check(&pool(100), 5, WELL);
        check(&pool(59), 2, WELL);
        check(&pool(3), 1, WELL);
    }

    #[test]
    fn each_worry_stops_everything_and_is_named() {
        check(&pool(100).not_ready(10), 5, WELL);
        check(&pool(100).not_ready(11), 0, NOT_READY);
        check(&pool(100).pending_pods(20), 0, PENDING);
        check(&pool(100).recent_evictions(199), 5, WELL);
        check(&pool(100).recent_evictions(200), 0, EVICTIONS);
        check(&pool(100).recent_failures(3), 0, FAILURES);
    }
}
