//! Policies as they serve a cluster, read once to explain a cluster: modules are taken in as the controller would, and nothing is written.
//!
//! What the controller says of a Policy in its status counts: a module that it refuses does not serve, one that it has set aside is set
//! aside, and modules that served well stand behind.

use std::sync::Arc;

use kube::Client;
use plimsoll_api::kinds::{Condition, Policy, RememberedModule};
use plimsoll_base::time::Timestamp;
use plimsoll_base::words::shortened;
use plimsoll_kube::module;
use plimsoll_kube::policy::each;
use plimsoll_model::{LabelSelector, NodePool};
use plimsoll_policy::{
    AnyModule, Binding, Engine, Generation, Generations, Hook, Observer, Policies, part_name,
    parts_elsewhere,
};

use super::copies::Copies;
use super::events::condition;
use super::gates::{Asked, Judged, judge};
use super::held;
use super::memory::Memory;
use super::serving::{of_hook, shown};
use super::wanted::{Mode, ModuleSpec, Wanted};

/// Reason of a module that another controller might take in: how large one may be is a flag of its.
const TOO_LARGE: &str = "TooLarge";
/// Answers of an API server without the kind, or without the right to list it.
const FORBIDDEN: u16 = 403;
const NOT_FOUND: u16 = 404;
/// Status of a condition that holds.
const TRUE: &str = "True";

/// The policies that decide in a cluster.
#[derive(Debug, Default)]
pub struct Standing {
    placed: Vec<Placed>,
    counts: Vec<Counts>,
    findings: Vec<Finding>,
}

/// A remark on policies that do not serve as they should.
#[derive(Debug, PartialEq)]
struct Finding {
    /// A sentence.
    words: String,
    /// The policy, where no module of it decides.
    undecided: Option<Undecided>,
}

/// A policy of which no module decides, with what it would decide for.
#[derive(Debug, PartialEq)]
struct Undecided {
    policy: String,
    hook: Hook,
    serves: LabelSelector,
}

/// Calls of a policy, as its status counts them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Name of the policy.
    pub policy: String,
    /// Questions that it was asked.
    pub calls: i64,
    /// Those that it failed to answer.
    pub faults: i64,
}

/// A module that serves, or stands behind the one that does.
#[derive(Debug)]
struct Placed {
    binding: Binding,
    module: AnyModule,
    is_aside: bool,
}

impl Standing {
    /// The generation that decides, with these observers.
    pub fn generation(&self, observers: Vec<Arc<dyn Observer>>, now: Timestamp) -> Arc<Generation> {
        let generations = Generations::new(Policies {
            observers,
            ..Policies::default()
        });
        for placed in &self.placed {
            let module = placed.module.clone().into();
            if placed.is_aside {
                generations.publish_set_aside(&placed.binding, module, now);
            } else {
                generations.publish(&placed.binding, module);
            }
        }
        generations.current()
    }

    /// Calls of a policy by name; `None` where no controller has counted any.
    pub fn counts(&self, policy: &str) -> Option<&Counts> {
        self.counts.iter().find(|own| own.policy == policy)
    }

    /// A remark on a policy that a pool names and that does not serve.
    pub fn missing(generation: &Generation, pool: &Arc<NodePool>) -> Option<String> {
        let held = held::of(generation, pool)?;
        Some(format!("NodePool {}: {}", pool.name, held::words(&held)))
    }

    /// Remarks on policies that do not serve as they should, in sentences, where this generation decides for these pools.
    pub fn findings(&self, generation: &Generation, pools: &[Arc<NodePool>]) -> Vec<String> {
        let sentence = |finding: &Finding| match &finding.undecided {
            None => finding.words.clone(),
            Some(own) => format!("{}; {}", finding.words, own.effect(generation, pools)),
        };
        self.findings.iter().map(sentence).collect()
    }

    fn find(&mut self, policy: &str, words: &str) {
        self.add(policy, words, None);
    }

    /// Adds a remark, unless it is there.
    fn add(&mut self, policy: &str, words: &str, undecided: Option<Undecided>) {
        let words = format!("Policy {policy}: {words}");
        let finding = Finding { words, undecided };
        if !self.findings.contains(&finding) {
            self.findings.push(finding);
        }
    }
}

