//! All objects as last seen, the indexes between them, and what an event touched.
//!
//! Invariants: every index follows the rows; nothing here decides. The step before is the engine's input, the step after
//! are the steps of claims, nominations and batches, which look only at what was touched.
//!
//! An event costs the same however many other objects there are: what it touches is found by index.

mod attached;
mod capacity;
mod changes;
mod claim_counts;
mod deleting;
mod instances;
mod statuses;
mod unbound;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;
use std::sync::Arc;

pub use changes::Changed;
pub use claim_counts::ClaimCounts;
pub use statuses::SeenStatus;

use plimsoll_base::ids::{ClaimName, NodeName, ObjectName, PoolName, ProviderId, Uid};
use plimsoll_base::time::Timestamp;
use plimsoll_model::action::ObjectKey;
use plimsoll_model::{Node, NodeClaim, NodePool, Object, OwnerKind, Pod, Version};

use super::group::GroupId;
use super::name_index::NameIndex;
use super::stores::Stores;
use capacity::PoolCapacities;
use changes::Changes;
use instances::Instances;
use statuses::{Identified, Statuses};
use unbound::UnboundPods;

/// Objects that events touched since they were last taken.
#[derive(Clone, Debug, Default)]
pub struct Touched {
    /// Claims that changed, or whose node or pool did.
    pub claims: BTreeSet<ClaimName>,
    /// Claims whose node saw a pod come, change or go, or a volume while it goes.
    pub claims_of_pods: BTreeSet<ClaimName>,
    /// Pods that changed.
    pub pods: BTreeSet<ObjectName>,
    /// Groups of which a pod was bound.
    pub bound: BTreeSet<GroupId>,
    /// Claims whose node saw a pod come, end or begin to end; daemons do not count.
    pub pod_events: BTreeSet<ClaimName>,
    /// Claims that are no more.
    pub gone_claims: Vec<Arc<NodeClaim>>,
    /// Pods that are no more.
    pub gone_pods: Vec<Arc<Pod>>,
    /// Nodes that are no more.
    pub gone_nodes: Vec<Arc<Node>>,
    /// Nodes that only we can let go and that have no claim to be let go with: they or their pods changed, or their claim went.
    pub orphans: BTreeSet<NodeName>,
    /// `true` if a buffer changed, or something that one may refer to.
    pub buffers: bool,
    /// Pools, overlays and buffers that came, changed or went, if only in their status.
    pub statuses: BTreeSet<ObjectKey>,
}

/// A pod on a node, so that what is asked of a node's pods takes no look at all others.
#[derive(Clone, Debug)]
struct BoundPod {
    group: GroupId,
    pod: Arc<Pod>,
}

/// The cluster as events tell it. Its [`Stores`] are read through it; they change with the indexes alone.
#[derive(Clone, Debug, Default)]
pub struct Cluster {
    stores: Stores,
    /// Counts changes that decisions can tell; equal numbers mean equal contents to them.
    revision: u64,
    instances: Instances,
    pods_by_node: NameIndex<NodeName, BTreeMap<ObjectName, BoundPod>>,
    unbound: BTreeMap<GroupId, UnboundPods>,
    /// Groups of unbound pods; those of bound ones stand with them.
    groups_of_unbound: NameIndex<ObjectName, GroupId>,
    deleting: BTreeSet<NodeName>,
    /// Pods that are bound to nodes that are deleting, by node and name.
    displaced: BTreeMap<GroupId, BTreeMap<(NodeName, ObjectName), Arc<Pod>>>,
    /// Claims that a command is moving, and since when.
    marked: BTreeMap<ClaimName, Timestamp>,
    claim_counts: BTreeMap<PoolName, ClaimCounts>,
    capacities: PoolCapacities,
    changed_pools: BTreeSet<PoolName>,
    /// Pods by the node that they are nominated to.
    nominated: BTreeMap<NodeName, BTreeSet<ObjectName>>,
    /// Names of the volumes attached to each node.
    attached: BTreeMap<NodeName, BTreeSet<Arc<str>>>,
    /// Changes since the last freeze; `None` where they are not told apart.
    changes: Option<Changes>,
    statuses: Statuses,
    touched: Touched,
}

