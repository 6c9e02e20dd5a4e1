//! Volumes: whether a pod's claims can be used at all, from where they can be reached, and how many a node can attach.
//! Section 6 of the scheduling contract.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plimsoll_base::ids::ObjectName;
use plimsoll_base::labels::{HOSTNAME, INSTANCE_TYPE};
use plimsoll_base::requirement::Requirements;
use plimsoll_base::time::Span;
use plimsoll_model::plan::PlannedClaim;
use plimsoll_model::snapshot::{Snapshot, StateNode};
use plimsoll_model::{
    BindingMode, PackingMode, Pod, PodVolume, StorageClass, VolumeClaim, VolumeKind,
};

use super::finding::{Breach, Rule};
use super::host::Host;

/// Claims by driver, each counted once however many pods share it.
pub(super) type AttachedClaims = BTreeMap<Arc<str>, BTreeSet<ObjectName>>;

fn claims<'a>(
    snapshot: &'a Snapshot,
    pod: &'a Pod,
) -> impl Iterator<Item = (ObjectName, Option<&'a VolumeClaim>)> {
    pod.spec.volumes.iter().map(move |volume| {
        let name = ObjectName::new(
            Arc::clone(&pod.name.namespace),
            volume.claim_name(&pod.name.name),
        );
        let claim = snapshot.volumes.claims.get(&name);
        (name, claim)
    })
}

/// The class of a claim: the one named, or the newest default; none when named empty.
fn class<'a>(snapshot: &'a Snapshot, claim: &VolumeClaim) -> Option<&'a StorageClass> {
    let classes = &snapshot.volumes.classes;
    match &claim.class {
        Some(name) => classes.get(name),
        None => classes
            .values()
            .filter(|class| class.default_since.is_some())
            .max_by_key(|class| class.default_since),
    }
}

/// Why a pod with these volumes cannot be planned.
pub(super) fn problem(snapshot: &Snapshot, pod: &Pod) -> Option<String> {
    claims(snapshot, pod).find_map(|(name, claim)| {
        let Some(claim) = claim else {
            return Some(format!("volume claim {name} does not exist"));
        };
        let problem = if claim.deleting {
            "is being deleted"
        } else if claim.lost {
            "has lost its volume"
        } else if let Some(volume) = &claim.volume {
            match snapshot.volumes.volumes.get(volume) {
                None => "is for a volume that does not exist",
                Some(volume) if volume.deleting => "is for a volume that is being deleted",
                Some(_) if !claim.bound => "is not bound to its volume yet",
                Some(_) => return None,
            }
        } else {
            match class(snapshot, claim) {
                None => "is not bound and has no storage class",
                Some(class) if class.binding == BindingMode::Immediate => {
                    "is not bound although its class binds at once"
                }
                Some(_) if rooms(snapshot, claim).is_some_and(|rooms| rooms.is_empty()) => {
                    "has no room to be made in"
                }
                Some(_) => return None,
            }
        };
        Some(format!("volume claim {name} {problem}"))
    })
}

/// For each volume of a pod that is not reachable from everywhere: its claim, and the alternatives of which one must hold.
pub(super) fn alternatives(snapshot: &Snapshot, pod: &Pod) -> Vec<(ObjectName, Vec<Requirements>)> {
    let of_claim = |(name, claim): (ObjectName, Option<&VolumeClaim>)| {
        let claim = claim?;
        let alternatives = match &claim.volume {
            Some(volume) => {
                let volume = snapshot.volumes.volumes.get(volume)?;
                let terms = volume.affinity.iter().map(|term| {
                    let mut requirements = term.requirements.clone();
                    if volume.kind == VolumeKind::Host {
                        requirements.remove(HOSTNAME);
                    }
                    requirements
                });
                terms.collect()
            }
            None => class(snapshot, claim)?.allowed_topologies.clone(),
        };
        (!alternatives.is_empty()).then_some((name, alternatives))
    };
    let of_room = |(name, claim): (ObjectName, Option<&VolumeClaim>)| {
        let rooms = rooms(snapshot, claim?)?;
        Some((name, rooms.into_iter().cloned().collect()))
    };
    let places = claims(snapshot, pod).filter_map(of_claim);
    places
        .chain(claims(snapshot, pod).filter_map(of_room))
        .collect()
}

/// Node labels of every CSIStorageCapacity in which a claim that is not bound could be made; `None` where its driver does not tell
/// of any, or it does not say how large it is to be.
fn rooms<'a>(snapshot: &'a Snapshot, claim: &VolumeClaim) -> Option<Vec<&'a Requirements>> {
    let volumes = &snapshot.volumes;
    let class = class(snapshot, claim).filter(|_| claim.volume.is_none())?;
    let (name, _) = volumes
        .classes
        .iter()
        .find(|(_, own)| std::ptr::eq(*own, class))?;
    let size = claim.size?;
    if !volumes.drivers.get(&class.driver)?.tells_capacity {
        return None;
    }
    let mut result = Vec::new();
    for room in volumes.capacities.values() {
        let is_enough = room.largest.is_some_and(|largest| size <= largest);
        if let Some(topology) = &room.topology
            && is_enough
            && room.class == *name
        {
            result.push(topology);
        }
    }
    Some(result)
}

