//! One Policy: its object, its ConfigMap, and the module that serves for it.
//!
//! ```text
//! status ─► modules that served well serve again, from their copies
//! Policy ─► read ─► ConfigMap ─► gates ─► serves from the next decision on (or in shadow) ─► copied
//!             └─────────┴──────────┴────► refused: the condition says at which step; what serves stays
//! ```

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_api::kinds::{Policy, PolicyStatus, RememberedModule};
use plimsoll_base::event_reason::EventReason;
use plimsoll_base::time::Timestamp;
use plimsoll_kube::event::Notice;
use plimsoll_kube::module::{ModuleError, Stored};
use plimsoll_kube::policy::write_status;
use plimsoll_policy::{Hook, Refusal, ShadowLog};
use tokio::sync::{oneshot, watch};
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use super::compared;
use super::events::{self, Said};
use super::gates::{Asked, Judged, judge};
use super::health::Happened;
use super::memory::Memory;
use super::module_maps::ModuleMaps;
use super::serving::{Place, Serving, shown};
use super::share::Share;
use super::status::{ConditionState, status};
use super::wanted::{Mode, ModuleSpec, Wanted};
use super::{Common, PAUSE};

/// A Policy in this process.
pub(super) struct PolicyTask {
    name: Arc<str>,
    common: Arc<Common>,
    place: Place,
    content: Content,
    /// Modules that are to serve again, the one that is to serve in the end first.
    unrestored: Vec<RememberedModule>,
    /// `true` once what was remembered at the start has been restored as far as it can be.
    is_restored: bool,
    /// Digest and entries of the module that serves, while there is no copy of it.
    uncopied: Option<(String, BTreeMap<String, Vec<u8>>)>,
    /// Why there is none.
    uncopied_because: Option<String>,
    /// The module that was taken in or refused for what it is, with its settings, and what came of it.
    judged: Option<(Known, ConditionState)>,
    ready: ConditionState,
    /// The status as it was written last.
    written: Option<PolicyStatus>,
    /// The status that people were told of last.
    told: Option<PolicyStatus>,
    /// The counts of its shadow that people were told of last.
    compared: Option<ShadowLog>,
}

