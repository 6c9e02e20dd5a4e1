//! Constraints that a pod's volumes put on its node.
//!
//! Each volume gives alternatives (an OR of requirement sets), by its affinity, its labels of zone and region, and
//! the room that its driver tells of; across
//! volumes they are combined pairwise, keeping pairs that
//! agree. They narrow the node a pod is tried on, never the pod itself, so that spread still sees the pod as unrestricted.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plimsoll_base::ids::ObjectName;
use plimsoll_base::labels::{self, LabelKey};
use plimsoll_base::requirement::{Operator, Requirement, Requirements};
use plimsoll_model::{BindingMode, Pod, PodVolume, StorageClass, VolumeClaim, VolumeKind, Volumes};

use super::capacity;

/// Volume claims in use, by CSI driver.
pub(crate) type ClaimsByDriver = BTreeMap<Arc<str>, BTreeSet<ObjectName>>;

/// Why a pod's volumes keep it from being planned, in words.
pub(crate) fn problem(pod: &Pod, volumes: &Volumes) -> Option<String> {
    claims_of(pod).find_map(|name| match volumes.claims.get(&name) {
        None => Some(format!("volume claim {name} does not exist")),
        Some(claim) => claim_problem(&name, claim, volumes),
    })
}

fn claim_problem(name: &ObjectName, claim: &VolumeClaim, volumes: &Volumes) -> Option<String> {
    if claim.deleting {
        return Some(format!("volume claim {name} is being deleted"));
    }
    if claim.lost {
        return Some(format!("volume claim {name} has lost its volume"));
    }
    if let Some(volume) = claim.volume.as_ref().filter(|volume| !volume.is_empty()) {
        return match volumes.volumes.get(volume) {
            None => Some(format!("volume {volume} of claim {name} does not exist")),
            Some(found) if found.deleting => {
                Some(format!("volume {volume} of claim {name} is being deleted"))
            }
            Some(_) if !claim.bound => Some(format!(
                "volume claim {name} names volume {volume} but is not bound to it yet"
            )),
            Some(_) => None,
        };
    }
    match class_of(claim, volumes) {
        None => Some(format!(
            "volume claim {name} is not bound and has no storage class"
        )),
        Some((class, None)) => Some(format!(
            "storage class {class} of volume claim {name} does not exist"
        )),
        Some((class, Some(found))) if found.binding == BindingMode::Immediate => Some(format!(
            "volume claim {name} is not bound although storage class {class} binds at once"
        )),
        Some((class, Some(_))) => {
            let is_full = capacity::nodes_with_room(claim, class, volumes)
                .is_some_and(|rooms| rooms.is_empty());
            is_full.then(|| format!(
                "no CSIStorageCapacity of storage class {class} has room for volume claim {name}"
            ))
        }
    }
}

/// Name of a claim's class, by default the newest default class, and the class where it exists.
fn class_of<'a>(
    claim: &'a VolumeClaim,
    volumes: &'a Volumes,
) -> Option<(&'a Arc<str>, Option<&'a StorageClass>)> {
    match &claim.class {
        Some(name) if name.is_empty() => None,
        Some(name) => Some((name, volumes.classes.get(name))),
        None => {
            let defaults = volumes
                .classes
                .iter()
                .filter(|(_, class)| class.default_since.is_some());
            let newest = defaults.max_by_key(|(name, class)| (class.default_since, *name));
            newest.map(|(name, class)| (name, Some(class)))
        }
    }
}

fn claims_of(pod: &Pod) -> impl Iterator<Item = ObjectName> + '_ {
    let namespace = &pod.name.namespace;
    pod.spec
        .volumes
        .iter()
        .map(|volume| ObjectName::new(Arc::clone(namespace), volume.claim_name(&pod.name.name)))
}

