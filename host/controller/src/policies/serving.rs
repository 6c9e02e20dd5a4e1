//! The module that serves for one Policy: how it begins and ends to, and how it does.

use std::sync::Arc;

use plimsoll_api::kinds::RememberedModule;
use plimsoll_core::model::LabelSelector;
use plimsoll_policy::{AnyModule, Binding, Hook, Observer, Shadow, ShadowSettings};

use super::Common;
use super::calls::Calls;
use super::events::instead;
use super::health::{Bulletin, Happened, Health, News};
use super::memory::Memory;
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
    aside: Option<String>,
}

impl Serving {
    /// A module that is to serve as is wanted.
    fn of(wanted: &Wanted, module: &AnyModule, remembered: RememberedModule) -> Self {
        Self {
            hook: wanted.hook,
            mode: wanted.mode,
            serves: wanted.serves.clone(),
            module: remembered,
            version: module.manifest().version.clone(),
            holds: wanted.holds,
            vetoes: module.manifest().vetoes,
            aside: None,
        }
    }

    /// Begin of its digest, and its version.
    pub(super) fn shown(&self) -> String {
        format!("{} ({})", shown(&self.module.digest), self.version)
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
    common: Arc<Common>,
    pub(super) calls: Arc<Calls>,
    pub(super) bulletin: Arc<Bulletin>,
    pub(super) serving: Option<Serving>,
    pub(super) memory: Memory,
}

impl Place {
    pub(super) fn new(name: &Arc<str>, common: &Arc<Common>, memory: Memory) -> Self {
        Self {
            name: Arc::clone(name),
            common: Arc::clone(common),
            calls: Arc::new(Calls::new(name, common.given.telemetry.clone())),
            bulletin: Arc::default(),
            serving: None,
            memory,
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
            ConditionState::ready("Serving")
        } else {
            match Shadow::begin(module, None, ShadowSettings::default()) {
                Ok(shadow) => self.common.given.shadows.put(&self.name, shadow),
                Err(error) => {
                    let words = format!("no thread for it: {error}");
                    return ConditionState::unready("Saturated", words);
                }
            }
            ConditionState::ready("Shadowing")
        };
        self.serving = Some(next);
        ready
    }

    fn publish(&mut self, next: &mut Serving, module: AnyModule) {
        let health = Health::new(
            next.module.clone(),
            Arc::clone(&self.calls),
            Arc::clone(&self.bulletin),
        );
        let binding = self.binding(&next.serves, Some(Arc::new(health)));
        let generations = &self.common.given.generations;
        let generation = if self.memory.is_quarantined(&next.module) {
            next.aside = Some(BEFORE.to_owned());
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
    }

    fn binding(&self, serves: &LabelSelector, observer: Option<Arc<dyn Observer>>) -> Binding {
        Binding {
            name: Arc::clone(&self.name),
            created: None,
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
        }
    }

    pub(super) fn withdraw(&mut self) {
        if let Some(serving) = self.serving.take() {
            let given = &self.common.given;
            match serving.mode {
                Mode::Active => {
                    given.generations.withdraw(serving.hook, &self.name);
                }
                Mode::Shadow | Mode::Off => given.shadows.end(&self.name),
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
                    own.aside = Some(format!("is set aside for {span}, since {cause}"));
                }
            }
            Happened::Returned => match own {
                Some(own) => {
                    own.aside = None;
                    self.memory.followed(&news.module);
                }
                None => self.memory.forgiven(&news.module),
            },
        }
    }

    /// Why the module that serves is not followed although nothing is wrong with what is asked for; `None` where it is.
    pub(super) fn quarantine(&self) -> Option<ConditionState> {
        let serving = self.serving.as_ref()?;
        let why = serving.aside.as_ref()?;
        let (module, instead) = (serving.shown(), serving.instead(&self.memory));
        let words = format!("module {module} {why}; {instead}");
        Some(ConditionState::unready("Quarantined", words))
    }

    /// A remark on what serves although something else was asked for.
    pub(super) fn goes_on(&self) -> String {
        self.serving.as_ref().map_or_else(String::new, |serving| {
            format!("; serving: {}, unchanged", shown(&serving.module.digest))
        })
    }
}

/// Begin of a digest, for people.
pub(super) fn shown(sha256: &str) -> &str {
    sha256.get(..SHOWN).unwrap_or(sha256)
}
