//! The cluster that a command speaks to, and all that decisions read of it as a snapshot.

use std::error::Error as _;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use kube::config::{InferConfigError, KubeConfigOptions, Kubeconfig, KubeconfigError};
use kube::{Client, Config};
use plimsoll_base::time::Timestamp;
use plimsoll_controller::policies::{self, Standing};
use plimsoll_engine::Engine as Finding;
use plimsoll_kube::{Patience, list_all, node_class, policy};
use plimsoll_kwok::catalogue;
use plimsoll_model::catalogue::Catalogue;
use plimsoll_model::snapshot::{Objects, Settings};
use plimsoll_policy::Engine;
use plimsoll_snapshot::section::NodeClassEntry;
use plimsoll_snapshot::{Limits, Loaded, Note, redact, write};
use serde_json::Value;

use crate::failure::Environment;
use crate::flags::{Access, Sold};
use crate::surroundings;
use crate::types_by_class;

/// The kubeconfig that kubectl would take.
const KUBECONFIG: &str = "kubeconfig";
const FILE_EXPECTED: &str = "expected --kubeconfig FILE";
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
            let place = format!("--kubeconfig {}", path.display());
            let of_file = |error: &KubeconfigError| unread(&place, error);
            let read = Kubeconfig::read_from(path).map_err(|error| of_file(&error))?;
            let config = Config::from_custom_kubeconfig(read, &options).await;
            Ok(config.map_err(|error| of_file(&error))?)
        }
        None if access.context.is_some() => {
            let config = Config::from_kubeconfig(&options).await;
            Ok(config.map_err(|error| {
                if is_missing(&error) {
                    Environment(format!("{}; {FILE_EXPECTED}", no_kubeconfig()))
                } else {
                    unread(KUBECONFIG, &error)
                }
            })?)
        }
        None => Ok(Config::infer().await.map_err(|error| nowhere(&error))?),
    }
}

/// Why no cluster can be found without flags: neither a kubeconfig where kubectl looks for one, nor the account of a pod.
fn nowhere(error: &InferConfigError) -> Environment {
    let kubeconfig = error.source();
    let kubeconfig = kubeconfig.and_then(|source| source.downcast_ref::<KubeconfigError>());
    if let Some(found) = kubeconfig.filter(|found| !is_missing(found)) {
        return unread(KUBECONFIG, found);
    }
    let is_pod = std::env::var_os("KUBERNETES_SERVICE_HOST").is_some();
    let account = Config::incluster().err().filter(|_| is_pod);
    let no_pod = match account {
        Some(account) => {
            let Environment(words) = environment(account);
            format!("the service account of this pod cannot be used: {words}")
        }
        None => "this is no pod".to_owned(),
    };
    let none = no_kubeconfig();
    Environment(format!("{none}, and {no_pod}; {FILE_EXPECTED}"))
}

/// An error for a missing kubeconfig, with the places where kubectl looks for one.
fn no_kubeconfig() -> String {
    let place = match std::env::var_os("KUBECONFIG").filter(|path| !path.is_empty()) {
        Some(path) => format!("{} ($KUBECONFIG)", path.display()),
        None => "$KUBECONFIG or ~/.kube/config".to_owned(),
    };
    format!("no cluster: there is no kubeconfig at {place}")
}

/// `true` if there is no kubeconfig at all.
fn is_missing(error: &KubeconfigError) -> bool {
    match error {
        KubeconfigError::FindPath => true,
        KubeconfigError::ReadConfig(cause, _) => cause.kind() == io::ErrorKind::NotFound,
        _ => false,
    }
}

