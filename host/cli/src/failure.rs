//! How a command fails: the whole chain once, on stderr, and the exit code that says whose fault it is.

use std::fmt;
use std::process::ExitCode;

use anyhow::Error;

/// A failure of the environment: a folder that cannot be written, a machine that gives no thread, a deadline hit.
#[derive(Debug)]
pub(crate) struct Environment(pub(crate) String);

impl fmt::Display for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Environment {}

/// Tells what went wrong and picks the exit code: 3 for the environment, 1 for everything else.
pub(crate) fn report(error: &Error) -> ExitCode {
    let chain: Vec<String> = error.chain().map(ToString::to_string).collect();
    eprintln!("error: {}", chain.join(": "));
    if error
        .chain()
        .any(<dyn std::error::Error>::is::<Environment>)
    {
        ExitCode::from(3)
    } else {
        ExitCode::from(1)
    }
}
