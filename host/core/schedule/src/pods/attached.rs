//! Volumes on a node there is, against what its CSI drivers attach. While a driver has not said so itself, on a node that is being
//! launched or has just joined, its type's limits count.
//!
//! A volume that pods of the node use takes a slot, once for all of them; so does one that is still attached though no pod there
//! uses it any more. A pod whose volume is one of these takes a second slot for it, as the scheduler counts. Only drivers of
//! which the pod brings a volume are looked at: a node beyond its limit takes pods without volumes.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_base::ids::{NodeName, ObjectName};
use plimsoll_base::labels;
use plimsoll_model::snapshot::{Snapshot, StateNode};
use plimsoll_model::{Pod, VolumeKind};

use super::volumes::{self, ClaimsByDriver};

/// The most volumes by driver.
type VolumeLimits = BTreeMap<Arc<str>, u32>;

/// Volumes on one node, by driver and by the claims that they are bound to.
#[derive(Clone, Debug, Default)]
pub(crate) struct AttachedVolumes {
    /// What its drivers attach.
    limits: Arc<VolumeLimits>,
    /// Those of its pods.
    used: ClaimsByDriver,
    /// Those that are attached.
    attached: ClaimsByDriver,
}

impl AttachedVolumes {
    /// Volumes of a node with these pods; `attached` are those that VolumeAttachments name. `None` where no driver has a limit.
    pub(crate) fn of<'p>(
        snapshot: &Snapshot,
        node: &StateNode,
        pods: impl Iterator<Item = &'p Arc<Pod>>,
        attached: Option<&ClaimsByDriver>,
    ) -> Option<Self> {
        let limits = limits_of(snapshot, node);
        if limits.is_empty() {
            return None;
        }
        let mut result = Self {
            limits: Arc::new(limits),
            used: ClaimsByDriver::new(),
            attached: attached.cloned().unwrap_or_default(),
        };
        for pod in pods.filter(|pod| !pod.spec.volumes.is_empty()) {
            result.take(volumes::attached(pod, &snapshot.volumes));
        }
        Some(result)
    }

    /// Takes in the volumes of a pod.
    pub(crate) fn take(&mut self, claims: ClaimsByDriver) {
        for (driver, claims) in claims {
            self.used.entry(driver).or_default().extend(claims);
        }
    }

    /// `true` if the drivers attach the volumes of one more pod.
    pub(crate) fn admits(&self, wanted: &ClaimsByDriver) -> bool {
        wanted.iter().all(|(driver, claims)| {
            let Some(limit) = self.limits.get(driver) else {
                return true;
            };
            let used = self.used.get(driver);
            let is_unused = |claim: &&ObjectName| used.is_none_or(|used| !used.contains(*claim));
            let more = claims.iter().filter(is_unused).count();
            let attached = self.attached.get(driver).into_iter().flatten();
            let lingering = attached.filter(is_unused).count();
            let taken = used.map_or(0, std::collections::BTreeSet::len) + lingering;
            more == 0 || taken + more <= usize::try_from(*limit).unwrap_or(usize::MAX)
        })
    }
}

/// What the drivers of a node attach.
fn limits_of(snapshot: &Snapshot, node: &StateNode) -> VolumeLimits {
    let joined = node.node.as_ref();
    let told = joined.and_then(|joined| snapshot.volumes.nodes.get(&joined.name));
    let expected = || {
        let claim = node.claim.as_ref()?;
        let name = node.labels().get(labels::INSTANCE_TYPE)?;
        let sold = snapshot.catalogues.of(&claim.class).get(name)?;
        let is_told = move |driver: &Arc<str>| told.is_some_and(|told| told.has(driver));
        let limits = sold.attach_limits.iter();
        let limits = limits.filter(move |(driver, _)| !is_told(driver));
        Some(limits.map(|(driver, limit)| (Arc::clone(driver), *limit)))
    };
    let mut limits: VolumeLimits = told.map(|told| told.limits.clone()).unwrap_or_default();
    if !node.is_initialized() {
        limits.extend(expected().into_iter().flatten());
    }
    limits
}

/// Volumes that VolumeAttachments name, by node. A volume without a claim stands under its own name, in no namespace.
pub(crate) fn by_node(snapshot: &Snapshot) -> BTreeMap<&NodeName, ClaimsByDriver> {
    let mut result: BTreeMap<&NodeName, ClaimsByDriver> = BTreeMap::new();
    if snapshot.attachments.is_empty() {
        return result;
    }
    let claims = snapshot.volumes.claims.iter();
    let claims = claims.filter_map(|(name, claim)| Some((claim.volume.as_ref()?, name)));
    let claim_of: BTreeMap<&Arc<str>, &ObjectName> = claims.collect();
    for attachment in &snapshot.attachments {
        let Some(volume) = &attachment.volume else {
            continue;
        };
        let known = snapshot.volumes.volumes.get(volume);
        let is_csi = known.is_some_and(|known| matches!(known.kind, VolumeKind::Csi(_)));
        if !is_csi || attachment.attacher.is_empty() {
            continue;
        }
        let claim = claim_of.get(volume).map(|claim| (*claim).clone());
        let claim = claim.unwrap_or_else(|| ObjectName::new("", Arc::clone(volume)));
        let of_node = result.entry(&attachment.node).or_default();
        let of_driver = of_node.entry(Arc::clone(&attachment.attacher));
        of_driver.or_default().insert(claim);
    }
    result
}