impl Undecided {
    /// What is done without it. Pools that another policy serves miss nothing.
    fn effect(&self, generation: &Generation, pools: &[Arc<NodePool>]) -> String {
        let is_own = |pool: &&Arc<NodePool>| match self.hook.named_by(pool) {
            Some(named) => **named == *self.policy,
            None => self.serves.matches(&pool.own_labels),
        };
        let unserved = pools.iter().filter(is_own);
        let unserved = unserved.filter(|pool| generation.answering(self.hook, pool).is_empty());
        let names: Vec<&str> = unserved.map(|pool| pool.name.as_str()).collect();
        match (self.hook, names.len()) {
            (Hook::Consolidate | Hook::Budget, _) | (Hook::Rank, 0) => {
                "it decides nothing".to_owned()
            }
            (Hook::Rank, 1) => format!("list prices are taken for NodePool {}", names[0]),
            (Hook::Rank, _) => format!("list prices are taken for NodePools {}", shortened(names)),
        }
    }
}

/// Reads the policies of a cluster whose ConfigMaps are in a namespace. Fails where the API server gives no answer.
pub async fn standing(
    client: &Client,
    namespace: &str,
    engine: &Engine,
) -> Result<Standing, kube::Error> {
    let mut standing = Standing::default();
    let listed = match each(client).await {
        Ok(listed) => listed,
        Err(kube::Error::Api(status)) if status.code == NOT_FOUND => return Ok(standing),
        Err(kube::Error::Api(status)) if status.code == FORBIDDEN => {
            let words =
                "no right to list policies of plimsoll.dev/v1alpha1: explained as without any";
            standing.findings.push(Finding {
                words: words.to_owned(),
                undecided: None,
            });
            return Ok(standing);
        }
        Err(error) => return Err(error),
    };
    let reading = Reading {
        client,
        engine,
        copies: Copies::new(client.clone(), namespace),
        namespace,
    };
    for policy in listed {
        match policy {
            Ok(policy) => reading.take(&policy, &mut standing).await,
            Err((name, fault)) => {
                standing.find(
                    &name,
                    &format!("cannot be read: {fault}; explained as without it"),
                );
            }
        }
    }
    Ok(standing)
}

/// Means to read policies.
struct Reading<'c> {
    client: &'c Client,
    engine: &'c Engine,
    copies: Copies,
    namespace: &'c str,
}

impl Reading<'_> {
    /// Takes one policy in, with the modules behind it.
    async fn take(&self, policy: &Policy, standing: &mut Standing) {
        let name = policy.metadata.name.clone().unwrap_or_default();
        let wanted = match Wanted::read(policy, self.namespace) {
            Ok(wanted) if wanted.mode == Mode::Active => wanted,
            Ok(_) => return,
            Err(fault) => {
                return standing.find(&name, &format!("{fault}; explained as without it"));
            }
        };
        if let Some(status) = &policy.status {
            standing.counts.push(Counts {
                policy: name.clone(),
                calls: status.calls,
                faults: status.faults,
            });
        }
        let memory = Memory::of(policy.status.as_ref());
        let own = match policy
            .status
            .as_ref()
            .and_then(|own| condition(own, "Ready"))
        {
            Some(ready) if ready.status != TRUE && ready.reason == TOO_LARGE => Err(said(ready)),
            _ => self.own(&wanted).await,
        };
        let (own_digest, own) = match own {
            Ok((digest, module)) => (Some(wanted.module.remembered(&digest)), Ok(module)),
            Err(words) => (None, Err(words)),
        };
        let behind = self
            .behind((&name, &wanted), &memory, own_digest.as_ref(), standing)
            .await;
        let is_loaded = own.is_ok();
        let is_aside = own_digest.is_some_and(|own| memory.is_quarantined(&own));
        let own = own.map(|module| (module, is_aside));
        standing.place(&name, wanted, own, behind);
        if is_loaded {
            for words in unmet(policy) {
                standing.find(&name, &words);
            }
        }
    }

    /// Modules that served well behind the policy's own one, each with its digest in short, the newest first. What cannot be loaded is a finding.
    async fn behind<'m>(
        &self,
        (name, wanted): (&str, &Wanted),
        memory: &'m Memory,
        own: Option<&RememberedModule>,
        standing: &mut Standing,
    ) -> Vec<(&'m str, AnyModule)> {
        let mut behind = Vec::new();
        for good in memory.good.iter().filter(|good| Some(*good) != own) {
            let digest = shown(&good.digest);
            if let Some(module) = self.good(wanted, good).await {
                behind.push((digest, module));
            } else {
                let words = format!("module {digest} cannot be loaded from its copy");
                standing.find(name, &words);
            }
        }
        behind
    }

    /// The module of its ConfigMap, with its digest, or why it cannot be loaded.
    async fn own(&self, wanted: &Wanted) -> Result<(String, AnyModule), String> {
        let spec = &wanted.module;
        let words = |error: module::ModuleError| format!("{:#}", anyhow::Error::from(error));
        let stored = module::read(self.client, &spec.configmap)
            .await
            .map_err(words)?;
        let Some(mut stored) = stored else {
            return Err(format!("configmap {} not found", spec.configmap));
        };
        for (part, key) in parts_elsewhere(&stored.entries) {
            let mut name = spec.configmap.clone();
            name.name = part_name(&name.name, part).into();
            let map = module::read(self.client, &name).await.map_err(words)?;
            let bytes = map.and_then(|mut map| map.entries.remove(&key));
            stored.entries.extend(bytes.map(|bytes| (key, bytes)));
        }
        self.judged(Some(wanted.hook), spec.clone(), stored).await
    }

    /// A module that served well before, from its copy, for its own hook: its policy may ask for another by now.
    async fn good(&self, wanted: &Wanted, good: &RememberedModule) -> Option<AnyModule> {
        let stored = self.copies.read(&good.digest).await.ok()??;
        let spec = wanted.module.of_remembered(good);
        let judged = self.judged(None, spec, stored).await;
        judged.ok().map(|(_, module)| module)
    }

    async fn judged(
        &self,
        hook: Option<Hook>,
        module: ModuleSpec,
        stored: module::Stored,
    ) -> Result<(String, AnyModule), String> {
        let asked = Asked {
            hook,
            module,
            stored,
            serves: None,
        };
        match judge(self.engine, asked).await {
            Ok(Judged::Passed(module)) => Ok((module.sha256().to_owned(), module)),
            Ok(Judged::Serves) => Err("it has no module".to_owned()),
            Err(refusal) => Err(format!(
                "its module cannot be loaded: {}: {refusal}; hint: {}",
                refusal.reason(),
                refusal.hint()
            )),
        }
    }
}

