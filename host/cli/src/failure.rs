//! Failure of a command: the whole chain once, on stderr, what to do about it where we know, and the exit code that says whose fault it
//! is.

use std::fmt;
use std::process::ExitCode;

use anyhow::Error;
use plimsoll_encode::BuildError;
use plimsoll_policy::Refusal;

/// A failure of the environment: a folder that cannot be written, a machine that gives no thread, a deadline hit.
#[derive(Debug)]
pub(crate) struct Environment(pub(crate) String);

impl fmt::Display for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Environment {}

/// A failure with its remedy.
#[derive(Debug)]
pub(crate) struct Hinted {
    pub(crate) text: String,
    pub(crate) hint: &'static str,
}

impl fmt::Display for Hinted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Hinted {}

/// Tells what went wrong and picks the exit code: 3 for the environment, 1 for everything else.
pub(crate) fn report(error: &Error) -> ExitCode {
    let chain: Vec<String> = error.chain().map(ToString::to_string).collect();
    eprintln!("error: {}", chain.join(": "));
    if let Some(hint) = error.chain().find_map(hint) {
        eprintln!("hint: {hint}");
    }
    ExitCode::from(if error.chain().any(is_environment) {
        3
    } else {
        1
    })
}

/// Hint for an error; `None` where there is none to give.
fn hint(error: &(dyn std::error::Error + 'static)) -> Option<&'static str> {
    let hinted = error.downcast_ref::<Hinted>().map(|hinted| hinted.hint);
    let refused = || error.downcast_ref::<Refusal>().map(Refusal::hint);
    let unbuilt = || {
        error
            .downcast_ref::<BuildError>()
            .and_then(BuildError::hint)
    };
    hinted.or_else(refused).or_else(unbuilt)
}

fn is_environment(error: &(dyn std::error::Error + 'static)) -> bool {
    error.is::<Environment>()
        || error
            .downcast_ref::<Refusal>()
            .is_some_and(|refusal| !refusal.blames_module())
        || matches!(
            error.downcast_ref::<BuildError>(),
            Some(BuildError::NoTarget | BuildError::Tool { .. })
        )
}
