//! Waiting for what is to come: a watch on a kind, and a condition on all its objects.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::time::Duration;

use anyhow::{Result, bail};
use futures_util::TryStreamExt;
use k8s_openapi::serde::de::DeserializeOwned;
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, Resource, ResourceExt};
use tokio::time::timeout;

/// How long anything may take on a busy machine.
pub const PATIENCE: Duration = Duration::from_mins(3);

/// Watches until the condition holds of all objects of the kind, by name, and gives them. Fails after [`PATIENCE`], with what
/// was there last as `show` puts it.
pub async fn until<K>(
    api: Api<K>,
    what: &str,
    holds: impl Fn(&BTreeMap<String, K>) -> bool,
    show: impl Fn(&K) -> String,
) -> Result<BTreeMap<String, K>>
where
    K: Resource + Clone + Debug + Send + DeserializeOwned + 'static,
{
    let mut known = BTreeMap::new();
    if let Ok(seen) = timeout(PATIENCE, watch(api, &mut known, holds)).await {
        return seen.map(|()| known);
    }
    let shown: Vec<String> = known.values().map(show).collect();
    bail!(
        "waited {PATIENCE:?} in vain for {what}; there is: {}",
        shown.join(", ")
    )
}

async fn watch<K>(
    api: Api<K>,
    known: &mut BTreeMap<String, K>,
    holds: impl Fn(&BTreeMap<String, K>) -> bool,
) -> Result<()>
where
    K: Resource + Clone + Debug + Send + DeserializeOwned + 'static,
{
    let events = watcher(api, watcher::Config::default()).default_backoff();
    let mut events = std::pin::pin!(events);
    let mut listed = false;
    while let Some(event) = events.try_next().await? {
        match event {
            watcher::Event::Init => known.clear(),
            watcher::Event::InitDone => listed = true,
            watcher::Event::InitApply(object) | watcher::Event::Apply(object) => {
                known.insert(object.name_any(), object);
            }
            watcher::Event::Delete(object) => {
                known.remove(&object.name_any());
            }
        }
        if listed && holds(known) {
            return Ok(());
        }
    }
    bail!("the watch has ended")
}
