//! `plimsoll schema crds`: the definitions of the custom resources that a cluster needs, as `kubectl apply` takes them.

use anyhow::{Context, Result, bail};
use plimsoll_api::crd::{Provider, definitions, kwok};
use serde_json::Value;

use crate::meant::{closest, question};
use crate::output::print;

/// The word after `plimsoll schema` that asks for definitions.
pub(super) const WORD: &str = "crds";

const PROVIDERS: [&str; 2] = ["aws", "kwok"];

/// Prints the definitions for a provider; without one those of every kind, with the rules for AWS, which keep pools of both.
pub(super) fn run(provider: &[String]) -> Result<()> {
    let names: Vec<&str> = provider.iter().map(String::as_str).collect();
    let all = match names.as_slice() {
        [] => {
            let mut all = definitions(Provider::Aws);
            all.push(kwok());
            all
        }
        ["aws"] => definitions(Provider::Aws),
        ["kwok"] => definitions(Provider::Kwok),
        other => {
            let typed = other.join(" ");
            bail!(
                "there are no definitions for provider \"{typed}\"{}; expected aws or kwok, or none for all definitions",
                question(closest(&typed, PROVIDERS.into_iter()))
            );
        }
    };
    print(&documents(&all)?)
}

/// Several documents, one after another.
fn documents(all: &[Value]) -> Result<String> {
    let mut text = String::new();
    for document in all {
        text.push_str("---\n");
        text.push_str(&serde_saphyr::to_string(document).context("output")?);
    }
    Ok(text)
}
