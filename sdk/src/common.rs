//! Names that policies of every hook use; `use plimsoll_sdk::ranking::*` and its like bring them in.

pub use crate::bindings::configure::plimsoll::policy::types::PolicyError;
pub use crate::columns::Signal;
pub use crate::diag::{Level, log};
pub use crate::reason::{Reason, ReasonText};
pub use crate::reasons;
pub use crate::settings::{NoSettings, Problem, Settings, unreadable};
pub use crate::time::{Date, LocalTime, TimeOfDay, TimeZone, Weekday};
pub use plimsoll_sdk_derive::Settings;
