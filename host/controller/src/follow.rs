//! Policies in ConfigMaps, followed while the controller decides: what a ConfigMap comes to hold runs all gates, and serves from the next
//! decision on, or a warning says at which step it failed and what to do.
//!
//! Whatever happens to a ConfigMap, the policy that serves goes on until another one has passed. Each ConfigMap has a task of its own,
//! which ends with what [`Follower::begin`] returns; modules are compiled off the tasks' threads.

use std::sync::Arc;

use kube::Client;
use plimsoll_core::hook::Settings;
use plimsoll_core::ids::ObjectName;
use plimsoll_kube::module::{Stored, Watched};
use plimsoll_policy::{Candidate, Engine, Finding, Generation, Generations, Hook, Refusal, Schema};
use tokio::task::{JoinSet, spawn_blocking};

/// Reads a policy's settings once it is known which ones there are.
pub type ReadSettings = Arc<dyn Fn(&Schema) -> Result<Settings, Refusal> + Send + Sync>;

/// A policy that a ConfigMap holds.
#[derive(Clone)]
pub struct Source {
    /// The ConfigMap.
    pub name: ObjectName,
    /// What the policy decides about.
    pub hook: Hook,
    /// Which of the budget policies it is.
    pub place: usize,
    /// Its settings.
    pub settings: ReadSettings,
    /// The annotation that promises the component's SHA-256, where there is one.
    pub sha256: &'static str,
    /// What the ConfigMap held when it was taken in last.
    pub seen: Stored,
}

/// Takes in what ConfigMaps come to hold.
#[derive(Clone)]
pub struct Follower {
    /// The API server.
    pub client: Client,
    /// Takes modules in.
    pub engine: Engine,
    /// Where they serve.
    pub generations: Arc<Generations>,
}

impl Follower {
    /// Follows these ConfigMaps until what is returned is dropped.
    pub fn begin(&self, sources: Vec<Source>) -> JoinSet<()> {
        let follow = |source| self.clone().follow(source);
        sources.into_iter().map(follow).collect()
    }

    async fn follow(self, mut source: Source) {
        let configmap = source.name.to_string();
        let mut watched = Watched::start(&self.client, source.name.clone());
        while let Some(changed) = watched.next().await {
            match changed {
                Err(error) => {
                    let error = anyhow::Error::from(error);
                    tracing::warn!("{error:#}; its policy serves on");
                }
                Ok(None) => tracing::warn!(configmap, "configmap is gone; its policy serves on"),
                Ok(Some(stored)) if stored == source.seen => {}
                Ok(Some(stored)) => {
                    source.seen = stored;
                    self.take_in(&source).await;
                }
            }
        }
    }

    async fn take_in(&self, source: &Source) {
        let (follower, offered) = (self.clone(), source.clone());
        let offered = spawn_blocking(move || follower.offer(&offered)).await;
        let configmap = source.name.to_string();
        match offered {
            Ok(Ok(next)) => {
                let generation = next.number();
                tracing::info!(configmap, generation, "policy exchanged");
            }
            Ok(Err(finding)) => {
                let refusal = &finding.refusal;
                let (reason, remedy) = (refusal.reason(), refusal.hint());
                tracing::warn!(configmap, reason, remedy, "policy refused: {finding}");
            }
            Err(error) => tracing::error!(configmap, %error, "policy could not be looked at"),
        }
    }

    fn offer(&self, source: &Source) -> Result<Arc<Generation>, Finding> {
        let Source { seen, settings, .. } = source;
        let candidate = Candidate {
            hook: source.hook,
            place: source.place,
            entries: seen.entries.clone(),
            sha256: seen.annotations.get(source.sha256).map(String::as_str),
            settings: &|schema| settings(schema),
        };
        self.generations.offer(&self.engine, candidate)
    }
}
