//! `plimsoll completions` and `plimsoll man`: what a shell and a reader of manuals want to know, out of the one list of flags.

use std::path::Path;

use anyhow::{Context, Result};
use clap::CommandFactory;
use clap_complete::Shell;

use crate::failure::Environment;
use crate::flags::Flags;
use crate::output::{print, write_file};

/// Prints the completions of a shell.
pub(crate) fn completions(shell: Shell) -> Result<()> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Flags::command(), "plimsoll", &mut text);
    print(&String::from_utf8_lossy(&text))
}

/// Writes one page per command into a folder, which is made if it is not there.
pub(crate) fn man(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder)
        .map_err(|error| Environment(format!("{} cannot be made: {error}", folder.display())))?;
    let mut command = Flags::command();
    command.build();
    page(&command, folder)
}

fn page(command: &clap::Command, folder: &Path) -> Result<()> {
    let manual = clap_mangen::Man::new(command.clone());
    let mut text = Vec::new();
    manual.render(&mut text).context("man page")?;
    let name = command.get_display_name().unwrap_or(command.get_name());
    write_file(&folder.join(format!("{name}.1")), &text)?;
    let inner = command
        .get_subcommands()
        .filter(|inner| inner.get_name() != "help" && !inner.is_hide_set());
    inner.into_iter().try_for_each(|inner| page(inner, folder))
}
