//! Parts of a pool or claim that this version does not understand, such as one that a newer version wrote.
//!
//! An object of which a part makes no sense is kept all the same: it goes on counting for limits, its instance stays claimed, and it
//! is terminated when it is deleted. The part is left out of the object, in the direction that does least; what would follow from
//! the rest of it alone is held back: nothing is launched, and no node is disrupted voluntarily.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Parts of an object that could not be read, in words that begin with the field.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Unread {
    /// The first value that makes no sense, with what was expected; `None` where all values do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<Arc<str>>,
    /// Fields and names that are skipped while the rest of the object holds; not complete beside a problem.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ignored: Vec<Arc<str>>,
}

impl Unread {
    /// `true` if everything was read.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