/// Why the kubeconfig at a place is of no use, in one sentence.
fn unread(place: &str, error: &KubeconfigError) -> Environment {
    let words = match error {
        KubeconfigError::ReadConfig(cause, path) => {
            let place = match place {
                KUBECONFIG => format!("{KUBECONFIG} {}", path.display()),
                place => place.to_owned(),
            };
            let cause = cause.to_string();
            // The error's number adds nothing to its text.
            let cause = cause.split(" (os error").next().unwrap_or_default();
            format!("{place} cannot be read: {cause} (expected a kubeconfig file)")
        }
        KubeconfigError::Parse(cause) => {
            let cause = cause.to_string();
            let cause = cause.lines().next().unwrap_or_default();
            format!("{place} cannot be read: {cause} (expected a kubeconfig file)")
        }
        KubeconfigError::CurrentContextNotSet => {
            format!("{place} has no current-context; expected one, or --context NAME")
        }
        KubeconfigError::LoadContext(name) => {
            format!("{place} has no context {name}; expected one of its contexts")
        }
        // It names its cause itself.
        other => format!("{place}: {other}"),
    };
    Environment(format!("no cluster: {words}"))
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

/// A cluster as it was read, and the policies that decide in it.
pub(crate) struct LiveCluster {
    /// Its objects, as a file would have them.
    pub(crate) loaded: Loaded,
    /// The policies that serve there; none where they were not asked for.
    pub(crate) standing: Standing,
    /// NodePools of EC2 whose region is not known; they buy nothing.
    pub(crate) left_out: Vec<String>,
}

/// Reads a cluster as a file would be read: what decisions read of its objects, at the present time, with names of their owners or without.
pub(crate) fn recorded(access: &Access, sold: &Sold, with_names: bool) -> Result<Loaded> {
    let config = config(access);
    let (loaded, left_out) = blocking(async {
        let client = Client::try_from(impatient(config.await?)).map_err(environment)?;
        let read = read(&client, sold, with_names).await?;
        if let Some(words) = policies_left_out(&client).await {
            eprintln!("note: the cluster: {words}");
        }
        anyhow::Ok(read)
    })?;
    // A reader of the file could not see why these buy nothing.
    if let Some(pool) = left_out.first() {
        bail!(
            "NodePool {pool} has an EC2NodeClass, and no node says in which region; expected --region, or AWS_REGION"
        );
    }
    tell(&loaded, |note| !note.is_advice());
    Ok(loaded)
}

/// The Policies that decide in the cluster and are not part of a snapshot, in words, or why none can be named; `None` where there are none.
async fn policies_left_out(client: &Client) -> Option<String> {
    let listed = match policy::each(client).await {
        Ok(listed) => listed,
        Err(kube::Error::Api(status)) if status.code == 404 => return None,
        Err(error) => {
            let Environment(words) = environment(error);
            return Some(format!(
                "Policies are not part of a snapshot, and those of this cluster cannot be listed: {words}"
            ));
        }
    };
    let names = listed.iter().map(|own| match own {
        Ok(policy) => policy.metadata.name.as_deref().unwrap_or_default(),
        Err((name, _)) => name,
    });
    let names: Vec<&str> = names.collect();
    let is_any = !names.is_empty();
    is_any.then(|| {
        let names = names.join(", ");
        format!(
            "Policies are not part of a snapshot, and this cluster has {names}; give plan and simulate their modules by --policy"
        )
    })
}

/// Reads a cluster to be explained, with the policies that serve there where `engine` takes them in. What cannot be read is left in
/// the notes.
pub(crate) fn live_cluster(
    access: &Access,
    sold: &Sold,
    engine: Option<&Engine>,
) -> Result<LiveCluster> {
    let config = config(access);
    let live = blocking(async {
        let config = config.await?;
        let default_namespace = config.default_namespace.clone();
        let client = Client::try_from(impatient(config)).map_err(environment)?;
        let (loaded, left_out) = read(&client, sold, true).await?;
        let mut standing = Standing::default();
        if let Some(engine) = engine {
            let namespace = surroundings::namespace(&client, default_namespace).await;
            let read = policies::standing(&client, &namespace, engine).await;
            standing = read.map_err(environment)?;
        }
        anyhow::Ok(LiveCluster {
            loaded,
            standing,
            left_out,
        })
    })?;
    tell(&live.loaded, |note| {
        !note.is_advice() && !note.is_of_unread()
    });
    Ok(live)
}

fn blocking<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = runtime.map_err(|error| Environment(error.to_string()))?;
    runtime.block_on(work)
}

fn tell(loaded: &Loaded, is_told: impl Fn(&Note) -> bool) {
    for note in loaded.notes.iter().filter(|note| is_told(note)) {
        eprintln!("warning: the cluster: {note}");
    }
}

