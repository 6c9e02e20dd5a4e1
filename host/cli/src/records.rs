//! Files of decision records: written whole or not at all, and read plain or compressed; and the modules that they name.

use std::fs::File;
use std::io::{self, BufRead, BufWriter, Seek as _, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use plimsoll_policy::records::{PolicyLine, Reader, RecordStore, Recorder, RunLine};
use plimsoll_policy::{AnyModule, Engine, Policies};
use plimsoll_snapshot::{Limits, LoadError, SnapshotError};
use tempfile::NamedTempFile;

use crate::flags::{Deciding, Packing};
use crate::load;
use crate::module;
use crate::output::{beside, target, unwritten};
use crate::strategy::Asked;

/// A file of records that is being written, under another name until it is whole; a device or a pipe as it stands.
pub(crate) struct Draft {
    path: PathBuf,
    file: Option<NamedTempFile>,
    recorder: Arc<Recorder>,
}

impl Draft {
    /// Begins a file.
    pub(crate) fn begin(path: &Path, engine: &Engine, run: RunLine) -> Result<Self> {
        if path == Path::new("-") {
            bail!("--records is \"-\"; expected a file, since standard output has the result");
        }
        let (path, is_special) = target(path);
        let begin = |out: File| -> io::Result<Arc<Recorder>> {
            let out: Box<dyn Write + Send> = Box::new(BufWriter::new(out));
            Ok(Arc::new(Recorder::begin(out, engine, Some(run))?))
        };
        let begun = if is_special {
            let out = File::options().write(true).open(&path);
            out.and_then(begin).map(|recorder| (None, recorder))
        } else {
            beside(&path)
                .and_then(|file| Ok((file.reopen()?, file)))
                .and_then(|(out, file)| Ok((Some(file), begin(out)?)))
        };
        let (file, recorder) = begun.map_err(|error| unwritten(&path, &error))?;
        Ok(Self {
            path,
            file,
            recorder,
        })
    }

    /// Who writes.
    pub(crate) fn recorder(&self) -> Arc<Recorder> {
        Arc::clone(&self.recorder)
    }

    /// Gives the file its name, compressed where the name says so.
    pub(crate) fn finish(self) -> Result<String> {
        let Self {
            path,
            file,
            recorder,
        } = self;
        let is_compressed = path.extension().is_some_and(|extension| extension == "zst");
        let finished = recorder.finish().and_then(|recorded| {
            let Some(mut file) = file else {
                return Ok(recorded);
            };
            if is_compressed {
                file.as_file_mut().rewind()?;
                let mut compressed = beside(&path)?;
                let text = file.reopen()?;
                plimsoll_snapshot::write::compress(text, &mut compressed)
                    .map_err(io::Error::other)?;
                file = compressed;
            }
            file.as_file().sync_all()?;
            file.persist(&path)?;
            Ok(recorded)
        });
        let recorded = finished.map_err(|error| unwritten(&path, &error))?;
        Ok(format!(
            "records: {}, {} decisions",
            path.display(),
            recorded.decisions
        ))
    }
}

/// Heading of the run whose decisions follow.
pub(crate) fn run_line(
    input_sha256: &str,
    seed: u64,
    deciding: &Deciding,
    policies: &Policies,
) -> RunLine {
    let line = |module: AnyModule| PolicyLine {
        module: module.sha256().to_owned(),
        name: module.manifest().name.clone(),
        version: module.manifest().version.clone(),
        settings: module.settings().clone(),
    };
    let packing = deciding.packing.map(|packing| match packing {
        Packing::Price => "price",
        Packing::Compatible => "compatible",
    });
    RunLine {
        input_sha256: input_sha256.to_owned(),
        seed,
        packing: packing.map(str::to_owned),
        no_guards: deciding.no_guards,
        quick: deciding.quick,
        policies: policies.modules().map(line).collect(),
    }
}

/// The flags that a heading speaks of.
pub(crate) fn deciding(run: &RunLine) -> Result<Deciding> {
    let packing = match run.packing.as_deref() {
        None => None,
        Some("price") => Some(Packing::Price),
        Some("compatible") => Some(Packing::Compatible),
        Some(other) => bail!("line 1: packing is \"{other}\"; expected price or compatible"),
    };
    Ok(Deciding {
        packing,
        no_guards: run.no_guards,
        quick: run.quick,
    })
}

/// Opens a file of records; `-` is standard input.
pub(crate) fn open(path: &Path) -> Result<Reader<Box<dyn BufRead>>> {
    let unread = |error: SnapshotError| LoadError {
        path: path.to_owned(),
        error,
    };
    let limits = Limits::default();
    let text: Box<dyn BufRead> = if path == Path::new("-") {
        plimsoll_snapshot::text(io::stdin(), &limits).map_err(unread)?
    } else {
        let file = File::open(path).map_err(|error| unread(SnapshotError::Io(error)))?;
        plimsoll_snapshot::text(file, &limits).map_err(unread)?
    };
    Reader::begin(text).with_context(|| load::name(path))
}

/// Every module that is shipped, and those of these files and folders.
pub(crate) fn store(engine: Engine, places: &[String]) -> Result<RecordStore> {
    let mut store = RecordStore::new(engine);
    let shipped = [
        plimsoll_policies::RANKING,
        plimsoll_policies::CONSOLIDATION,
        plimsoll_policies::BUDGET,
    ];
    for shipped in shipped.into_iter().flatten() {
        store.put_named(shipped.package, shipped.bytes.into())?;
    }
    for place in places {
        let place = Asked::read(place).map_or(place.as_str(), |asked| asked.place);
        let source = module::source(place).with_context(|| format!("policy {place}"))?;
        source
            .verify(store.engine())
            .with_context(|| format!("policy {place}"))?;
        store
            .put(source.bytes)
            .with_context(|| format!("policy {place}"))?;
    }
    Ok(store)
}

/// Tells that a file ends in the middle of a line.
pub(crate) fn tell_cut(path: &Path, cut: Option<usize>) {
    if let Some(line) = cut {
        eprintln!(
            "warning: {}: line {line} ends in the middle; what stands before it is whole",
            load::name(path)
        );
    }
}

/// Begins records that are written as a cluster is served: what was written stays when the process ends.
#[cfg(feature = "live")]
pub(crate) fn stream(path: &Path, engine: &Engine) -> Result<Arc<Recorder>> {
    let begun = File::create(path).and_then(|file| {
        let out: Box<dyn Write + Send> = Box::new(BufWriter::new(file));
        Recorder::begin(out, engine, None)
    });
    let recorder = begun.map_err(|error| unwritten(path, &error))?;
    let name = path.display().to_string();
    Ok(Arc::new(recorder.telling(move |error| {
        tracing::warn!(records = name, %error, "records cannot be written any more");
    })))
}
