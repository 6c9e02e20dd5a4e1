//! A cluster as a bench sees it: running pods, nodes, claims, and when the fleet changed last. Followed by watches of its own.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use futures_util::StreamExt;
use k8s_openapi::api::core::v1::{Node, Pod};
use k8s_openapi::serde::de::DeserializeOwned;
use kube::core::DynamicObject;
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, Client, Resource, ResourceExt};
use plimsoll_api::Kind;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep_until, timeout};

use super::scenario::is_of_rollout;

/// The objects that count.
#[derive(Debug, Default)]
pub struct Seen {
    /// Pods whose phase is Running, by namespace and name; `true` for those of a rollout.
    running: BTreeMap<String, bool>,
    /// Nodes by name.
    pub nodes: BTreeMap<String, Node>,
    /// Claims by name.
    claims: BTreeMap<String, DynamicObject>,
    /// When a node or claim came, began to go or went last.
    changed: Option<Instant>,
}

impl Seen {
    /// Pods that run.
    pub fn running(&self) -> usize {
        self.running.len()
    }

    /// Pods that run and are of a rollout.
    pub fn rolled_out(&self) -> usize {
        self.running.values().filter(|is_new| **is_new).count()
    }

    /// Claims that there are.
    pub fn claims(&self) -> usize {
        self.claims.len()
    }
}

/// The view, for as long as it is followed.
pub struct World {
    seen: watch::Receiver<Seen>,
    _watching: JoinSet<()>,
}

impl World {
    /// Begins to watch.
    pub fn of(client: &Client) -> Self {
        let (sender, seen) = watch::channel(Seen::default());
        let mut watching = JoinSet::new();
        let running = watcher::Config::default().fields("status.phase=Running");
        let pods: Api<Pod> = Api::all(client.clone());
        watching.spawn(follow(pods, running, sender.clone(), |seen, told| {
            match told {
                Told::There(pod) => seen.running.insert(key(&pod), is_of_rollout(pod.labels())),
                Told::Gone(key) => seen.running.remove(&key),
            };
        }));
        let nodes: Api<Node> = Api::all(client.clone());
        let all = watcher::Config::default();
        watching.spawn(follow(nodes, all.clone(), sender.clone(), |seen, told| {
            let changed = is_change(&seen.nodes, &told);
            take(&mut seen.nodes, told);
            seen.note(changed);
        }));
        let claims: Api<DynamicObject> = plimsoll_kube::api(client, Kind::NodeClaim);
        watching.spawn(follow(claims, all, sender, |seen, told| {
            let changed = is_change(&seen.claims, &told);
            take(&mut seen.claims, told);
            seen.note(changed);
        }));
        Self {
            seen,
            _watching: watching,
        }
    }

    /// Waits until something holds; when it did.
    pub async fn until(
        &self,
        what: &str,
        patience: Duration,
        holds: impl Fn(&Seen) -> bool,
    ) -> Result<Instant> {
        let mut seen = self.seen.clone();
        let met = timeout(patience, seen.wait_for(|seen| holds(seen))).await;
        if let Ok(met) = met {
            met.context("a watch of the bench has ended")?;
            return Ok(Instant::now());
        }
        let seen = self.seen.borrow();
        bail!(
            "waited {patience:?} in vain for {what}: {} pods run on {} nodes",
            seen.running(),
            seen.nodes.len()
        )
    }

    /// Waits until nodes or claims have changed after `since`, and none has for `quiet` while something holds; when the last one did.
    pub async fn until_settled(
        &self,
        since: Instant,
        (quiet, patience): (Duration, Duration),
        holds: impl Fn(&Seen) -> bool,
    ) -> Result<Instant> {
        let end = Instant::now() + patience;
        let mut seen = self.seen.clone();
        loop {
            let (last, held) = {
                let seen = seen.borrow_and_update();
                let changed = seen.changed.filter(|at| *at > since);
                (changed.unwrap_or(end), changed.is_some() && holds(&seen))
            };
            let now = Instant::now();
            if held && now >= last + quiet {
                return Ok(last);
            }
            if now >= end {
                bail!("nodes and claims still changed after {patience:?}");
            }
            let wake = if held { last + quiet } else { end };
            tokio::select! {
                changed = seen.changed() => changed?,
                () = sleep_until(wake.min(end).into()) => {}
            }
        }
    }

    /// All of it at this moment.
    pub fn seen(&self) -> watch::Ref<'_, Seen> {
        self.seen.borrow()
    }
}

impl Seen {
    fn note(&mut self, changed: bool) {
        if changed {
            self.changed = Some(Instant::now());
        }
    }
}

/// News of one object.
pub(crate) enum Told<K> {
    /// As it is.
    There(K),
    /// The key of one that is no more.
    Gone(String),
}

/// `true` if an object came, began to go, went, or is another of its name.
fn is_change<K: ResourceExt>(known: &BTreeMap<String, K>, told: &Told<K>) -> bool {
    let Told::There(object) = told else {
        return true;
    };
    known.get(&key(object)).is_none_or(|before| {
        before.uid() != object.uid()
            || before.meta().deletion_timestamp.is_some()
                != object.meta().deletion_timestamp.is_some()
    })
}

fn key<K: ResourceExt>(object: &K) -> String {
    match object.namespace() {
        Some(namespace) => format!("{namespace}/{}", object.name_any()),
        None => object.name_any(),
    }
}

fn take<K: ResourceExt>(known: &mut BTreeMap<String, K>, told: Told<K>) {
    match told {
        Told::There(object) => {
            known.insert(key(&object), object);
        }
        Told::Gone(key) => {
            known.remove(&key);
        }
    }
}

/// Follows a kind until its reader is gone. A list after an interruption tells of what went meanwhile by what it lacks.
pub(crate) async fn follow<K, S>(
    api: Api<K>,
    config: watcher::Config,
    seen: watch::Sender<S>,
    tell: impl Fn(&mut S, Told<K>),
) where
    K: Resource + Clone + Debug + Send + DeserializeOwned + 'static,
{
    let events = watcher(api, config).default_backoff();
    let mut events = std::pin::pin!(events);
    let mut known: BTreeMap<String, bool> = BTreeMap::new();
    while let Some(event) = events.next().await {
        match event {
            Ok(watcher::Event::Init) => known.values_mut().for_each(|listed| *listed = false),
            Ok(watcher::Event::InitApply(object) | watcher::Event::Apply(object)) => {
                known.insert(key(&object), true);
                seen.send_modify(|seen| tell(seen, Told::There(object)));
            }
            Ok(watcher::Event::Delete(object)) => {
                known.remove(&key(&object));
                seen.send_modify(|seen| tell(seen, Told::Gone(key(&object))));
            }
            Ok(watcher::Event::InitDone) => {
                let gone = known.iter().filter(|(_, listed)| !**listed);
                let gone: Vec<String> = gone.map(|(key, _)| key.clone()).collect();
                for key in gone {
                    known.remove(&key);
                    seen.send_modify(|seen| tell(seen, Told::Gone(key)));
                }
            }
            // The watcher tries again by itself.
            Err(_) => {}
        }
    }
}
