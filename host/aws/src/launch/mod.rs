//! Launches: claims that ask for the same become one call, and its answer is dealt to them. Nothing here asks.

pub(crate) mod addresses;
pub(crate) mod deal;
pub(crate) mod draft;
pub(crate) mod draft_error;
pub(crate) mod fleet;
pub(crate) mod kept;
pub(crate) mod template;
