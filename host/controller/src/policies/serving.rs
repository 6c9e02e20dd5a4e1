//! The module that serves for one Policy: how it begins and ends to, and how it does.

use std::sync::Arc;
use std::time::{Duration, Instant};

use plimsoll_api::kinds::RememberedModule;
use plimsoll_base::event_reason::EventReason;
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_model::LabelSelector;
use plimsoll_policy::{AnyModule, Binding, Hook, Observer, Shadow, ShadowSettings};

use super::Common;
use super::calls::Calls;
use super::events::instead;
use super::health::{Bulletin, Happened, Health, News};
use super::memory::Memory;
use super::share::{Claimant, Share};
use super::status::ConditionState;
use super::wanted::{Mode, Wanted};
use crate::clock::Clock;

/// Digits of a digest that people are shown.
const SHOWN: usize = 6;
/// Why a module is set aside that kept failing where it served before.
const BEFORE: &str =
    "was set aside before, since it kept failing, and is followed once it has answered on trial";

/// A module that serves for a Policy.
#[derive(Clone, Debug)]
pub(super) struct Serving {
    pub(super) hook: Hook,
    pub(super) mode: Mode,
    serves: LabelSelector,
    pub(super) module: RememberedModule,
    version: String,
    /// `true` if nothing is bought where it fails since its Policy says so.
    pub(super) holds: bool,
    vetoes: bool,
    /// Why its answers are not followed; `None` where they are.
    aside: Option<Aside>,
    /// Watches its calls where it decides.
    health: Option<Arc<Health>>,
}

/// A module whose answers are not followed.
#[derive(Clone, Debug)]
struct Aside {
    /// In words that follow its name.
    why: String,
    /// It is not asked until then.
    until: Instant,
}

impl Serving {
    /// A module that is to serve as is wanted.
    fn of(wanted: &Wanted, module: &AnyModule, remembered: RememberedModule) -> Self {
        Self {
            hook: module.manifest().hook,
            mode: wanted.mode,
            serves: wanted.serves.clone(),
            module: remembered,
            version: module.manifest().version.clone(),
            holds: wanted.holds,
            vetoes: module.manifest().vetoes,
            aside: None,
            health: None,
        }
    }

    /// Begin of its digest, and its version.
    pub(super) fn shown(&self) -> String {
        format!("{} ({})", shown(&self.module.digest), self.version)
    }

    /// The last failure of its calls, in words that follow others.
    fn last_fault(&self) -> String {
        let recent = self.health.as_ref().map(|health| health.recent());
        let fault = recent.as_ref().and_then(|recent| recent.last_fault());
        fault.map_or_else(String::new, |fault| {
            let (hook, kind) = (self.hook, fault.outcome);
            format!("; its last call of hook {hook} failed with {kind}: {fault}")
        })
    }

    /// `true` if the last call failed, or if it is set aside no longer and has to answer on trial.
    fn may_answer_now(&self) -> bool {
        match (&self.aside, &self.health) {
            (Some(aside), _) => aside.until <= Instant::now(),
            (None, Some(health)) => health.recent().failed_last(),
            (None, None) => false,
        }
    }

    /// The way out where it does not answer.
    pub(super) fn instead(&self, memory: &Memory) -> String {
        let behind = memory.behind(&self.module);
        instead(
            self.hook,
            self.vetoes,
            behind.map(|good| shown(&good.digest)),
        )
    }
}

/// The place of a Policy among those that decide and those in shadow.
pub(super) struct Place {
    name: Arc<str>,
    /// When its object was made: of several that select a pool the oldest serves it.
    created: Option<Timestamp>,
    common: Arc<Common>,
    pub(super) calls: Arc<Calls>,
    pub(super) bulletin: Arc<Bulletin>,
    pub(super) serving: Option<Serving>,
    pub(super) memory: Memory,
    /// Hook of the modules that served well, as far as it is known.
    remembered: Option<Hook>,
}

impl Place {
    pub(super) fn new(
        name: &Arc<str>,
        created: Option<Timestamp>,
        common: &Arc<Common>,
        memory: Memory,
    ) -> Self {
        Self {
            name: Arc::clone(name),
            created,
            common: Arc::clone(common),
            calls: Arc::new(Calls::new(name, common.given.telemetry.clone())),
            bulletin: Arc::default(),
            serving: None,
            memory,
            remembered: None,
        }
    }

