//! `plimsoll policy`: what authors of policies do, one file per command.

mod at_scale;
mod bench;
mod beside;
mod build;
mod check;
mod diff;
mod explain;
mod inspect;
mod new;
mod opened;
mod pack;
mod self_test;
mod test;

use anyhow::Result;

pub(super) use bench::PolicyBench;
pub(super) use check::PolicyCheck;
pub(super) use diff::PolicyDiff;
pub(super) use explain::{PolicyDecision, PolicyDecisionList};
pub(super) use inspect::PolicyModule;
pub(super) use test::PolicyTest;

use crate::flags::{self, PolicyCommand};

pub(crate) fn run(flags: &flags::Policy) -> Result<()> {
    match &flags.command {
        PolicyCommand::New(flags) => new::run(flags),
        PolicyCommand::Build(flags) => build::run(flags),
        PolicyCommand::Inspect(flags) => inspect::run(flags),
        PolicyCommand::Check(flags) => check::run(flags),
        PolicyCommand::Test(flags) => test::run(flags),
        PolicyCommand::Bench(flags) => bench::run(flags),
        PolicyCommand::Diff(flags) => diff::run(flags),
        PolicyCommand::Explain(flags) => explain::run(flags),
        PolicyCommand::Pack(flags) => pack::run(flags),
    }
}
