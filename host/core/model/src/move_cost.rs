//! Cost of moving pods, as Karpenter counts it: a pod costs 1, more with a higher priority or deletion cost.
//!
//! Counted in whole parts of 1/2^27, in which all of its terms are exact, so that sums do not depend on their order.

use std::iter::Sum;
use std::ops::Add;

use crate::Pod;

/// Cost of moving pods; one ordinary pod costs [`MoveCost::ONE`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct MoveCost(i64);

/// The most that one pod counts, either way.
const MOST: i64 = 10;

impl MoveCost {
    /// Nothing.
    pub const ZERO: Self = Self(0);
    /// An ordinary pod, and what every node costs by itself.
    pub const ONE: Self = Self(1 << 27);

    /// Moving one pod: `1 + deletion cost / 2^27 + priority / 2^25`, between -10 and 10.
    pub fn of_pod(pod: &Pod) -> Self {
        let cost = Self::ONE.0 + i64::from(pod.deletion_cost) + 4 * i64::from(pod.spec.priority);
        Self(cost.clamp(-MOST * Self::ONE.0, MOST * Self::ONE.0))
    }

    /// Emptying a node of these pods: 1, and what each costs; those that are glad to go do not pay for others.
    pub fn of_node<'a>(pods: impl IntoIterator<Item = &'a Pod>) -> Self {
        let moved: Self = pods
            .into_iter()
            .map(|pod| Self::of_pod(pod).max(Self::ZERO))
            .sum();
        Self::ONE + moved
    }

    /// `true` if a node that costs this is empty in the sense of consolidation: no pod minds being moved.
    pub fn is_of_empty(self) -> bool {
        self <= Self::ONE
    }

    /// In ordinary pods.
    pub fn pods(self) -> f64 {
        self.0 as f64 / Self::ONE.0 as f64
    }

    /// In parts of 1/2^27 of an ordinary pod.
    pub const fn parts(self) -> i64 {
        self.0
    }
}

impl Add for MoveCost {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sum for MoveCost {
    fn sum<I: Iterator<Item = Self>>(costs: I) -> Self {
        costs.fold(Self::ZERO, Add::add)
    }
}
