//! One file per command.

pub(crate) mod catalogue;
pub(crate) mod compile_module;
mod definitions;
pub(crate) mod explain;
pub(crate) mod generate;
#[cfg(feature = "live")]
mod manifest;
pub(crate) mod plan;
pub(crate) mod policy;
pub(crate) mod replay;
#[cfg(feature = "live")]
pub(crate) mod run;
pub(crate) mod schema;
pub(crate) mod shell;
pub(crate) mod simulate;
pub(crate) mod snapshot;
