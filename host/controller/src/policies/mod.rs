//! Policy objects, followed while the controller decides: each names a module in a ConfigMap, which serves from the next decision on once it
//! has passed all gates.
//!
//! Whatever happens to a Policy or its ConfigMap, the module that serves goes on until another one has passed, unless its Policy is taken
//! away or is turned off; so it does in the next process, which has it from a copy. Each Policy has a task of its own; modules are compiled off the tasks' threads. Without any Policy the host decides
//! by itself.

mod calls;
mod changes;
mod compared;
mod copies;
mod events;
mod gates;
mod health;
mod held;
mod memory;
mod module_maps;
mod serving;
mod shadows;
mod share;
mod standing;
mod status;
mod task;
#[cfg(test)]
mod tests;
mod wanted;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use kube::Client;
use plimsoll_api::kinds::Policy;
use plimsoll_kube::policy::{Listed, PolicyChange, WatchedPolicies, list};
use plimsoll_policy::{Engine, Generations};
use tokio::sync::{Mutex, oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::{interval, sleep, timeout};

use crate::publish::Notices;
use crate::telemetry::Telemetry;
pub use changes::PolicyChanges;
use copies::Copies;
pub use shadows::Shadows;
pub use share::Pools;
pub use standing::{Counts, Standing, standing};
use task::PolicyTask;

/// The longest that each Policy is waited for at the start.
const FIRST_JUDGEMENT: Duration = Duration::from_secs(20);
/// Between two looks at counts, and two tries of what the machine had no room for or the API server no answer.
const PAUSE: Duration = Duration::from_secs(10);
/// Between two looks for copies that are not needed.
const COLLECTION: Duration = Duration::from_secs(30);

/// Means to serve Policies.
pub struct Shared {
    /// The API server.
    pub client: Client,
    /// The namespace of their ConfigMaps, and of the copies of their modules.
    pub namespace: String,
    /// Takes modules in.
    pub engine: Engine,
    /// Where they decide.
    pub generations: Arc<Generations>,
    /// Where changes of those that decide are made known.
    pub changes: PolicyChanges,
    /// Where they are asked without a say.
    pub shadows: Shadows,
    /// The pools that there are.
    pub pools: watch::Receiver<Pools>,
    /// Told of the calls of each.
    pub telemetry: Telemetry,
    /// Where events are published.
    pub notices: Notices,
}

/// Means that the tasks of all Policies share.
struct Common {
    given: Shared,
    copies: Copies,
}

impl Common {
    fn new(given: Shared) -> Self {
        Self {
            copies: Copies::new(given.client.clone(), &given.namespace),
            given,
        }
    }
}

/// The answer of an API server that puts a question off.
const TOO_MANY_REQUESTS: u16 = 429;
/// From one question that was put off to the next.
const AGAIN: Duration = Duration::from_secs(1);

/// The tasks of the Policies of a cluster.
struct Tasks {
    common: Arc<Common>,
    objects: BTreeMap<String, watch::Sender<Arc<Policy>>>,
    /// Held by the task of each name, one after the other.
    turns: BTreeMap<String, Arc<Mutex<()>>>,
    running: JoinSet<()>,
}

/// The Policies that there are. The API server may put the question off for a moment, such as just after their definition was installed.
async fn first_list(client: &Client) -> Result<Listed, kube::Error> {
    loop {
        match list(client).await {
            Err(kube::Error::Api(status)) if status.code == TOO_MANY_REQUESTS => {
                tracing::debug!("Policies cannot be listed yet; tried again");
                sleep(AGAIN).await;
            }
            listed => return listed,
        }
    }
}

/// Takes in the Policies that there are, the oldest first, and then follows them until what is returned is dropped, which changes nothing that
/// serves. Fails where the API server gives no list.
pub async fn follow(shared: Shared) -> Result<JoinSet<()>, kube::Error> {
    let listed = match first_list(&shared.client).await? {
        Listed::Policies(listed) => listed,
        Listed::NotServed => {
            tracing::info!(
                "the API server does not serve policies of plimsoll.dev/v1alpha1: the host decides by itself until their definition is installed"
            );
            Vec::new()
        }
        Listed::Forbidden => {
            tracing::warn!(
                "no right to list policies of plimsoll.dev/v1alpha1: the host decides by itself; expected verbs list and watch"
            );
            Vec::new()
        }
    };
    let mut tasks = Tasks {
        common: Arc::new(Common::new(shared)),
        objects: BTreeMap::new(),
        turns: BTreeMap::new(),
        running: JoinSet::new(),
    };
    for policy in listed {
        if let Some(settled) = tasks.apply(policy) {
            // One whose ConfigMap is not answered for is taken in later.
            let _ = timeout(FIRST_JUDGEMENT, settled).await;
        }
    }
    let mut following = JoinSet::new();
    following.spawn(held::tell(Arc::clone(&tasks.common)));
    following.spawn(tasks.follow());
    Ok(following)
}

impl Tasks {
    async fn follow(mut self) {
        let known = self.objects.keys().cloned();
        let mut watched = WatchedPolicies::start(&self.common.given.client, known);
        let mut said = String::new();
        let mut collection = interval(COLLECTION);
        loop {
            let change = tokio::select! {
                change = watched.next() => match change {
                    Some(change) => change,
                    None => return,
                },
                _ = collection.tick() => {
                    if let Err(error) = self.common.copies.collect().await {
                        tracing::warn!(%error, "unused copies of modules are not collected");
                    }
                    continue;
                }
            };
            while self.running.try_join_next().is_some() {}
            match change {
                Ok(PolicyChange::Applied(policy)) => {
                    self.apply(*policy);
                }
                Ok(PolicyChange::Unreadable(policy, fault)) => {
                    tracing::warn!(policy, "policy cannot be read: {fault}; what serves stays");
                }
                Ok(PolicyChange::Gone(name)) => {
                    self.objects.remove(&name);
                }
                Err(error) => {
                    let words = error.to_string();
                    if words != said {
                        tracing::warn!("policies are not watched: {words}; what serves stays");
                        said = words;
                    }
                }
            }
        }
    }

    /// Tells the task of a Policy of its object; of a new one it says when the module has been judged. A Policy that was deleted and made again
    /// is a new one, also where only the last of these was seen.
    fn apply(&mut self, policy: Policy) -> Option<oneshot::Receiver<()>> {
        let name = policy.metadata.name.clone()?;
        let policy = Arc::new(policy);
        if let Some(object) = self.objects.get(&name)
            && object.borrow().metadata.uid == policy.metadata.uid
            && object.send(Arc::clone(&policy)).is_ok()
        {
            return None;
        }
        let task = PolicyTask::new(&name, &policy, Arc::clone(&self.common));
        let (sender, object) = watch::channel(policy);
        let (settled, first) = oneshot::channel();
        let turn = Arc::clone(self.turns.entry(name.clone()).or_default());
        self.running.spawn(async move {
            // An earlier one of the same name withdraws its module first.
            let _turn = turn.lock().await;
            task.run(object, settled).await;
        });
        self.objects.insert(name, sender);
        Some(first)
    }
}
