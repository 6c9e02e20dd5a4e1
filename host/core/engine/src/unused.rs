//! Nodes that stand unused by the pods for which they were bought, and the pods for which no other is bought.
//!
//! The scheduler may refuse a pod for a reason that no plan knows: a plugin, a quota, a volume that cannot be made. Its node comes
//! up, stands empty and goes, and the same plan would buy the next one for ever. So each new node is watched from when pods can use
//! it. It is *unused* by a group of equal pods that it was bought for if, after as long as a promise holds and the scheduler needs
//! for all pods that wait:
//!
//! - a pod of the group has waited all that time, found unschedulable and not nominated elsewhere, and the node has room for it;
//! - no pod of the group was bound meanwhile, to whatever node.
//!
//! Until it is judged the node is not disrupted. The group is not promised a place on it again, so that it may go as empty. After
//! [`MOST`] such nodes none is bought for the group: its pods are refused with the names of the nodes and the scheduler's words
//! ([`UnusedNodes`]). That ends when a pod of the group is bound; a pod with another specification is of another group. Every hour a
//! node is bought for one pod of the group, to see whether the reason is gone.
//!
//! Nothing of it is written down: another engine learns it again, for the price of [`MOST`] nodes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plimsoll_base::ids::{ClaimName, NodeName, Uid};
use plimsoll_base::resources::Resources;
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_cluster::{GroupId, NOMINATION_WINDOW, PromisedTarget, bought_for};
use plimsoll_model::snapshot::{Snapshot, is_ephemeral};
use plimsoll_model::{
    ClaimPhase, Effect, Node, NodeClaim, Pod, Readiness, Taint, UnusedNodes, wants_node,
};

use super::Engine;
use super::commit::PodCounts;

/// Unused nodes of a group after which no other is bought for it.
const MOST: usize = 2;
/// The time that a scheduler of the usual 50 requests a second takes for one pod.
const PER_POD: Span = Span::from_millis(20);
/// How long no other node is bought for a group.
const HELD: Span = Span::from_secs(3600);
/// How long an unused node is remembered.
const REMEMBERED: Span = Span::from_secs(24 * 3600);
/// The most groups that are remembered, the latest.
const MOST_GROUPS: usize = 1000;
/// Prefix of taints that the cluster itself sets on nodes in some trouble, and on those that people have cordoned.
const TROUBLE: &str = "node.kubernetes.io/";

/// Memory of how new nodes are used.
#[derive(Clone, Debug, Default)]
pub(super) struct NodeUse {
    /// Nodes that are not judged yet, by claim.
    watched: BTreeMap<ClaimName, Watched>,
    /// The same nodes by the groups of which no pod was bound since.
    by_group: BTreeMap<GroupId, BTreeSet<ClaimName>>,
    due: BTreeMap<Timestamp, BTreeSet<ClaimName>>,
    unused: BTreeMap<GroupId, Unused>,
}

/// A node that pods can use.
#[derive(Clone, Debug)]
struct Watched {
    since: Timestamp,
    /// Groups that it was bought for and of which no pod was bound since.
    groups: BTreeSet<GroupId>,
    /// When it is judged.
    at: Timestamp,
}

/// A node that a group does not use. Its names may come again for another.
#[derive(Clone, Debug)]
struct UnusedNode {
    /// Uid of its claim.
    claim: Uid,
    name: NodeName,
}

/// Nodes that a group does not use.
#[derive(Clone, Debug)]
struct Unused {
    /// The last [`MOST`] of them, oldest first.
    nodes: Vec<UnusedNode>,
    /// The reason that the scheduler gave a pod of the group when the last was judged.
    scheduler: Option<Arc<str>>,
    /// When the last was judged.
    at: Timestamp,
    /// `true` if one pod may have a node, since the last was judged long ago.
    retries: bool,
}

impl Unused {
    /// `true` if no node is bought for the group, or for one pod of it only.
    fn is_held(&self) -> bool {
        self.nodes.len() >= MOST
    }
}

