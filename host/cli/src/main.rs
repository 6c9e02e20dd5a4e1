//! The `plimsoll` program: a table of contents.
//!
//! [`flags`] is what was typed, `cmd` what each command does, [`load`] how inputs are read, [`types_by_class`] what their NodePools may
//! buy, [`module`] where policies come from, [`strategy`] who decides, [`records`] how decisions are written down, [`player`] how that
//! plays in a simulation, [`findings`] remarks beside an explanation, [`view`] the documents that programs read, [`output`] how results
//! are shown. Exit codes: 0 done, 1 a check failed or an input is bad, 2 wrong usage, 3 the environment failed.

#![expect(
    clippy::format_push_string,
    reason = "texts for people are short and made once, and writing to a string cannot fail"
)]

#[cfg(feature = "live")]
mod cluster;
mod cmd;
mod decider;
mod digest;
mod explain;
mod failure;
mod findings;
mod flags;
#[cfg(feature = "live")]
mod gates;
mod generate;
#[cfg(feature = "live")]
mod leader;
mod load;
#[cfg(feature = "live")]
mod log;
mod meant;
mod module;
mod output;
mod player;
mod policy;
mod priced;
#[cfg(feature = "live")]
mod process;
#[cfg(feature = "live")]
mod provider;
mod records;
#[cfg(feature = "live")]
mod scheduler_config;
#[cfg(feature = "live")]
mod settings;
mod strategy;
#[cfg(feature = "live")]
mod surroundings;
mod types_by_class;
mod view;

use std::process::ExitCode;

use clap::Parser;

use crate::flags::{Command, Flags};

fn main() -> ExitCode {
    let flags = Flags::parse();
    let done = match &flags.command {
        Command::Plan(flags) => cmd::plan::run(flags),
        Command::Simulate(flags) => cmd::simulate::run(flags),
        Command::Explain(flags) => cmd::explain::run(flags),
        Command::Catalogue(flags) => cmd::catalogue::run(flags),
        Command::Snapshot(flags) => cmd::snapshot::run(flags),
        Command::Generate(flags) => cmd::generate::run(flags),
        Command::Policy(flags) => cmd::policy::run(flags),
        Command::Replay(flags) => cmd::replay::run(flags),
        Command::CompileModule => cmd::compile_module::run(),
        Command::Completions { shell } => cmd::shell::completions(*shell),
        Command::Man { folder } => cmd::shell::man(folder),
        Command::Schema { command } => cmd::schema::run(command),
        #[cfg(feature = "live")]
        Command::Run(flags) => cmd::run::run(flags),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failure::report(&error),
    }
}
