//! `plimsoll policy check`: every step of acceptance in its order, what each one saw, and where and why one refused; then what the module
//! uses of the limits of a controller where a whole region is for sale.

use anyhow::{Context, Result};
use plimsoll_policy::{Engine, Examination, Refusal};
use schemars::JsonSchema;
use serde::Serialize;

use super::at_scale::{self, LimitUse};
use crate::failure::{self, Environment, OfModule};
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
    hint: Option<String>,
}

pub(crate) fn run(flags: &Check) -> Result<()> {
    let engine = controllers_engine(flags.large_modules, None)?;
    let settings: Vec<&str> = flags.settings.iter().map(String::as_str).collect();
    let pairs = pairs(&settings)?;
    let of_module = || OfModule(flags.module.clone());
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
            hint: Some(failure::of_refusal(refusal, Some(&flags.module)).into_owned()),
        });
    }
    let failed = module.and_then(|module| add_at_scale(at_scale::ask(&module), &mut steps));
    let checked = PolicyCheck {
        module: flags.module.clone(),
        accepted: refusal.is_none() && failed.is_none(),
        steps,
    };
    show(flags.output, || &checked, || people(&checked.steps))?;
    match (refusal, failed) {
        (None, None) => Ok(()),
        (None, Some(failed)) => Err(failed.context(of_module())),
        (Some(refusal), _) => {
            let (step, reason) = (refusal.step(), refusal.reason());
            let refused = Err(refusal).with_context(|| format!("{reason} at {step}"));
            refused.with_context(of_module)
        }
    }
}

/// Adds what the questions about a whole region take of the limits to the steps; the failure, if there is one. The reason is the module's only
/// where every machine would have seen it fail.
fn add_at_scale(
    asked: Result<Vec<LimitUse>>,
    steps: &mut Vec<CheckedStep>,
) -> Option<anyhow::Error> {
    let (messages, failed) = match asked {
        Ok(uses) => (uses.iter().map(LimitUse::text).collect(), None),
        Err(error) => (vec![error.to_string()], Some(error)),
    };
    let blamed = failed.as_ref().filter(|error| !error.is::<Environment>());
    steps.extend(messages.into_iter().map(|message| CheckedStep {
        step: REGION,
        ok: failed.is_none(),
        message,
        reason: blamed.map(|_| FAILED),
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

#[cfg(test)]
mod tests {
    use plimsoll_policy::{Fault, Outcome};

    use super::*;

    #[test]
    fn a_deadline_at_scale_is_a_failure_of_the_environment_and_not_of_the_module() {
        for (outcome, is_environment, reason) in [
            (Outcome::Deadline, true, None),
            (Outcome::Saturated, true, None),
            (Outcome::Fuel, false, Some(FAILED)),
        ] {
            let sentence = "it ended".to_owned();
            let fault = Fault { outcome, sentence };
            let mut steps = Vec::new();
            let failed = add_at_scale(Err(at_scale::failed("price", &fault)), &mut steps);
            let failed = failed.expect("it failed").context("policy own");
            assert_eq!(
                format!("{failed:#}"),
                format!("policy own: price: {outcome}: it ended")
            );
            let has = failed.root_cause().is::<Environment>();
            assert_eq!(has, is_environment, "{outcome}");
            assert_eq!((steps[0].ok, steps[0].reason), (false, reason));
        }
    }
}
