//! Volumes: whether a pod's claims can be used at all, from which nodes, and whether a node attaches them.
//!
//! From the scheduler's rules for claims of one pod at a time, for binding, for labels of zone and region, and for attach limits.
//! No volume is provisioned here: a claim that waits for its first consumer stays unbound once the pod is bound. A claim that does not
//! exist is ignored.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plimsoll_base::ids::ObjectName;
use plimsoll_base::labels::{REGION, ZONE};
use plimsoll_base::requirement::{Requirements, Undefined};
use plimsoll_model::{
    BindingMode, Node, Pod, PodVolume, StorageClass, VolumeClaim, VolumeKind, Volumes,
};

use super::filter::Refused;
use crate::api::Api;

/// What takes a slot of a driver: a volume, or a claim whose volume is still to be made.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Slot {
    Volume(Arc<str>),
    Claim(ObjectName),
}

type SlotsByDriver = BTreeMap<Arc<str>, BTreeSet<Slot>>;

/// Demands that a pod's volumes make of its node.
#[derive(Clone, Debug, Default)]
pub(crate) struct VolumeRules {
    /// `true` if some claim can be used on no node.
    nowhere: bool,
    /// Of each of these lists one must hold.
    places: Vec<Vec<Requirements>>,
    /// Labels of zone and region of volumes, which a node with any such label must have.
    zones: Vec<Requirements>,
    brought: SlotsByDriver,
}

impl VolumeRules {
    pub(crate) fn of(pod: &Pod, api: &Api) -> Self {
        let mut result = Self::default();
        if pod.spec.volumes.is_empty() {
            return result;
        }
        let volumes = api.volumes();
        for (volume, name) in pod.spec.volumes.iter().zip(claims_of(pod)) {
            let Some(claim) = volumes.claims.get(&name) else {
                continue;
            };
            let is_had = || is_used(pod, volume, api);
            result.nowhere |= claim.deleting || claim.lost || (claim.single_pod && is_had());
            match &claim.volume {
                // The volume controller has not finished binding it.
                Some(_) if !claim.bound => result.nowhere = true,
                Some(bound) => result.reach(bound, volume, volumes),
                None => result.make(claim, volumes),
            }
        }
        result.brought = slots_of(pod, volumes);
        result
    }

    /// A volume that is there.
    fn reach(&mut self, name: &str, volume: &PodVolume, volumes: &Volumes) {
        let Some(bound) = volumes.volumes.get(name) else {
            self.nowhere = true;
            return;
        };
        if !bound.affinity.is_empty() {
            let terms = bound.affinity.iter();
            let terms = terms.map(|term| term.requirements.clone());
            self.places.push(terms.collect());
        }
        // The scheduler does not look at the labels of volumes of claims that were made for one pod.
        if matches!(volume, PodVolume::Claim(_)) && !bound.zone_labels.is_empty() {
            self.zones.push(bound.zone_labels.clone());
        }
    }

    /// A volume that is made once the pod has its node.
    fn make(&mut self, claim: &VolumeClaim, volumes: &Volumes) {
        let class = class_of(claim, volumes);
        let Some((name, class)) =
            class.filter(|(_, class)| class.binding == BindingMode::WaitForFirstConsumer)
        else {
            self.nowhere = true;
            return;
        };
        if !class.allowed_topologies.is_empty() {
            self.places.push(class.allowed_topologies.clone());
        }
        let driver = volumes.drivers.get(&class.driver);
        if let Some(size) = claim.size
            && driver.is_some_and(|driver| driver.tells_capacity)
        {
            let rooms = volumes.capacities.values();
            let rooms = rooms.filter(|room| room.class == *name && room.largest >= Some(size));
            let rooms = rooms.filter_map(|room| room.topology.clone());
            self.places.push(rooms.collect());
        }
    }

    /// `labels` are the node's.
    pub(crate) fn allow(
        &self,
        node: &Node,
        labels: &Requirements,
        api: &Api,
    ) -> Result<(), Refused> {
        let accepted = |asked: &Requirements| labels.accepts(asked, Undefined::Refused).is_ok();
        let is_placed = [ZONE, REGION].iter().any(|key| labels.get(key).is_some());
        let is_reached = !self.nowhere
            && self.places.iter().all(|any| any.iter().any(accepted))
            && (!is_placed || self.zones.iter().all(accepted));
        if is_reached && self.are_attached(node, api) {
            Ok(())
        } else {
            Err(Refused::Volumes)
        }
    }

