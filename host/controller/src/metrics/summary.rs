//! Quantiles of what was observed in the last ten minutes, as Karpenter's summaries have them; exact up to a number of observations.

use std::collections::VecDeque;

use plimsoll_base::time::{Span, Timestamp};

/// The quantiles that are told.
const QUANTILES: [f64; 5] = [0.0, 0.5, 0.9, 0.99, 1.0];
/// How long an observation counts for quantiles.
const WINDOW: Span = Span::from_secs(600);
/// The most observations that are kept; of more the latest.
const KEPT: usize = 8192;

/// One summary.
#[derive(Clone, Debug, Default)]
pub(crate) struct Summary {
    recent: VecDeque<(Timestamp, f64)>,
    sum: f64,
    count: u64,
}

impl Summary {
    /// Adds one observation.
    pub(crate) fn observe(&mut self, value: f64, now: Timestamp) {
        let old = |at: Timestamp| at + WINDOW < now;
        while self.recent.len() >= KEPT || self.recent.front().is_some_and(|(at, _)| old(*at)) {
            self.recent.pop_front();
        }
        self.recent.push_back((now, value));
        self.sum += value;
        self.count += 1;
    }

    /// Quantiles with their values: no number where nothing was observed lately.
    pub(crate) fn quantiles(&self, now: Timestamp) -> [(f64, f64); QUANTILES.len()] {
        let recent = self.recent.iter().filter(|(at, _)| *at + WINDOW >= now);
        let mut values: Vec<f64> = recent.map(|(_, value)| *value).collect();
        values.sort_unstable_by(f64::total_cmp);
        QUANTILES.map(|quantile| (quantile, at(&values, quantile)))
    }

    pub(crate) fn sum(&self) -> f64 {
        self.sum
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }
}

/// The least value that so large a share of all is not above.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of a few thousand"
)]
fn at(sorted: &[f64], quantile: f64) -> f64 {
    let rank = (quantile * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.max(1) - 1).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_of_the_last_ten_minutes_and_counts_of_all() {
        let mut summary = Summary::default();
        let at = |seconds: i64| Timestamp::from_millis(seconds * 1000);
        assert!(
            summary
                .quantiles(at(0))
                .iter()
                .all(|(_, value)| value.is_nan())
        );
        summary.observe(1000.0, at(0));
        for second in 1..=10_u32 {
            summary.observe(f64::from(second), at(i64::from(second)));
        }
        let values = |now| {
            let quantiles = summary.quantiles(at(now)).into_iter();
            let values: Vec<String> = quantiles.map(|(_, value)| value.to_string()).collect();
            values.join(" ")
        };
        assert_eq!(values(10), "1 6 10 1000 1000");
        assert_eq!(values(601), "1 5 9 10 10");
        assert_eq!(values(700), "NaN NaN NaN NaN NaN");
        assert_eq!((summary.count(), summary.sum()), (11, 1055.0));
    }
}
