//! One Policy: its object, its ConfigMap, and the module that serves for it.
//!
//! ```text
//! Policy ─► read ─► ConfigMap ─► gates ─► serves from the next decision on (or in shadow)
//!             └─────────┴──────────┴────► refused: the condition says at which step; what serves goes on
//! ```

use std::sync::Arc;
use std::time::Duration;

use plimsoll_api::kinds::{Policy, PolicyStatus};
use plimsoll_core::model::LabelSelector;
use plimsoll_kube::module::{ModuleError, Stored, Watched};
use plimsoll_kube::policy::write_status;
use plimsoll_policy::{
    AnyModule, Binding, Candidate, Hook, Refusal, SHA256, Shadow, ShadowSettings,
};
use tokio::sync::{oneshot, watch};
use tokio::task::spawn_blocking;
use tokio::time::sleep;

use super::Shared;
use super::calls::Calls;
use super::status::{ConditionState, Share, status};
use super::wanted::{Mode, ModuleSpec, Wanted};

/// Between two looks at counts, and two tries of a module that the machine had no room for.
const PAUSE: Duration = Duration::from_secs(10);
/// Digits of a digest that people are shown.
const SHOWN: usize = 6;

/// A Policy in this process.
pub(super) struct PolicyTask {
    name: Arc<str>,
    shared: Arc<Shared>,
    calls: Arc<Calls>,
    content: Content,
    serving: Option<Serving>,
    /// The module that was taken in or refused for what it is, with its settings, and what came of it.
    judged: Option<(Asked, ConditionState)>,
    ready: ConditionState,
    written: Option<PolicyStatus>,
}

/// A module as it is to be judged: its hook and mode, where it is and with which settings, and its bytes.
type Asked = (Hook, Mode, ModuleSpec, Stored);

/// What serves for it.
#[derive(Clone, Debug)]
struct Serving {
    hook: Hook,
    mode: Mode,
    serves: LabelSelector,
    sha256: String,
    version: String,
}

/// What is known of its ConfigMap.
enum Content {
    /// Nothing yet.
    Unknown,
    /// The API server does not say, for this reason.
    Unreadable(String),
    /// It is not there.
    Missing,
    /// It holds this.
    Holds(Stored),
}

impl PolicyTask {
    pub(super) fn new(name: &str, shared: Arc<Shared>) -> Self {
        let name: Arc<str> = name.into();
        Self {
            calls: Arc::new(Calls::new(&name, shared.telemetry.clone())),
            name,
            shared,
            content: Content::Unknown,
            serving: None,
            judged: None,
            ready: ConditionState::unready("Pending", "its ConfigMap has not been read yet"),
            written: None,
        }
    }

    /// Serves for a Policy until its object is gone; `settled` is told when its module has been judged for the first time.
    pub(super) async fn run(
        mut self,
        mut object: watch::Receiver<Arc<Policy>>,
        settled: oneshot::Sender<()>,
    ) {
        let mut settled = Some(settled);
        let mut pools = self.shared.pools.clone();
        let mut watched: Option<(ModuleSpec, Watched)> = None;
        loop {
            let policy = Arc::clone(&object.borrow_and_update());
            let wanted = Wanted::read(&policy, &self.shared.namespace);
            match &wanted {
                Ok(wanted) => {
                    self.follow(wanted, &mut watched);
                    self.settle(wanted).await;
                }
                Err(fault) => self.ready = ConditionState::unready("InvalidSpec", fault),
            }
            self.tell(&policy, wanted.as_ref().ok()).await;
            if self.is_settled()
                && let Some(settled) = settled.take()
            {
                // Whoever began may wait no longer.
                let _ = settled.send(());
            }
            tokio::select! {
                changed = object.changed() => if changed.is_err() {
                    break;
                },
                content = next(&mut watched) => self.read(content),
                // Where nobody tells of pools any more the process ends.
                Ok(()) = pools.changed() => {}
                () = sleep(PAUSE) => {}
            }
        }
        self.withdraw();
        self.shared.telemetry.forget_policy(&self.name);
    }

    /// `true` if its module has been looked at, or will not be.
    fn is_settled(&self) -> bool {
        !matches!(self.content, Content::Unknown) || self.ready.reason == "InvalidSpec"
    }

