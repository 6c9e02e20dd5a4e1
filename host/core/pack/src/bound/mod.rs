//! A lower bound on the cost of any fleet: the value of the aggregate linear programme at list prices, with its proof.
//!
//! The programme forgets that pods are indivisible and that a node's axes must be used by the same pods, so no fleet that
//! places every pod some node could hold is cheaper. Rules that force nodes apart are an axis of their own: a node has `limit`
//! of it. The proof is a value per class set and axis; [`Bound::verify`] checks it in integers, from the problem alone.

mod build;
#[cfg(test)]
mod tests;
mod verify;

use super::parts::{ProblemTies, parts};
use super::problem::Problem;
pub use verify::BoundViolation;

/// Binary places of the fixed-point values in a [`Bound`]: what a byte of memory is worth is a small part of a nano-dollar.
pub(super) const FRACTION_BITS: u32 = 40;

/// A lower bound on [`super::Packing::list_price`] of any packing that leaves nothing unplaced which some node could hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bound {
    /// The bound in nano-dollars per hour, as [`Bound::verify`] found it.
    pub list_price: i64,
    /// Per class: its set.
    set_of_class: Vec<usize>,
    /// Per set: what a unit of each axis is worth to it, in nano-dollars, fixed point.
    axis_values: Vec<Vec<i128>>,
    /// Per set: what being counted once is worth to owners that count, by rule.
    rule_values: Vec<Vec<(usize, i128)>>,
}

impl Bound {
    /// Worth, in the proof, of a unit of a class that asks for `request`, in nano-dollars per hour, rounded down: no node costs
    /// less than the worth of all that it can hold.
    pub fn value(&self, class: usize, request: &[i64]) -> i64 {
        let set = self.set_of_class.get(class).copied();
        let values = set.and_then(|set| self.axis_values.get(set));
        let terms = values.into_iter().flatten().zip(request);
        let sum = terms.fold(0_i128, |sum, (value, amount)| {
            sum.saturating_add(value.saturating_mul(i128::from(*amount)))
        });
        i64::try_from(sum >> FRACTION_BITS).unwrap_or(i64::MAX)
    }
}

/// The bound of a problem; zero where nothing better can be proved. The bound of parts that share nothing is the sum of theirs.
pub fn bound(problem: &Problem) -> Bound {
    let parts = parts(problem, &ProblemTies::of_supplies(problem));
    let mut bound = if parts.is_empty() {
        build::certificate(problem)
    } else {
        build::joint(problem, &parts)
    };
    bound.list_price = bound.verify(problem).unwrap_or(0);
    bound
}
