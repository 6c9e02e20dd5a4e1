//! `plimsoll snapshot`: look at files.

use std::path::Path;

use anyhow::{Result, bail};

use crate::flags::{self, SnapshotCommand};
use crate::load;
use crate::output::{print, table, thousands};

pub(crate) fn run(flags: &flags::Snapshot) -> Result<()> {
    match &flags.command {
        SnapshotCommand::Show { file } => show(file),
        SnapshotCommand::Check { file } => check(file),
    }
}

fn show(file: &Path) -> Result<()> {
    let loaded = load::file(file)?;
    let snapshot = &loaded.snapshot;
    let bound = snapshot
        .pods
        .iter()
        .filter(|pod| pod.node.is_some())
        .count();
    let waiting = snapshot
        .pods
        .iter()
        .filter(|pod| pod.node.is_none() && pod.unschedulable)
        .count();
    let rows = [
        ("pools", snapshot.pools.len()),
        ("nodes and claims", snapshot.nodes.len()),
        ("pods", snapshot.pods.len()),
        ("  bound", bound),
        ("  waiting for a node", waiting),
        ("daemon sets", snapshot.daemon_sets.len()),
        ("instance types", snapshot.catalogue.types().len()),
        ("changes to come", loaded.changes.len()),
    ];
    let rows: Vec<Vec<String>> = rows
        .iter()
        .map(|(name, count)| vec![(*name).to_owned(), thousands(*count as u64)])
        .collect();
    print(&table(&rows))
}

fn check(file: &Path) -> Result<()> {
    let loaded = load::file(file)?;
    if loaded.notes.is_empty() {
        return print(&format!("{}: nothing to remark\n", load::name(file)));
    }
    bail!("{}: {} remarks", load::name(file), loaded.notes.len())
}
