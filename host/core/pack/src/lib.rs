//! Packing by price: which instances to buy for demands, knowing nothing of Kubernetes.
//!
//! The step before, `schedule`, has turned every rule about pods into a [`Problem`]: kinds of node with a price,
//! classes of pods with the kinds they may use, demands, and rules that hold on each node. The step after turns a
//! [`Packing`] back into claims and ordered placements.
//!
//! [`pack`] finds a fleet, part by part where parts share nothing, [`bound`] says what any fleet must cost, [`verify`] checks a fleet without knowing how it was made.

mod aggregate;
mod basis;
mod bound;
mod columns;
mod counts;
mod exchange;
mod fill;
mod first_fit;
mod fleet;
mod forced;
mod greedy;
mod join;
mod ledger;
mod model;
mod parts;
mod problem;
mod solve;
#[cfg(test)]
mod tests;
mod verify;
mod worth;

pub use bound::{Bound, BoundViolation, bound};
pub use problem::{
    Bought, Class, Demand, ExistingNode, Kind, Membership, NodeRule, Packing, Problem, SpendLimit,
};
pub use solve::pack;
pub use verify::{Violation, verify};
