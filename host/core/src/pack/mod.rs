//! Packing by price: which machines to buy for demands, knowing nothing of Kubernetes.
//!
//! The step before, `schedule`, has turned every rule about pods into a [`Problem`]: kinds of node with a price,
//! classes of pods with the kinds they may use, demands, and rules that hold on each node. The step after turns a
//! [`Packing`] back into claims and ordered placements.

mod problem;

pub use problem::{
    Bought, Class, Demand, ExistingNode, Kind, Membership, NodeRule, Packing, Problem, SpendLimit,
};