    /// Watches the ConfigMap that is named now.
    fn follow(&mut self, wanted: &Wanted, watched: &mut Option<(ModuleSpec, Watched)>) {
        let name = &wanted.module.configmap;
        let is_watched = |(spec, _): &(ModuleSpec, Watched)| spec.configmap == *name;
        if !watched.as_ref().is_some_and(is_watched) {
            let own = Watched::start(&self.shared.client, name.clone());
            *watched = Some((wanted.module.clone(), own));
            self.content = Content::Unknown;
        }
    }

    fn read(&mut self, content: Result<Option<Stored>, ModuleError>) {
        match content {
            Ok(Some(stored)) => self.content = Content::Holds(stored),
            Ok(None) => self.content = Content::Missing,
            Err(error) => {
                let words = format!("{:#}", anyhow::Error::from(error));
                tracing::warn!(policy = &*self.name, "{words}; what serves goes on");
                // What was read before is still the last that is known.
                if matches!(self.content, Content::Unknown | Content::Unreadable(_)) {
                    self.content = Content::Unreadable(words);
                }
            }
        }
    }

    /// Brings what serves to what is wanted, as far as the module allows.
    async fn settle(&mut self, wanted: &Wanted) {
        if wanted.mode == Mode::Off {
            self.withdraw();
            self.judged = None;
            self.ready = ConditionState::unready("Off", "its mode is Off");
            return;
        }
        let stored = match &self.content {
            Content::Unknown => return,
            Content::Unreadable(words) => {
                let words = format!("{words}{}", self.goes_on());
                self.ready = ConditionState::unready("BytesUnreadable", words);
                return;
            }
            Content::Missing => {
                let name = &wanted.module.configmap;
                let words = format!("configmap {name} is not there{}", self.goes_on());
                self.ready = ConditionState::unready("BytesMissing", words);
                return;
            }
            Content::Holds(stored) => stored.clone(),
        };
        let module = wanted.module.clone();
        let asked = (wanted.hook, wanted.mode, module, stored);
        if let Some((judged, ready)) = &self.judged
            && *judged == asked
        {
            self.ready = ready.clone();
            self.select(wanted);
            return;
        }
        let is_settled = match self.accepted(wanted, &asked.3).await {
            Ok(module) => {
                self.serve(wanted, module);
                self.ready.is_true
            }
            Err(refusal) => {
                let goes_on = self.goes_on();
                let words = format!("{refusal}; hint: {}{goes_on}", refusal.hint());
                let (policy, reason) = (&*self.name, refusal.reason());
                tracing::warn!(policy, reason, "policy refused: {words}");
                self.ready = ConditionState::unready(reason, words);
                refusal.blames_module()
            }
        };
        self.judged = is_settled.then(|| (asked, self.ready.clone()));
    }

    /// Takes the module through all gates, off the threads that serve.
    async fn accepted(&self, wanted: &Wanted, stored: &Stored) -> Result<AnyModule, Refusal> {
        let (shared, module, hook) = (Arc::clone(&self.shared), wanted.module.clone(), wanted.hook);
        let (binding, stored) = (self.binding(wanted), stored.clone());
        let gates = spawn_blocking(move || {
            let promised = module.sha256.as_deref();
            let annotated = || stored.annotations.get(SHA256).map(String::as_str);
            let candidate = Candidate {
                hook,
                binding,
                entries: stored.entries.clone(),
                sha256: promised.or_else(annotated),
                settings: &|schema| module.settings(schema),
            };
            candidate.accepted(&shared.engine)
        });
        gates.await.unwrap_or_else(|error| {
            tracing::error!(%error, "a policy could not be looked at");
            Err(Refusal::Package {
                problem: "the gates ended without a word".to_owned(),
            })
        })
    }

    fn binding(&self, wanted: &Wanted) -> Binding {
        let calls: Arc<Calls> = Arc::clone(&self.calls);
        Binding {
            name: Arc::clone(&self.name),
            serves: wanted.serves.clone(),
            observer: Some(calls),
        }
    }