/// The alternatives that a pod's volumes leave: one of these sets must hold. `[nothing required]` for a pod without
/// volumes. When no combination agrees, all are kept, and the pod fails later with an ordinary reason.
pub(crate) fn alternatives(pod: &Pod, volumes: &Volumes) -> Vec<Requirements> {
    let mut combined = vec![Requirements::new()];
    for own in factors(pod, volumes) {
        let pairs: Vec<(&Requirements, &Requirements)> = combined
            .iter()
            .flat_map(|left| own.iter().map(move |right| (left, right)))
            .collect();
        let agreeing = |(left, right): &(&Requirements, &Requirements)| {
            left.accepts(right, plimsoll_base::requirement::Undefined::Ignored)
                .is_ok()
        };
        let any_agree = pairs.iter().any(agreeing);
        combined = pairs
            .into_iter()
            .filter(|pair| !any_agree || agreeing(pair))
            .map(|(left, right)| left.intersect(right))
            .collect();
    }
    combined
}

/// What must hold at once for the pod's volumes: of each of these lists, of which none is empty, one set.
fn factors(pod: &Pod, volumes: &Volumes) -> Vec<Vec<Requirements>> {
    let mut result = Vec::new();
    for (volume, name) in pod.spec.volumes.iter().zip(claims_of(pod)) {
        let Some(claim) = volumes.claims.get(&name) else {
            continue;
        };
        result.push(alternatives_of(claim, volumes));
        if let Some((class, Some(_))) = class_of(claim, volumes) {
            result.extend(capacity::nodes_with_room(claim, class, volumes));
        }
        // Labels of a volume whose claim was made for one pod are not looked at, as the scheduler does not.
        if matches!(volume, PodVolume::Claim(_)) {
            result.extend(by_labels(claim, volumes));
        }
    }
    result.retain(|own| !own.is_empty());
    result
}

/// What a bound volume's labels of zone and region ask for: their values, or a node that has no label of either key.
fn by_labels(claim: &VolumeClaim, volumes: &Volumes) -> Option<Vec<Requirements>> {
    let volume = volumes.volumes.get(claim.volume.as_ref()?)?;
    let asked = Some(&volume.zone_labels).filter(|asked| !asked.is_empty())?;
    let nowhere = [labels::ZONE, labels::REGION].map(LabelKey::from);
    let nowhere = nowhere.map(Requirement::does_not_exist);
    Some(vec![asked.clone(), nowhere.into_iter().collect()])
}

fn alternatives_of(claim: &VolumeClaim, volumes: &Volumes) -> Vec<Requirements> {
    if let Some(volume) = claim
        .volume
        .as_ref()
        .and_then(|name| volumes.volumes.get(name))
    {
        let on_host = volume.kind == VolumeKind::Host;
        return volume
            .affinity
            .iter()
            .map(|term| {
                let mut requirements = term.requirements.clone();
                if on_host {
                    requirements.remove(labels::HOSTNAME);
                }
                requirements
            })
            .collect();
    }
    let class = class_of(claim, volumes).and_then(|(_, class)| class);
    class
        .map(|class| class.allowed_topologies.clone())
        .unwrap_or_default()
}

/// A pod's claims by CSI driver, as far as attach limits can count them.
pub(crate) fn attached(pod: &Pod, volumes: &Volumes) -> ClaimsByDriver {
    let mut result = ClaimsByDriver::new();
    for name in claims_of(pod) {
        let Some(claim) = volumes.claims.get(&name) else {
            continue;
        };
        let driver = match claim
            .volume
            .as_ref()
            .and_then(|volume| volumes.volumes.get(volume))
        {
            Some(volume) => match &volume.kind {
                VolumeKind::Csi(driver) => Some(Arc::clone(driver)),
                VolumeKind::Host | VolumeKind::Other => None,
            },
            None => {
                class_of(claim, volumes).and_then(|(_, class)| Some(Arc::clone(&class?.driver)))
            }
        };
        if let Some(driver) = driver {
            result.entry(driver).or_default().insert(name);
        }
    }
    result
}

/// `true` if requirements pin a host by name, which no new node can have.
pub(crate) fn names_a_host(requirements: &Requirements) -> bool {
    requirements
        .get(labels::HOSTNAME)
        .is_some_and(|requirement| requirement.operator() == Operator::In)
}
