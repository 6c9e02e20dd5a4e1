//! Facts about how a pool's template is written that its hash counts and nothing else does.

use std::collections::BTreeSet;

use plimsoll_base::time::Timestamp;
use serde::{Deserialize, Serialize};

/// A list or map of a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum TemplateField {
    /// `metadata.labels`.
    Labels,
    /// `metadata.annotations`.
    Annotations,
    /// `spec.taints`.
    Taints,
    /// `spec.startupTaints`.
    StartupTaints,
}

/// A template's text, as far as its values do not say it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct WrittenTemplate {
    /// Lists and maps that are written and empty: to the API that is not the same as to leave them out.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub empty: BTreeSet<TemplateField>,
    /// `timeAdded` of taints that have it, with their list and their place in it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<(TemplateField, usize, Timestamp)>,
}

impl WrittenTemplate {
    /// `true` if values say all, as in most templates.
    pub fn is_plain(&self) -> bool {
        *self == Self::default()
    }
}
