//! Pods of a decision: who enters it, what may be given up for each, what volumes add.

pub(crate) mod eligible;
pub(crate) mod outside;
pub(crate) mod relax;
pub(crate) mod volumes;
