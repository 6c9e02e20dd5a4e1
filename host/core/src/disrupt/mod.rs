//! Taking nodes away on purpose, within what their pools allow.

pub mod budget;
pub mod emptiness;
