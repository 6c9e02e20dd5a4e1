//! Karpenter's regression suite, unmodified, against our controller: every spec in a process of its own, with a limit of time,
//! in a lab with our definitions, served by `plimsoll run --provider kwok`.
//!
//! A lab serves until a spec does not pass, since what that one left behind would be the next one's failure. The output of the suite and
//! what the controller said meanwhile are kept for every spec. The table ends with `N passed, N failed, N declined`; declined are failures
//! that `DECLINED.md` gives a reason for. The exit code is 1 where a spec failed, 2 where the arguments are wrong, 3 where nothing could run.

#![expect(clippy::print_stdout, reason = "the table is what it is for")]

mod arguments;
mod choice;
mod declined;
mod report;
mod served;
mod suite;
mod table;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use arguments::{Arguments, Specs};
use declined::Declined;
use report::{Outcome, State};
use served::Served;
use suite::Suite;
use table::Tally;

fn main() -> ExitCode {
    let arguments = match Arguments::read(std::env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(wrong) => {
            eprintln!("error: {wrong}\n\n{}", arguments::USAGE);
            return ExitCode::from(2);
        }
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let ran = runtime
        .context("the runtime")
        .and_then(|runtime| runtime.block_on(run(&arguments)));
    match ran {
        Ok(tally) if tally.failed == 0 => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(3)
        }
    }
}

async fn run(arguments: &Arguments) -> Result<Tally> {
    let declined = Declined::read()?;
    let suite = Suite::find()?;
    let names = chosen(&suite, &arguments.specs).await?;
    let folder = kept_folder()?;
    eprintln!("{} specs; all logs in {}", names.len(), folder.display());
    let mut tally = Tally::default();
    let mut serving = None;
    for (number, name) in (1..).zip(&names) {
        let mut served = match serving.take() {
            Some(served) => served,
            None => Served::start(arguments).await?,
        };
        let place = folder.join(format!("{number:03}-{}", suite::slug(name)));
        let outcome = outcome(&suite, name, arguments, (&mut served, &place)).await?;
        std::fs::write(place.with_extension("controller.log"), served.news())?;
        println!("{}", tally.add(name, &outcome, declined.reason(name)));
        if outcome.state == State::Passed {
            serving = Some(served);
        }
    }
    println!("\nlogs {}\n{tally}", folder.display());
    Ok(tally)
}

/// Runs a spec; one under which the controller ends has failed by that.
async fn outcome(
    suite: &Suite,
    name: &str,
    arguments: &Arguments,
    (served, place): (&mut Served, &Path),
) -> Result<Outcome> {
    let kubeconfig = served.kubeconfig().to_owned();
    tokio::select! {
        outcome = suite.run(name, arguments.limit, &kubeconfig, place) => outcome,
        status = served.ends() => Ok(Outcome {
            state: State::Failed,
            why: format!("the controller ended with {}", status?),
        }),
    }
}

/// Names of the specs that were asked for, in the suite's order.
async fn chosen(suite: &Suite, specs: &Specs) -> Result<Vec<String>> {
    let names = match specs {
        Specs::All => suite.names(None).await?,
        Specs::Some { count, seed } => choice::some(suite.names(None).await?, *count, *seed),
        Specs::Short { count, seed } => {
            let mut names = suite.names(None).await?;
            names.retain(|name| choice::is_short(name));
            choice::some(names, *count, *seed)
        }
        Specs::Focus(pattern) => suite.names(Some(pattern)).await?,
    };
    if names.is_empty() {
        bail!(
            "no spec was chosen; expected a pattern that a name of the suite has, or a number above 0"
        );
    }
    Ok(names)
}

/// A new folder that stays.
fn kept_folder() -> Result<PathBuf> {
    let folder = tempfile::Builder::new()
        .prefix("plimsoll-conformance-")
        .tempdir()?;
    Ok(folder.keep())
}
