//! The program as its users meet it: every test runs a command and looks at what it prints, writes and returns.

mod bad_input;
#[cfg(feature = "live")]
mod busy;
mod cases;
mod catalogue;
mod charts;
mod definitions;
mod explain;
mod explain_running;
mod files;
mod findings;
mod json;
mod not_planned;
mod plan;
mod policy;
mod proof;
mod records;
mod schema;
mod self_test;
#[cfg(feature = "live")]
mod server;
mod shell;
mod simulate;
#[cfg(feature = "live")]
mod start;
mod tutorial;
#[cfg(feature = "live")]
mod two_providers;
mod user;
