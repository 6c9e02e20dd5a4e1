//! Daemon sets as the next daemon pod will be: admission may change pods, so the newest live pod counts.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_api::Interner;
use plimsoll_api::convert::with_live_pods;
use plimsoll_base::ids::{ObjectName, Uid};
use plimsoll_base::time::Timestamp;
use plimsoll_model::{DaemonSet, OwnerKind, Pod, PodSpec, Version};

/// Daemon sets as written, and the pods of each.
#[derive(Debug, Default)]
pub(super) struct Daemons {
    sets: BTreeMap<Uid, (Arc<DaemonSet>, Version)>,
    /// Live pods of each set, the newest last.
    pods: BTreeMap<Uid, BTreeMap<(Timestamp, ObjectName), Arc<Pod>>>,
}

impl Daemons {
    pub(super) fn apply(&mut self, set: &Arc<DaemonSet>, version: Version) {
        self.sets
            .insert(set.uid.clone(), (Arc::clone(set), version));
    }

    pub(super) fn remove(&mut self, set: &DaemonSet) {
        self.sets.remove(&set.uid);
    }

    /// Takes in what became of a pod; the sets whose newest pod is another for it, or says something else.
    pub(super) fn follow_pod(
        &mut self,
        before: Option<&Pod>,
        after: Option<&Arc<Pod>>,
    ) -> Vec<Uid> {
        let owners = [before.and_then(owner), after.and_then(|pod| owner(pod))];
        let owners = owners.into_iter().flatten();
        let shown: Vec<_> = owners
            .map(|set| (self.newest(&set).map(|pod| Arc::clone(&pod.spec)), set))
            .collect();
        if let Some((pod, set)) = before.and_then(|pod| Some((pod, owner(pod)?)))
            && let Some(pods) = self.pods.get_mut(&set)
        {
            pods.remove(&age(pod));
            if pods.is_empty() {
                self.pods.remove(&set);
            }
        }
        if let Some(pod) = after.filter(|pod| pod.is_active())
            && let Some(set) = owner(pod)
        {
            let pods = self.pods.entry(set).or_default();
            pods.insert(age(pod), Arc::clone(pod));
        }
        let changed = shown.into_iter().filter(|(before, set)| {
            let after = self.newest(set).map(|pod| &pod.spec);
            !is_same(before.as_ref(), after)
        });
        changed.map(|(_, set)| set).collect()
    }

    /// A set as its newest pod shows it, under the set's own version.
    pub(super) fn shown(
        &self,
        set: &Uid,
        interner: &mut Interner,
    ) -> Option<(Arc<DaemonSet>, Version)> {
        let (written, version) = self.sets.get(set)?;
        let mut shown = [Arc::clone(written)];
        let newest = self.newest(set).cloned();
        with_live_pods(&mut shown, newest.as_slice(), interner);
        let [shown] = shown;
        Some((shown, *version))
    }

    fn newest(&self, set: &Uid) -> Option<&Arc<Pod>> {
        let (_, pod) = self.pods.get(set)?.last_key_value()?;
        Some(pod)
    }
}

/// Equal specifications are one: they are interned.
fn is_same(one: Option<&Arc<PodSpec>>, other: Option<&Arc<PodSpec>>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => Arc::ptr_eq(one, other),
        (one, other) => one.is_none() && other.is_none(),
    }
}

fn age(pod: &Pod) -> (Timestamp, ObjectName) {
    (pod.created, pod.name.clone())
}

fn owner(pod: &Pod) -> Option<Uid> {
    let owner = pod.owner.as_ref()?;
    (owner.kind == OwnerKind::DaemonSet).then(|| owner.uid.clone())
}
