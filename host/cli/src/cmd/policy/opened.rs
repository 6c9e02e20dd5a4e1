//! A policy opened to be proven or measured: taken in with the suite beside it, under the settings that the suite begins with.

use anyhow::{Context as _, Result};
use plimsoll_author::proof::{self, SUITE};
use plimsoll_author::suite::Suite;
use plimsoll_policy::{AnyModule, Inspection};

use super::beside::Beside;
use crate::failure::OfModule;
use crate::module;
use crate::policy::{engine, pairs, typed};

/// A policy, and what stands beside it.
pub(crate) struct Opened {
    pub(crate) policy: AnyModule,
    pub(crate) seen: Inspection,
    pub(crate) beside: Beside,
    pub(crate) suite: Option<Suite>,
}

impl Opened {
    /// Opens the module of that name, with settings as `KEY=VALUE` over those of the suite in `beside`.
    pub(crate) fn open(module: &str, settings: &[String], beside: Beside) -> Result<Self> {
        let of_module = || OfModule(module.to_owned());
        let source = module::source(module).with_context(of_module)?;
        let engine = engine()?;
        source.verify(&engine).with_context(of_module)?;
        let seen = engine.inspect(&source.bytes).with_context(of_module)?;
        let suite = beside.read(SUITE)?;
        let suite = suite.map(|text| Suite::read(&text.file, &text.text, &seen.manifest));
        let suite = suite.transpose()?;
        let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
        let pairs = pairs(&settings)?;
        let given = |schema: &_| typed(schema, &pairs);
        let policy = proof::accept(&engine, &source.bytes, suite.as_ref(), &given);
        Ok(Self {
            policy: policy.with_context(of_module)?,
            seen,
            beside,
            suite,
        })
    }
}
