//! The algebra of requirements: which label values are allowed, for one key ([`Requirement`]) and for many
//! ([`Requirements`]).
//!
//! Laws, held by property tests: intersection commutes and is idempotent; a value is allowed by an intersection exactly
//! when both sides allow it; compatibility of two sets follows from the intersection of their shared keys.

mod one;
mod set;
#[cfg(test)]
mod tests;

pub use one::{Operator, Requirement, RequirementError};
pub use set::{Incompatible, Requirements, Undefined};
