//! `plimsoll compile-module`: what this program does when it is started by itself to compile a module.

use std::io;

use anyhow::{Result, bail};
use plimsoll_policy::{CompileError, compile_for_parent};

/// Machine code on standard output, or the compiler's own sentence on standard error and exit code 1.
pub(crate) fn run() -> Result<()> {
    match compile_for_parent(io::stdin().lock(), io::stdout().lock()) {
        Ok(()) => Ok(()),
        Err(CompileError::Refused(problem)) => {
            eprintln!("{problem}");
            std::process::exit(1);
        }
        Err(error) => bail!(error),
    }
}
