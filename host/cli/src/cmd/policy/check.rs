//! `plimsoll policy check`: every step of acceptance in its order, what each one saw, and where and why one refused; then what the module
//! uses of the limits of a controller where a whole region is for sale.

use anyhow::{Context, Result, bail};
use plimsoll_policy::{AnyModule, Engine, Examination, Refusal};
use schemars::JsonSchema;
use serde::Serialize;

use super::at_scale::{self, LimitUse};
use crate::flags::Check;
use crate::module::{self, Source};
use crate::output::{show, texts};
use crate::policy::{controllers_engine, pairs, typed};
use crate::view::Document;

/// Name of the questions about a whole region among the steps.
const REGION: &str = "region";
/// Reason of a failure there, as the condition of a Policy names it.
const FAILED: &str = "PolicyFailed";

/// Output of `plimsoll policy check`.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::cmd) struct PolicyCheck {
    /// The module, as it was typed.
    module: String,
    /// True if it passed every step, and answers about a whole region.
    accepted: bool,
    /// The steps in order, up to the one that refused it; last the questions about a whole region.
    steps: Vec<CheckedStep>,
}

impl Document for PolicyCheck {}

/// A step of acceptance.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct CheckedStep {
    /// Its name.
    step: &'static str,
    /// True if the module passed it.
    ok: bool,
    /// The finding, in words.
    message: String,
    /// Of the step that refused: the reason, as conditions name it.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    /// Of the step that refused: what to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'static str>,
}

pub(crate) fn run(flags: &Check) -> Result<()> {
    let engine = controllers_engine(flags.large_modules, None)?;
    let settings: Vec<&str> = flags.settings.iter().map(String::as_str).collect();
    let pairs = pairs(&settings)?;
    let of_module = || format!("policy {}", flags.module);
    let (mut steps, refusal, module) = match source(flags, &engine) {
        Ok(source) => {
            let (examination, module) =
                engine.examined(&source.bytes, &|schema| typed(schema, &pairs));
            let Examination { passed, end } = examination;
            let seen = |passed: plimsoll_policy::Passed| CheckedStep {
                step: passed.step.name(),
                ok: true,
                message: passed.seen,
                reason: None,
                hint: None,
            };
            (passed.into_iter().map(seen).collect(), end.err(), module)
        }
        Err(error) => match error.downcast::<Refusal>() {
            Ok(refusal) => (Vec::new(), Some(refusal), None),
            Err(error) => return Err(error.context(of_module())),
        },
    };
    if let Some(refusal) = &refusal {
        steps.push(CheckedStep {
            step: refusal.step().name(),
            ok: false,
            message: refusal.to_string(),
            reason: Some(refusal.reason()),
            hint: Some(refusal.hint()),
        });
    }
    let failed = module.and_then(|module| ask_at_scale(&module, &mut steps));
    let checked = PolicyCheck {
        module: flags.module.clone(),
        accepted: refusal.is_none() && failed.is_none(),
        steps,
    };
    show(flags.output, || &checked, || people(&checked.steps))?;
    match (refusal, failed) {
        (None, None) => Ok(()),
        (None, Some(failed)) => bail!("policy {}: {failed}", flags.module),
        (Some(refusal), _) => {
            let (step, reason) = (refusal.step(), refusal.reason());
            Err(refusal).with_context(|| format!("policy {}: {reason} at {step}", flags.module))
        }
    }
}

/// Asks about a whole region, and adds what it takes of the limits to the steps; the failure in words, if there is one.
fn ask_at_scale(module: &AnyModule, steps: &mut Vec<CheckedStep>) -> Option<String> {
    let (messages, failed) = match at_scale::ask(module) {
        Ok(uses) => (uses.iter().map(LimitUse::text).collect(), None),
        Err(error) => (vec![error.to_string()], Some(error.to_string())),
    };
    steps.extend(messages.into_iter().map(|message| CheckedStep {
        step: REGION,
        ok: failed.is_none(),
        message,
        reason: failed.as_ref().map(|_| FAILED),
        hint: None,
    }));
    failed
}

/// The module, and its digest held against what was promised.
fn source(flags: &Check, engine: &Engine) -> Result<Source> {
    let mut source = module::source(&flags.module)?;
    source.verify(engine)?;
    if flags.sha256.is_some() {
        source.sha256.clone_from(&flags.sha256);
        source.verify(engine)?;
    }
    Ok(source)
}

fn people(steps: &[CheckedStep]) -> String {
    let row = |step: &CheckedStep| {
        let mark = if step.ok { "ok" } else { "failed" };
        vec![step.step.to_owned(), mark.to_owned(), step.message.clone()]
    };
    texts(&steps.iter().map(row).collect::<Vec<_>>())
}
