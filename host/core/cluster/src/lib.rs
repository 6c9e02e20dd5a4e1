//! The cluster as events tell it, what we promised on top of it, and the snapshot frozen from both.
//!
//! - [`Cluster`] holds objects by name with the version they were last seen at. Answers to our own writes enter by the same
//!   door as watch events, so that a write is seen at once and an older event cannot undo it.
//! - [`Promises`] say which group of pods was planned onto which claim or node.
//! - [`Market`](plimsoll_model::supply::Market) is the catalogues less the offerings that were out of stock a moment ago, with what was learned of nodes.
//! - [`NameIndex`] finds what is known of a name, at about the same cost however many there are.
//! - [`Frozen`] makes the one value that decisions read, and brings it up to date.

mod cluster;
mod expected;
mod freeze;
mod frozen;
mod group;
mod name_index;
mod promise;
mod sorted;
mod store;
mod stores;

pub use cluster::{Changed, ClaimCounts, Cluster, SeenStatus, Touched};
pub use expected::Expected;
pub use freeze::{World, assignments, open_pods};
pub use frozen::Frozen;
pub use group::GroupId;
pub use name_index::NameIndex;
pub use promise::{
    ANNOTATION, Assignment, NOMINATION_WINDOW, PromisedTarget, Promises, bought_for,
};
pub use promise::{bound_of, node_of, target_of, to_annotation};
pub use store::{Seen, Store};
pub use stores::Stores;