impl Cluster {
    /// Takes in an object as it is at a version.
    pub fn apply(&mut self, object: Object, version: Version) {
        self.touched.buffers |= object.is_of_buffers();
        let changed = match object {
            Object::Pool(pool) => {
                let pool = self.statuses.take(pool, version);
                self.apply_pool(pool, version)
            }
            Object::Overlay(overlay) => {
                let overlay = self.statuses.take(overlay, version);
                self.stores.apply(Object::Overlay(overlay), version)
            }
            Object::Buffer(buffer) => {
                let buffer = self.statuses.take(buffer, version);
                self.stores.apply(Object::Buffer(buffer), version)
            }
            Object::Node(node) => self.apply_node(&node, version),
            Object::Claim(claim) => self.apply_claim(&claim, version),
            Object::Pod(pod) => self.apply_pod(&pod, version),
            Object::Attachment(attachment) => self.apply_attachment(&attachment, version),
            other => self.stores.apply(other, version),
        };
        self.revision += u64::from(changed);
    }

    /// Takes in that an object is no more, as of a version. Another that bears its name by now stays.
    pub fn remove(&mut self, object: &Object, version: Version) {
        self.touched.buffers |= object.is_of_buffers();
        let is_own = |seen: Option<&Uid>, uid| seen.is_none_or(|seen| seen == uid);
        let changed = match object {
            Object::Node(node) => {
                let seen = self.nodes.get(&node.name).map(|it| &it.uid);
                is_own(seen, &node.uid) && self.remove_node(&node.name, version)
            }
            Object::Claim(claim) => {
                let seen = self.claims.get(&claim.name).map(|it| &it.uid);
                is_own(seen, &claim.uid) && self.remove_claim(&claim.name, version)
            }
            Object::Pod(pod) => {
                let seen = self.pods.get(&pod.name).map(|it| &it.uid);
                is_own(seen, &pod.uid) && self.remove_pod(&pod.name, version)
            }
            Object::Attachment(attachment) => self.remove_attachment(&attachment.name, version),
            other => {
                match other {
                    Object::Pool(pool) => {
                        self.changed_pools.insert(pool.name.clone());
                        self.forget_status(pool.as_ref(), version);
                    }
                    Object::Overlay(overlay) => self.forget_status(overlay.as_ref(), version),
                    Object::Buffer(buffer) => self.forget_status(buffer.as_ref(), version),
                    _ => {}
                }
                self.stores.remove(other, version)
            }
        };
        self.revision += u64::from(changed);
    }

    fn forget_status(&mut self, object: &impl Identified, version: Version) {
        let (key, _) = object.identity();
        self.statuses.remove(&key, version);
    }

    /// The status of a pool, overlay or buffer as it was last seen.
    pub fn status(&self, object: &ObjectKey) -> Option<&SeenStatus> {
        self.statuses.get(object)
    }

    /// Says whether a pool may be used, whatever its conditions say.
    pub fn set_ready(&mut self, pool: &PoolName, is_ready: bool) {
        let seen = self.pools.seen(pool.as_str());
        let Some(seen) = seen.filter(|seen| seen.object.ready != is_ready).cloned() else {
            return;
        };
        let pool = NodePool {
            ready: is_ready,
            ..NodePool::clone(&seen.object)
        };
        let changed = self.apply_pool(Arc::new(pool), seen.version);
        self.revision += u64::from(changed);
    }

    fn apply_pool(&mut self, pool: Arc<NodePool>, version: Version) -> bool {
        let name = pool.name.clone();
        let changed = self.stores.pools.apply(pool, version).is_some();
        if changed {
            self.changed_pools.insert(name.clone());
            let claims = self.stores.claims.unordered();
            let of_pool = claims.filter(|claim| claim.pool == name);
            self.touched
                .claims
                .extend(of_pool.map(|claim| claim.name.clone()));
        }
        changed
    }

