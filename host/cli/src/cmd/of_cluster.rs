//! Policies of a cluster, as `plimsoll run` begins with them: shipped, files, folders, and what ConfigMaps hold.

use std::sync::Arc;

use anyhow::{Context, Result, bail};
use kube::Client;
use plimsoll_author::pack::SHA256;
use plimsoll_controller::follow::Source as Followed;
use plimsoll_core::ids::ObjectName;
use plimsoll_kube::module::{Stored, fetch};
use plimsoll_policy::{Engine, Policies, Schema};

use super::run::environment;
use crate::module::{self, Source};
use crate::policy::typed;
use crate::strategy::{Asked, Chosen};

/// The policies to begin with, and the ConfigMaps among their places, which may change.
pub(super) struct Begun {
    pub(super) policies: Policies,
    pub(super) followed: Vec<Followed>,
}

/// Takes in the policies that these specifications ask for; settings follow each.
pub(super) async fn policies(client: &Client, engine: &Engine, texts: &[String]) -> Result<Begun> {
    let (mut chosen, mut followed) = (Chosen::default(), Vec::new());
    for text in texts {
        let Some(asked) = Asked::read(text) else {
            bail!(
                "policy \"{text}\" is not understood; expected rank=, consolidate= or budget= with a name, a file, a folder or configmap:NAMESPACE/NAME behind it"
            );
        };
        let naming = || format!("policy {}", asked.place);
        let source = match asked.place.strip_prefix("configmap:") {
            Some(name) => {
                let (name, seen) = stored(client, name).await?;
                let source = held(&name, &seen)?;
                followed.push(Followed {
                    name,
                    hook: asked.hook,
                    place: chosen.policies.budget.len(),
                    settings: settings(&asked)?,
                    sha256: SHA256,
                    seen,
                });
                source
            }
            None => module::source(asked.place).with_context(naming)?,
        };
        chosen.add(&asked, &source, engine).with_context(naming)?;
    }
    let policies = chosen.policies;
    Ok(Begun { policies, followed })
}

/// Contents of the ConfigMap `NAMESPACE/NAME` as they are now.
async fn stored(client: &Client, name: &str) -> Result<(ObjectName, Stored)> {
    let Some((namespace, name)) = name.split_once('/') else {
        bail!("policy configmap:{name} names no namespace; expected configmap:NAMESPACE/NAME");
    };
    let name = ObjectName::new(namespace, name);
    match fetch(client, &name).await {
        Err(error) => bail!(environment(error)),
        Ok(stored) => Ok((name, stored)),
    }
}

/// The module in it.
fn held(name: &ObjectName, stored: &Stored) -> Result<Source> {
    let bytes = plimsoll_policy::assemble(stored.entries.clone());
    Ok(Source {
        bytes: bytes.with_context(|| format!("configmap {name}"))?.into(),
        sha256: stored.annotations.get(SHA256).cloned(),
    })
}

/// The settings behind a specification, for any module that comes to serve under it.
fn settings(asked: &Asked<'_>) -> Result<plimsoll_controller::follow::ReadSettings> {
    let owned = |(key, value): (&str, &str)| (key.to_owned(), value.to_owned());
    let pairs: Vec<(String, String)> = asked.pairs()?.into_iter().map(owned).collect();
    Ok(Arc::new(move |schema: &Schema| {
        let pairs = pairs.iter();
        let pairs: Vec<(&str, &str)> = pairs.map(|(key, value)| (&**key, &**value)).collect();
        typed(schema, &pairs)
    }))
}