    /// `true` if the drivers of a node attach the volumes that the pod brings. A volume that is attached though no pod of the node
    /// uses it takes a slot, and the pod that brings it takes another.
    fn are_attached(&self, node: &Node, api: &Api) -> bool {
        let volumes = api.volumes();
        let Some(there) = volumes.nodes.get(&node.name) else {
            return true;
        };
        let limits = &there.limits;
        let mut drivers = self.brought.keys();
        if !drivers.any(|driver| limits.contains_key(driver)) {
            return true;
        }
        let mut used = SlotsByDriver::new();
        for other in api.pods_on(&node.name).filter(|other| !other.is_terminal()) {
            for (driver, slots) in slots_of(other, volumes) {
                used.entry(driver).or_default().extend(slots);
            }
        }
        self.brought.iter().all(|(driver, brought)| {
            let none = BTreeSet::new();
            let used = used.get(driver).unwrap_or(&none);
            let more = brought.difference(used).count();
            let lingering = api.attached_to(&node.name, driver);
            let lingering = lingering.filter(|volume| {
                is_csi(volume, volumes) && !used.contains(&Slot::Volume(Arc::clone(volume)))
            });
            let taken = used.len() + lingering.count() + more;
            let limit = limits.get(driver).copied();
            more == 0 || limit.is_none_or(|limit| u32::try_from(taken).is_ok_and(|n| n <= limit))
        })
    }

    /// `true` if the pod's volumes ask nothing of a node.
    pub(crate) fn is_empty(&self) -> bool {
        !self.nowhere && self.places.is_empty() && self.zones.is_empty() && self.brought.is_empty()
    }
}

/// Names of the claims of a pod, in the order of its volumes.
pub(crate) fn claims_of(pod: &Pod) -> impl Iterator<Item = ObjectName> + '_ {
    let claims = pod.spec.volumes.iter();
    claims.map(|volume| {
        let claim = volume.claim_name(&pod.name.name);
        ObjectName::new(Arc::clone(&pod.name.namespace), claim)
    })
}

/// `true` if a pod has a ReadWriteOncePod claim, so that a pod on any node may keep it waiting.
pub(crate) fn may_wait_for_others(pod: &Pod, api: &Api) -> bool {
    let volumes = api.volumes();
    let mut claims = claims_of(pod).filter_map(|name| volumes.claims.get(&name));
    claims.any(|claim| claim.single_pod)
}

/// `true` if a pod on any node uses the claim of a pod's volume. Claims that were made for one pod are not looked at.
fn is_used(pod: &Pod, volume: &PodVolume, api: &Api) -> bool {
    let mut pods = api.pods.values().filter(|other| {
        let node = other.node.as_ref();
        !other.is_terminal() && node.is_some_and(|node| api.nodes.contains_key(node))
    });
    matches!(volume, PodVolume::Claim(_))
        && pods.any(|other| {
            other.name.namespace == pod.name.namespace && other.spec.volumes.contains(volume)
        })
}

/// The class of a claim with its name: the one named, or the newest default, as the API server fills it in.
pub(crate) fn class_of<'v>(
    claim: &VolumeClaim,
    volumes: &'v Volumes,
) -> Option<(&'v Arc<str>, &'v StorageClass)> {
    if let Some(name) = &claim.class {
        return volumes.classes.get_key_value(name);
    }
    let classes = volumes.classes.iter();
    let defaults = classes.filter(|(_, class)| class.default_since.is_some());
    defaults.max_by_key(|(name, class)| (class.default_since, *name))
}

fn is_csi(volume: &str, volumes: &Volumes) -> bool {
    let volume = volumes.volumes.get(volume);
    volume.is_some_and(|volume| matches!(volume.kind, VolumeKind::Csi(_)))
}

/// What a pod takes of attach limits, by driver.
fn slots_of(pod: &Pod, volumes: &Volumes) -> SlotsByDriver {
    let mut result = SlotsByDriver::new();
    for name in claims_of(pod) {
        let Some(claim) = volumes.claims.get(&name) else {
            continue;
        };
        let bound = claim.volume.as_ref();
        let bound = bound.and_then(|volume| volumes.volumes.get_key_value(volume));
        let (driver, slot) = match bound {
            Some((volume, found)) => match &found.kind {
                VolumeKind::Csi(driver) => (driver, Slot::Volume(Arc::clone(volume))),
                VolumeKind::Host | VolumeKind::Other => continue,
            },
            None => match class_of(claim, volumes) {
                Some((_, class)) => (&class.driver, Slot::Claim(name)),
                None => continue,
            },
        };
        let slots = result.entry(Arc::clone(driver)).or_default();
        slots.insert(slot);
    }
    result
}
