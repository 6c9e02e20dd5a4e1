//! The kinds that are read, and one object of any of them.
//!
//! A row of the table has a kind's group, version, names, scope and conversion. Watches, files and requests go by it.

use std::fmt;
use std::sync::Arc;

use plimsoll_model::VolumePart;
use serde_json::Value;

use crate::convert::{
    buffer, claim, csi, device_class, limit_range, node, overlay, pod, pool, storage, workload,
};
use crate::read::{ReadError, Reading};

/// Where objects of a kind live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    /// In a namespace.
    Namespaced,
    /// Beside namespaces.
    ClusterWide,
}

/// A row of the table of kinds.
struct Row {
    group: &'static str,
    version: &'static str,
    kind: &'static str,
    plural: &'static str,
    scope: Scope,
}

macro_rules! kinds {
    ($(
        $(#[$doc:meta])*
        $name:ident: $group:literal, $version:literal, $kind:literal, $plural:literal, $scope:ident,
        $how:ident $convert:path;
    )*) => {
        /// A kind of object that is read.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Kind {
            $($(#[$doc])* $name,)*
        }

        impl Kind {
            /// Every kind.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// Its row of the table.
            const fn row(self) -> &'static Row {
                match self {
                    $(Self::$name => &Row {
                        group: $group,
                        version: $version,
                        kind: $kind,
                        plural: $plural,
                        scope: Scope::$scope,
                    },)*
                }
            }

            /// An object of this kind by its conversion.
            pub(crate) fn convert(
                self,
                reading: Reading<'_>,
            ) -> Result<(ObjectKey, Object), ReadError> {
                match self {
                    $(Self::$name => {
                        reading.$how($convert, |written| &written.metadata)
                    })*
                }
            }
        }
    };
}

// Each kind's group, version, name, plural and scope, and how it is read: whole, as part of what is known of volumes, or as
// defaults that admission gives to pods.
kinds! {
    /// `v1 Pod`.
    Pod: "", "v1", "Pod", "pods", Namespaced, whole pod::pod;
    /// `v1 Node`.
    Node: "", "v1", "Node", "nodes", ClusterWide, whole node::node;
    /// `v1 Namespace`.
    Namespace: "", "v1", "Namespace", "namespaces", ClusterWide, whole workload::namespace;
    /// `v1 Service`.
    Service: "", "v1", "Service", "services", Namespaced, whole workload::service;
    /// `v1 ReplicationController`.
    ReplicationController: "", "v1", "ReplicationController", "replicationcontrollers", Namespaced, whole workload::replication_controller;
    /// `v1 PersistentVolumeClaim`.
    PersistentVolumeClaim: "", "v1", "PersistentVolumeClaim", "persistentvolumeclaims", Namespaced, part storage::volume_claim;
    /// `v1 PersistentVolume`.
    PersistentVolume: "", "v1", "PersistentVolume", "persistentvolumes", ClusterWide, part storage::persistent_volume;
    /// `v1 LimitRange`.
    LimitRange: "", "v1", "LimitRange", "limitranges", Namespaced, defaults limit_range::limit_range;
    /// `v1 PodTemplate`.
    PodTemplate: "", "v1", "PodTemplate", "podtemplates", Namespaced, whole buffer::pod_template;
    /// `apps/v1 DaemonSet`.
    DaemonSet: "apps", "v1", "DaemonSet", "daemonsets", Namespaced, whole workload::daemon_set;
    /// `apps/v1 Deployment`.
    Deployment: "apps", "v1", "Deployment", "deployments", Namespaced, whole workload::deployment;
    /// `apps/v1 ReplicaSet`.
    ReplicaSet: "apps", "v1", "ReplicaSet", "replicasets", Namespaced, whole workload::replica_set;
    /// `apps/v1 StatefulSet`.
    StatefulSet: "apps", "v1", "StatefulSet", "statefulsets", Namespaced, whole workload::stateful_set;
    /// `policy/v1 PodDisruptionBudget`.
    PodDisruptionBudget: "policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets", Namespaced, whole workload::disruption_budget;
    /// `storage.k8s.io/v1 StorageClass`.
    StorageClass: "storage.k8s.io", "v1", "StorageClass", "storageclasses", ClusterWide, part storage::storage_class;
    /// `storage.k8s.io/v1 CSINode`.
    CsiNode: "storage.k8s.io", "v1", "CSINode", "csinodes", ClusterWide, part csi::csi_node;
    /// `storage.k8s.io/v1 CSIDriver`.
    CsiDriver: "storage.k8s.io", "v1", "CSIDriver", "csidrivers", ClusterWide, part csi::csi_driver;
    /// `storage.k8s.io/v1 CSIStorageCapacity`.
    StorageCapacity: "storage.k8s.io", "v1", "CSIStorageCapacity", "csistoragecapacities", Namespaced, part csi::storage_capacity;
    /// `storage.k8s.io/v1 VolumeAttachment`.
    VolumeAttachment: "storage.k8s.io", "v1", "VolumeAttachment", "volumeattachments", ClusterWide, whole csi::attachment;
    /// `resource.k8s.io/v1 DeviceClass`.
    DeviceClass: "resource.k8s.io", "v1", "DeviceClass", "deviceclasses", ClusterWide, whole device_class::device_class;
    /// `karpenter.sh/v1 NodePool`.
    NodePool: "karpenter.sh", "v1", "NodePool", "nodepools", ClusterWide, whole pool::node_pool;
    /// `karpenter.sh/v1 NodeClaim`.
    NodeClaim: "karpenter.sh", "v1", "NodeClaim", "nodeclaims", ClusterWide, whole claim::node_claim;
    /// `karpenter.sh/v1alpha1 NodeOverlay`.
    NodeOverlay: "karpenter.sh", "v1alpha1", "NodeOverlay", "nodeoverlays", ClusterWide, whole overlay::node_overlay;
    /// `autoscaling.x-k8s.io/v1beta1 CapacityBuffer`.
    CapacityBuffer: "autoscaling.x-k8s.io", "v1beta1", "CapacityBuffer", "capacitybuffers", Namespaced, whole buffer::capacity_buffer;
}

impl Kind {
    /// API group; empty for the core group.
    pub const fn group(self) -> &'static str {
        self.row().group
    }

    /// API version within the group, in which objects are read and written.
    pub const fn version(self) -> &'static str {
        self.row().version
    }

    /// The name as the API writes it.
    pub const fn as_str(self) -> &'static str {
        self.row().kind
    }

    /// The plural, in lower case.
    pub const fn plural(self) -> &'static str {
        self.row().plural
    }

    /// The kind of an object with this `apiVersion` and `kind`; `None` for kinds that are not read.
    pub fn parse(api_version: &str, kind: &str) -> Option<Self> {
        let group = api_version.split_once('/').map_or("", |(group, _)| group);
        let known = |known: &&Self| known.group() == group && known.as_str() == kind;
        Self::ALL.iter().find(known).copied()
    }

    /// Group and version as an object's `apiVersion` has them.
    pub fn api_version(self) -> String {
        match self.group() {
            "" => self.version().to_owned(),
            group => format!("{group}/{}", self.version()),
        }
    }

    /// `true` if objects of this kind live in a namespace.
    pub const fn is_namespaced(self) -> bool {
        matches!(self.row().scope, Scope::Namespaced)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Kind, namespace and name: what is unique among objects of one API server.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectKey {
    /// Kind of the object, with its API group.
    pub kind: Kind,
    /// Its namespace; empty for cluster-wide kinds.
    pub namespace: Arc<str>,
    /// Name of the object, unique in its namespace and kind.
    pub name: Arc<str>,
}

impl fmt::Display for ObjectKey {
    /// `Pod shop/api-5c`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.namespace.is_empty() {
            write!(f, "{} {}", self.kind, self.name)
        } else {
            write!(f, "{} {}/{}", self.kind, self.namespace, self.name)
        }
    }
}