impl Standing {
    /// Places a policy's own module in front of those that served well before, the newest first; where it cannot be loaded for a reason, the
    /// newest of them continues.
    fn place(
        &mut self,
        name: &str,
        wanted: Wanted,
        own: Result<(AnyModule, bool), String>,
        mut behind: Vec<(&str, AnyModule)>,
    ) {
        let hook_of = |module: &AnyModule| module.manifest().hook;
        let newest = behind.first();
        let newest = newest.map(|(digest, module)| (*digest, hook_of(module)));
        // Those of another hook than the one in front cannot stand in for it.
        let front = own.as_ref().map(|(module, _)| hook_of(module));
        let front = front.ok().or(newest.map(|(_, hook)| hook));
        behind.retain(|(_, module)| Some(hook_of(module)) == front);
        for (_, module) in behind.into_iter().rev() {
            self.put(name, &wanted, module, false);
        }
        match (own, newest) {
            (Ok((module, is_aside)), _) => self.put(name, &wanted, module, is_aside),
            (Err(words), Some((good, hook))) => {
                let hook = of_hook(hook, wanted.hook);
                let words = format!("{words}; module {good} continues to decide{hook}");
                self.find(name, &words);
            }
            (Err(words), None) => {
                let undecided = Undecided {
                    policy: name.to_owned(),
                    hook: wanted.hook,
                    serves: wanted.serves,
                };
                self.add(name, &words, Some(undecided));
            }
        }
    }

    fn put(&mut self, name: &str, wanted: &Wanted, module: AnyModule, is_aside: bool) {
        self.placed.push(Placed {
            binding: Binding {
                name: name.into(),
                // They come in the order of their age.
                created: None,
                serves: wanted.serves.clone(),
                observer: None,
            },
            module: if wanted.holds {
                module.holding()
            } else {
                module
            },
            is_aside,
        });
    }
}

/// Remarks on conditions of a policy that are not as they should be.
fn unmet(policy: &Policy) -> Vec<String> {
    let Some(status) = &policy.status else {
        return Vec::new();
    };
    let ready = condition(status, "Ready").filter(|own| own.status != TRUE);
    let conflict = condition(status, "Conflicting").filter(|own| own.status == TRUE);
    ready.into_iter().chain(conflict).map(said).collect()
}

fn said(condition: &Condition) -> String {
    let Condition {
        kind,
        status,
        reason,
        message,
        ..
    } = condition;
    let mut words = format!("{kind} is {status}: {reason}");
    if !message.is_empty() {
        words = format!("{words}: {message}");
    }
    words
}
