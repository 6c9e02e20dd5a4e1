//! The queue of messages about instances: spot interruptions, health events, changes of state.

pub(crate) mod message;
pub(crate) mod reader;