    /// Lets an accepted module serve, in place of what did; its state from now on.
    pub(super) fn serve(
        &mut self,
        wanted: &Wanted,
        module: AnyModule,
        remembered: RememberedModule,
    ) -> ConditionState {
        let module = if wanted.holds {
            module.holding()
        } else {
            module
        };
        let mut next = Serving::of(wanted, &module, remembered);
        let is_elsewhere = |own: &Serving| own.hook != next.hook || own.mode != next.mode;
        if self.serving.as_ref().is_some_and(is_elsewhere) {
            self.withdraw();
        }
        let ready = if next.mode == Mode::Active {
            self.publish(&mut next, module);
            ConditionState::ready(EventReason::Serving)
        } else {
            match Shadow::begin(module, None, ShadowSettings::default()) {
                Ok(shadow) => self.common.given.shadows.put(&self.name, shadow),
                Err(error) => {
                    let words = format!("no thread for it: {error}");
                    return ConditionState::unready(EventReason::Saturated, words);
                }
            }
            ConditionState::ready(EventReason::Shadowing)
        };
        self.serving = Some(next);
        ready
    }

    fn publish(&mut self, next: &mut Serving, module: AnyModule) {
        let before = self.remembered.replace(next.hook);
        if before.is_some_and(|before| before != next.hook) {
            // Modules of another hook cannot stand in for this one.
            self.memory.good.clear();
        }
        let health = Arc::new(Health::new(
            next.module.clone(),
            Arc::clone(&self.calls),
            Arc::clone(&self.bulletin),
        ));
        next.health = Some(Arc::clone(&health));
        let binding = self.binding(&next.serves, Some(health));
        let generations = &self.common.given.generations;
        let generation = if self.memory.is_quarantined(&next.module) {
            next.aside = Some(Aside {
                why: BEFORE.to_owned(),
                until: Instant::now(),
            });
            let now = Clock::default().now();
            generations.publish_set_aside(&binding, module.into(), now)
        } else {
            self.memory.followed(&next.module);
            generations.publish(&binding, module.into())
        };
        let (policy, sha256) = (&*self.name, &*next.module.digest);
        let is_followed = next.aside.is_none();
        let generation = generation.number();
        tracing::info!(policy, generation, sha256, is_followed, "policy serves");
        self.common.given.changes.changed();
    }

    fn binding(&self, serves: &LabelSelector, observer: Option<Arc<dyn Observer>>) -> Binding {
        Binding {
            name: Arc::clone(&self.name),
            created: self.created,
            serves: serves.clone(),
            observer,
        }
    }

    /// Has the module that serves do so for the pools that are selected now.
    pub(super) fn select(&mut self, wanted: &Wanted) {
        let binding = self.binding(&wanted.serves, None);
        let Some(serving) = &mut self.serving else {
            return;
        };
        if serving.mode == Mode::Active && serving.serves != wanted.serves {
            serving.serves.clone_from(&wanted.serves);
            self.common.given.generations.select(serving.hook, &binding);
            self.common.given.changes.changed();
        }
    }

    pub(super) fn withdraw(&mut self) {
        if let Some(serving) = self.serving.take() {
            let given = &self.common.given;
            match serving.mode {
                Mode::Active => {
                    given.generations.withdraw(serving.hook, &self.name);
                    given.changes.changed();
                }
                Mode::Shadow | Mode::Off => {
                    given.shadows.end(&self.name);
                    given.telemetry.forget_shadow(&self.name);
                }
            }
            tracing::info!(policy = &*self.name, "policy withdrawn");
        }
    }

    /// Takes note of what happened to a module of this Policy.
    pub(super) fn hear(&mut self, news: &News) {
        let own = self.serving.as_mut();
        let own = own.filter(|own| own.module == news.module);
        match &news.happened {
            Happened::Failed(_) => {}
            Happened::SetAside(cause, span) => {
                self.memory.set_aside(&news.module);
                if let Some(own) = own {
                    let last = own.last_fault();
                    own.aside = Some(Aside {
                        why: format!("is set aside for {span}, since {cause}{last}"),
                        until: Instant::now() + duration(*span),
                    });
                    self.common.given.changes.changed();
                }
            }
            Happened::Returned => match own {
                Some(own) => {
                    own.aside = None;
                    self.memory.followed(&news.module);
                    self.common.given.changes.changed();
                }
                None => self.memory.forgiven(&news.module),
            },
        }
    }

