//! Pods of a decision: who enters it, what may be given up for each, what volumes add.

pub(crate) mod attached;
mod capacity;
mod devices;
pub(crate) mod eligible;
pub(crate) mod needs;
pub(crate) mod outside;
pub(crate) mod relax;
mod single_pod;
pub(crate) mod volumes;
