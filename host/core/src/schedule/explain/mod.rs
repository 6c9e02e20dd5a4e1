//! Reasons why pods are unschedulable, and the nearest that would have held them.

pub(crate) mod nearest;
pub(crate) mod refusal;
pub(crate) mod unsold;
