//! Claims that were asked for within the last minute and are no more, as their pool remembers them.
//!
//! The ceiling on nodes per minute counts what was asked for, whatever has become of it. Claims that are there say themselves when that
//! was; of those that failed and went nothing would be left for another process to count, so their pool says it, in an annotation.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_base::ids::PoolName;
use plimsoll_base::time::Timestamp;
use plimsoll_model::{ASKED_ANNOTATION, NodeClaim, Status};

use super::runaway::MINUTE;

/// When claims that are no more were asked for, by pool, oldest first.
#[derive(Clone, Debug, Default)]
pub(super) struct GoneAsks {
    by_pool: BTreeMap<PoolName, Vec<Timestamp>>,
}

impl GoneAsks {
    /// A claim is no more; whether its pool has to say that it was asked for.
    pub(super) fn note(&mut self, claim: &NodeClaim, now: Timestamp) -> bool {
        let counts = claim.created + MINUTE > now && !claim.pool.as_str().is_empty();
        if counts {
            let asks = self.by_pool.entry(claim.pool.clone()).or_default();
            asks.push(claim.created);
            asks.sort_unstable();
        }
        counts
    }

    /// Takes over what a pool says; the instants that count now.
    pub(super) fn recall(
        &mut self,
        pool: &PoolName,
        status: &Status,
        now: Timestamp,
    ) -> Vec<Timestamp> {
        let text = status.memory.get(ASKED_ANNOTATION);
        let asks = text.map(|text| read(text)).unwrap_or_default();
        let asks: Vec<Timestamp> = asks.into_iter().filter(|at| *at + MINUTE > now).collect();
        if !asks.is_empty() {
            self.by_pool.insert(pool.clone(), asks.clone());
        }
        asks
    }

    /// Words for a pool to say now; `None` where those it has stay, out of date or not.
    pub(super) fn text(&mut self, pool: &PoolName, now: Timestamp) -> Option<Arc<str>> {
        let asks = self.by_pool.get_mut(pool)?;
        asks.retain(|at| *at + MINUTE > now);
        if asks.is_empty() {
            self.by_pool.remove(pool);
            return None;
        }
        let seconds: Vec<String> = asks
            .iter()
            .map(|at| (at.millis() / 1000).to_string())
            .collect();
        Some(Arc::from(seconds.join(" ")))
    }
}

/// Instants in whole seconds; others are skipped.
fn read(text: &str) -> Vec<Timestamp> {
    let seconds = text
        .split_whitespace()
        .filter_map(|word| word.parse::<i64>().ok());
    let mut asks: Vec<Timestamp> = seconds
        .filter_map(|second| second.checked_mul(1000))
        .map(Timestamp::from_millis)
        .collect();
    asks.sort_unstable();
    asks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(second: i64) -> Timestamp {
        Timestamp::from_millis(second * 1000)
    }

    #[test]
    fn what_is_written_is_read_as_long_as_it_counts() {
        let pool = PoolName::from("general");
        let says = |text: &str| Status {
            memory: [(ASKED_ANNOTATION.into(), text.into())].into(),
            ..Status::default()
        };
        let status = says("70 x 20 9223372036854775807 75");
        let mut asks = GoneAsks::default();
        let read = asks.recall(&pool, &status, second(81));
        assert_eq!(read[..2], [second(70), second(75)]);
        let mut asks = GoneAsks::default();
        let status = says("70 20 75");
        asks.recall(&pool, &status, second(81));
        assert_eq!(asks.text(&pool, second(81)).as_deref(), Some("70 75"));
        assert_eq!(asks.text(&pool, second(132)).as_deref(), Some("75"));
        assert_eq!(asks.text(&pool, second(136)), None);
    }
}
