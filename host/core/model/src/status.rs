//! Status of a pool, overlay or buffer, as far as it is ours to say. People and programs read it; decisions do not, so that a
//! write of it changes no snapshot.

use std::sync::Arc;

use plimsoll_base::labels::Labels;
use plimsoll_base::resources::Resources;
use serde::{Deserialize, Serialize};

use super::buffer::CapacityBuffer;
use super::condition::Conditions;
use super::overlay::NodeOverlay;
use super::pool::NodePool;
use super::template_hash::{HASH_ANNOTATION, HASH_VERSION_ANNOTATION};

/// Annotation of a pool: when claims of it that are no more were asked for within a minute, in seconds, for the ceiling on nodes per
/// minute.
pub const ASKED_ANNOTATION: &str = "plimsoll.dev/asked";
/// Annotation of a pool: its launches whose instances were too small for every pod they were made for, so that none is made for ever.
pub const UNDERSIZED_ANNOTATION: &str = "plimsoll.dev/undersized";
/// Annotations of a pool that are ours to write, and that another process reads at its start; Karpenter reads those of its hash, too.
pub const MEMORY: [&str; 4] = [
    ASKED_ANNOTATION,
    UNDERSIZED_ANNOTATION,
    HASH_ANNOTATION,
    HASH_VERSION_ANNOTATION,
];

/// Observed state of an object, and the generation of its desired one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Status {
    /// The object's generation, which changes with its desired state; 0 where the object does not say.
    pub generation: i64,
    /// Its conditions, of the types that we know.
    #[serde(skip_serializing_if = "Conditions::is_empty")]
    pub conditions: Conditions,
    /// `status.nodes` of a pool; `None` where nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<i64>,
    /// `status.resources` of a pool: capacity of its nodes, and their number; empty where nothing is said.
    #[serde(skip_serializing_if = "Resources::is_empty")]
    pub resources: Resources,
    /// `status.nodeClassObservedGeneration` of a pool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class_generation: Option<i64>,
    /// Annotations of [`MEMORY`] on a pool: one process leaves them for the next.
    #[serde(skip_serializing_if = "Labels::is_empty")]
    pub memory: Labels,
    /// `status.replicas` of a buffer: units it comes to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub units: Option<i64>,
    /// `status.podTemplateRef` and `status.podTemplateGeneration` of a buffer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template: Option<UsedTemplate>,
}

/// The PodTemplate that a buffer's units are made by, as it was when they were.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsedTemplate {
    /// Its name, in the buffer's namespace.
    pub name: Arc<str>,
    /// Its generation; 0 where it is not there, or does not say.
    pub generation: i64,
}

impl Status {
    /// `true` if it says nothing at all, as in a manifest.
    pub fn is_silent(&self) -> bool {
        *self == Self::default()
    }
}

/// An object that has a status of ours.
pub trait HasStatus: Clone {
    /// Its status.
    fn status(&self) -> &Status;

    /// The place of its status.
    fn status_mut(&mut self) -> &mut Status;

    /// Takes the status off an object; the object is copied if others have it, too, and it says anything.
    fn take_status(object: &mut Arc<Self>) -> Status {
        if object.status().is_silent() {
            return Status::default();
        }
        std::mem::take(Arc::make_mut(object).status_mut())
    }
}

macro_rules! has_status {
    ($($type:ty),*) => {
        $(impl HasStatus for $type {
            fn status(&self) -> &Status {
                &self.status
            }

            fn status_mut(&mut self) -> &mut Status {
                &mut self.status
            }
        })*
    };
}

has_status!(NodePool, NodeOverlay, CapacityBuffer);