/// A module that was judged: its hook and mode, whether it holds, where it is and with which settings, and its bytes.
type Known = (Hook, Mode, bool, ModuleSpec, Stored);

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
    /// The task of a Policy, which goes on from what the status of the object remembers.
    pub(super) fn new(name: &str, policy: &Policy, common: Arc<Common>) -> Self {
        let name: Arc<str> = name.into();
        let memory = Memory::of(policy.status.as_ref());
        Self {
            content: Content::Unknown,
            unrestored: memory.good.clone(),
            is_restored: false,
            uncopied: None,
            uncopied_because: None,
            place: Place::new(&name, created(policy), &common, memory),
            name,
            common,
            judged: None,
            ready: ConditionState::untold("Pending", "its ConfigMap has not been read yet"),
            written: None,
            told: policy.status.clone(),
            compared: None,
        }
    }

    /// Serves for a Policy until its object is gone; `settled` is told when its module has been judged for the first time.
    pub(super) async fn run(
        mut self,
        mut object: watch::Receiver<Arc<Policy>>,
        settled: oneshot::Sender<()>,
    ) {
        let mut settled = Some(settled);
        let mut pools = self.common.given.pools.clone();
        let mut changes = self.common.given.changes.subscribe();
        let mut pause = interval_at(Instant::now() + PAUSE, PAUSE);
        pause.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut watched: Option<ModuleMaps> = None;
        let bulletin = Arc::clone(&self.place.bulletin);
        loop {
            let policy = Arc::clone(&object.borrow_and_update());
            let wanted = Wanted::read(&policy, &self.common.given.namespace);
            self.need();
            match &wanted {
                Ok(wanted) => {
                    self.follow(wanted, &mut watched);
                    self.settle(wanted).await;
                }
                Err(fault) => self.ready = ConditionState::unready(EventReason::InvalidSpec, fault),
            }
            self.hear(&policy);
            self.compare(&policy);
            self.need();
            self.copy().await;
            self.tell(&policy).await;
            if self.is_settled()
                && let Some(settled) = settled.take()
            {
                // The caller may wait no longer.
                let _ = settled.send(());
            }
            tokio::select! {
                changed = object.changed() => if changed.is_err() {
                    break;
                },
                content = next(&mut watched) => self.read(content),
                () = bulletin.arrived() => {}
                // Where the sender of pools is gone the process ends.
                Ok(()) = pools.changed() => {}
                Ok(()) = changes.changed() => {}
                _ = pause.tick() => if self.place.awaits_answer() {
                    self.common.given.changes.replan();
                }
            }
        }
        self.place.withdraw();
        self.common.copies.need(&self.name, &[].into());
        self.common.given.telemetry.forget_policy(&self.name);
    }

    /// `true` if its module has been looked at, or will not be.
    fn is_settled(&self) -> bool {
        let is_known = !matches!(self.content, Content::Unknown) && self.is_restored;
        is_known || self.ready.reason == "InvalidSpec"
    }

    /// Watches the ConfigMap that is named now, and those that belong to it.
    fn follow(&mut self, wanted: &Wanted, watched: &mut Option<ModuleMaps>) {
        let name = &wanted.module.configmap;
        if watched.as_ref().map(ModuleMaps::name) != Some(name) {
            *watched = Some(ModuleMaps::start(&self.common.given.client, name));
            self.content = Content::Unknown;
        }
    }

    fn read(&mut self, content: Result<Option<Stored>, ModuleError>) {
        match content {
            Ok(Some(stored)) => self.content = Content::Holds(stored),
            Ok(None) => self.content = Content::Missing,
            Err(error) => {
                let words = format!("{:#}", anyhow::Error::from(error));
                tracing::warn!(policy = &*self.name, "{words}; what serves stays");
                // What was read before is still the last that is known.
                if matches!(self.content, Content::Unknown | Content::Unreadable(_)) {
                    self.content = Content::Unreadable(words);
                }
            }
        }
    }

    /// Brings what serves to what is wanted, as far as the module allows.
    async fn settle(&mut self, wanted: &Wanted) {
        if !self.is_restored {
            self.is_restored = wanted.mode != Mode::Active || self.restore(wanted, None).await;
        }
        if wanted.mode == Mode::Off {
            self.place.withdraw();
            self.unrestored.clone_from(&self.place.memory.good);
            self.judged = None;
            self.ready = ConditionState::untold("Off", "its mode is Off");
            return;
        }
        let stored = match &self.content {
            Content::Unknown => return,
            Content::Unreadable(words) => {
                let words = words.clone();
                return self
                    .without(wanted, EventReason::BytesUnreadable, &words)
                    .await;
            }
            Content::Missing => {
                let words = format!("configmap {} not found", wanted.module.configmap);
                return self
                    .without(wanted, EventReason::BytesMissing, &words)
                    .await;
            }
            Content::Holds(stored) => stored.clone(),
        };
        let Wanted {
            hook,
            mode,
            holds,
            module,
            ..
        } = wanted;
        let known = (*hook, *mode, *holds, module.clone(), stored.clone());
        if let Some((judged, ready)) = &self.judged
            && *judged == known
        {
            self.ready = ready.clone();
            self.place.select(wanted);
            return;
        }
        let is_final = match self.judge(wanted, stored).await {
            Ok(()) => self.ready.is_true,
            Err(refusal) => {
                let words = format!("{refusal}; hint: {}", refusal.hint());
                let (policy, reason) = (&*self.name, refusal.event());
                tracing::warn!(policy, %reason, "policy refused: {words}");
                self.without(wanted, reason, &words).await;
                refusal.blames_module()
            }
        };
        self.judged = is_final.then(|| (known, self.ready.clone()));
    }

    /// Takes the module through the gates; it serves where it has passed.
    async fn judge(&mut self, wanted: &Wanted, stored: Stored) -> Result<(), Refusal> {
        let serving = self.place.serving.as_ref();
        let is_same = |own: &&Serving| {
            (own.hook, own.mode, own.holds) == (wanted.hook, wanted.mode, wanted.holds)
        };
        let same = serving.filter(is_same);
        let asked = Asked {
            hook: Some(wanted.hook),
            module: wanted.module.clone(),
            stored: stored.clone(),
            serves: same.map(|own| own.module.clone()),
        };
        match judge(&self.common.given.engine, asked).await? {
            Judged::Passed(module) => {
                let digest = module.sha256().to_owned();
                let remembered = wanted.module.remembered(&digest);
                self.ready = self.place.serve(wanted, module, remembered);
                self.uncopied = (wanted.mode == Mode::Active).then_some((digest, stored.entries));
            }
            Judged::Serves => {
                self.ready = ConditionState::ready(if wanted.mode == Mode::Active {
                    EventReason::Serving
                } else {
                    EventReason::Shadowing
                });
                self.place.select(wanted);
            }
        }
        Ok(())
    }

    /// The module that is wanted cannot serve, for this reason: the one that serves goes on, or one that served well serves again.
    async fn without(&mut self, wanted: &Wanted, reason: EventReason, words: &str) {
        if self.place.serving.is_none() && wanted.mode == Mode::Active {
            // What was off answers no other hook than is asked for; what served as the last process ended goes on for its own.
            let hook = self.is_restored.then_some(wanted.hook);
            self.restore(wanted, hook).await;
        }
        self.place.select(wanted);
        let goes_on = self.place.goes_on(wanted.hook);
        self.ready = ConditionState::unready(reason, format!("{words}{goes_on}"));
    }

    /// Has the modules serve again that served well before, the newest in the end, each for its own hook or only those of one. `false` where
    /// it has to be tried again.
    async fn restore(&mut self, wanted: &Wanted, hook: Option<Hook>) -> bool {
        while let Some(good) = self.unrestored.last().cloned() {
            let digest = shown(&good.digest);
            match self.restored((wanted, hook), &good).await {
                Ok(true) => {}
                Ok(false) => self.place.memory.forget(&good),
                Err(words) => {
                    let policy = &*self.name;
                    tracing::warn!(
                        policy,
                        digest,
                        "what served before is not restored: {words}"
                    );
                    return false;
                }
            }
            self.unrestored.pop();
        }
        true
    }

    /// Has one of them serve; `false` where it cannot any more.
    async fn restored(
        &mut self,
        (wanted, hook): (&Wanted, Option<Hook>),
        good: &RememberedModule,
    ) -> Result<bool, String> {
        let (policy, digest) = (&*self.name, shown(&good.digest));
        let copy = self.common.copies.read(&good.digest).await;
        let Some(stored) = copy.map_err(|error| error.to_string())? else {
            tracing::warn!(policy, digest, "there is no copy of what served before");
            return Ok(false);
        };
        let asked = Asked {
            hook,
            module: wanted.module.of_remembered(good),
            stored,
            serves: None,
        };
        match judge(&self.common.given.engine, asked).await {
            Ok(Judged::Passed(module)) => {
                self.place.serve(wanted, module, good.clone());
                Ok(true)
            }
            Ok(Judged::Serves) => Ok(true),
            Err(refusal) if refusal.blames_module() => {
                tracing::warn!(policy, digest, "what served before is refused: {refusal}");
                Ok(false)
            }
            Err(refusal) => Err(refusal.to_string()),
        }
    }

    /// Says which modules this Policy may need again.
    fn need(&self) {
        let mut digests = self.place.memory.digests();
        let serving = self.place.serving.as_ref();
        digests.extend(serving.map(|own| own.module.digest.clone()));
        self.common.copies.need(&self.name, &digests);
    }

    /// Copies the module that serves, where that has not been done.
    async fn copy(&mut self) {
        let Some((digest, entries)) = &self.uncopied else {
            return;
        };
        let engine = &self.common.given.engine;
        let made = self.common.copies.make(engine, digest, entries.clone());
        match made.await {
            Ok(()) => (self.uncopied, self.uncopied_because) = (None, None),
            Err(words) => {
                if self.uncopied_because.as_ref() != Some(&words) {
                    let policy = &*self.name;
                    tracing::warn!(policy, "no copy of its module can be kept: {words}");
                }
                self.uncopied_because = Some(words);
            }
        }
    }

    /// Takes note of what its modules did, and tells people of ways to fail.
    fn hear(&mut self, policy: &Policy) {
        for news in self.place.bulletin.take() {
            self.place.hear(&news);
            if let (Happened::Failed(fault), Some(serving)) = (&news.happened, &self.place.serving)
            {
                let instead = serving.instead(&self.place.memory);
                let said = events::of_fault(shown(&news.module.digest), fault, &instead);
                self.publish(policy, said);
            }
        }
    }

    /// Makes known how its module, in shadow, compares with what decides.
    fn compare(&mut self, policy: &Policy) {
        let given = &self.common.given;
        let log = given.shadows.log(&self.name);
        if let (Some(log), Some(serving)) = (&log, &self.place.serving) {
            let labels = [("policy", &*self.name), ("hook", serving.hook.label())];
            given.telemetry.compared(&labels, log);
            for said in compared::news(self.compared.as_ref(), log) {
                self.publish(policy, said);
            }
        }
        self.compared = log;
    }

    fn publish(&self, policy: &Policy, said: Said) {
        let notice = Notice::of_policy(policy, said.reason, said.message);
        self.common.given.notices.publish(notice);
    }

    /// Writes the status where it says something else than the object does, and tells people what has changed.
    async fn tell(&mut self, policy: &Policy) {
        if matches!(self.content, Content::Unknown) && self.ready.reason == "Pending" {
            return;
        }
        // Until all pools have been seen a module that has none looks idle.
        if self.ready.is_true && !self.common.given.pools.borrow().is_complete() {
            return;
        }
        let said = self.status(policy);
        for change in events::of_change(self.told.as_ref(), &said) {
            self.publish(policy, change);
        }
        self.told = Some(said.clone());
        if self.written.as_ref().or(policy.status.as_ref()) == Some(&said) {
            return;
        }
        match write_status(&self.common.given.client, &self.name, &said).await {
            Ok(()) => self.written = Some(said),
            Err(error) => {
                let policy = &*self.name;
                tracing::warn!(policy, %error, "the policy's status is not written");
            }
        }
    }

    /// The state of the policy as people are told it.
    fn ready(&self, share: &Share) -> ConditionState {
        if !self.ready.is_true {
            return self.ready.clone();
        }
        if let Some(trouble) = self.place.trouble() {
            return trouble;
        }
        let idle = self.place.idle(share);
        let mut ready = idle.unwrap_or_else(|| self.ready.clone());
        if let Some(words) = &self.uncopied_because {
            let separator = if ready.message.is_empty() { "" } else { "; " };
            ready.message = format!(
                "{}{separator}no copy of it can be kept: {words}",
                ready.message
            );
        }
        ready
    }

    fn status(&self, policy: &Policy) -> PolicyStatus {
        let share = self.place.share();
        let log = self.common.given.shadows.log(&self.name);
        let own = &self.place.calls;
        let counts = own.counts();
        let (calls, faults, fuel_p99) = match &log {
            Some(log) => (count(log.decisions), count(log.faults), None),
            None => (counts.asked, counts.failed, own.fuel_p99().map(count)),
        };
        let serving = self.place.serving.as_ref();
        let memory = &self.place.memory;
        let rest = PolicyStatus {
            serving: serving.map(super::serving::Serving::shown),
            served_digest: serving.map(|own| own.module.digest.clone()),
            last_good: memory.good.clone(),
            quarantined: memory.quarantined.clone(),
            pools: count(share.own.len() as u64),
            conflicts: count(share.conflicts() as u64),
            node_pools: share.own.clone(),
            calls,
            faults,
            fallbacks: counts.fell_back,
            fuel_p99,
            shadow: log.as_ref().and_then(compared::status),
            ..PolicyStatus::default()
        };
        let (ready, conflicting) = (self.ready(&share), share.conflicting());
        let conditions = [("Ready", &ready), ("Conflicting", &conflicting)];
        status(policy, &conditions, rest)
    }
}

async fn next(watched: &mut Option<ModuleMaps>) -> Result<Option<Stored>, ModuleError> {
    match watched {
        Some(watched) => match watched.next().await {
            Some(content) => content,
            None => std::future::pending().await,
        },
        None => std::future::pending().await,
    }
}

/// When the object was made.
fn created(policy: &Policy) -> Option<Timestamp> {
    let created = policy.metadata.creation_timestamp.as_ref()?;
    Some(Timestamp::from_millis(created.0.as_millisecond()))
}

fn count(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