/// The first driver of a pod's volumes that must run on a node and does not. One that has just come may still get it.
pub(super) fn missing_driver(snapshot: &Snapshot, node: &StateNode, pod: &Pod) -> Option<Arc<str>> {
    let mut own = AttachedClaims::new();
    attach(snapshot, pod, &mut own);
    let seen = node.node.as_ref()?;
    let age = snapshot.now.since(seen.created);
    if !node.is_initialized() || age < Span::from_secs(5 * 60) {
        return None;
    }
    let runs = |driver: &str| match snapshot.volumes.nodes.get(&seen.name) {
        Some(there) => there.limits.contains_key(driver) || there.unlimited.contains(driver),
        None => false,
    };
    let asks = |driver: &Arc<str>| matches!(snapshot.volumes.drivers.get(driver), Some(own) if own.must_run);
    own.into_keys().find(|driver| asks(driver) && !runs(driver))
}

/// The most volumes by driver that a node there is attaches: what its drivers say, and before all of them have come what its type
/// attaches by the others.
pub(super) fn attach_limits(snapshot: &Snapshot, node: &StateNode) -> BTreeMap<Arc<str>, u32> {
    let mut result = BTreeMap::new();
    let has_all = node.is_initialized();
    if let Some(claim) = node.claim.as_ref().filter(|_| !has_all) {
        let types = snapshot.catalogues.of(&claim.class).types().iter();
        let name = node
            .labels()
            .get(INSTANCE_TYPE)
            .cloned()
            .unwrap_or_default();
        for sold in types.filter(|sold| *sold.name.as_str() == *name) {
            result.extend(sold.attach_limits.clone());
        }
    }
    let seen = node.node.as_ref();
    if let Some(there) = seen.and_then(|seen| snapshot.volumes.nodes.get(&seen.name)) {
        result.retain(|driver, _| !there.unlimited.contains(driver));
        result.extend(there.limits.clone());
    }
    result
}

/// For each volume of a pod with labels of zone or region: its claim, and what the labels say. Claims that were made for the pod
/// are not looked at.
pub(super) fn zone_labels<'a>(
    snapshot: &'a Snapshot,
    pod: &'a Pod,
) -> impl Iterator<Item = (ObjectName, &'a Requirements)> {
    let of_claim =
        |(volume, (name, claim)): (&PodVolume, (ObjectName, Option<&'a VolumeClaim>))| {
            let PodVolume::Claim(_) = volume else {
                return None;
            };
            let volume = snapshot.volumes.volumes.get(claim?.volume.as_ref()?)?;
            (!volume.zone_labels.is_empty()).then_some((name, &volume.zone_labels))
        };
    let volumes = pod.spec.volumes.iter();
    volumes.zip(claims(snapshot, pod)).filter_map(of_claim)
}

/// Adds a pod's claims to those attached to a node, by driver. Drivers that cannot be told are not counted.
pub(super) fn attach(snapshot: &Snapshot, pod: &Pod, attached: &mut AttachedClaims) {
    for (name, claim) in claims(snapshot, pod) {
        let driver = claim.and_then(|claim| match &claim.volume {
            Some(volume) => match &snapshot.volumes.volumes.get(volume)?.kind {
                VolumeKind::Csi(driver) => Some(Arc::clone(driver)),
                VolumeKind::Host | VolumeKind::Other => None,
            },
            None => class(snapshot, claim).map(|class| Arc::clone(&class.driver)),
        });
        if let Some(driver) = driver {
            attached.entry(driver).or_default().insert(name);
        }
    }
}

/// Names of the volumes that VolumeAttachments hold on a node, by the driver that attaches them.
pub(super) fn lingering(
    snapshot: &Snapshot,
    node: &StateNode,
) -> BTreeMap<Arc<str>, BTreeSet<Arc<str>>> {
    let mut result: BTreeMap<Arc<str>, BTreeSet<Arc<str>>> = BTreeMap::new();
    let Some(node) = &node.node else {
        return result;
    };
    for own in snapshot
        .attachments
        .iter()
        .filter(|own| own.node == node.name)
    {
        let volume = own.volume.as_ref().filter(|_| !own.attacher.is_empty());
        let known = volume.and_then(|name| snapshot.volumes.volumes.get(name));
        let is_csi = known.is_some_and(|known| matches!(known.kind, VolumeKind::Csi(_)));
        if let Some(name) = volume.filter(|_| is_csi) {
            let of_driver = result.entry(own.attacher.clone()).or_default();
            of_driver.insert(Arc::clone(name));
        }
    }
    result
}

/// An instance to buy, with all its pods on, that in some way it names attaches fewer volumes than they use. Only in pools whose
/// guards hold.
pub(super) fn too_many(snapshot: &Snapshot, claim: &PlannedClaim, host: &Host) -> Option<Breach> {
    if !holds(snapshot, claim) {
        return None;
    }
    host.named().find_map(|way| {
        let sold = way.sold.as_ref()?;
        let limits = &sold.instance_type.attach_limits;
        host.attached.iter().find_map(|(driver, claims)| {
            let limit = usize::try_from(*limits.get(driver)?).unwrap_or(usize::MAX);
            (claims.len() > limit).then(|| {
                Breach::new(
                    Rule::AttachSlots,
                    format!("{} volumes of {driver} (as {sold})", claims.len()),
                    format!("at most {limit}"),
                )
            })
        })
    })
}

/// `true` if new nodes of a claim's pool are to get no more volumes than they attach.
fn holds(snapshot: &Snapshot, claim: &PlannedClaim) -> bool {
    let guards = &snapshot.settings.guards;
    let of_pool = snapshot.pool(claim.pool.as_str()).map(|pool| pool.packing);
    let packing = snapshot.settings.packing.or(of_pool);
    guards.enabled && guards.attach_slots && packing == Some(PackingMode::Price)
}
