//! Whole fleets: pods placed and instances bought by one packing strategy after another, and the bound of their cost.
//! Parts of a batch that share nothing are planned one by one.

pub(crate) mod address_rounds;
pub(crate) mod bound;
pub(crate) mod breadth;
pub(crate) mod buy;
pub(crate) mod draft;
pub(crate) mod guarded;
pub(crate) mod held;
mod joined;
pub(crate) mod node_rules;
pub(crate) mod parts;
mod quotas;
pub(crate) mod replicas;
pub(crate) mod second_look;
pub(crate) mod slot_axes;
pub(crate) mod strategies;
