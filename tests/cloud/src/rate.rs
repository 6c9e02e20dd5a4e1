//! Rates at which operations may be called: buckets of tokens, as EC2 has them for each operation, and for the instances that some end.

use std::collections::BTreeMap;
use std::time::SystemTime;

/// A rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// Tokens that come back in a second.
    pub per_second: f64,
    /// Tokens of a full bucket.
    pub burst: f64,
}

/// Default rates of an account, by operation.
pub fn usual_rates() -> BTreeMap<String, Rate> {
    let reads = [
        "DescribeImages",
        "DescribeInstanceStatus",
        "DescribeInstanceTypeOfferings",
        "DescribeInstanceTypes",
        "DescribeInstances",
        "DescribeLaunchTemplates",
        "DescribeSecurityGroups",
        "DescribeSpotPriceHistory",
        "DescribeSubnets",
    ];
    let writes = [
        "CreateFleet",
        "CreateLaunchTemplate",
        "DeleteLaunchTemplate",
    ];
    let rate =
        |name: &str, per_second: f64, burst: f64| (name.to_owned(), Rate { per_second, burst });
    let reads = reads.map(|name| rate(name, 20.0, 100.0));
    let writes = writes.map(|name| rate(name, 5.0, 50.0));
    let others = [
        rate("RunInstances", 2.0, 5.0),
        rate("TerminateInstances", 5.0, 100.0),
        rate("CreateTags", 10.0, 100.0),
    ];
    reads.into_iter().chain(writes).chain(others).collect()
}

/// Rates at which such an account may end instances, by operation: a token for each instance of a call, beside the one for the call.
pub fn usual_instance_rates() -> BTreeMap<String, Rate> {
    let rate = Rate {
        per_second: 20.0,
        burst: 1_000.0,
    };
    [("TerminateInstances".to_owned(), rate)].into()
}

/// Tokens of an operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Tokens {
    left: f64,
    at: SystemTime,
}

impl Tokens {
    /// A full bucket.
    pub(crate) fn full(rate: Rate, now: SystemTime) -> Self {
        Self {
            left: rate.burst,
            at: now,
        }
    }

    /// Comes up to date; `true` if there are so many tokens.
    pub(crate) fn has(&mut self, count: f64, rate: Rate, now: SystemTime) -> bool {
        let passed = now.duration_since(self.at).unwrap_or_default();
        let back = passed.as_secs_f64() * rate.per_second;
        self.left = (self.left + back).min(rate.burst);
        self.at = now;
        self.left >= count
    }

    /// Takes tokens that there are.
    pub(crate) fn take(&mut self, count: f64) {
        self.left -= count;
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    #[test]
    fn tokens_come_back_with_time_and_up_to_the_burst() {
        let rate = Rate {
            per_second: 2.0,
            burst: 3.0,
        };
        let at = |millis: u64| UNIX_EPOCH + Duration::from_millis(millis);
        let mut tokens = Tokens::full(rate, at(0));
        let mut take = |millis: u64| {
            let is_there = tokens.has(1.0, rate, at(millis));
            if is_there {
                tokens.take(1.0);
            }
            is_there
        };
        let mut taken = |millis: u64| (0..5).filter(|_| take(millis)).count();
        assert_eq!(taken(0), 3);
        assert_eq!(taken(499), 0);
        assert_eq!(taken(500), 1);
        assert_eq!(taken(60_000), 3);
    }
}
