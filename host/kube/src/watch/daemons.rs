//! Daemon sets as the next daemon pod will be: admission may change pods, so the newest live pod counts.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_api::Interner;
use plimsoll_api::convert::with_live_pods;
use plimsoll_core::ids::{ObjectName, Uid};
use plimsoll_core::model::{DaemonSet, OwnerKind, Pod, Version};

/// Daemon sets as written, and the pods of each.
#[derive(Debug, Default)]
pub(super) struct Daemons {
    sets: BTreeMap<Uid, (Arc<DaemonSet>, Version)>,
    pods: BTreeMap<Uid, BTreeMap<ObjectName, Arc<Pod>>>,
}

impl Daemons {
    pub(super) fn apply(&mut self, set: &Arc<DaemonSet>, version: Version) {
        self.sets
            .insert(set.uid.clone(), (Arc::clone(set), version));
    }

    pub(super) fn remove(&mut self, set: &DaemonSet) {
        self.sets.remove(&set.uid);
    }

    /// Takes in a pod; the uid of the set it belongs to.
    pub(super) fn apply_pod(&mut self, pod: &Arc<Pod>) -> Option<Uid> {
        let set = owner(pod)?;
        let pods = self.pods.entry(set.clone()).or_default();
        pods.insert(pod.name.clone(), Arc::clone(pod));
        Some(set)
    }

    /// Takes in that a pod is no more; the uid of the set it belonged to.
    pub(super) fn remove_pod(&mut self, pod: &Pod) -> Option<Uid> {
        let set = owner(pod)?;
        if let Some(pods) = self.pods.get_mut(&set) {
            pods.remove(&pod.name);
            if pods.is_empty() {
                self.pods.remove(&set);
            }
        }
        Some(set)
    }

    /// A set as its newest pod shows it, under the set's own version.
    pub(super) fn shown(
        &self,
        set: &Uid,
        interner: &mut Interner,
    ) -> Option<(Arc<DaemonSet>, Version)> {
        let (written, version) = self.sets.get(set)?;
        let mut shown = [Arc::clone(written)];
        let pods: Vec<Arc<Pod>> = self
            .pods
            .get(set)
            .into_iter()
            .flat_map(|pods| pods.values().cloned())
            .collect();
        with_live_pods(&mut shown, &pods, interner);
        let [shown] = shown;
        Some((shown, *version))
    }
}

fn owner(pod: &Pod) -> Option<Uid> {
    let owner = pod.owner.as_ref()?;
    (owner.kind == OwnerKind::DaemonSet).then(|| owner.uid.clone())
}