    fn apply_node(&mut self, node: &Arc<Node>, version: Version) -> bool {
        let seen = self.stores.nodes.seen(&node.name);
        if let Some(seen) = seen.filter(|it| it.object.uid != node.uid && it.version < version) {
            // Deleted and made again between two looks.
            let last = seen.version;
            self.remove_node(&node.name, last);
        }
        let Some(before) = self.stores.nodes.apply(Arc::clone(node), version) else {
            return false;
        };
        if let Some(before) = &before {
            self.note_node(before);
        }
        self.note_node(node);
        self.instances.apply_node(before.as_deref(), node);
        let moved = before.as_ref();
        if let Some(before) = moved.filter(|before| before.provider_id != node.provider_id) {
            self.count_capacity_of(before.provider_id.as_ref());
        }
        self.count_capacity_of(node.provider_id.as_ref());
        self.follow_node(&node.name);
        self.touch_claim_of(node);
        before.is_none_or(|before| !before.is_alike(node))
    }

    fn remove_node(&mut self, name: &NodeName, version: Version) -> bool {
        let Some(node) = self.stores.nodes.remove(name, version) else {
            return false;
        };
        self.note_node(&node);
        self.instances.remove_node(&node);
        self.count_capacity_of(node.provider_id.as_ref());
        self.unset_deleting(name);
        self.touch_claim_of(&node);
        self.touched.gone_nodes.push(node);
        true
    }

    fn apply_claim(&mut self, claim: &Arc<NodeClaim>, version: Version) -> bool {
        let name = claim.name.clone();
        let seen = self.stores.claims.seen(&name);
        if let Some(seen) = seen.filter(|it| it.object.uid != claim.uid && it.version < version) {
            // Deleted and made again between two looks.
            let last = seen.version;
            self.remove_claim(&name, last);
        }
        let Some(before) = self.stores.claims.apply(Arc::clone(claim), version) else {
            return false;
        };
        if let Some(before) = &before {
            self.uncount_claim(before);
            self.note_claim(before);
        }
        self.count_claim(claim);
        self.note_claim(claim);
        self.instances.apply_claim(before.as_deref(), claim);
        self.changed_pools.insert(claim.pool.clone());
        self.count_capacity(&name);
        self.touched.claims.insert(name);
        if let Some(before) = &before {
            self.follow_deleting(before);
        }
        self.follow_deleting(claim);
        before.is_none_or(|before| !before.is_alike(claim))
    }

    fn remove_claim(&mut self, name: &ClaimName, version: Version) -> bool {
        let Some(claim) = self.stores.claims.remove(name, version) else {
            return false;
        };
        self.instances.remove_claim(&claim);
        for node in self.nodes_of(&claim).to_vec() {
            self.touch_claim_of(&node);
        }
        self.uncount_claim(&claim);
        self.note_claim(&claim);
        self.follow_deleting(&claim);
        self.changed_pools.insert(claim.pool.clone());
        self.count_capacity(name);
        self.touched.claims.insert(name.clone());
        self.touched.gone_claims.push(claim);
        true
    }

    fn apply_pod(&mut self, pod: &Arc<Pod>, version: Version) -> bool {
        let Some(before) = self.stores.pods.apply(Arc::clone(pod), version) else {
            return false;
        };
        self.note_pod(before.as_deref(), Some(pod));
        let unchanged =
            |before: &&Arc<Pod>| before.uid == pod.uid && Arc::ptr_eq(&before.spec, &pod.spec);
        let known = before.as_ref().and_then(|before| self.known_group(before));
        let kept = known.filter(|_| before.as_ref().is_some_and(|before| unchanged(&before)));
        let group = kept.unwrap_or_else(|| GroupId::of(pod));
        if let Some((before, known)) = before.as_ref().zip(known) {
            if known != group || before.node != pod.node {
                self.unindex_pod(before, known);
            }
            if before.uid != pod.uid {
                self.touched.gone_pods.push(Arc::clone(before));
            }
        }
        self.index_pod(pod, group);
        if is_binding(before.as_deref(), pod) {
            self.touched.bound.insert(group);
        }
        if let Some(before) = before.as_ref().filter(|before| before.node != pod.node) {
            self.touch_by_pod(before, false);
        }
        self.touch_by_pod(pod, is_pod_event(before.as_deref(), pod));
        true
    }

