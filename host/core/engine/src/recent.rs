//! Recent evictions and failures, and what the cloud recommended, as far as policies are told of them. An engine that starts anew knows
//! nothing yet.

use std::collections::{BTreeMap, VecDeque};

use plimsoll_base::ids::{ClaimName, PoolName, Uid};
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_model::snapshot::Activity;

/// Evictions are remembered by workload so long.
const DAY: Span = Span::from_secs(24 * 3600);
/// Evictions and failed launches are counted by pool so long.
const HOUR: Span = Span::from_secs(3600);
/// The most of either that are remembered; the oldest go first.
const MOST: usize = 100_000;

/// Evictions and failed launches of the last day, oldest first, and claims whose instances the cloud recommended to rebalance.
#[derive(Clone, Debug, Default)]
pub(super) struct RecentActivity {
    evictions: VecDeque<Eviction>,
    failures: VecDeque<(Timestamp, PoolName)>,
    rebalance: BTreeMap<ClaimName, Timestamp>,
}

#[derive(Clone, Debug)]
struct Eviction {
    at: Timestamp,
    pool: PoolName,
    workload: Option<Uid>,
}

impl RecentActivity {
    /// A pod was evicted from a node of a pool.
    pub(super) fn evicted(&mut self, pool: PoolName, workload: Option<Uid>, at: Timestamp) {
        let eviction = Eviction { at, pool, workload };
        push(&mut self.evictions, eviction, |old| old.at > at - DAY);
    }

    /// A launch for a pool failed.
    pub(super) fn failed(&mut self, pool: PoolName, at: Timestamp) {
        push(&mut self.failures, (at, pool), |old| old.0 > at - HOUR);
    }

    /// The cloud recommended to rebalance a claim's instance; `true` the first time.
    pub(super) fn recommended(&mut self, claim: &ClaimName, at: Timestamp) -> bool {
        let is_new = !self.rebalance.contains_key(claim);
        if is_new {
            self.rebalance.insert(claim.clone(), at);
        }
        is_new
    }

    /// The claim is no more.
    pub(super) fn forget(&mut self, claim: &ClaimName) {
        self.rebalance.remove(claim);
    }

    /// Sets down what counts now.
    pub(super) fn tell(&self, activity: &mut Activity, now: Timestamp) {
        let evictions = self.evictions.iter();
        for eviction in evictions.filter(|eviction| eviction.at > now - DAY) {
            if eviction.at > now - HOUR {
                count(&mut activity.evictions_hour, &eviction.pool);
            }
            if let Some(workload) = &eviction.workload {
                count(&mut activity.evictions_day, workload);
            }
        }
        let failures = self.failures.iter().filter(|(at, _)| *at > now - HOUR);
        for (_, pool) in failures {
            count(&mut activity.failures_hour, pool);
        }
        activity.rebalance.clone_from(&self.rebalance);
    }
}

fn push<T>(list: &mut VecDeque<T>, new: T, is_kept: impl Fn(&T) -> bool) {
    while list.len() >= MOST || list.front().is_some_and(|old| !is_kept(old)) {
        list.pop_front();
    }
    list.push_back(new);
}

fn count<K: Ord + Clone>(into: &mut BTreeMap<K, u32>, key: &K) {
    match into.get_mut(key) {
        Some(times) => *times += 1,
        None => {
            into.insert(key.clone(), 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(recent: &RecentActivity, minutes: i64) -> (Vec<u32>, Vec<u32>, Vec<u32>) {
        let mut activity = Activity::default();
        let now = Timestamp::from_millis(minutes * 60_000);
        recent.tell(&mut activity, now);
        let values = |counts: &BTreeMap<PoolName, u32>| counts.values().copied().collect();
        (
            values(&activity.evictions_hour),
            activity.evictions_day.values().copied().collect(),
            values(&activity.failures_hour),
        )
    }

    #[test]
    fn pools_are_told_of_the_last_hour_and_workloads_of_the_last_day() {
        let at = |minutes: i64| Timestamp::from_millis(minutes * 60_000);
        let (pool, web) = (PoolName::from("a"), Uid::from("web"));
        let mut recent = RecentActivity::default();
        recent.evicted(pool.clone(), Some(web.clone()), at(0));
        recent.evicted(pool.clone(), None, at(50));
        recent.failed(pool.clone(), at(55));
        assert_eq!(told(&recent, 59), (vec![2], vec![1], vec![1]));
        assert_eq!(told(&recent, 61), (vec![1], vec![1], vec![1]));
        assert_eq!(told(&recent, 24 * 60), (vec![], vec![], vec![]));
        recent.evicted(pool, Some(web), at(24 * 60));
        assert_eq!(told(&recent, 24 * 60), (vec![1], vec![1], vec![]));
    }

    #[test]
    fn what_was_recommended_first_is_told_until_its_claim_is_gone() {
        let at = |minutes: i64| Timestamp::from_millis(minutes * 60_000);
        let claim = ClaimName::from("general-1");
        let mut recent = RecentActivity::default();
        assert!(recent.recommended(&claim, at(1)));
        assert!(!recent.recommended(&claim, at(2)));
        let told = |recent: &RecentActivity| {
            let mut activity = Activity::default();
            recent.tell(&mut activity, at(3));
            activity.rebalance
        };
        assert_eq!(told(&recent), BTreeMap::from([(claim.clone(), at(1))]));
        recent.forget(&claim);
        assert_eq!(told(&recent), BTreeMap::new());
    }
}
