//! Modules on the command line: an engine for them, and settings written behind their names.

use std::time::Duration;

#[cfg(feature = "live")]
use anyhow::Context;
use anyhow::{Result, bail};
#[cfg(feature = "live")]
use plimsoll_base::quantity::parse_units;
use plimsoll_hooks::rank::PolicySettings;
use plimsoll_policy::{
    Compiler, Engine, EngineError, EngineSettings, Helper, Limits, Manifest, Refusal, Schema,
};

use crate::failure::Environment;

/// Name of a policy in tables: that of its manifest without the hook.
pub(crate) fn short_name(manifest: &Manifest) -> &str {
    let name = manifest.name.as_str();
    let prefix = name.strip_prefix(manifest.hook.label());
    let short = prefix.and_then(|rest| rest.strip_prefix('-'));
    short.unwrap_or(name)
}

/// Settings as names and values.
pub(crate) fn pairs<'t>(settings: &[&'t str]) -> Result<Vec<(&'t str, &'t str)>> {
    let pair = |setting: &&'t str| match setting.split_once('=') {
        Some((key, value)) => Ok((key.trim(), value)),
        None => bail!("\"{setting}\" is not a setting; expected KEY=VALUE"),
    };
    settings.iter().map(pair).collect()
}

/// Settings of the kinds that a policy says they have.
pub(crate) fn typed(schema: &Schema, pairs: &[(&str, &str)]) -> Result<PolicySettings, Refusal> {
    let mut given = PolicySettings::new();
    for (key, value) in pairs {
        if given
            .insert((*key).to_owned(), schema.read(key, value)?)
            .is_some()
        {
            return Err(Refusal::Setting {
                path: (*key).to_owned(),
                problem: "is given twice; expected it once".to_owned(),
            });
        }
    }
    Ok(given)
}

/// The parts between commas; commas inside brackets belong to a list.
pub(crate) fn outside_brackets(text: &str) -> Vec<&str> {
    let mut depth = 0_i32;
    let split = text.split(|letter| {
        depth += i32::from(letter == '[') - i32::from(letter == ']');
        letter == ',' && depth <= 0
    });
    split.collect()
}

/// How long a call of the command line waits for its turn: as long as it takes.
const PATIENCE: Duration = Duration::from_hours(1);

/// An engine for the command line, where a large module may take its time to compile.
pub(crate) fn engine() -> Result<Engine> {
    let limits = Limits {
        wait: PATIENCE,
        ..Limits::default().with_large_modules()
    };
    engine_with(limits, None)
}

/// An engine as a controller has it: large modules are let in only where that was asked for.
pub(crate) fn controllers_engine(large_modules: bool, guest_memory: Option<u64>) -> Result<Engine> {
    let limits = Limits::default();
    let limits = if large_modules {
        limits.with_large_modules()
    } else {
        limits
    };
    engine_with(limits, guest_memory)
}

/// Reads the memory that calls of policies may have together.
#[cfg(feature = "live")]
pub(crate) fn memory(text: &str) -> Result<u64> {
    let bytes = parse_units(text).context("--policy-memory")?;
    Ok(u64::try_from(bytes)?)
}

/// Modules are compiled by a process of this very program.
fn engine_with(limits: Limits, guest_memory: Option<u64>) -> Result<Engine> {
    let settings = EngineSettings {
        limits,
        guest_memory,
        compiler: compiler()?,
        ..EngineSettings::default()
    };
    Engine::new(settings).map_err(|error| match error {
        error @ EngineError::GuestMemory { .. } => error.into(),
        error => Environment(error.to_string()).into(),
    })
}

/// Within unit tests this program is another one, which compiles for itself.
fn compiler() -> Result<Compiler> {
    if cfg!(test) {
        return Ok(Compiler::Here);
    }
    let program = std::env::current_exe()
        .map_err(|error| Environment(format!("this program cannot find itself: {error}")))?;
    Ok(Compiler::Child(Helper {
        program,
        arguments: vec!["compile-module".into()],
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(feature = "live")]
    #[test]
    fn memory_of_policies_is_a_quantity_that_holds_one_call() {
        assert_eq!(memory("512Mi").unwrap(), 512 << 20);
        assert!(memory("-1").is_err());
        assert!(memory("much").is_err());
        let refused = controllers_engine(false, Some(1 << 20)).err().unwrap();
        assert_eq!(
            refused.to_string(),
            "memory for policies is 1048576 bytes; expected at least 33554432, which is what one call may use"
        );
        let engine = controllers_engine(false, Some(100 << 20)).unwrap();
        assert!(engine.concurrency() <= 3);
    }

    #[test]
    fn commas_in_brackets_do_not_end_a_setting() {
        assert_eq!(outside_brackets("a,b=[c,d],e"), ["a", "b=[c,d]", "e"]);
    }
}
