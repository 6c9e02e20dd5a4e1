//! The house rules, each a function from the repository to its breaches.
//!
//! A rule takes a [`Tree`] (the texts of the repository) or a [`Graph`] (its resolved dependencies) and returns one sentence per
//! breach, with the place first. `tests/house.rs` asks every rule about this repository; beside each rule stands a test that
//! breaks it in a tree made up for the purpose, since a rule that cannot fail says nothing.
//!
//! That the interface packaged with the SDK equals the contract is a test of the SDK (`sdk/tests/wit.rs`).

pub mod acceptance;
pub mod clouds;
pub mod docs;
pub mod files;
pub mod graph;
pub mod manifests;
pub mod names;
pub mod orphans;
pub mod purity;
pub mod rooms;
pub mod spoken;
pub mod supply;
pub mod tree;
pub mod unfinished;
pub mod words;

pub use graph::{Graph, Kind, Package};
pub use tree::Tree;