    fn remove_pod(&mut self, name: &ObjectName, version: Version) -> bool {
        let Some(pod) = self.stores.pods.remove(name, version) else {
            return false;
        };
        self.note_pod(Some(&pod), None);
        self.touch_by_pod(&pod, pod.is_active());
        if let Some(group) = self.known_group(&pod) {
            self.unindex_pod(&pod, group);
        }
        self.touched.gone_pods.push(pod);
        true
    }

    /// Sets a pod down where it is now, in the place of what it was there before.
    fn index_pod(&mut self, pod: &Arc<Pod>, group: GroupId) {
        let (name, pod) = (pod.name.clone(), Arc::clone(pod));
        let Some(node) = pod.node.clone() else {
            self.groups_of_unbound.insert(name, group);
            self.unbound.entry(group).or_default().insert(pod);
            return;
        };
        if self.deleting.contains(&node) {
            self.displace(group, &node, &pod);
        }
        let pods = self.pods_by_node.get_or_default(&node);
        pods.insert(name, BoundPod { group, pod });
    }

    fn unindex_pod(&mut self, pod: &Pod, group: GroupId) {
        let Some(node) = &pod.node else {
            self.groups_of_unbound.remove(&pod.name);
            if let Some(pods) = self.unbound.get_mut(&group) {
                pods.remove(&pod.name);
                if pods.is_empty() {
                    self.unbound.remove(&group);
                }
            }
            return;
        };
        if let Some(pods) = self.pods_by_node.get_mut(node) {
            pods.remove(&pod.name);
            if pods.is_empty() {
                self.pods_by_node.remove(node);
            }
        }
        if self.deleting.contains(node) {
            self.undisplace(group, node, &pod.name);
        }
    }

    /// A pod came, changed or went; `is_event` says that its node is consolidatable anew, unless it is a daemon.
    fn touch_by_pod(&mut self, pod: &Pod, is_event: bool) {
        self.touched.pods.insert(pod.name.clone());
        let Some(node) = &pod.node else { return };
        if self.is_orphan(node) {
            self.touched.orphans.insert(node.clone());
        }
        let claim = self.claim_on(node);
        if let Some(name) = claim.map(|claim| claim.name.clone()) {
            if is_event && !pod.is_owned_by(OwnerKind::DaemonSet) {
                self.touched.pod_events.insert(name.clone());
            }
            self.touched.claims_of_pods.insert(name);
        }
    }

    fn touch_claim_of(&mut self, node: &Node) {
        let claim = (node.provider_id.as_ref()).and_then(|id| self.instances.claim_of(id));
        if let Some(name) = claim.map(|claim| claim.name.clone()) {
            self.touched.claims.insert(name);
        } else if self.is_orphan(&node.name) {
            self.touched.orphans.insert(node.name.clone());
        }
    }

    /// `true` if a node that was asked to go waits for us alone and has no claim that it goes with.
    pub fn is_orphan(&self, node: &NodeName) -> bool {
        let waits = |node: &Arc<Node>| node.held && node.deleting.is_some();
        self.nodes.get(node).is_some_and(waits) && self.claim_on(node).is_none()
    }

    /// Takes the objects touched since the last call, and leaves none.
    pub fn take_touched(&mut self) -> Touched {
        self.touched.statuses = self.statuses.take_touched();
        std::mem::take(&mut self.touched)
    }

