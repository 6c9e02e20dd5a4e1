//! The course of a run in a bounded number of points: averages over buckets that widen as the run goes on.

use std::collections::BTreeMap;

use plimsoll_base::ids::TypeName;
use plimsoll_base::time::{Span, Timestamp};
use serde::{Deserialize, Serialize};

use crate::stretches::{Stretches, Sum};

/// Points at most; when there would be more, neighbours are merged.
const MOST_POINTS: i64 = 720;

/// Milliseconds of the first buckets.
const NARROWEST: i64 = 1000;

/// Figures whose course is kept: at one instant, or on average in each bucket.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Figures<T> {
    /// Nano-dollars per hour.
    pub cost: T,
    /// Nano-dollars per hour that no fleet could have undercut; zero if it was not computed.
    pub bound: T,
    /// Pods that waited; averages in thousandths.
    pub pending: T,
    /// Share of cpu that is requested, in thousandths.
    pub cpu_used: T,
    /// Share of memory that is requested, in thousandths.
    pub memory_used: T,
    /// Nodes by type; averages in thousandths.
    pub nodes: BTreeMap<TypeName, T>,
}

/// State of the world between two events.
pub(crate) type Level = Figures<i64>;

/// Averages over time, in buckets of equal width.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// When the first bucket begins.
    pub start: Timestamp,
    /// Width of each bucket.
    pub width: Span,
    /// The averages, bucket by bucket.
    #[serde(flatten)]
    pub means: Figures<Vec<i64>>,
}

/// Gathers a [`Series`].
#[derive(Clone, Debug)]
pub(crate) struct Gatherer {
    buckets: Stretches<Bucket>,
}

/// Sums of value x milliseconds.
#[derive(Clone, Debug, Default)]
struct Bucket {
    covered: i64,
    sums: [i128; 5],
    nodes: BTreeMap<TypeName, i128>,
}

impl Bucket {
    fn add(&mut self, level: &Level, millis: i64) {
        self.covered += millis;
        let values = [
            level.cost,
            level.bound,
            level.pending * 1000,
            level.cpu_used,
            level.memory_used,
        ];
        for (sum, value) in self.sums.iter_mut().zip(values) {
            *sum += i128::from(value) * i128::from(millis);
        }
        for (name, count) in &level.nodes {
            let sum = self.nodes.entry(name.clone()).or_default();
            *sum += i128::from(count * 1000) * i128::from(millis);
        }
    }

    fn mean(&self, sum: i128) -> i64 {
        let mean = sum / i128::from(self.covered.max(1));
        i64::try_from(mean).unwrap_or(i64::MAX)
    }
}

impl Sum for Bucket {
    fn join(&mut self, next: &Self) {
        self.covered += next.covered;
        for (sum, more) in self.sums.iter_mut().zip(next.sums) {
            *sum += more;
        }
        for (name, more) in &next.nodes {
            *self.nodes.entry(name.clone()).or_default() += more;
        }
    }
}

impl Gatherer {
    pub(crate) fn new(start: Timestamp) -> Self {
        Self {
            buckets: Stretches::new(start, NARROWEST, MOST_POINTS),
        }
    }

    /// The world was like this from one instant to another.
    pub(crate) fn add(&mut self, level: &Level, from: Timestamp, to: Timestamp) {
        let add = |bucket: &mut Bucket, millis| bucket.add(level, millis);
        self.buckets.each(from, to, add);
    }

    pub(crate) fn finish(&self) -> Series {
        let buckets = self.buckets.sums();
        let column = |at: usize| {
            let means = buckets.iter().map(|bucket| bucket.mean(bucket.sums[at]));
            means.collect::<Vec<i64>>()
        };
        let mut nodes: BTreeMap<TypeName, Vec<i64>> = BTreeMap::new();
        for (row, bucket) in buckets.iter().enumerate() {
            for (name, sum) in &bucket.nodes {
                let column = nodes.entry(name.clone());
                let column = column.or_insert_with(|| vec![0; buckets.len()]);
                column[row] = bucket.mean(*sum);
            }
        }
        Series {
            start: self.buckets.start(),
            width: self.buckets.width(),
            means: Figures {
                cost: column(0),
                bound: column(1),
                pending: column(2),
                cpu_used: column(3),
                memory_used: column(4),
                nodes,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(cost: i64) -> Level {
        Level {
            cost,
            ..Level::default()
        }
    }

    #[test]
    fn a_long_run_keeps_its_average_in_few_points() {
        let start = Timestamp::from_millis(0);
        let mut gatherer = Gatherer::new(start);
        let day = Timestamp::from_millis(86_400_000);
        let noon = Timestamp::from_millis(43_200_000);
        gatherer.add(&level(10), start, noon);
        gatherer.add(&level(30), noon, day);
        let series = gatherer.finish();
        assert!(series.means.cost.len() <= 720);
        assert_eq!(series.means.cost.first(), Some(&10));
        assert_eq!(series.means.cost.last(), Some(&30));
    }
}