impl NodeUse {
    /// When the next node is judged, or a group may have a node again.
    pub(super) fn next_wake(&self) -> Option<Timestamp> {
        let judged = self.due.keys().next().copied();
        let held = self.unused.values();
        let held = held.filter(|unused| unused.is_held() && !unused.retries);
        held.map(|unused| unused.at + HELD).chain(judged).min()
    }

    /// `true` if a group may have a node again from now on.
    pub(super) fn is_over(&mut self, now: Timestamp) -> bool {
        let held = self.unused.values_mut();
        let over = held.filter(|it| it.is_held() && !it.retries && it.at + HELD <= now);
        over.map(|unused| unused.retries = true).count() > 0
    }

    /// The claim is gone, or its node cannot be used now.
    pub(super) fn forget(&mut self, claim: &ClaimName) {
        let Some(watched) = self.watched.remove(claim) else {
            return;
        };
        self.drop_groups(claim, &watched);
        if let Some(claims) = self.due.get_mut(&watched.at) {
            claims.remove(claim);
            if claims.is_empty() {
                self.due.remove(&watched.at);
            }
        }
    }

    fn watch(&mut self, claim: &ClaimName, watched: Watched) {
        let due = self.due.entry(watched.at).or_default();
        due.insert(claim.clone());
        for group in &watched.groups {
            self.by_group
                .entry(*group)
                .or_default()
                .insert(claim.clone());
        }
        self.watched.insert(claim.clone(), watched);
    }

    fn drop_groups(&mut self, claim: &ClaimName, watched: &Watched) {
        for group in &watched.groups {
            if let Some(claims) = self.by_group.get_mut(group) {
                claims.remove(claim);
                if claims.is_empty() {
                    self.by_group.remove(group);
                }
            }
        }
    }

    /// A pod of a group was bound: none of its nodes is unused.
    fn drop_group(&mut self, group: GroupId) {
        for claim in self.by_group.remove(&group).unwrap_or_default() {
            if let Some(watched) = self.watched.get_mut(&claim) {
                watched.groups.remove(&group);
            }
        }
    }

    fn take_due(&mut self, now: Timestamp) -> Vec<(ClaimName, Watched)> {
        let mut due = Vec::new();
        while let Some(entry) = self.due.first_entry().filter(|entry| *entry.key() <= now) {
            for claim in entry.remove() {
                if let Some(watched) = self.watched.remove(&claim) {
                    self.drop_groups(&claim, &watched);
                    due.push((claim, watched));
                }
            }
        }
        due
    }

    /// Remembers a node that a group does not use.
    fn note(
        &mut self,
        group: GroupId,
        node: UnusedNode,
        scheduler: Option<Arc<str>>,
        now: Timestamp,
    ) {
        self.unused.retain(|_, unused| unused.at + REMEMBERED > now);
        let mut nodes = match self.unused.remove(&group) {
            Some(before) if before.nodes.iter().any(|had| had.claim == node.claim) => {
                self.unused.insert(group, before);
                return;
            }
            before => before.map(|before| before.nodes).unwrap_or_default(),
        };
        nodes.push(node);
        nodes.drain(..nodes.len().saturating_sub(MOST));
        if self.unused.len() >= MOST_GROUPS {
            let oldest = self
                .unused
                .iter()
                .min_by_key(|(group, it)| (it.at, **group));
            if let Some(oldest) = oldest.map(|(group, _)| *group) {
                self.unused.remove(&oldest);
            }
        }
        let unused = Unused {
            nodes,
            scheduler,
            at: now,
            retries: false,
        };
        self.unused.insert(group, unused);
    }
}

impl Engine {
    /// Watches a claim's node from when pods can use it, as long as groups that it was bought for are promised a place there.
    pub(super) fn watch_node_use(&mut self, claim: &NodeClaim, now: Timestamp) {
        if self.usable_node(claim).is_none() {
            self.node_use.forget(&claim.name);
            return;
        }
        if self.node_use.watched.contains_key(&claim.name) {
            return;
        }
        let target = PromisedTarget::Claim(claim.name.clone());
        let promised = self.promises.groups_on(&target);
        let bought = bought_for(claim).into_iter().map(|(group, _)| group);
        let groups: BTreeSet<GroupId> = bought.filter(|it| promised.contains(it)).collect();
        if !groups.is_empty() {
            let watched = Watched {
                since: now,
                groups,
                at: now + self.time_for_use(),
            };
            self.node_use.watch(&claim.name, watched);
        }
    }

