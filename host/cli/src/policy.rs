//! Modules on the command line: an engine for them, and settings written behind their names.

use anyhow::{Result, bail};
use plimsoll_core::rank::Settings;
use plimsoll_policy::{Compiler, Engine, EngineSettings, Helper, Manifest, Refusal, Schema};

use crate::failure::Environment;

/// What tables call a policy: its name without the hook.
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
pub(crate) fn typed(schema: &Schema, pairs: &[(&str, &str)]) -> Result<Settings, Refusal> {
    let mut given = Settings::new();
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

/// An engine for the command line: only fuel limits a module, so that answers are the same on every machine. Modules are compiled by
/// a process of this very program.
pub(crate) fn engine() -> Result<Engine> {
    let settings = EngineSettings {
        compiler: compiler()?,
        ..EngineSettings::default()
    };
    Engine::new(settings).map_err(|error| Environment(error.to_string()).into())
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

    #[test]
    fn commas_in_brackets_do_not_end_a_setting() {
        assert_eq!(outside_brackets("a,b=[c,d],e"), ["a", "b=[c,d]", "e"]);
    }
}
