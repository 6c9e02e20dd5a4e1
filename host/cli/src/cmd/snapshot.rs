//! `plimsoll snapshot`: look at files.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Result, bail};
use plimsoll_base::ids::PoolName;
use plimsoll_model::NodePool;
use plimsoll_snapshot::Loaded;
use plimsoll_snapshot::write::{CatalogueText, Format, compress, write};

use crate::flags::{self, SnapshotCommand, TextFormat};
use crate::load;
use crate::output::{self, counted, print, table, thousands, write_file};
use crate::view::snapshot::SnapshotSummary;

pub(crate) fn run(flags: &flags::Snapshot) -> Result<()> {
    match &flags.command {
        SnapshotCommand::Show { file, output } => show(file, *output),
        #[cfg(feature = "live")]
        SnapshotCommand::Record {
            access,
            sold,
            names,
            to,
        } => {
            let recorded = crate::cluster::recorded(access, sold, *names)?;
            write_snapshot(&recorded, to, None, false)?;
            let summary = SnapshotSummary::of(&recorded);
            eprintln!(
                "{}: {}, {}, {}",
                load::name(to),
                counted(summary.node_pools, "NodePool"),
                counted(summary.nodes, "node"),
                counted(summary.pods, "pod")
            );
            Ok(())
        }
        SnapshotCommand::Check { file } => check(file),
        SnapshotCommand::Convert {
            file,
            to,
            output,
            inline,
        } => convert(file, to, *output, *inline),
    }
}

fn show(file: &Path, format: flags::Format) -> Result<()> {
    let summary = SnapshotSummary::of(&load::file(file)?);
    output::show(format, || &summary, || people(&summary))
}

fn people(summary: &SnapshotSummary) -> String {
    let rows = [
        ("NodePools", summary.node_pools),
        ("nodes", summary.nodes),
        (
            "NodeClaims without a node",
            summary.node_claims_without_node,
        ),
        ("pods", summary.pods),
        ("  bound", summary.bound_pods),
        ("  unschedulable", summary.unschedulable_pods),
        ("DaemonSets", summary.daemon_sets),
        ("instance types", summary.instance_types),
        ("recorded changes", summary.recorded_changes),
    ];
    let row = |(name, count): (&str, usize)| vec![name.to_owned(), thousands(count as u64)];
    table(&rows.map(row))
}

fn convert(file: &Path, to: &Path, format: Option<TextFormat>, inline: bool) -> Result<()> {
    write_snapshot(&load::file(file)?, to, format, inline)
}

/// Writes what was read; without a format, as the name of the file says.
fn write_snapshot(
    loaded: &Loaded,
    to: &Path,
    format: Option<TextFormat>,
    inline: bool,
) -> Result<()> {
    let name = to.file_name().unwrap_or_default().to_string_lossy();
    let (plain, is_compressed) = match name.strip_suffix(".zst") {
        Some(plain) => (plain, true),
        None => (name.as_ref(), false),
    };
    let extension = Path::new(plain).extension().unwrap_or_default();
    let is_yaml = match format {
        Some(format) => format == TextFormat::Yaml,
        None => ["yaml", "yml"].iter().any(|known| extension == *known),
    };
    let format = if is_yaml { Format::Yaml } else { Format::Json };
    let catalogue = if inline {
        CatalogueText::Inline
    } else {
        loaded.catalogue.clone()
    };
    let mut text = Vec::new();
    write(
        &loaded.snapshot,
        (&loaded.changes, &loaded.node_classes),
        &catalogue,
        format,
        &mut text,
    )?;
    if is_compressed {
        let mut compressed = Vec::new();
        compress(text.as_slice(), &mut compressed)?;
        text = compressed;
    }
    write_file(to, &text)
}

/// Pairs of pools between which nothing but price decides.
fn competing(pools: &[Arc<NodePool>]) -> impl Iterator<Item = (&PoolName, &PoolName)> {
    pools.iter().enumerate().flat_map(|(at, one)| {
        let others = pools[at + 1..].iter();
        let others = others.filter(move |other| one.competes_with(other));
        others.map(move |other| (&one.name, &other.name))
    })
}

fn check(file: &Path) -> Result<()> {
    let loaded = load::file(file)?;
    for note in loaded.notes.iter().filter(|note| note.is_advice()) {
        eprintln!("advice: {}: {note}", load::name(file));
    }
    for (one, other) in competing(&loaded.snapshot.pools) {
        eprintln!(
            "advice: {}: NodePools {one} and {other} match the same pods at the same weight, so that price decides; give one a \
             weight, or separate them by a taint or a requirement",
            load::name(file)
        );
    }
    let wrong = loaded.notes.iter().filter(|note| note.is_wrong()).count();
    if wrong > 0 {
        let errors = counted(wrong, "error");
        bail!(
            "{}: {errors}: invalid or unknown objects, settings or fields",
            load::name(file)
        );
    }
    print(&format!("{}: valid\n", load::name(file)))
}
