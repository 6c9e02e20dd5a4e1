//! Modules at hand, by digest: what a record names is found here and accepted under the settings of the record.
//!
//! A module is compiled once for each of its settings, however many decisions it took part in and threads ask.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use plimsoll_hooks::hook::PolicySettings;
use thiserror::Error;

use super::form::{ModuleLine, PolicyLine, Record};
use crate::any::AnyModule;
use crate::engine::Engine;
use crate::gate::Refusal;
use crate::manifest::Hook;
use crate::package::digest;

/// Why a recorded module cannot be asked.
#[derive(Debug, Clone, Error)]
pub enum RecordStoreError {
    /// Its bytes are missing.
    #[error("module {name} {version} with digest {sha256} is not at hand; {known}")]
    Missing {
        /// Name of the policy.
        name: String,
        /// Version of the policy.
        version: String,
        /// SHA-256 of the module.
        sha256: String,
        /// Versions there are of that name.
        known: String,
    },
    /// It is refused now.
    #[error("module {name} is refused")]
    Refused {
        /// Name of the policy.
        name: String,
        /// The step that refused it, with its reason.
        #[source]
        refusal: Box<Refusal>,
    },
    /// It is of another hook than its record says.
    #[error("module {name} is a {found} policy; decision {number} asks for {asked}")]
    Hook {
        /// Name of the policy.
        name: String,
        /// Hook of the module at hand.
        found: &'static str,
        /// The decision.
        number: u64,
        /// Hook that the record speaks of.
        asked: &'static str,
    },
}

/// Modules by digest.
pub struct RecordStore {
    engine: Engine,
    bytes: BTreeMap<String, Cow<'static, [u8]>>,
    /// Digests by the names that modules go by.
    named: BTreeMap<String, String>,
    accepted: Mutex<BTreeMap<(String, String), Arc<AnyModule>>>,
}

impl RecordStore {
    /// An empty store.
    pub fn new(engine: Engine) -> Self {
        Self {
            engine,
            bytes: BTreeMap::new(),
            named: BTreeMap::new(),
            accepted: Mutex::default(),
        }
    }

    /// The engine that its modules run in.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Puts a module there, as it is stored. Of two of one name both stay.
    pub fn put(&mut self, stored: Cow<'static, [u8]>) -> Result<(), Refusal> {
        let inspection = self.engine.inspect(&stored)?;
        self.put_named(&inspection.manifest.name, stored)
    }

    /// The same for one whose manifest is known to have that name.
    pub fn put_named(&mut self, name: &str, stored: Cow<'static, [u8]>) -> Result<(), Refusal> {
        let sha256 = digest(&self.engine.inflate(&stored)?);
        self.named.insert(name.to_owned(), sha256.clone());
        self.bytes.insert(sha256, stored);
        Ok(())
    }

    /// How many modules were asked for, each under settings of its own.
    pub fn served(&self) -> usize {
        let accepted = self.accepted.lock();
        accepted.unwrap_or_else(PoisonError::into_inner).len()
    }

    /// The module of a policy that a heading names.
    pub fn policy(&self, line: &PolicyLine) -> Result<Arc<AnyModule>, RecordStoreError> {
        let module = ModuleLine {
            sha256: line.module.clone(),
            hook: Hook::Rank,
            name: line.name.clone(),
            version: line.version.clone(),
            reasons: Vec::new(),
        };
        self.accepted(&module, &line.settings)
    }

    /// The module under these settings.
    pub fn accepted(
        &self,
        line: &ModuleLine,
        settings: &PolicySettings,
    ) -> Result<Arc<AnyModule>, RecordStoreError> {
        let written = serde_json::to_string(settings).expect("settings have texts as keys");
        let key = (line.sha256.clone(), written);
        let mut accepted = self.accepted.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = accepted.get(&key) {
            return Ok(Arc::clone(known));
        }
        let name = || crate::text::clean(&line.name, crate::text::NAME);
        let Some(stored) = self.bytes.get(&line.sha256) else {
            let known = match self.named.get(&line.name) {
                Some(other) => format!("the one of that name at hand has {other}"),
                None => "there is none of that name".to_owned(),
            };
            return Err(RecordStoreError::Missing {
                name: name(),
                version: crate::text::clean(&line.version, crate::text::NAME),
                sha256: crate::text::clean(&line.sha256, crate::text::NAME),
                known,
            });
        };
        let given = |_: &_| Ok(settings.clone());
        let module = AnyModule::accept(&self.engine, stored, &given);
        let module = module.map_err(|refusal| RecordStoreError::Refused {
            name: name(),
            refusal: Box::new(refusal),
        })?;
        let module = Arc::new(module);
        accepted.insert(key, Arc::clone(&module));
        Ok(module)
    }
}

impl RecordStoreError {
    /// A module that cannot be asked what a record says it was.
    pub fn hook(line: &ModuleLine, module: &AnyModule, record: &Record) -> Self {
        Self::Hook {
            name: crate::text::clean(&line.name, crate::text::NAME),
            found: module.manifest().hook.adjective(),
            number: record.number,
            asked: record.call.label(),
        }
    }
}
