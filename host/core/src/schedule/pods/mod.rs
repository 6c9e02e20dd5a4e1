//! What pods ask for: who enters a decision, what may be given up for each, what volumes and defaults add.

pub(crate) mod default_spread;
pub(crate) mod eligible;
pub(crate) mod relax;
pub(crate) mod volumes;