    /// How long pods may take to be bound once they can be.
    fn time_for_use(&self) -> Span {
        let pods = i64::try_from(self.cluster.unbound_count()).unwrap_or(i64::MAX);
        let pods = PER_POD.millis().saturating_mul(pods);
        Span::from_millis(NOMINATION_WINDOW.millis().saturating_add(pods))
    }

    /// The node of a claim, if pods can use it now.
    fn usable_node(&self, claim: &NodeClaim) -> Option<&Arc<Node>> {
        let stays = claim.deleting.is_none() && self.cluster.marked(&claim.name).is_none();
        let [node] = self.cluster.nodes_of(claim) else {
            return None;
        };
        let is_up = claim.phase() == ClaimPhase::Initialized
            && node.deleting.is_none()
            && node.readiness() == Readiness::Ready;
        (stays && is_up && !node.taints.iter().any(is_passing)).then_some(node)
    }

    /// A pod of a group was bound: no node for it is unused.
    pub(super) fn note_binding(&mut self, group: GroupId, now: Timestamp) {
        self.node_use.drop_group(group);
        let before = self.node_use.unused.remove(&group);
        if before.is_some_and(|unused| unused.is_held()) {
            self.trigger_group(group, now);
        }
    }

    /// Judges nodes that could be used for long enough.
    pub(super) fn judge_node_use(&mut self, now: Timestamp) {
        let time = self.time_for_use();
        for (name, mut watched) in self.node_use.take_due(now) {
            if watched.since + time > now {
                // More pods wait by now than did before.
                watched.at = watched.since + time;
                self.node_use.watch(&name, watched);
                continue;
            }
            for (group, node, pod) in self.groups_without_use(&name, &watched) {
                let scheduler = pod.scheduler_message.clone();
                self.node_use.note(group, node, scheduler, now);
            }
            // What was kept for pods on their way may go now, though nothing else has changed.
            self.dirty_claims.insert(name);
            self.disruption.forget_last_pass();
        }
    }

    /// Claims whose nodes pods may still come to: they are not judged yet.
    pub(super) fn claims_to_be_used(&self) -> impl Iterator<Item = ClaimName> {
        let watched = self.node_use.watched.iter();
        let awaited = watched.filter(|(name, it)| !self.groups_without_use(name, it).is_empty());
        awaited.map(|(name, _)| name.clone())
    }

    /// Groups that do not use a claim's node though it was bought for them, each with one of its pods.
    fn groups_without_use(
        &self,
        name: &ClaimName,
        watched: &Watched,
    ) -> Vec<(GroupId, UnusedNode, Arc<Pod>)> {
        let claim = self.cluster.claims.get(name);
        let usable = claim.and_then(|claim| Some((claim, self.usable_node(claim)?)));
        let Some((claim, node)) = usable else {
            return Vec::new();
        };
        let mut used = Resources::new();
        for pod in self.cluster.pods_on(&node.name) {
            if !pod.is_terminal() {
                used.add(&pod.spec.requests);
            }
        }
        let free = node.allocatable.minus(&used);
        let is_refused = |pod: &&Arc<Pod>| {
            let nominated = pod.nominated.as_ref();
            wants_node(pod)
                && pod.created <= watched.since
                && nominated.is_none_or(|nominated| *nominated == node.name)
                && free.fits(&pod.spec.requests)
        };
        let groups = watched.groups.iter();
        let refused = groups.filter_map(|group| {
            let pod = self.cluster.unbound_of(*group).find(is_refused)?;
            let unused = UnusedNode {
                claim: claim.uid.clone(),
                name: node.name.clone(),
            };
            Some((*group, unused, Arc::clone(pod)))
        });
        refused.collect()
    }

