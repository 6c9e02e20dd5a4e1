//! The Policy to apply, for those who name a policy where a cluster's controller begins.

use std::fmt::Write;

use anyhow::{Context, Result};
use plimsoll_author::pack::pack;
use serde_json::Value;

use crate::meant::question;
use crate::module;
use crate::policy::{engine, short_name};
use crate::strategy::{Asked, with_hook};

/// The answer to `--policy` at `plimsoll run`: the manifest that does the same. Fails where the policy is not understood or not there.
pub(super) fn refusal(asked: &str) -> Result<String> {
    let asked = Asked::read(asked).with_context(|| {
        let meant = engine().ok().and_then(|engine| with_hook(asked, &engine));
        format!(
            "policy \"{asked}\" is not understood; expected rank=, consolidate= or budget= with a name, a file or a folder behind it{}",
            question(meant.as_deref())
        )
    })?;
    let place = asked.place;
    let (name, configmap, before) = match place.strip_prefix("configmap:") {
        Some(configmap) => {
            let name = configmap.rsplit('/').next().unwrap_or(configmap);
            (name.to_owned(), name.to_owned(), String::new())
        }
        None => packed(place).with_context(|| format!("policy {place}"))?,
    };
    Ok(format!(
        "--policy is not taken here: policies of a cluster are objects in it. Apply this instead, with the ConfigMap in the controller's \
         namespace:\n{before}{}",
        manifest(&name, &configmap, &asked)?
    ))
}

/// Names of a module and of the ConfigMap that `policy pack` makes of it, and the command that does.
fn packed(place: &str) -> Result<(String, String, String)> {
    let source = module::source(place)?;
    let engine = engine()?;
    let component = engine.inflate(&source.bytes)?;
    let seen = engine.inspect(&component)?;
    let packed = pack(&component, &seen.manifest.name, None);
    let first = packed.objects.first();
    let configmap = first.map(|object| object.metadata.name.clone());
    let command = format!(
        "# plimsoll policy pack {place} -n NAMESPACE -o yaml | kubectl apply --server-side -f -\n"
    );
    let name = short_name(&seen.manifest).to_owned();
    Ok((name, configmap.unwrap_or_default(), command))
}

fn manifest(name: &str, configmap: &str, asked: &Asked<'_>) -> Result<String> {
    let hook = asked.hook.in_spec();
    let mut text = format!(
        "apiVersion: plimsoll.dev/v1alpha1\nkind: Policy\nmetadata:\n  name: {name}\nspec:\n  hook: {hook}\n  configMapRef:\n    name: {configmap}\n  nodePoolSelector: {{}}\n"
    );
    let settings = asked.pairs()?;
    if !settings.is_empty() {
        text.push_str("  settings:\n");
    }
    for (key, value) in settings {
        // A Policy has texts alone, and JSON's are YAML's, too. Writing to a text does not fail.
        let _ = writeln!(text, "    {key}: {}", Value::from(value));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_at_the_start_is_answered_by_its_manifest() {
        let said = refusal("rank=spot-diversified,lost_hours=2").unwrap();
        for line in [
            "# plimsoll policy pack spot-diversified -n NAMESPACE -o yaml | kubectl apply --server-side -f -",
            "  name: spot-diversified",
            "  hook: Rank",
            "  nodePoolSelector: {}",
            "    lost_hours: \"2\"",
        ] {
            assert!(said.lines().any(|own| own == line), "{line} in {said}");
        }
        let said = refusal("budget=configmap:plimsoll/nights-3f9a1c").unwrap();
        assert!(said.contains("  hook: Budget\n  configMapRef:\n    name: nights-3f9a1c\n"));
        let said = refusal("list-price").unwrap_err().to_string();
        assert!(said.ends_with("; did you mean rank=list-price?"), "{said}");
    }
}
