//! The kinds that are read, and one object of any of them.

use std::fmt;
use std::sync::Arc;

use plimsoll_core::ids::{NodeName, ObjectName};
use plimsoll_core::model;
use plimsoll_core::model::{
    CapacityBuffer, CsiNode, DaemonSet, Namespace, Node, NodeClaim, NodeOverlay, NodePool,
    PersistentVolume, Pod, PodDisruptionBudget, PodTemplate, Replicated, Service, StorageClass,
    VolumeClaim,
};

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $group:literal, $kind:literal, $plural:literal;)*) => {
        /// A kind of object that is read.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Kind {
            $($(#[$doc])* $name,)*
        }

        impl Kind {
            /// Every kind.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// API group; empty for the core group.
            pub const fn group(self) -> &'static str {
                match self { $(Self::$name => $group,)* }
            }

            /// The name as the API writes it.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $kind,)* }
            }

            /// The plural, in lower case.
            pub const fn plural(self) -> &'static str {
                match self { $(Self::$name => $plural,)* }
            }
        }
    };
}

kinds! {
    /// `v1 Pod`.
    Pod = "", "Pod", "pods";
    /// `v1 Node`.
    Node = "", "Node", "nodes";
    /// `v1 Namespace`.
    Namespace = "", "Namespace", "namespaces";
    /// `v1 Service`.
    Service = "", "Service", "services";
    /// `v1 ReplicationController`.
    ReplicationController = "", "ReplicationController", "replicationcontrollers";
    /// `v1 PersistentVolumeClaim`.
    PersistentVolumeClaim = "", "PersistentVolumeClaim", "persistentvolumeclaims";
    /// `v1 PersistentVolume`.
    PersistentVolume = "", "PersistentVolume", "persistentvolumes";
    /// `v1 PodTemplate`.
    PodTemplate = "", "PodTemplate", "podtemplates";
    /// `apps/v1 DaemonSet`.
    DaemonSet = "apps", "DaemonSet", "daemonsets";
    /// `apps/v1 Deployment`.
    Deployment = "apps", "Deployment", "deployments";
    /// `apps/v1 ReplicaSet`.
    ReplicaSet = "apps", "ReplicaSet", "replicasets";
    /// `apps/v1 StatefulSet`.
    StatefulSet = "apps", "StatefulSet", "statefulsets";
    /// `policy/v1 PodDisruptionBudget`.
    PodDisruptionBudget = "policy", "PodDisruptionBudget", "poddisruptionbudgets";
    /// `storage.k8s.io/v1 StorageClass`.
    StorageClass = "storage.k8s.io", "StorageClass", "storageclasses";
    /// `storage.k8s.io/v1 CSINode`.
    CsiNode = "storage.k8s.io", "CSINode", "csinodes";
    /// `karpenter.sh NodePool`.
    NodePool = "karpenter.sh", "NodePool", "nodepools";
    /// `karpenter.sh NodeClaim`.
    NodeClaim = "karpenter.sh", "NodeClaim", "nodeclaims";
    /// `karpenter.sh NodeOverlay`.
    NodeOverlay = "karpenter.sh", "NodeOverlay", "nodeoverlays";
    /// `autoscaling.x-k8s.io CapacityBuffer`.
    CapacityBuffer = "autoscaling.x-k8s.io", "CapacityBuffer", "capacitybuffers";
}

impl Kind {
    /// The kind of an object with this `apiVersion` and `kind`; `None` for kinds that are not read.
    pub fn parse(api_version: &str, kind: &str) -> Option<Self> {
        let group = api_version.split_once('/').map_or("", |(group, _)| group);
        let known = |known: &&Self| known.group() == group && known.as_str() == kind;
        Self::ALL.iter().find(known).copied()
    }

    /// API version within the group, in which objects are read and written.
    pub const fn version(self) -> &'static str {
        match self {
            Self::NodeOverlay => "v1alpha1",
            Self::CapacityBuffer => "v1beta1",
            _ => "v1",
        }
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
        !matches!(
            self,
            Self::Node
                | Self::Namespace
                | Self::PersistentVolume
                | Self::StorageClass
                | Self::CsiNode
                | Self::NodePool
                | Self::NodeClaim
                | Self::NodeOverlay
        )
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
    /// A pod.
    Pod(Arc<Pod>),
    /// A node.
    Node(Arc<Node>),
    /// A namespace.
    Namespace(Arc<Namespace>),
    /// A service.
    Service(Arc<Service>),
    /// A deployment, replica set, replication controller or stateful set.
    Workload(Arc<Replicated>),
    /// A volume claim.
    VolumeClaim(ObjectName, VolumeClaim),
    /// A volume.
    PersistentVolume(Arc<str>, PersistentVolume),
    /// A daemon set.
    DaemonSet(Arc<DaemonSet>),
    /// A disruption budget.
    DisruptionBudget(Arc<PodDisruptionBudget>),
    /// A storage class.
    StorageClass(Arc<str>, StorageClass),
    /// Attach limits of a node.
    CsiNode(NodeName, CsiNode),
    /// A pool.
    NodePool(Arc<NodePool>),
    /// A claim.
    NodeClaim(Arc<NodeClaim>),
    /// An overlay.
    NodeOverlay(Arc<NodeOverlay>),
    /// A pod template.
    PodTemplate(Arc<PodTemplate>),
    /// A capacity buffer.
    CapacityBuffer(Arc<CapacityBuffer>),
}

impl Object {
    /// The object as the state of a cluster takes it; `None` for the parts of [`plimsoll_core::model::Volumes`], which the
    /// state takes all at once.
    pub fn into_state(self) -> Option<model::Object> {
        Some(match self {
            Self::Pod(pod) => model::Object::Pod(pod),
            Self::Node(node) => model::Object::Node(node),
            Self::Namespace(namespace) => model::Object::Namespace(namespace),
            Self::Service(service) => model::Object::Service(service),
            Self::Workload(workload) => model::Object::Workload(workload),
            Self::DaemonSet(set) => model::Object::DaemonSet(set),
            Self::DisruptionBudget(budget) => model::Object::DisruptionBudget(budget),
            Self::NodePool(pool) => model::Object::Pool(pool),
            Self::NodeClaim(claim) => model::Object::Claim(claim),
            Self::NodeOverlay(overlay) => model::Object::Overlay(overlay),
            Self::PodTemplate(template) => model::Object::Template(template),
            Self::CapacityBuffer(buffer) => model::Object::Buffer(buffer),
            Self::VolumeClaim(..)
            | Self::PersistentVolume(..)
            | Self::StorageClass(..)
            | Self::CsiNode(..) => return None,
        })
    }
}
