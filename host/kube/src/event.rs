//! Kubernetes events on the object that they are about.

use k8s_openapi::api::core::v1::ObjectReference;
use kube::runtime::events::{Event as Written, EventType, Recorder, Reporter};
use kube::{Client, Error};
use plimsoll_api::Kind;
use plimsoll_api::kinds::{Ec2NodeClass, Policy};
use plimsoll_core::action::{Event, ObjectKey};
use plimsoll_core::ids::ObjectName;

use crate::FIELD_MANAGER;

/// Reasons that mean something went wrong; all others are normal.
const WARNINGS: [&str; 16] = [
    "EmptyBudgetReasons",
    "NoCompatibleInstanceTypes",
    "NodeRepairBlocked",
    "Unhealthy",
    "UnregisteredTaintMissing",
    "FailedConsistencyCheck",
    "InvalidDoNotDisruptAnnotation",
    "InsufficientCapacityError",
    "NodeClassNotReady",
    "LaunchFailed",
    "FailedDraining",
    "FailedScheduling",
    "FailedCreate",
    "FailedUpdate",
    "FailedDelete",
    "TerminationGracePeriodExpiring",
];

/// An event to be written: the object it is about, and what is said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    api_version: String,
    kind: &'static str,
    /// Empty for what lives in none.
    namespace: String,
    name: String,
    /// `None` where the name is enough.
    uid: Option<String>,
    /// In Pascal case, such as `FailedScheduling`.
    pub reason: String,
    /// In words.
    pub message: String,
    is_warning: bool,
}

impl Notice {
    /// Something went wrong with an object; the namespace is empty for what lives in none.
    pub fn warning(kind: Kind, namespace: &str, name: &str, reason: &str, message: String) -> Self {
        Self {
            api_version: kind.api_version(),
            kind: kind.as_str(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            uid: None,
            reason: reason.to_owned(),
            message,
            is_warning: true,
        }
    }

    /// Something has happened to a Policy, or went wrong with it. `kubectl describe` finds it by the object's uid.
    pub fn of_policy(policy: &Policy, reason: &str, message: String, is_warning: bool) -> Self {
        let named = policy.metadata.name.clone();
        Self {
            api_version: format!("{}/{}", Policy::GROUP, Policy::VERSION),
            kind: Policy::KIND,
            namespace: String::new(),
            name: named.unwrap_or_default(),
            uid: policy.metadata.uid.clone(),
            reason: reason.to_owned(),
            message,
            is_warning,
        }
    }

    /// Something that happens to an EC2NodeClass, and is as it should be.
    pub fn of_class(class: &Ec2NodeClass, reason: &str, message: String) -> Self {
        let named = class.metadata.name.clone();
        Self {
            api_version: "karpenter.k8s.aws/v1".to_owned(),
            kind: "EC2NodeClass",
            namespace: String::new(),
            name: named.unwrap_or_default(),
            uid: class.metadata.uid.clone(),
            reason: reason.to_owned(),
            message,
            is_warning: false,
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
        Some(Self {
            is_warning: WARNINGS.contains(&event.reason.as_ref()),
            ..Self::warning(kind, namespace, name, &event.reason, message)
        })
    }

    fn reference(&self) -> ObjectReference {
        let namespace = Some(self.namespace.clone());
        ObjectReference {
            api_version: Some(self.api_version.clone()),
            kind: Some(self.kind.to_owned()),
            namespace: namespace.filter(|namespace| !namespace.is_empty()),
            name: Some(self.name.clone()),
            uid: self.uid.clone(),
            ..ObjectReference::default()
        }
    }
}

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

    /// Publishes one event.
    pub async fn publish(&self, notice: &Notice) -> Result<(), Error> {
        let written = Written {
            type_: if notice.is_warning {
                EventType::Warning
            } else {
                EventType::Normal
            },
            reason: notice.reason.clone(),
            note: Some(notice.message.clone()),
            action: notice.reason.clone(),
            secondary: None,
        };
        self.recorder.publish(&written, &notice.reference()).await
    }
}
