//! Failure of a command: the whole chain once, on stderr, what to do about it where we know, and the exit code that says whose fault it
//! is.

use std::borrow::Cow;
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

/// The module that an error is of, as it was typed; hints name it.
#[derive(Debug)]
pub(crate) struct OfModule(pub(crate) String);

impl fmt::Display for OfModule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "policy {}", self.0)
    }
}

/// Tells what went wrong and picks the exit code: 3 for the environment, 1 for everything else.
pub(crate) fn report(error: &Error) -> ExitCode {
    let chain: Vec<String> = error.chain().map(ToString::to_string).collect();
    eprintln!("error: {}", chain.join(": "));
    let module = error
        .downcast_ref::<OfModule>()
        .map(|module| module.0.as_str());
    if let Some(hint) = error.chain().find_map(|cause| hint(cause, module)) {
        eprintln!("hint: {hint}");
    }
    ExitCode::from(if error.chain().any(is_environment) {
        3
    } else {
        1
    })
}

/// Hint for an error, about a module where one is known; `None` where there is none to give.
fn hint(
    error: &(dyn std::error::Error + 'static),
    module: Option<&str>,
) -> Option<Cow<'static, str>> {
    if let Some(refusal) = error.downcast_ref::<Refusal>() {
        return Some(of_refusal(refusal, module));
    }
    let hinted = error.downcast_ref::<Hinted>().map(|hinted| hinted.hint);
    let unbuilt = || {
        error
            .downcast_ref::<BuildError>()
            .and_then(BuildError::hint)
    };
    hinted.or_else(unbuilt).map(Cow::Borrowed)
}

/// Hint for a module that is refused. A command in it is one that can be run as it stands.
pub(crate) fn of_refusal(refusal: &Refusal, module: Option<&str>) -> Cow<'static, str> {
    match (refusal, module) {
        (Refusal::Setting { .. }, Some(module)) => format!(
            "`plimsoll policy inspect {module}` lists the settings with defaults and limits"
        )
        .into(),
        _ => refusal.hint().into(),
    }
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
