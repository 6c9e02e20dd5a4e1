//! Reasons why pods are unschedulable, and the nearest offerings that would have held them.

mod nearest;
pub(crate) mod refusal;
pub(crate) mod trial;
pub(crate) mod unsold;
mod unusable;
