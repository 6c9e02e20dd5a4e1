//! Policies in ConfigMaps, followed while the controller decides: what a ConfigMap comes to hold runs all gates, and serves from the next
//! decision on, or a warning says at which step it failed and what to do.
//!
//! Whatever happens to a ConfigMap, the policy that serves goes on until another one has passed. Each ConfigMap has a task of its own,
//! which ends with what [`Follower::begin`] returns; modules are compiled off the tasks' threads. What a module is refused for is said once;
//! what the machine had no room for is tried again.

use std::sync::Arc;
use std::time::Duration;

use kube::Client;
use plimsoll_core::hook::PolicySettings;
use plimsoll_core::ids::ObjectName;
use plimsoll_kube::module::{ModuleError, Stored, Watched};
use plimsoll_policy::{Candidate, Engine, Finding, Generation, Generations, Hook, Refusal, Schema};
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::timeout;

/// Between two tries of a module that the machine had no room for.
const PAUSE: Duration = Duration::from_secs(10);

/// Reads a policy's settings once it is known which ones there are.
pub type ReadSettings = Arc<dyn Fn(&Schema) -> Result<PolicySettings, Refusal> + Send + Sync>;

/// A policy that a ConfigMap holds.
#[derive(Clone)]
pub struct Source {
    /// The ConfigMap.
    pub name: ObjectName,
    /// The hook that the policy answers.
    pub hook: Hook,
    /// Place among the policies of the hook, from 0; other than 0 for budgets alone.
    pub place: usize,
    /// Settings, read for the manifest of the module at hand.
    pub settings: ReadSettings,
    /// The annotation that promises the component's SHA-256, where there is one.
    pub sha256: &'static str,
    /// Content of the ConfigMap when it was last judged: taken in, or refused for what it is.
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

    async fn follow(self, source: Source) {
        let configmap = source.name.to_string();
        let mut watched = Watched::start(&self.client, source.name.clone());
        let mut ledger = Ledger {
            judged: source.seen.clone(),
            open: None,
        };
        loop {
            let changed = if ledger.open.is_some() {
                timeout(PAUSE, watched.next()).await
            } else {
                Ok(watched.next().await)
            };
            let told = match changed {
                Ok(None) => return,
                Ok(Some(changed)) => told(changed, &configmap),
                Err(_) => Told::Nothing,
            };
            if let Some(stored) = ledger.due(told) {
                let is_settled = self.take_in(&source, &stored).await;
                ledger.enter(stored, is_settled);
            }
        }
    }

    /// Takes in what is stored; whether that is settled, one way or the other.
    async fn take_in(&self, source: &Source, stored: &Stored) -> bool {
        let (follower, of, held) = (self.clone(), source.clone(), stored.clone());
        let offered = spawn_blocking(move || follower.offer(&of, &held)).await;
        let configmap = source.name.to_string();
        match offered {
            Ok(Ok(next)) => {
                let generation = next.number();
                tracing::info!(configmap, generation, "policy exchanged");
                true
            }
            Ok(Err(finding)) => {
                let refusal = &finding.refusal;
                let (reason, remedy) = (refusal.reason(), refusal.hint());
                tracing::warn!(configmap, reason, remedy, "policy refused: {finding}");
                refusal.blames_module()
            }
            Err(error) => {
                tracing::error!(configmap, %error, "policy could not be looked at");
                true
            }
        }
    }

    fn offer(&self, source: &Source, stored: &Stored) -> Result<Arc<Generation>, Finding> {
        let settings = &source.settings;
        let candidate = Candidate {
            hook: source.hook,
            place: source.place,
            entries: stored.entries.clone(),
            sha256: stored.annotations.get(source.sha256).map(String::as_str),
            settings: &|schema| settings(schema),
        };
        self.generations.offer(&self.engine, candidate)
    }
}

/// The state of a ConfigMap after a change, or after a while without one.
enum Told {
    /// It holds this.
    Holds(Stored),
    /// It is not there.
    Gone,
    /// Nothing new: the state is as before.
    Nothing,
}

fn told(changed: Result<Option<Stored>, ModuleError>, configmap: &str) -> Told {
    match changed {
        Ok(Some(stored)) => Told::Holds(stored),
        Ok(None) => {
            tracing::warn!(configmap, "configmap is gone; its policy serves on");
            Told::Gone
        }
        Err(error) => {
            let error = anyhow::Error::from(error);
            tracing::warn!("{error:#}; its policy serves on");
            Told::Nothing
        }
    }
}

/// The contents of a ConfigMap that were judged, and the one that waits for room.
struct Ledger {
    /// The content taken in last, or refused for what it is.
    judged: Stored,
    /// The content for which the machine had no room.
    open: Option<Stored>,
}

impl Ledger {
    /// The content to take in now; `None` where that is judged already.
    fn due(&mut self, told: Told) -> Option<Stored> {
        let open = self.open.take();
        match told {
            Told::Holds(stored) => (stored != self.judged).then_some(stored),
            Told::Gone => None,
            Told::Nothing => open,
        }
    }

    /// Notes the end of taking a content in.
    fn enter(&mut self, stored: Stored, is_settled: bool) {
        if is_settled {
            self.judged = stored;
        } else {
            self.open = Some(stored);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holding(text: &str) -> Stored {
        Stored {
            entries: [("policy.wasm".to_owned(), text.into())].into(),
            ..Stored::default()
        }
    }

    fn ledger() -> Ledger {
        Ledger {
            judged: holding("first"),
            open: None,
        }
    }

    #[test]
    fn what_the_machine_had_no_room_for_is_tried_again_until_it_is_settled() {
        let mut ledger = ledger();
        let next = ledger.due(Told::Holds(holding("next"))).unwrap();
        ledger.enter(next, false);
        let again = ledger.due(Told::Nothing).unwrap();
        assert_eq!(again, holding("next"));
        ledger.enter(again, false);
        let told_again = ledger.due(Told::Holds(holding("next"))).unwrap();
        ledger.enter(told_again, true);
        assert_eq!(ledger.due(Told::Nothing), None);
    }

    #[test]
    fn what_was_judged_is_not_looked_at_again() {
        let mut ledger = ledger();
        assert_eq!(ledger.due(Told::Holds(holding("first"))), None);
        let next = ledger.due(Told::Holds(holding("next"))).unwrap();
        ledger.enter(next, true);
        assert_eq!(ledger.due(Told::Holds(holding("next"))), None);
    }

    #[test]
    fn what_is_gone_or_exchanged_meanwhile_is_not_tried_again() {
        for told in [Told::Gone, Told::Holds(holding("first"))] {
            let mut ledger = ledger();
            let next = ledger.due(Told::Holds(holding("next"))).unwrap();
            ledger.enter(next, false);
            assert_eq!(ledger.due(told), None);
            assert_eq!(ledger.due(Told::Nothing), None);
        }
    }
}
