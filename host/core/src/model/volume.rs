//! Persistent volumes as far as they decide where a pod may run.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::pod::NodeTerm;
use crate::ids::{NodeName, ObjectName};
use crate::requirement::Requirements;

/// When a storage class binds a claim to a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum BindingMode {
    /// As soon as the claim exists.
    Immediate,
    /// When the first pod that uses it is placed.
    WaitForFirstConsumer,
}

/// A persistent volume claim.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VolumeClaim {
    /// The class asked for; `None` when not named (the default class then counts), empty for none on purpose.
    pub class: Option<Arc<str>>,
    /// The volume it is bound to, or is to be bound to.
    pub volume: Option<Arc<str>>,
    /// `true` if binding is complete.
    pub bound: bool,
    /// `true` if its volume is gone for good.
    pub lost: bool,
    /// `true` if it was asked to go.
    pub deleting: bool,
    /// `true` if one pod at a time may use it (`ReadWriteOncePod`), whatever node it is on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub single_pod: bool,
}

/// Backing of a persistent volume.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum VolumeKind {
    /// A CSI driver, by name. In-tree kinds that were migrated carry their CSI driver's name.
    Csi(Arc<str>),
    /// A directory or disk of one host: host-name expressions in its affinity are not followed.
    Host,
    /// Anything else, which no attach limit counts.
    #[default]
    Other,
}

/// A persistent volume.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PersistentVolume {
    /// Backing of the volume.
    pub kind: VolumeKind,
    /// Where it can be reached: alternatives; empty for anywhere.
    pub affinity: Vec<NodeTerm>,
    /// Its labels of zone and region, each with the values that it allows: a node that has any such label must have these.
    #[serde(default, skip_serializing_if = "Requirements::is_empty")]
    pub zone_labels: Requirements,
    /// `true` if it was asked to go.
    pub deleting: bool,
}

/// A storage class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StorageClass {
    /// The driver, with in-tree names translated to CSI names.
    pub driver: Arc<str>,
    /// When it binds.
    pub binding: BindingMode,
    /// Where its volumes may be: alternatives; empty for anywhere.
    pub allowed_topologies: Vec<Requirements>,
    /// Since when it is the default class, in milliseconds since the epoch; `None` when it is not.
    pub default_since: Option<i64>,
}

/// How many volumes of each CSI driver a node can attach; a driver that is absent is unlimited.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CsiNode {
    /// Limits by driver.
    pub limits: BTreeMap<Arc<str>, u32>,
}

/// A volume attached to a node, or about to be. It takes a slot there though no pod of the node uses it any more, and the end of a
/// machine waits for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VolumeAttachment {
    /// Name of the VolumeAttachment, unique in the cluster.
    pub name: Arc<str>,
    /// The CSI driver that attaches it.
    pub attacher: Arc<str>,
    /// Name of the node.
    pub node: NodeName,
    /// Name of the volume; `None` for one that is described in place.
    pub volume: Option<Arc<str>>,
}

/// All that is known of volumes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Volumes {
    /// Claims.
    #[serde(with = "pairs")]
    pub claims: BTreeMap<ObjectName, VolumeClaim>,
    /// Volumes.
    pub volumes: BTreeMap<Arc<str>, PersistentVolume>,
    /// Classes.
    pub classes: BTreeMap<Arc<str>, StorageClass>,
    /// Attach limits by node.
    pub nodes: BTreeMap<NodeName, CsiNode>,
}

/// An object of one of the kinds that [`Volumes`] is made of, with its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VolumePart {
    /// A claim.
    Claim(ObjectName, VolumeClaim),
    /// A volume.
    Volume(Arc<str>, PersistentVolume),
    /// A class.
    Class(Arc<str>, StorageClass),
    /// Attach limits of a node.
    Node(NodeName, CsiNode),
}

impl Volumes {
    /// Takes in a part, in the place of the one of its kind and name.
    pub fn put(&mut self, part: VolumePart) {
        match part {
            VolumePart::Claim(name, claim) => drop(self.claims.insert(name, claim)),
            VolumePart::Volume(name, volume) => drop(self.volumes.insert(name, volume)),
            VolumePart::Class(name, class) => drop(self.classes.insert(name, class)),
            VolumePart::Node(name, node) => drop(self.nodes.insert(name, node)),
        }
    }

    /// Takes out the part of the same kind and name.
    pub fn remove(&mut self, part: &VolumePart) {
        match part {
            VolumePart::Claim(name, _) => drop(self.claims.remove(name)),
            VolumePart::Volume(name, _) => drop(self.volumes.remove(name)),
            VolumePart::Class(name, _) => drop(self.classes.remove(name)),
            VolumePart::Node(name, _) => drop(self.nodes.remove(name)),
        }
    }

    /// Every part: classes, volumes, claims, attach limits, each by name.
    pub fn parts(&self) -> impl Iterator<Item = VolumePart> {
        let classes = self.classes.iter();
        let volumes = self.volumes.iter();
        let claims = self.claims.iter();
        let nodes = self.nodes.iter();
        std::iter::empty()
            .chain(classes.map(|(name, class)| VolumePart::Class(name.clone(), class.clone())))
            .chain(volumes.map(|(name, volume)| VolumePart::Volume(name.clone(), volume.clone())))
            .chain(claims.map(|(name, claim)| VolumePart::Claim(name.clone(), claim.clone())))
            .chain(nodes.map(|(name, node)| VolumePart::Node(name.clone(), node.clone())))
    }
}

/// A map whose keys are no text, as a list of pairs: formats that know only text as keys can hold it then.
mod pairs {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<K: Serialize, V: Serialize, S: Serializer>(
        map: &BTreeMap<K, V>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(map)
    }

    pub(super) fn deserialize<'de, K, V, D>(deserializer: D) -> Result<BTreeMap<K, V>, D::Error>
    where
        K: Deserialize<'de> + Ord,
        V: Deserialize<'de>,
        D: Deserializer<'de>,
    {
        let pairs = Vec::<(K, V)>::deserialize(deserializer)?;
        Ok(pairs.into_iter().collect())
    }
}
