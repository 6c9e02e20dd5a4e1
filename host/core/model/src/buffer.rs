//! Capacity buffers: room that is kept for pods yet to come, and the shapes that say how large a pod is.

use std::sync::Arc;

use plimsoll_base::ids::{ObjectName, Uid};
use plimsoll_base::labels::Labels;
use plimsoll_base::resources::Resources;
use plimsoll_base::time::{Span, Timestamp};
use serde::{Deserialize, Serialize};

use super::pod::PodSpec;
use super::status::Status;

/// Labels and needs that all pods of one template share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PodShape {
    /// Labels of the template's pods.
    pub labels: Arc<Labels>,
    /// Requests and constraints of the template's pods.
    pub spec: Arc<PodSpec>,
}

/// A PodTemplate: the shape of one unit of a buffer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PodTemplate {
    /// Namespace and name.
    pub name: ObjectName,
    /// Its generation; 0 where it does not say.
    #[serde(default)]
    pub generation: i64,
    /// The shape of its pods.
    pub shape: PodShape,
}

/// A CapacityBuffer: room for so many pods of a shape, though none of them exists.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CapacityBuffer {
    /// Namespace and name.
    pub name: ObjectName,
    /// Uid of the object.
    pub uid: Uid,
    /// When it was created.
    pub created: Timestamp,
    /// Where the shape of one unit comes from.
    pub source: BufferSource,
    /// `spec.replicas`: units, whatever the workload's size.
    pub replicas: Option<u32>,
    /// `spec.percentage`: units as a share of the workload's replicas, rounded up.
    pub percentage: Option<u32>,
    /// `spec.limits`: the most that all units may ask for together.
    pub limits: Option<Resources>,
    /// `spec.provisioningStrategy`, where it is not the one that exists.
    pub strategy: Option<Arc<str>>,
    /// When it asks for its room; always when absent.
    pub window: Option<BufferWindow>,
    /// Status of the object, which decisions do not read.
    #[serde(default, skip_serializing_if = "Status::is_silent")]
    pub status: Status,
}

/// Where the shape of a buffer's unit comes from. What is named need not exist: the buffer is not ready then.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BufferSource {
    /// Nothing is named.
    Nothing,
    /// A PodTemplate of the buffer's namespace.
    Template(Arc<str>),
    /// A workload of the buffer's namespace, with its size.
    Workload {
        /// API group as written; empty when absent, which means `apps`.
        group: Arc<str>,
        /// Kind as written: Deployment, StatefulSet or ReplicaSet.
        kind: Arc<str>,
        /// Name of the workload, in the namespace of the buffer.
        name: Arc<str>,
    },
}

/// Times at which a buffer asks for its room: from each hit of a schedule for a while.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BufferWindow {
    /// Five cron fields or a macro, in UTC; the grammar is that of budgets.
    pub schedule: Arc<str>,
    /// How long the window is open after each hit.
    pub duration: Span,
}
