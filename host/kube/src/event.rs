//! Kubernetes events on the object that they are about.

mod memory;

use k8s_openapi::api::core::v1::ObjectReference;
use k8s_openapi::api::events::v1::{Event as Written, EventSeries};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};
use k8s_openapi::jiff::Timestamp;
use kube::api::{Api, Patch, PatchParams, PostParams};
use kube::{Client, Error};
use plimsoll_api::Kind;
use plimsoll_api::kinds::{Ec2NodeClass, Policy};
use plimsoll_base::event_reason::EventReason;
use plimsoll_base::ids::ObjectName;
use plimsoll_model::Version;
use plimsoll_model::action::{Event, ObjectKey};
use serde_json::json;

use self::memory::{Memory, Said};
use crate::FIELD_MANAGER;

/// Namespace of events about what lives in none: the API server takes no other.
const NAMESPACE: &str = "default";
/// Bytes of a text that the API server takes.
const LONGEST: usize = 1024;
const NOT_FOUND: u16 = 404;
const CONFLICT: u16 = 409;

/// An event to be written: the object it is about, and what is said.
#[derive(Clone, Debug, PartialEq)]
pub struct Notice {
    /// The object. `kubectl describe` finds an event by uid: one without belongs to an object that is not there any more.
    about: ObjectReference,
    /// The reason, which also decides its type.
    pub reason: EventReason,
    /// In words.
    pub message: String,
}

impl Notice {
    /// Something about an object of a kind; the namespace is empty for what lives in none.
    pub fn new(
        kind: Kind,
        (namespace, name): (&str, &str),
        reason: EventReason,
        message: String,
    ) -> Self {
        let namespace = Some(namespace).filter(|namespace| !namespace.is_empty());
        Self {
            about: ObjectReference {
                api_version: Some(kind.api_version()),
                kind: Some(kind.as_str().to_owned()),
                namespace: namespace.map(str::to_owned),
                name: Some(name.to_owned()),
                ..ObjectReference::default()
            },
            reason,
            message,
        }
    }

    /// Something about a Policy.
    pub fn of_policy(policy: &Policy, reason: EventReason, message: String) -> Self {
        let version = format!("{}/{}", Policy::GROUP, Policy::VERSION);
        let about = reference(&policy.metadata, version, Policy::KIND);
        Self {
            about,
            reason,
            message,
        }
    }

    /// Something about an EC2NodeClass.
    pub fn of_class(class: &Ec2NodeClass, reason: EventReason, message: String) -> Self {
        let version = "karpenter.k8s.aws/v1".to_owned();
        Self {
            about: reference(&class.metadata, version, "EC2NodeClass"),
            reason,
            message,
        }
    }

    /// An event of the engine's. One about a pod names it by uid, and `pod` is its name; `None` where that is not known any more.
    pub fn of(event: &Event, pod: Option<&ObjectName>) -> Option<Self> {
        let (kind, namespace, name) = match &event.object {
            ObjectKey::Claim(name) => (Kind::NodeClaim, "", name.as_str()),
            ObjectKey::Node(name) => (Kind::Node, "", name.as_str()),
            ObjectKey::Pool(name) => (Kind::NodePool, "", name.as_str()),
            ObjectKey::Overlay(name) => (Kind::NodeOverlay, "", name.as_ref()),
            ObjectKey::Buffer(name) => (
                Kind::CapacityBuffer,
                name.namespace.as_ref(),
                name.name.as_ref(),
            ),
            ObjectKey::Launch(_) | ObjectKey::Instance(_) | ObjectKey::Cloud => return None,
            ObjectKey::Pod(_) => {
                let name = pod?;
                (Kind::Pod, name.namespace.as_ref(), name.name.as_ref())
            }
        };
        let message = event.message.clone();
        Some(Self::new(kind, (namespace, name), event.reason, message))
    }

    /// The same about the object of this uid, as it was seen at a version.
    #[must_use]
    pub fn seen(mut self, uid: &str, version: Version) -> Self {
        self.about.uid = Some(uid.to_owned());
        self.about.resource_version = Some(version.0.to_string());
        self
    }

    /// Kind, namespace and name of an object whose uid is not known yet; `None` where it is, and for kinds that are not read.
    pub fn unseen(&self) -> Option<(Kind, (&str, &str))> {
        let about = &self.about;
        if about.uid.is_some() {
            return None;
        }
        let kind = Kind::parse(text(about.api_version.as_ref()), text(about.kind.as_ref()))?;
        let (namespace, name) = (about.namespace.as_ref(), about.name.as_ref());
        Some((kind, (text(namespace), text(name))))
    }

    fn namespace(&self) -> &str {
        self.about.namespace.as_deref().unwrap_or(NAMESPACE)
    }
}

fn text(field: Option<&String>) -> &str {
    field.map_or("", String::as_str)
}

fn reference(metadata: &ObjectMeta, api_version: String, kind: &str) -> ObjectReference {
    ObjectReference {
        api_version: Some(api_version),
        kind: Some(kind.to_owned()),
        name: metadata.name.clone(),
        uid: metadata.uid.clone(),
        resource_version: metadata.resource_version.clone(),
        ..ObjectReference::default()
    }
}

/// Publishes events, one after the other; the same once more, text and all, only raises a count.
///
/// The recorder of `kube` counts by reason alone: of two texts only the first would ever be seen.
pub struct Publisher {
    client: Client,
    memory: Memory,
}

impl Publisher {
    /// A publisher with a client's rights.
    pub fn new(client: Client) -> Self {
        Self {
            client,
            memory: Memory::default(),
        }
    }

    /// Publishes one event.
    pub async fn publish(&mut self, notice: &Notice) -> Result<(), Error> {
        let now = Timestamp::now();
        let events: Api<Written> = Api::namespaced(self.client.clone(), notice.namespace());
        let event = match self.memory.say(notice, now) {
            Said::First { event } => event,
            Said::Again { event, count } => {
                let series = EventSeries {
                    count,
                    last_observed_time: MicroTime(now),
                };
                let change = Patch::Merge(json!({ "series": series }));
                match events.patch(&event, &PatchParams::default(), &change).await {
                    // Servers keep events for about an hour.
                    Err(error) if is(&error, NOT_FOUND) => self.memory.begin(notice, now),
                    answer => return answer.map(drop),
                }
            }
        };
        let written = written(notice, event, now);
        match events.create(&PostParams::default(), &written).await {
            // An answer was lost, and the request was made twice.
            Err(error) if is(&error, CONFLICT) => Ok(()),
            Err(error) => {
                self.memory.forget(notice);
                Err(error)
            }
            Ok(_) => Ok(()),
        }
    }
}

fn is(error: &Error, code: u16) -> bool {
    matches!(error, Error::Api(status) if status.code == code)
}

fn written(notice: &Notice, name: String, now: Timestamp) -> Written {
    let reason = notice.reason.to_string();
    Written {
        metadata: ObjectMeta {
            namespace: Some(notice.namespace().to_owned()),
            name: Some(name),
            ..ObjectMeta::default()
        },
        action: Some(reason.clone()),
        reason: Some(reason),
        event_time: Some(MicroTime(now)),
        regarding: Some(notice.about.clone()),
        note: Some(cut(&notice.message).to_owned()),
        type_: Some(notice.reason.event_type().as_str().to_owned()),
        reporting_controller: Some(FIELD_MANAGER.to_owned()),
        reporting_instance: Some(FIELD_MANAGER.to_owned()),
        ..Written::default()
    }
}

/// As much of a text as the API server takes.
fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(LONGEST)]
}

#[cfg(test)]
mod tests;
