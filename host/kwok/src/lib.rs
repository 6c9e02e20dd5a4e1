//! The provider for laboratories: its instances are Node objects, which KWOK keeps alive.
//!
//! [`catalogue`] says what can be bought, [`Kwok`] answers the engine's calls, [`Classes`] tells what classes there are, [`Boots`]
//! brings up the nodes of launched claims, and ends those that a [`FaultPlan`] says end by themselves. All that must survive a
//! restart is on the claims: a launch writes nothing, and the node's name follows from the claim's name and uid, so that no crash
//! leaves a node behind or makes two.

mod boot;
mod builtin;
pub mod catalogue;
mod classes;
mod facts;
mod faults;
mod listed;
mod machine;
mod provider;

pub use boot::{Boots, Ending};
pub use catalogue::CatalogueError;
pub use classes::{Classes, Told};
pub use facts::provider;
pub use faults::{FaultPlan, FaultPlanError};
pub use provider::Kwok;

/// Prefix of our provider ids; the node's name follows.
pub(crate) const PROVIDER_PREFIX: &str = "kwok://";
/// Domain of the labels that only this provider's nodes carry.
pub(crate) const DOMAIN: &str = "karpenter.kwok.sh";