/// One object of any kind that is read, in the core's model.
#[derive(Clone, Debug, PartialEq)]
pub enum Object {
    /// An object as the state of a cluster takes it.
    Whole(plimsoll_model::Object),
    /// A part of what is known of volumes, which the state takes all at once.
    Part(VolumePart),
    /// Defaults that admission gives to pods, trimmed to what [`crate::Admission`] reads.
    Defaults(Arc<Value>),
}

impl Object {
    /// The object as it is written, trimmed to what decisions read; null for all volumes at once, which are no object.
    pub fn to_value(&self) -> Value {
        match self {
            Self::Whole(object) => match object {
                plimsoll_model::Object::Pod(pod) => pod::to_value(pod),
                plimsoll_model::Object::Node(node) => node::to_value(node),
                plimsoll_model::Object::Claim(claim) => claim::to_value(claim),
                plimsoll_model::Object::Pool(pool) => pool::to_value(pool),
                plimsoll_model::Object::Overlay(overlay) => overlay::to_value(overlay),
                plimsoll_model::Object::Buffer(buffer) => buffer::to_value(buffer),
                plimsoll_model::Object::Template(template) => buffer::template_to_value(template),
                plimsoll_model::Object::Namespace(namespace) => {
                    workload::namespace_to_value(namespace)
                }
                plimsoll_model::Object::Service(service) => workload::service_to_value(service),
                plimsoll_model::Object::Workload(replicated) => {
                    workload::replicated_to_value(replicated)
                }
                plimsoll_model::Object::DaemonSet(set) => workload::daemon_set_to_value(set),
                plimsoll_model::Object::DisruptionBudget(budget) => {
                    workload::budget_to_value(budget)
                }
                plimsoll_model::Object::DeviceClass(class) => device_class::to_value(class),
                plimsoll_model::Object::Attachment(attached) => csi::attachment_to_value(attached),
                plimsoll_model::Object::Volumes(_) => Value::Null,
            },
            Self::Part(part) => match part {
                VolumePart::Claim(name, claim) => storage::claim_to_value(name, claim),
                VolumePart::Volume(name, volume) => storage::volume_to_value(name, volume),
                VolumePart::Class(name, class) => storage::class_to_value(name, class),
                VolumePart::Node(name, node) => csi::csi_node_to_value(name, node),
                VolumePart::Driver(name, driver) => csi::csi_driver_to_value(name, *driver),
                VolumePart::Capacity(name, room) => csi::storage_capacity_to_value(name, room),
            },
            Self::Defaults(value) => value.as_ref().clone(),
        }
    }
}