    /// Counts changes that decisions can tell; equal numbers mean equal contents to them.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// The nodes of a claim, by name: those with its provider id. More than one is an error of the world.
    pub fn nodes_of(&self, claim: &NodeClaim) -> &[Arc<Node>] {
        let id = claim.provider_id.as_ref();
        id.map_or(&[], |id| self.instances.nodes_of(id))
    }

    /// The nodes that bear the id of an instance, by name.
    pub fn nodes_of_instance(&self, id: &ProviderId) -> &[Arc<Node>] {
        self.instances.nodes_of(id)
    }

    /// The claim of a node.
    pub fn claim_on(&self, node: &NodeName) -> Option<&Arc<NodeClaim>> {
        let id = self.nodes.get(node)?.provider_id.as_ref()?;
        self.claim_of_instance(id)
    }

    /// The claim of an instance; of several, which are an error of the world, the last by name.
    pub fn claim_of_instance(&self, id: &ProviderId) -> Option<&Arc<NodeClaim>> {
        self.instances.claim_of(id)
    }

    /// The pods bound to a node, by name.
    pub fn pods_on(&self, node: &NodeName) -> impl Iterator<Item = &Arc<Pod>> {
        let pods = self.pods_by_node.get(node).into_iter().flatten();
        pods.map(|(_, bound)| &bound.pod)
    }

    /// The pods of a group that are bound to a node, by name.
    pub fn pods_of_on(&self, group: GroupId, node: &NodeName) -> impl Iterator<Item = &Arc<Pod>> {
        let pods = self.pods_by_node.get(node).into_iter().flatten();
        let own = pods.filter(move |(_, bound)| bound.group == group);
        own.map(|(_, bound)| &bound.pod)
    }

    /// The group of a pod.
    pub fn group_of(&self, pod: &ObjectName) -> Option<GroupId> {
        self.known_group(self.pods.get(pod)?)
    }

    /// The group that a pod was indexed by, where it is or was last.
    fn known_group(&self, pod: &Pod) -> Option<GroupId> {
        match &pod.node {
            None => self.groups_of_unbound.get(&pod.name).copied(),
            Some(node) => {
                let pods = self.pods_by_node.get(node)?;
                pods.get(&pod.name).map(|bound| bound.group)
            }
        }
    }

    /// Unbound pods of a group, by name.
    pub fn unbound_of(&self, group: GroupId) -> impl Iterator<Item = &Arc<Pod>> {
        self.unbound
            .get(&group)
            .into_iter()
            .flat_map(UnboundPods::iter)
    }

    /// Pods of a group that are bound to nodes that are deleting, by node and name.
    pub fn displaced_of(&self, group: GroupId) -> impl Iterator<Item = &Arc<Pod>> {
        let pods = self.displaced.get(&group).into_iter().flatten();
        pods.map(|(_, pod)| pod)
    }

    /// The number of unbound pods.
    pub fn unbound_count(&self) -> usize {
        self.groups_of_unbound.len()
    }

    /// Groups that have unbound pods.
    pub fn unbound_groups(&self) -> impl Iterator<Item = GroupId> {
        self.unbound.keys().copied()
    }
}

/// `true` if what happened to a pod is an event in the sense of `consolidateAfter`: it is bound, has ended, or was asked to go.
fn is_pod_event(before: Option<&Pod>, pod: &Pod) -> bool {
    let bound = is_binding(before, pod);
    let ended = pod.is_terminal() && before.is_none_or(|before| !before.is_terminal());
    let asked = pod.deleting.is_some() && before.is_none_or(|before| before.deleting.is_none());
    bound || ended || asked
}

fn is_binding(before: Option<&Pod>, pod: &Pod) -> bool {
    pod.node.is_some() && before.is_none_or(|before| before.node.is_none())
}

impl Deref for Cluster {
    type Target = Stores;

    fn deref(&self) -> &Stores {
        &self.stores
    }
}
