//! Persistent volumes as far as they decide where a pod may run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plimsoll_base::ids::{NodeName, ObjectName};
use plimsoll_base::requirement::Requirements;
use serde::{Deserialize, Serialize};

use super::pod::NodeTerm;

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
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own that the API server tells of the claim"
)]
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
    /// Bytes that it asks for; `None` where it does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<i64>,
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

/// CSI drivers that run on a node, and how many volumes of each it can attach.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CsiNode {
    /// Limits by driver.
    pub limits: BTreeMap<Arc<str>, u32>,
    /// Drivers that are there and attach any number.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub unlimited: BTreeSet<Arc<str>>,
}

impl CsiNode {
    /// `true` if a driver runs on the node.
    pub fn has(&self, driver: &str) -> bool {
        self.limits.contains_key(driver) || self.unlimited.contains(driver)
    }
}

/// Wishes of a CSI driver to the scheduler.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CsiDriver {
    /// `true` if a volume is made only where a [`StorageCapacity`] has room for it (`storageCapacity`).
    pub tells_capacity: bool,
    /// `true` if pods with its volumes go only to nodes where it runs (`preventPodSchedulingIfMissing`).
    pub must_run: bool,
}

/// Room for new volumes of a class that some nodes can reach.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StorageCapacity {
    /// The class.
    pub class: Arc<str>,
    /// Labels of the nodes that reach it; `None` for no node.
    pub topology: Option<Requirements>,
    /// Bytes of the largest volume that can be made: `maximumVolumeSize`, or all of `capacity`; `None` where nothing is known.
    pub largest: Option<i64>,
}

/// A volume attached to a node, or about to be. It takes a slot there though no pod of the node uses it any more, and the end of an
/// instance waits for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VolumeAttachment {
    /// Name of the VolumeAttachment, unique in the cluster.
    pub name: Arc<str>,
    /// The CSI driver that attaches it; empty in recordings that did not keep it.
    #[serde(default)]
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
    /// Drivers and their attach limits by node.
    pub nodes: BTreeMap<NodeName, CsiNode>,
    /// CSI drivers by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub drivers: BTreeMap<Arc<str>, CsiDriver>,
    /// Room for new volumes.
    #[serde(default, with = "pairs", skip_serializing_if = "BTreeMap::is_empty")]
    pub capacities: BTreeMap<ObjectName, StorageCapacity>,
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
    /// Drivers of a node.
    Node(NodeName, CsiNode),
    /// A driver.
    Driver(Arc<str>, CsiDriver),
    /// Room for new volumes.
    Capacity(ObjectName, StorageCapacity),
}

impl Volumes {
    /// Takes in a part, in the place of the one of its kind and name.
    pub fn put(&mut self, part: VolumePart) {
        match part {
            VolumePart::Claim(name, claim) => drop(self.claims.insert(name, claim)),
            VolumePart::Volume(name, volume) => drop(self.volumes.insert(name, volume)),
            VolumePart::Class(name, class) => drop(self.classes.insert(name, class)),
            VolumePart::Node(name, node) => drop(self.nodes.insert(name, node)),
            VolumePart::Driver(name, driver) => drop(self.drivers.insert(name, driver)),
            VolumePart::Capacity(name, room) => drop(self.capacities.insert(name, room)),
        }
    }

    /// Takes out the part of the same kind and name.
    pub fn remove(&mut self, part: &VolumePart) {
        match part {
            VolumePart::Claim(name, _) => drop(self.claims.remove(name)),
            VolumePart::Volume(name, _) => drop(self.volumes.remove(name)),
            VolumePart::Class(name, _) => drop(self.classes.remove(name)),
            VolumePart::Node(name, _) => drop(self.nodes.remove(name)),
            VolumePart::Driver(name, _) => drop(self.drivers.remove(name)),
            VolumePart::Capacity(name, _) => drop(self.capacities.remove(name)),
        }
    }

    /// Every part: classes, volumes, claims, drivers of nodes, drivers, capacities, each by name.
    pub fn parts(&self) -> impl Iterator<Item = VolumePart> {
        let classes = self.classes.iter();
        let volumes = self.volumes.iter();
        let claims = self.claims.iter();
        let nodes = self.nodes.iter();
        let drivers = self.drivers.iter();
        let rooms = self.capacities.iter();
        std::iter::empty()
            .chain(classes.map(|(name, class)| VolumePart::Class(name.clone(), class.clone())))
            .chain(volumes.map(|(name, volume)| VolumePart::Volume(name.clone(), volume.clone())))
            .chain(claims.map(|(name, claim)| VolumePart::Claim(name.clone(), claim.clone())))
            .chain(nodes.map(|(name, node)| VolumePart::Node(name.clone(), node.clone())))
            .chain(drivers.map(|(name, driver)| VolumePart::Driver(name.clone(), *driver)))
            .chain(rooms.map(|(name, room)| VolumePart::Capacity(name.clone(), room.clone())))
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
