//! Objects as they come in, and the version that orders them.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::model::{
    CapacityBuffer, DaemonSet, Namespace, Node, NodeClaim, NodeOverlay, NodePool, Pod,
    PodDisruptionBudget, PodTemplate, Replicated, Service, Volumes,
};

/// The API server's resource version: greater is later, over all objects of a kind.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Version(pub u64);

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident($type:ty) in $list:ident by $($key:ident),+;)*) => {
        /// One object of any kind that decisions read.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        pub enum Object {
            $($(#[$doc])* $kind(Arc<$type>),)*
            /// All volumes, volume claims, classes and limits at once.
            Volumes(Arc<Volumes>),
        }

        impl Object {
            /// `true` if both are the same object, maybe at different versions: of one kind, and of one name.
            pub fn is_same(&self, other: &Self) -> bool {
                match (self, other) {
                    $((Self::$kind(a), Self::$kind(b)) => ($(&a.$key,)+) == ($(&b.$key,)+),)*
                    (Self::Volumes(_), Self::Volumes(_)) => true,
                    _ => false,
                }
            }
        }

        /// Everything known, as separate objects in any order.
        #[derive(Clone, Debug, Default)]
        pub struct Objects {
            $($(#[$doc])* pub $list: Vec<Arc<$type>>,)*
            /// Volumes and their claims, classes and limits.
            pub volumes: Arc<Volumes>,
        }

        impl Objects {
            /// Adds an object. Volumes, of which there is one value, take the place of those before.
            pub fn push(&mut self, object: Object) {
                match object {
                    $(Object::$kind(object) => self.$list.push(object),)*
                    Object::Volumes(volumes) => self.volumes = volumes,
                }
            }

            /// Sorts each list by namespace and name, workloads by kind before.
            pub fn sort(&mut self) {
                $(self.$list.sort_by(|a, b| ($(&a.$key,)+).cmp(&($(&b.$key,)+)));)*
            }

            /// Each object, kind by kind, volumes last.
            pub fn iter(&self) -> impl Iterator<Item = Object> {
                std::iter::empty()
                    $(.chain(self.$list.iter().cloned().map(Object::$kind)))*
                    .chain([Object::Volumes(Arc::clone(&self.volumes))])
            }
        }
    };
}

// A kind, the list of its objects, and what tells them apart.
kinds! {
    /// NodePools.
    Pool(NodePool) in pools by name;
    /// NodeOverlays.
    Overlay(NodeOverlay) in overlays by name;
    /// CapacityBuffers.
    Buffer(CapacityBuffer) in buffers by name;
    /// PodTemplates, which give buffers their shape.
    Template(PodTemplate) in templates by name;
    /// Nodes.
    Node(Node) in nodes by name;
    /// NodeClaims.
    Claim(NodeClaim) in claims by name;
    /// Pods.
    Pod(Pod) in pods by name;
    /// DaemonSets.
    DaemonSet(DaemonSet) in daemon_sets by name;
    /// Deployments, ReplicaSets, ReplicationControllers and StatefulSets.
    Workload(Replicated) in workloads by kind, name;
    /// Services.
    Service(Service) in services by name;
    /// Namespaces.
    Namespace(Namespace) in namespaces by name;
    /// PodDisruptionBudgets.
    DisruptionBudget(PodDisruptionBudget) in disruption_budgets by name;
}

impl Object {
    /// `true` if what capacity buffers ask for may depend on it.
    pub fn is_of_buffers(&self) -> bool {
        matches!(
            self,
            Self::Buffer(_) | Self::Template(_) | Self::Workload(_)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::labels::Labels;

    fn namespace(name: &str, labels: Labels) -> Object {
        let name = Arc::from(name);
        Object::Namespace(Arc::new(Namespace { name, labels }))
    }

    #[test]
    fn objects_are_the_same_by_kind_and_name() {
        let labels = Labels::from_iter([("team".into(), "a".into())]);
        let shop = namespace("shop", Labels::default());
        assert!(shop.is_same(&namespace("shop", labels)));
        assert!(!shop.is_same(&namespace("bank", Labels::default())));
        let volumes = Object::Volumes(Arc::default());
        assert!(!shop.is_same(&volumes) && volumes.is_same(&volumes));
    }

    #[test]
    fn what_is_added_comes_back_sorted_and_volumes_last() {
        let [bank, shop] = ["bank", "shop"].map(|name| namespace(name, Labels::default()));
        let volumes = Object::Volumes(Arc::default());
        let mut objects = Objects::default();
        for object in [&shop, &volumes, &bank] {
            objects.push(object.clone());
        }
        objects.sort();
        let all: Vec<Object> = objects.iter().collect();
        assert_eq!(all, [bank, shop, volumes]);
    }
}
