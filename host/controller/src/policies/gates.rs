//! The way of a module through the gates, off the threads that serve.

use std::collections::BTreeMap;

use plimsoll_api::kinds::RememberedModule;
use plimsoll_kube::module::Stored;
use plimsoll_policy::{
    AnyModule, Binding, Candidate, Engine, Hook, Refusal, SHA256, assemble, digest,
};
use tokio::task::spawn_blocking;

use super::wanted::ModuleSpec;

/// A module as it is to be judged.
pub(super) struct Asked {
    /// The hook that it has to answer; of one that served before that of its manifest, where this is `None`.
    pub(super) hook: Option<Hook>,
    pub(super) module: ModuleSpec,
    pub(super) stored: Stored,
    /// The module that serves for this hook in this mode: it has passed before.
    pub(super) serves: Option<RememberedModule>,
}

/// Finding about a module that may serve.
pub(super) enum Judged {
    /// It has passed.
    Passed(AnyModule),
    /// It is the one that serves.
    Serves,
}

/// Takes the module through all gates.
pub(super) async fn judge(engine: &Engine, asked: Asked) -> Result<Judged, Refusal> {
    let engine = engine.clone();
    let judged = spawn_blocking(move || judge_here(&engine, asked));
    judged.await.unwrap_or_else(|error| {
        tracing::error!(%error, "a policy could not be looked at");
        Err(Refusal::Package {
            problem: "the gates ended without a word".to_owned(),
        })
    })
}

fn judge_here(engine: &Engine, asked: Asked) -> Result<Judged, Refusal> {
    let Asked {
        hook,
        module,
        stored,
        serves,
    } = asked;
    let Stored {
        entries,
        annotations,
    } = stored;
    let promised = module.sha256.as_deref();
    let sha256 = promised.or_else(|| annotations.get(SHA256).map(String::as_str));
    if let Some(serves) = serves
        && is_component(engine, &entries, sha256, &serves.digest)?
        && module.remembered(&serves.digest) == serves
    {
        return Ok(Judged::Serves);
    }
    let hook = match hook {
        Some(hook) => hook,
        None => hook_of(engine, &entries)?,
    };
    let candidate = Candidate {
        hook,
        // What it serves under is of no matter to the gates.
        binding: Binding::of_all("candidate"),
        entries,
        sha256,
        settings: &|schema| module.settings(schema),
    };
    candidate.accepted(engine).map(Judged::Passed)
}

/// Hook that the manifest of a module names.
fn hook_of(engine: &Engine, entries: &BTreeMap<String, Vec<u8>>) -> Result<Hook, Refusal> {
    let stored = assemble(entries.clone())?;
    Ok(engine.inspect(&stored)?.manifest.hook)
}

/// `true` if the entries hold the component of that digest; refused where they are not what was promised.
fn is_component(
    engine: &Engine,
    entries: &BTreeMap<String, Vec<u8>>,
    promised: Option<&str>,
    sha256: &str,
) -> Result<bool, Refusal> {
    let stored = assemble(entries.clone())?;
    if let Some(promised) = promised {
        engine.verify(&stored, promised)?;
    }
    Ok(digest(&engine.inflate(&stored)?) == sha256)
}
