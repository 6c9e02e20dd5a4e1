//! Pods that are not bound, by group, and which of them want a node.
//!
//! The scheduler tries one pod after the other: of a workload of a thousand it takes seconds to find all unschedulable. Pods of a group are
//! equals, so that one which it has not tried yet wants a node as soon as another of its group was found to. A pod that preempts others,
//! and is nominated to their node, is no sign of that.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_base::ids::ObjectName;
use plimsoll_model::{Pod, is_fixed, wants_node};

use super::Cluster;
use crate::GroupId;

/// The pods of one group that are not bound.
#[derive(Clone, Debug, Default)]
pub(super) struct UnboundPods {
    by_name: BTreeMap<ObjectName, Arc<Pod>>,
    /// How many of them were found unschedulable and are not nominated.
    without_room: usize,
}

fn is_without_room(pod: &Pod) -> bool {
    wants_node(pod) && pod.nominated.is_none()
}

impl UnboundPods {
    /// Sets a pod down, in place of what it was before.
    pub(super) fn insert(&mut self, pod: Arc<Pod>) {
        self.without_room += usize::from(is_without_room(&pod));
        let before = self.by_name.insert(pod.name.clone(), pod);
        self.without_room -= usize::from(before.is_some_and(|before| is_without_room(&before)));
    }

    pub(super) fn remove(&mut self, name: &ObjectName) {
        let before = self.by_name.remove(name);
        self.without_room -= usize::from(before.is_some_and(|before| is_without_room(&before)));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    /// The pods, by name.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Arc<Pod>> {
        self.by_name.values()
    }
}

impl Cluster {
    /// How many unbound pods of a group were found unschedulable and are not nominated.
    pub fn without_room(&self, group: GroupId) -> usize {
        let pods = self.unbound.get(&group);
        pods.map_or(0, |pods| pods.without_room)
    }

    /// `true` if a pod waits for a node: found unschedulable, or not tried while one of its group was.
    pub fn wants_node(&self, pod: &Pod) -> bool {
        wants_node(pod) || self.is_implied(pod)
    }

    /// Pods that want a node only since others of their group do.
    pub(crate) fn implied(&self) -> impl Iterator<Item = &Arc<Pod>> {
        let short = self.unbound.values().filter(|pods| pods.without_room > 0);
        short
            .flat_map(UnboundPods::iter)
            .filter(|pod| may_imply(pod))
    }

    /// Pods that the scheduler has not tried yet, nor any of their group: what they want is not known.
    pub fn pods_of_untried_groups(&self) -> impl Iterator<Item = &Arc<Pod>> {
        let unknown = self.unbound.values().filter(|pods| pods.without_room == 0);
        unknown
            .flat_map(UnboundPods::iter)
            .filter(|pod| may_imply(pod))
    }

    /// `true` if a pod wants a node only since others of its group do.
    pub(crate) fn is_implied(&self, pod: &Pod) -> bool {
        may_imply(pod)
            && self
                .group_of(&pod.name)
                .is_some_and(|group| self.without_room(group) > 0)
    }
}

/// `true` if what is found of others of its group goes for a pod as well.
fn may_imply(pod: &Pod) -> bool {
    pod.untried
        && pod.node.is_none()
        && pod.nominated.is_none()
        && pod.is_active()
        && !is_fixed(pod)
}
