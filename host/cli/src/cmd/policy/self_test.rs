//! The self-test that `policy build` and `policy pack` give a module: the cases of its suite with its answers, or decisions that were
//! recorded.
//!
//! The module is held to its vectors before it gets them, as every host holds it to them from then on.

use std::path::Path;

use anyhow::{Context as _, Result};
use plimsoll_author::golden::Goldens;
use plimsoll_author::proof::{self, GOLDENS, SUITE};
use plimsoll_author::suite::Suite;
use plimsoll_author::vectors;
use plimsoll_hooks::hook::PolicySettings;
use plimsoll_policy::records::{Entry, Excerpt, Reader, excerpt};
use plimsoll_policy::{AnyModule, Engine, Limits, Manifest};

use super::beside::Beside;
use crate::failure::Hinted;
use crate::flags::SelfTestFrom;
use crate::output::counted;
use crate::records;

/// The component with vectors, out of a file of records or else out of the suite beside the module.
pub(crate) fn embed(
    engine: &Engine,
    component: &[u8],
    module: &str,
    from: &SelfTestFrom,
) -> Result<Vec<u8>> {
    let records = match from {
        SelfTestFrom::Suite => None,
        SelfTestFrom::Records(file) => Some(file.as_path()),
    };
    let manifest = engine.inspect(component)?.manifest;
    let (policy, vectors) = match records {
        None => of_suite(engine, component, module, &manifest)?,
        Some(file) => of_records(engine, component, file, &manifest)?,
    };
    let Excerpt { holds, found, .. } = vectors;
    if holds.vectors == 0 {
        return Err(none(records, &manifest, found));
    }
    policy.hold_to(&vectors.bytes)?;
    let whole = plimsoll_encode::with_self_test(component, &vectors.bytes)?;
    if holds.vectors < found {
        let decisions = counted(found, "decision");
        eprintln!("self-test: {holds}, as many as fit of {decisions}");
    } else {
        eprintln!("self-test: {holds}");
    }
    Ok(whole)
}

/// The module, and vectors of the cases of its suite; an error where it does not answer as they and its goldens expect.
fn of_suite(
    engine: &Engine,
    component: &[u8],
    module: &str,
    manifest: &Manifest,
) -> Result<(AnyModule, Excerpt)> {
    let beside = Beside::of(module, None)?;
    let Some(text) = beside.read(SUITE)? else {
        return Err(Hinted {
            text: format!("--self-test: there is no {SUITE} beside the module"),
            hint: "`--self-test=RECORDS` takes decisions that `plimsoll simulate --records RECORDS` wrote",
        }
        .into());
    };
    let suite = Suite::read(&text.file, &text.text, manifest)?;
    let none = |_: &_| Ok(PolicySettings::new());
    let policy = proof::accept(engine, component, Some(&suite), &none)?;
    let limits = Limits::default().self_test;
    let (tried, vectors) = vectors::of_suite(engine, &policy, &suite, &limits)?;
    let unproven = |text: String| Hinted {
        text: format!("--self-test: {text}"),
        hint: "`plimsoll policy test` shows all that is wrong; `--update` keeps what is meant",
    };
    if let Some(failed) = tried.iter().find(|tried| !tried.failures.is_empty()) {
        let (case, failures) = (&failed.case, failed.failures.join("; "));
        return Err(unproven(format!("case \"{case}\": {failures}")).into());
    }
    if let Some(text) = beside.read(GOLDENS)? {
        let recorded = Goldens::read(&text.file, &text.text)?;
        let changed = recorded.differences(&Goldens::of(&tried)).len();
        if changed > 0 {
            let rows = counted(changed, "row");
            return Err(unproven(format!("{rows} not as recorded in {GOLDENS}")).into());
        }
    }
    Ok((policy, vectors))
}

/// The decisions of the policy in a file, whatever version of it made them.
fn of_records(
    engine: &Engine,
    component: &[u8],
    file: &Path,
    manifest: &Manifest,
) -> Result<(AnyModule, Excerpt)> {
    let of_file = || format!("--self-test={}", file.display());
    let reader = records::open(file).with_context(of_file)?;
    let limits = Limits::default().self_test;
    let vectors = excerpt(reader, manifest, &limits).with_context(of_file)?;
    // Each vector comes with its settings; those of the first will do to begin with.
    let mut reader = Reader::begin(vectors.bytes.as_slice())?;
    let settings = match reader.next_entry()? {
        Some(Entry::Decision(record)) => record.settings,
        _ => return Err(none(Some(file), manifest, vectors.found)),
    };
    let policy = AnyModule::accept(engine, component, &|_| Ok(settings.clone()))?;
    Ok((policy, vectors))
}

/// Why there is no vector.
fn none(records: Option<&Path>, manifest: &Manifest, found: usize) -> anyhow::Error {
    let from = match records {
        Some(file) => format!("--self-test={}", file.display()),
        None => "--self-test".to_owned(),
    };
    let text = match (found, records) {
        (0, Some(_)) => format!("there is no answered decision of {}", manifest.name),
        (0, None) => format!("no case of {SUITE} has an answer"),
        _ => "the first decision is too large: a module carries 256 KiB of them at most".to_owned(),
    };
    let hint =
        "what asks about a whole catalogue is for `plimsoll replay`; cases of a suite are small";
    Hinted {
        text: format!("{from}: {text}"),
        hint,
    }
    .into()
}
