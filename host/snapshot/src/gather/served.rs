//! Objects that an API server has accepted: what cannot be read of them is told, and the rest is read.

use plimsoll_api::{Interner, ResizeRule};
use serde_json::Value;

use super::{Gatherer, name_of};
use crate::error::SnapshotError;
use crate::note::Note;

impl Gatherer {
    /// A gatherer of objects that an API server has accepted, in whose version the scheduler counts resizes by this rule.
    pub(crate) fn of_served(resizes: ResizeRule) -> Self {
        let mut interner = Interner::default();
        interner.resizes = resizes;
        Self {
            interner,
            is_served: true,
            ..Self::default()
        }
    }

    /// Passes over an object that an API server has accepted and that cannot be read; of a file it is an error.
    pub(super) fn or_passed_over(
        &mut self,
        value: &Value,
        read: Result<(), SnapshotError>,
    ) -> Result<(), SnapshotError> {
        let sentence = match read {
            Err(SnapshotError::Object { sentence, .. }) if self.is_served => sentence,
            read => return read,
        };
        let kind = value.get("kind").and_then(Value::as_str);
        let (kind, name) = (kind.unwrap_or_default().to_owned(), name_of(value));
        let fault = sentence.strip_prefix(&format!("{name}: "));
        self.unreadable.push(Note::Unreadable {
            sentence: fault.unwrap_or(&sentence).to_owned(),
            kind,
            name,
        });
        Ok(())
    }
}
