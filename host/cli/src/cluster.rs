//! The cluster that a command speaks to, and all that decisions read of it as a snapshot.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use kube::config::{KubeConfigOptions, Kubeconfig, KubeconfigError};
use kube::{Client, Config};
use plimsoll_api::{Interner, Kind, read_tolerant};
use plimsoll_core::catalogue::Catalogue;
use plimsoll_core::engine::Engine;
use plimsoll_core::snapshot::{Objects, Settings};
use plimsoll_core::time::Timestamp;
use plimsoll_ec2_facts::provider::CLASS;
use plimsoll_kube::{Patience, list_all, node_class};
use plimsoll_kwok::catalogue;
use plimsoll_snapshot::section::NodeClassEntry;
use plimsoll_snapshot::{Limits, Loaded, redact, write};
use serde_json::Value;

use crate::failure::Environment;
use crate::flags::{Access, Sold};

/// How long a server may say nothing in the middle of an answer.
const SILENCE: Duration = Duration::from_secs(30);

/// The configuration of a client, by flags or as kubectl would have it.
pub(crate) async fn config(access: &Access) -> Result<Config> {
    let options = KubeConfigOptions {
        context: access.context.clone(),
        ..KubeConfigOptions::default()
    };
    match &access.kubeconfig {
        Some(path) => {
            let read = Kubeconfig::read_from(path).map_err(unread)?;
            let config = Config::from_custom_kubeconfig(read, &options).await;
            Ok(config.map_err(unread)?)
        }
        None if access.context.is_some() => {
            Ok(Config::from_kubeconfig(&options).await.map_err(unread)?)
        }
        None => Ok(Config::infer().await.map_err(environment)?),
    }
}

/// Why a kubeconfig is of no use, in one sentence.
fn unread(error: KubeconfigError) -> Environment {
    match error {
        KubeconfigError::ReadConfig(cause, path) => {
            Environment(format!("kubeconfig {}: {cause}", path.display()))
        }
        error => environment(error),
    }
}

/// An error and its causes; those that it names itself are not named again.
pub(crate) fn environment(error: impl Into<anyhow::Error>) -> Environment {
    let error = error.into();
    let mut words = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if words.is_empty() {
            words = cause;
        } else if !words.contains(&cause) {
            words = format!("{words}: {cause}");
        }
    }
    Environment(words)
}

/// The instance types of a file, or the generic list.
pub(crate) fn kwok_types(path: Option<&Path>) -> Result<Catalogue> {
    let Some(path) = path else {
        return Ok(catalogue::builtin()?);
    };
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    catalogue::read(&text).with_context(|| path.display().to_string())
}

/// A configuration whose client gives up instead of waiting in silence for minutes: for a busy server there is [`Patience`], and one that
/// has stopped to answer is not waited for longer.
fn impatient(mut config: Config) -> Config {
    config.default_retry = false;
    config.read_timeout = Some(SILENCE);
    config
}

/// Reads a cluster as a file would be read: what decisions read of its objects, at the present time, with names of their owners or without.
pub(crate) fn recorded(access: &Access, sold: &Sold, with_names: bool) -> Result<Loaded> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = runtime.map_err(|error| Environment(error.to_string()))?;
    let (mut items, classes) = runtime.block_on(async {
        let client = Client::try_from(impatient(config(access).await?)).map_err(environment)?;
        let mut patience = Patience::new(|words: &str| eprintln!("warning: the cluster: {words}"));
        let items = list_all(&client, &mut patience).await;
        let items = items.map_err(environment)?;
        let classes = node_classes(&client, &mut patience, with_names).await;
        anyhow::Ok((items, classes))
    })?;
    if sold.region.is_none() && items.iter().any(buys_on_ec2) {
        bail!("a NodePool of this cluster has a class of EC2; expected --region");
    }
    items.iter_mut().for_each(as_understood);
    if !with_names {
        redact(&mut items);
    }
    let mut list = empty(sold)?;
    list["items"] = items.into();
    list["plimsoll"]["nodeClasses"] = serde_json::to_value(classes)?;
    let text = serde_json::to_vec(&list)?;
    let loaded = plimsoll_snapshot::read(&text[..], &Limits::default()).context("the cluster")?;
    for note in loaded.notes.iter().filter(|note| !note.is_advice()) {
        eprintln!("warning: the cluster: {note}");
    }
    Ok(loaded)
}