    /// Why the module that serves is not followed, or keeps failing, although nothing is wrong with what is asked for; `None` where it answers.
    pub(super) fn trouble(&self) -> Option<ConditionState> {
        let serving = self.serving.as_ref()?;
        let (reason, why) = match (&serving.aside, &serving.health) {
            (Some(aside), _) => (EventReason::Quarantined, aside.why.clone()),
            (None, Some(health)) => {
                let failing = health.recent().failing(serving.hook.label())?;
                (EventReason::PolicyFailed, failing)
            }
            (None, None) => return self.trouble_in_shadow(serving),
        };
        let (module, instead) = (serving.shown(), serving.instead(&self.memory));
        let words = format!("module {module} {why}; {instead}");
        Some(ConditionState::unready(reason, words))
    }

    /// Why a module in shadow keeps failing, which changes no decision; `None` where it answers.
    fn trouble_in_shadow(&self, serving: &Serving) -> Option<ConditionState> {
        let log = self.common.given.shadows.log(&self.name)?;
        let failing = log.recent.failing(serving.hook.label())?;
        let words = format!(
            "module {} {failing}; decisions are not affected",
            serving.shown()
        );
        Some(ConditionState::unready(EventReason::PolicyFailed, words))
    }

    /// `true` if nothing is bought since the module gave no answer, and it may give one now.
    pub(super) fn awaits_answer(&self) -> bool {
        let serving = self.serving.as_ref();
        serving.is_some_and(|own| own.vetoes && own.may_answer_now())
    }

    /// A remark on the module that serves in place of the one asked for. A module of another hook continues for its own.
    pub(super) fn goes_on(&self, asked: Hook) -> String {
        self.serving.as_ref().map_or_else(String::new, |serving| {
            let (module, hook) = (shown(&serving.module.digest), serving.hook);
            let hook = of_hook(hook, asked);
            format!("; serving: {module}{hook}, unchanged")
        })
    }

    /// Pools that the module that serves decides for, and those that it selects and does not get; none where it is not followed.
    pub(super) fn share(&self) -> Share {
        let serving = self.serving.as_ref();
        let Some(serving) = serving.filter(|own| own.mode == Mode::Active) else {
            return Share::default();
        };
        let claimant = Claimant {
            name: &self.name,
            created: self.created,
            hook: serving.hook,
            serves: &serving.serves,
        };
        let given = &self.common.given;
        Share::of(
            claimant,
            &given.generations.current(),
            &given.pools.borrow(),
        )
    }

    /// The state of a module that serves, where no pool is left to it; `None` where it decides for any, and where it is not to.
    pub(super) fn idle(&self, share: &Share) -> Option<ConditionState> {
        let serving = self.serving.as_ref();
        let serving = serving.filter(|own| own.mode == Mode::Active)?;
        share.idle(&serving.shown())
    }
}

/// Words for the hook of a module where it is not the one that its Policy asks for.
pub(super) fn of_hook(hook: Hook, asked: Hook) -> String {
    if hook == asked {
        return String::new();
    }
    format!(" for hook {}", hook.in_spec())
}

/// Begin of a digest, for people.
pub(super) fn shown(sha256: &str) -> &str {
    sha256.get(..SHOWN).unwrap_or(sha256)
}

fn duration(span: Span) -> Duration {
    Duration::from_millis(u64::try_from(span.millis()).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use plimsoll_policy::ShadowLog;

    use super::super::tests::common;
    use super::*;

    #[tokio::test]
    async fn a_shadow_that_is_withdrawn_leaves_no_figures() {
        let common = common();
        let mut place = Place::new(&"mine".into(), None, &common, Memory::default());
        place.serving = Some(Serving {
            hook: Hook::Rank,
            mode: Mode::Shadow,
            serves: LabelSelector::all(Vec::new()),
            module: RememberedModule::default(),
            version: String::new(),
            holds: false,
            vetoes: false,
            aside: None,
            health: None,
        });
        let telemetry = &common.given.telemetry;
        let labels = [("policy", "mine"), ("hook", "rank")];
        telemetry.compared(&labels, &ShadowLog::default());
        assert!(telemetry.metrics().await.contains("policy=\"mine\""));
        place.withdraw();
        assert!(!telemetry.metrics().await.contains("policy=\"mine\""));
    }
}
