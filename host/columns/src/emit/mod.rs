//! Generated code, file by file.

mod core;
mod laws;
mod lend;
mod records;
mod suites;
mod tests;
mod views;

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::process::{Command, Stdio};

use crate::lists::HOOKS;
use crate::model::{Hook, Table, snake};

/// A generated file.
#[derive(Debug, Clone)]
pub struct File {
    /// Where it stands in the checkout.
    pub path: String,
    /// Text before it is formatted.
    pub text: String,
}

impl File {
    fn new(path: impl Into<String>, about: &str, body: &str) -> Self {
        Self {
            path: path.into(),
            text: format!(
                "//! {about}\n//!\n//! Generated from the lists of `host/columns`; `make columns` makes it anew.\n\n{body}"
            ),
        }
    }

    /// Text, formatted as the workspace is.
    pub fn formatted(&self) -> io::Result<String> {
        let rustfmt = Command::new("rustfmt")
            .args(["--edition", "2024", "--quiet"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let mut rustfmt = rustfmt.map_err(|error| {
            let words =
                format!("rustfmt cannot be started ({error}); `make components` installs it");
            io::Error::other(words)
        })?;
        let input = rustfmt.stdin.take();
        let mut input = input.ok_or_else(|| io::Error::other("rustfmt takes no input"))?;
        input.write_all(self.text.as_bytes())?;
        drop(input);
        let output = rustfmt.wait_with_output()?;
        if !output.status.success() {
            let message = format!("rustfmt does not take {}", self.path);
            return Err(io::Error::other(message));
        }
        String::from_utf8(output.stdout).map_err(io::Error::other)
    }
}

/// The first line of a function about a table or the rows of a list: `pub(super) fn push_rank_type(arguments) {`.
fn begin(verb: &str, hook: &Hook, of: &str, arguments: &str, body: &mut String) {
    let (module, of) = (hook.module, snake(&of.to_lowercase()));
    let _ = writeln!(body, "pub(super) fn {verb}{module}_{of}{arguments} {{");
}

/// Every table of every hook, with its type in the interface.
fn wired(hooks: &[Hook]) -> impl Iterator<Item = (&Hook, &Table, String)> {
    hooks.iter().flat_map(|hook| {
        hook.tables
            .iter()
            .map(move |table| (hook, table, format!("{}::{}", hook.interface, table.wire)))
    })
}

/// Every generated file.
pub fn files() -> Vec<File> {
    let mut files = Vec::new();
    for hook in &HOOKS {
        files.push(core::file(hook));
        files.push(views::file(hook));
    }
    files.push(lend::file(&HOOKS));
    files.push(records::file(&HOOKS));
    files.push(suites::file(&HOOKS));
    files.push(laws::file(&HOOKS));
    files.push(tests::file(&HOOKS));
    files
}