/// Exchanges a pool or claim that is not understood in every part, such as one of a newer version, for what is understood of it. One
/// that cannot be read at all stays, and is told by whatever reads it next.
fn as_understood(item: &mut Value) {
    let text = |field: &str| item.get(field).and_then(Value::as_str);
    let kind = text("apiVersion").zip(text("kind"));
    let kind = kind.and_then(|(version, kind)| Kind::parse(version, kind));
    let kind = kind.filter(|kind| matches!(kind, Kind::NodePool | Kind::NodeClaim));
    let read = kind.map(|kind| read_tolerant(kind, item, &mut Interner::new()));
    let Some(Ok((_, object))) = read else { return };
    if object.unread().is_some_and(|unread| !unread.is_empty()) {
        *item = object.to_value();
    }
}

/// Classes of EC2 of which not all is well; without sentences where names are not to be told. Where they may not be listed, nothing is known
/// of them, which is told.
async fn node_classes<Tell: FnMut(&str)>(
    client: &Client,
    patience: &mut Patience<Tell>,
    with_names: bool,
) -> Vec<NodeClassEntry> {
    let listed = match patience.ask(async || node_class::list(client).await).await {
        Ok(listed) => listed,
        Err(kube::Error::Api(status)) if status.code == 404 => return Vec::new(),
        Err(error) => {
            let Environment(words) = environment(error);
            eprintln!("warning: the cluster: nothing is known of its EC2NodeClasses: {words}");
            return Vec::new();
        }
    };
    let classes = listed.iter().filter_map(|class| {
        let class = serde_json::to_value(class).ok()?;
        NodeClassEntry::of(CLASS, &class)
    });
    if with_names {
        return classes.collect();
    }
    classes.map(NodeClassEntry::without_messages).collect()
}

fn buys_on_ec2(object: &Value) -> bool {
    let class = &object["spec"]["template"]["spec"]["nodeClassRef"];
    object["kind"] == Kind::NodePool.as_str() && class["kind"] == CLASS
}

/// A list without objects, at the present time, with the instance types that the cluster's pools may buy.
fn empty(sold: &Sold) -> Result<Value> {
    let now = jiff::Timestamp::now();
    if let Some(region) = &sold.region {
        return Ok(serde_json::json!({
            "apiVersion": "v1", "kind": "List",
            "plimsoll": {"time": now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(), "catalogue": {"region": region}},
        }));
    }
    let types = kwok_types(sold.instance_types_file_path.as_deref())?;
    let time = Timestamp::from_millis(now.as_millisecond());
    let settings = Arc::new(Settings::default());
    let catalogues = Arc::new(types.into());
    let engine = Engine::finding(&Objects::default(), catalogues, settings, 0, time);
    let text = write::json(&engine.snapshot(time))?;
    Ok(serde_json::from_slice(&text)?)
}

#[cfg(test)]
mod tests {
    use plimsoll_snapshot::Note;

    use super::*;

    #[test]
    fn a_kubeconfig_that_is_missing_is_named_once() {
        let path = Path::new("/nowhere/config");
        let error = Kubeconfig::read_from(path).unwrap_err();
        assert_eq!(
            unread(error).to_string(),
            "kubeconfig /nowhere/config: No such file or directory (os error 2)"
        );
    }

    #[test]
    fn an_empty_cluster_is_read_with_the_types_of_its_provider() {
        let read = |sold: &Sold| {
            let list = serde_json::to_vec(&empty(sold).unwrap()).unwrap();
            plimsoll_snapshot::read(&list[..], &Limits::default()).unwrap()
        };
        let generic = read(&Sold::default());
        assert_eq!(generic.notes, [Note::DefaultPool]);
        let types = |loaded: &Loaded| loaded.snapshot.catalogues.of_others().types().len();
        assert_eq!(types(&generic), 144);
        let regional = Sold {
            region: Some("us-east-1".to_owned()),
            ..Sold::default()
        };
        assert!(types(&read(&regional)) > 500);
    }
}
