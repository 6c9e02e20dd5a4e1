//! Taking nodes away on purpose, within what their pools allow.
//!
//! Everything here is a function of a snapshot. The engine decides when to ask and carries out what comes back.

pub mod budget;
pub mod candidate;
pub mod cost;
pub mod emptiness;
pub(crate) mod evictable;
pub mod moves;