/// The cluster, and the NodePools whose offerings are not known.
async fn read(client: &Client, sold: &Sold, with_names: bool) -> Result<(Loaded, Vec<String>)> {
    let mut patience = Patience::new(|words: &str| eprintln!("warning: the cluster: {words}"));
    let items = list_all(client, &mut patience).await;
    let mut items = items.map_err(environment)?;
    let classes = node_classes(client, &mut patience).await;
    let sold = surroundings::sold(sold, &items)?;
    let (settings, resizes) = surroundings::settings(client).await?;
    if !with_names {
        redact(&mut items);
    }
    let entries = classes.iter().filter_map(|class| {
        let kind = class["kind"].as_str().unwrap_or_default();
        let entry = NodeClassEntry::of(kind, class)?;
        Some(if with_names {
            entry
        } else {
            entry.without_messages()
        })
    });
    let entries: Vec<NodeClassEntry> = entries.collect();
    let mut list = empty(&sold)?;
    list["items"] = items.into();
    list["plimsoll"]["nodeClasses"] = serde_json::to_value(entries)?;
    let text = serde_json::to_vec(&list)?;
    let loaded = plimsoll_snapshot::read_served(&text[..], &Limits::default(), resizes);
    let mut loaded = loaded.context("the cluster")?;
    loaded.snapshot.settings = Arc::new(settings);
    let left_out = types_by_class::of_cluster(&mut loaded, &sold)?;
    Ok((loaded, left_out))
}

/// Classes of all kinds that this program has a provider for. Where they may not be listed, nothing is known of them, and a finding says so.
async fn node_classes<Tell: FnMut(&str)>(
    client: &Client,
    patience: &mut Patience<Tell>,
) -> Vec<Value> {
    let mut classes = Vec::new();
    for kind in node_class::KINDS {
        match patience
            .ask(async || node_class::list_as_written(client, kind).await)
            .await
        {
            Ok(listed) => classes.extend(listed),
            Err(kube::Error::Api(status)) if status.code == 404 => {}
            Err(error) => {
                let Environment(words) = environment(error);
                let name = kind.kind;
                eprintln!("warning: the cluster: nothing is known of its {name} objects: {words}");
            }
        }
    }
    classes
}

/// A list without objects, at the present time, with the instance types that most of the cluster's pools may buy: those of the region, where
/// one is known.
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
    let engine = Finding::finding(&Objects::default(), catalogues, settings, 0, time);
    let text = write::json(&engine.snapshot(time))?;
    Ok(serde_json::from_slice(&text)?)
}

#[cfg(test)]
mod tests {
    use plimsoll_api::ResizeRule;

    use super::*;

    #[test]
    fn a_kubeconfig_that_cannot_be_read_is_named_once() {
        let error = Kubeconfig::read_from(Path::new("/nowhere/config")).unwrap_err();
        assert!(is_missing(&error));
        assert_eq!(
            unread(KUBECONFIG, &error).to_string(),
            "no cluster: kubeconfig /nowhere/config cannot be read: No such file or directory (expected a kubeconfig file)"
        );
        let denied = io::Error::from(io::ErrorKind::PermissionDenied);
        let error = KubeconfigError::ReadConfig(denied, "config".into());
        assert!(!is_missing(&error));
        assert_eq!(
            unread("--kubeconfig config", &error).to_string(),
            "no cluster: --kubeconfig config cannot be read: permission denied (expected a kubeconfig file)"
        );
    }

    #[test]
    fn an_empty_cluster_is_read_with_the_types_of_its_provider() {
        let read = |sold: &Sold| {
            let list = serde_json::to_vec(&empty(sold).unwrap()).unwrap();
            plimsoll_snapshot::read_served(&list[..], &Limits::default(), ResizeRule::default())
                .unwrap()
        };
        let generic = read(&Sold::default());
        assert_eq!(generic.notes, []);
        assert!(generic.objects.pools.is_empty());
        let types = |loaded: &Loaded| loaded.snapshot.catalogues.of_others().types().len();
        assert_eq!(types(&generic), 144);
        let regional = Sold {
            region: Some("us-east-1".to_owned()),
            ..Sold::default()
        };
        assert!(types(&read(&regional)) > 500);
    }
}
