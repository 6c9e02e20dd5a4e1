//! Kubernetes events on the object that they are about.

use k8s_openapi::api::core::v1::ObjectReference;
use kube::runtime::events::{Event as Written, EventType, Recorder, Reporter};
use kube::{Client, Error};
use plimsoll_api::Kind;
use plimsoll_core::action::{Event, ObjectKey};

use crate::FIELD_MANAGER;

/// Reasons that mean something went wrong; all others are normal.
const WARNINGS: [&str; 4] = [
    "InsufficientCapacityError",
    "NodeClassNotReady",
    "LaunchFailed",
    "FailedDraining",
];

/// Publishes events; the same again within minutes only raises a count.
#[derive(Clone)]
pub struct Publisher {
    recorder: Recorder,
}

impl Publisher {
    /// A publisher with a client's rights.
    pub fn new(client: Client) -> Self {
        let reporter = Reporter {
            controller: FIELD_MANAGER.to_owned(),
            instance: None,
        };
        Self {
            recorder: Recorder::new(client, reporter),
        }
    }

    /// Publishes one event. One about a pod is passed over: it is known by uid here, and events are found by name.
    pub async fn publish(&self, event: &Event) -> Result<(), Error> {
        let (kind, namespace, name) = match &event.object {
            ObjectKey::Claim(name) => (Kind::NodeClaim, None, name.as_str()),
            ObjectKey::Node(name) => (Kind::Node, None, name.as_str()),
            ObjectKey::Pool(name) => (Kind::NodePool, None, name.as_str()),
            ObjectKey::Buffer(name) => (
                Kind::CapacityBuffer,
                Some(name.namespace.to_string()),
                name.name.as_ref(),
            ),
            ObjectKey::Pod(_) => return Ok(()),
        };
        let reference = ObjectReference {
            api_version: Some(kind.api_version()),
            kind: Some(kind.as_str().to_owned()),
            namespace,
            name: Some(name.to_owned()),
            ..ObjectReference::default()
        };
        let is_warning = WARNINGS.contains(&event.reason.as_ref());
        let written = Written {
            type_: if is_warning {
                EventType::Warning
            } else {
                EventType::Normal
            },
            reason: event.reason.to_string(),
            note: Some(event.message.clone()),
            action: event.reason.to_string(),
            secondary: None,
        };
        self.recorder.publish(&written, &reference).await
    }
}
