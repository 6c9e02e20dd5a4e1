//! The solver's reading of a snapshot: pods in groups, rows that each may use, nodes there are, numbered sets of rows.

pub(crate) mod addresses;
pub(crate) mod alike;
pub(crate) mod attach_slots;
pub(crate) mod compile;
pub(crate) mod domains;
pub(crate) mod existing;
pub(crate) mod freed;
pub(crate) mod memo;
pub(crate) mod minimum;
pub(crate) mod node_shares;
pub(crate) mod pod_group;
pub(crate) mod sets;
pub(crate) mod unsold;
mod variants;
