//! From a node to buy to the claim that asks for it, and the ways to buy that the claim names.

pub mod claim;
pub(crate) mod lowered;
pub(crate) mod named;
