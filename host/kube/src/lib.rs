//! Watches on an API server, and the engine's writes there.
//!
//! [`watch`] turns watches into inputs of the engine, [`apply`] carries out its writes and says how each ended, [`module`]
//! follows a policy's bytes, [`module_copy`] keeps copies of them, [`policy`] follows Policy objects, [`node_class`] those of EC2, [`event`] tells people, [`Patience`] is a command's with a busy server. Nothing here decides: an adapter may fail, it may not choose.

pub mod apply;
pub mod event;
pub mod lease;
mod list;
pub mod module;
pub mod module_copy;
pub mod node_class;
mod patience;
pub mod policy;
mod resource;
pub mod watch;

pub use list::list_all;
pub use patience::Patience;
pub use resource::{CheckError, SchedulerRules, api, check_served, scheduler_rules};

/// The name under which our writes are known to the API server.
pub(crate) const FIELD_MANAGER: &str = "plimsoll";
