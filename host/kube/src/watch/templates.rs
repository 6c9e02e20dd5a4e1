//! Pod templates with the defaults that admission will give the next pod made from them.
//!
//! A template is completed when it is read. When the defaults change, every template is completed again, starting from the template as
//! written.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_api::{Admission, Kind};
use plimsoll_model::Version;
use serde_json::Value;

use super::index::Key;

/// Templates as they are written, and the defaults that complete them.
#[derive(Debug, Default)]
pub(super) struct Templates {
    written: BTreeMap<(Kind, Key), (Value, Version)>,
    defaults: BTreeMap<(Kind, Key), Arc<Value>>,
    admission: Admission,
    is_changed: bool,
}

impl Templates {
    /// Completes an object in place if it is a template.
    pub(super) fn complete(&mut self, kind: Kind, key: &Key, version: Version, value: &mut Value) {
        if Admission::completes(kind) {
            let written = (value.clone(), version);
            self.written.insert((kind, key.clone()), written);
            self.admission.complete(kind, value);
        }
    }

    /// Takes in defaults as they are now.
    pub(super) fn apply_defaults(&mut self, kind: Kind, key: &Key, defaults: &Arc<Value>) {
        let key = (kind, key.clone());
        let before = self.defaults.insert(key, Arc::clone(defaults));
        self.is_changed |= before.as_ref() != Some(defaults);
    }

    /// Forgets an object that is gone, whether template or defaults.
    pub(super) fn remove(&mut self, kind: Kind, key: &Key) {
        if Admission::completes(kind) {
            self.written.remove(&(kind, key.clone()));
        } else if Admission::reads(kind) {
            let gone = self.defaults.remove(&(kind, key.clone()));
            self.is_changed |= gone.is_some();
        }
    }

    /// All templates, completed, if the defaults have changed since the last call; none otherwise.
    pub(super) fn take_changed(&mut self) -> Vec<(Kind, Key, Version, Value)> {
        if !std::mem::take(&mut self.is_changed) {
            return Vec::new();
        }
        self.admission = Admission::default();
        for ((kind, _), defaults) in &self.defaults {
            self.admission
                .take(&kind.api_version(), kind.as_str(), defaults);
        }
        let written = self.written.iter();
        let completed = written.map(|((kind, key), (value, version))| {
            let mut value = value.clone();
            self.admission.complete(*kind, &mut value);
            (*kind, key.clone(), *version, value)
        });
        completed.collect()
    }
}