    /// Lets an accepted module serve, in place of what did.
    fn serve(&mut self, wanted: &Wanted, module: AnyModule) {
        let next = Serving {
            hook: wanted.hook,
            mode: wanted.mode,
            serves: wanted.serves.clone(),
            sha256: module.sha256().to_owned(),
            version: module.manifest().version.clone(),
        };
        let is_elsewhere = |own: &Serving| own.hook != next.hook || own.mode != next.mode;
        if self.serving.as_ref().is_some_and(is_elsewhere) {
            self.withdraw();
        }
        self.ready = ConditionState::ready("Serving");
        if wanted.mode == Mode::Active {
            let binding = self.binding(wanted);
            let generation = self.shared.generations.publish(&binding, module.into());
            let (policy, generation) = (&*self.name, generation.number());
            tracing::info!(policy, generation, sha256 = next.sha256, "policy serves");
        } else {
            match Shadow::begin(module, None, ShadowSettings::default()) {
                Ok(shadow) => {
                    self.shared.shadows.put(&self.name, shadow);
                    self.ready = ConditionState::ready("Shadowing");
                }
                Err(error) => {
                    let words = format!("no thread for it: {error}");
                    self.ready = ConditionState::unready("Saturated", words);
                    return;
                }
            }
        }
        self.serving = Some(next);
    }

    /// What serves, for the pools that are selected now.
    fn select(&mut self, wanted: &Wanted) {
        let binding = self.binding(wanted);
        let Some(serving) = &mut self.serving else {
            return;
        };
        if serving.mode == Mode::Active && serving.serves != wanted.serves {
            serving.serves.clone_from(&wanted.serves);
            self.shared.generations.select(serving.hook, &binding);
        }
    }

    fn withdraw(&mut self) {
        if let Some(serving) = self.serving.take() {
            match serving.mode {
                Mode::Active => {
                    let generations = &self.shared.generations;
                    generations.withdraw(serving.hook, &self.name);
                }
                Mode::Shadow | Mode::Off => self.shared.shadows.end(&self.name),
            }
            tracing::info!(policy = &*self.name, "policy withdrawn");
        }
    }

    /// A remark on what serves although something else was asked for.
    fn goes_on(&self) -> String {
        self.serving.as_ref().map_or_else(String::new, |serving| {
            format!("; serving: {}, unchanged", shown(&serving.sha256))
        })
    }

    /// Writes the status where it says something else than the object does.
    async fn tell(&mut self, policy: &Policy, wanted: Option<&Wanted>) {
        if matches!(self.content, Content::Unknown) && self.ready.reason == "Pending" {
            return;
        }
        let said = self.status(policy, wanted);
        if self.written.as_ref().or(policy.status.as_ref()) == Some(&said) {
            return;
        }
        match write_status(&self.shared.client, &self.name, &said).await {
            Ok(()) => self.written = Some(said),
            Err(error) => {
                let policy = &*self.name;
                tracing::warn!(policy, %error, "the policy's status is not written");
            }
        }
    }

    fn status(&self, policy: &Policy, wanted: Option<&Wanted>) -> PolicyStatus {
        let share = self.share(wanted);
        let conflict = share.conflict();
        let conflicting = ConditionState {
            is_true: conflict.is_some(),
            reason: if conflict.is_some() {
                "ServedByAnother"
            } else {
                "NoConflict"
            },
            message: conflict.unwrap_or_default(),
        };
        let log = self.shared.shadows.log(&self.name);
        let (calls, faults) = match &log {
            Some(log) => (count(log.decisions), count(log.faults)),
            None => self.calls.counts(),
        };
        let serving = self.serving.as_ref();
        let rest = PolicyStatus {
            serving: serving.map(|own| format!("{} ({})", shown(&own.sha256), own.version)),
            served_digest: serving.map(|own| own.sha256.clone()),
            node_pools: share.own,
            calls,
            faults,
            ..PolicyStatus::default()
        };
        let conditions = [("Ready", &self.ready), ("Conflicting", &conflicting)];
        status(policy, &conditions, rest)
    }

    fn share(&self, wanted: Option<&Wanted>) -> Share {
        let is_active = self
            .serving
            .as_ref()
            .is_some_and(|own| own.mode == Mode::Active);
        let Some(wanted) = wanted.filter(|_| is_active) else {
            return Share::default();
        };
        let serves: &LabelSelector = &wanted.serves;
        let generation = self.shared.generations.current();
        let pools = self.shared.pools.borrow();
        Share::of(&self.name, (wanted.hook, serves), &generation, &pools)
    }
}

async fn next(watched: &mut Option<(ModuleSpec, Watched)>) -> Result<Option<Stored>, ModuleError> {
    match watched {
        Some((_, watched)) => match watched.next().await {
            Some(content) => content,
            None => std::future::pending().await,
        },
        None => std::future::pending().await,
    }
}

fn shown(sha256: &str) -> &str {
    sha256.get(..SHOWN).unwrap_or(sha256)
}

fn count(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