    /// Pods planned onto a node that is there, less those of groups that were seen not to use it.
    pub(super) fn less_unused(
        &self,
        snapshot: &Snapshot,
        row: usize,
        pods: &PodCounts,
    ) -> PodCounts {
        let claim = snapshot.nodes.get(row).and_then(|row| row.claim.as_ref());
        let is_unused = |group: &GroupId| {
            let nodes = self.node_use.unused.get(group).map(|unused| &unused.nodes);
            let (claim, nodes) = claim.zip(nodes)?;
            nodes.iter().find(|node| node.claim == claim.uid)
        };
        let counted = pods.iter().filter(|(group, _)| is_unused(group).is_none());
        counted.map(|(group, count)| (*group, *count)).collect()
    }

    /// Waiting pods for which no other node is bought. Of a group that may have one again, one pod is left out until it has its node.
    pub(super) fn pods_with_unused_nodes(&self) -> BTreeMap<Uid, Arc<UnusedNodes>> {
        let mut pods = BTreeMap::new();
        for (group, unused) in &self.node_use.unused {
            if !unused.is_held() {
                continue;
            }
            let mut waiting = self.cluster.unbound_of(*group);
            let tries = unused.retries && !self.promises.covers(*group);
            let first = tries.then(|| waiting.find(|pod| self.cluster.wants_node(pod)));
            let first = first.flatten().map(|pod| pod.uid.clone());
            let reason = Arc::new(UnusedNodes {
                nodes: unused.nodes.iter().map(|node| node.name.clone()).collect(),
                scheduler: unused.scheduler.clone(),
            });
            let others = self.cluster.unbound_of(*group);
            let others = others.filter(|pod| first.as_ref() != Some(&pod.uid));
            pods.extend(others.map(|pod| (pod.uid.clone(), Arc::clone(&reason))));
        }
        pods
    }
}

/// `true` if a taint says that nodes take no pods for the time being.
fn is_passing(taint: &Taint) -> bool {
    let keeps_out = taint.effect != Effect::PreferNoSchedule;
    is_ephemeral(taint) || (keeps_out && taint.key.starts_with(TROUBLE))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(seconds * 1000)
    }

    fn group(number: usize) -> GroupId {
        GroupId::parse(&format!("{number:016x}")).expect("an id")
    }

    fn node(number: i64) -> UnusedNode {
        UnusedNode {
            claim: Uid::from(format!("u{number}")),
            name: NodeName::from(format!("node-{number}")),
        }
    }

    #[test]
    fn a_node_counts_once_and_the_last_two_are_named() {
        let mut own = NodeUse::default();
        own.note(group(1), node(1), None, at(0));
        own.note(group(1), node(1), None, at(1));
        assert_eq!(own.next_wake(), None, "one node is not enough");
        own.note(group(1), node(2), None, at(2));
        assert_eq!(own.next_wake(), Some(at(2) + HELD));
        assert!(!own.is_over(at(1) + HELD) && own.is_over(at(2) + HELD));
        own.note(group(1), node(3), None, at(4000));
        let names: Vec<&str> = own.unused[&group(1)]
            .nodes
            .iter()
            .map(|node| node.name.as_str())
            .collect();
        assert_eq!(names, ["node-2", "node-3"]);
        assert_eq!(
            own.next_wake(),
            Some(at(4000) + HELD),
            "the hour begins again"
        );
    }

    #[test]
    fn the_latest_groups_are_remembered_and_none_for_ever() {
        let mut own = NodeUse::default();
        for number in 0..=MOST_GROUPS {
            own.note(group(number), node(1), None, at(i64::from(number != 0)));
        }
        assert_eq!(own.unused.len(), MOST_GROUPS);
        assert!(!own.unused.contains_key(&group(0)), "the oldest goes");
        own.note(group(0), node(1), None, at(1) + REMEMBERED);
        assert_eq!(own.unused.len(), 1);
    }
}
