//! Promises: the claim or node that a group of pods was planned onto, and the pods that stand for the group now.
//!
//! A promise lives as long as its claim is on its way, and [`NOMINATION_WINDOW`] longer once the node is complete (or from
//! when it was made, on a node that was there already); a pod that is bound there by then has taken it up. Promises to a
//! claim are written on it ([`ANNOTATION`]), so that they survive a restart; those to nodes that exist live in memory and
//! in the nominations of the pods.

use std::collections::{BTreeMap, BTreeSet};

use plimsoll_base::ids::{ClaimName, NodeName, ObjectName};
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_model::{ClaimPhase, NodeClaim, Pod, is_displaced};

use super::cluster::Cluster;
use super::expected::Expected;
use super::group::GroupId;

/// Annotation of a claim with its promises: `<group>:<count>`, comma separated.
pub const ANNOTATION: &str = "plimsoll.dev/promised";
/// How long a promise holds on a node that pods can use: twice the longest batch, as long as Karpenter nominates nodes.
pub const NOMINATION_WINDOW: Span = Span::from_secs(20);

/// Object that a promise is on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PromisedTarget {
    /// A claim of ours, whatever its node.
    Claim(ClaimName),
    /// A node of others.
    Node(NodeName),
}

/// So many pods of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Promise {
    count: u32,
    /// Pods of the group that were there already.
    had: u32,
    made: Timestamp,
}

/// All promises.
#[derive(Clone, Debug, Default)]
pub struct Promises {
    by_target: BTreeMap<PromisedTarget, BTreeMap<GroupId, Promise>>,
    by_group: BTreeMap<GroupId, BTreeSet<PromisedTarget>>,
}

/// Pods and where they are expected.
pub type Assignment = BTreeMap<ObjectName, PromisedTarget>;

impl Promises {
    /// Promises room for `count` pods of a group, beside the `had` that are there already. A promise that is there for the
    /// same group grows.
    pub fn make(
        &mut self,
        target: &PromisedTarget,
        group: GroupId,
        count: u32,
        had: u32,
        now: Timestamp,
    ) {
        let of_target = self.by_target.entry(target.clone()).or_default();
        let promise = of_target.entry(group).or_insert(Promise {
            count: 0,
            had,
            made: now,
        });
        promise.count = promise.count.saturating_add(count);
        promise.made = now;
        let targets = self.by_group.entry(group).or_default();
        targets.insert(target.clone());
    }

    /// Takes over what a claim says about its promises, unless some are known.
    pub fn adopt(&mut self, claim: &NodeClaim) {
        let target = PromisedTarget::Claim(claim.name.clone());
        if self.by_target.contains_key(&target) {
            return;
        }
        for (group, count) in bought_for(claim) {
            self.make(&target, group, count, 0, claim.created);
        }
    }

    /// The groups that have a promise on a target.
    pub fn groups_on(&self, target: &PromisedTarget) -> Vec<GroupId> {
        self.by_target
            .get(target)
            .map(|groups| groups.keys().copied().collect())
            .unwrap_or_default()
    }

    /// The targets that a group has a promise on.
    pub fn targets_of(&self, group: GroupId) -> impl Iterator<Item = &PromisedTarget> {
        self.by_group.get(&group).into_iter().flatten()
    }

    /// `true` if a target has any promise.
    pub fn has_any(&self, target: &PromisedTarget) -> bool {
        self.by_target.contains_key(target)
    }

    /// `true` if a group has any promise.
    pub fn covers(&self, group: GroupId) -> bool {
        self.by_group.contains_key(&group)
    }

    /// Groups that have promises.
    pub fn groups(&self) -> Vec<GroupId> {
        self.by_group.keys().copied().collect()
    }

    /// Drops all promises on a target; the groups concerned.
    pub fn drop_target(&mut self, target: &PromisedTarget) -> Vec<GroupId> {
        let groups: Vec<GroupId> = self
            .by_target
            .remove(target)
            .map(|groups| groups.into_keys().collect())
            .unwrap_or_default();
        for group in &groups {
            if let Some(targets) = self.by_group.get_mut(group) {
                targets.remove(target);
                if targets.is_empty() {
                    self.by_group.remove(group);
                }
            }
        }
        groups
    }

    /// Takes back the promise of one place on a target.
    pub fn take_back(&mut self, target: &PromisedTarget, group: GroupId) {
        let of_target = self.by_target.get_mut(target);
        if let Some(promise) = of_target.and_then(|groups| groups.get_mut(&group)) {
            promise.count = promise.count.saturating_sub(1);
        }
    }

    /// Until when the promises on a target hold: `None` while its claim is on its way. A time in the past when the target
    /// is gone or deleting.
    pub fn hold_until(
        &self,
        target: &PromisedTarget,
        cluster: &Cluster,
        expected: &Expected,
    ) -> Option<Timestamp> {
        const PAST: Timestamp = Timestamp::from_millis(i64::MIN);
        let made = self
            .by_target
            .get(target)
            .and_then(|groups| groups.values().map(|promise| promise.made).max())?;
        match target {
            PromisedTarget::Node(name) => match cluster.nodes.get(name) {
                Some(node) if node.deleting.is_none() => Some(made + NOMINATION_WINDOW),
                _ => Some(PAST),
            },
            PromisedTarget::Claim(name) => match cluster.claims.get(name) {
                Some(claim) if claim.deleting.is_some() => Some(PAST),
                Some(claim) if claim.phase() == ClaimPhase::Initialized => {
                    Some(claim.phase_since().max(made) + NOMINATION_WINDOW)
                }
                Some(_) => None,
                None if expected.get(name).is_some() => None,
                None => Some(PAST),
            },
        }
    }

    /// Targets with promises.
    pub fn targets(&self) -> Vec<PromisedTarget> {
        self.by_target.keys().cloned().collect()
    }

    /// Pods of a group that stand for its promises: those nominated there first, then by name; unbound pods, then those on nodes
    /// that are deleting.
    pub fn assign(&self, group: GroupId, cluster: &Cluster, now: Timestamp) -> Assignment {
        self.assign_where(group, cluster, now, |pod| pod.nominated.as_ref())
    }

    /// The same where pods are nominated to other nodes than they carry so far: each to the node that `nominated` gives for it.
    pub fn assign_where<'n>(
        &self,
        group: GroupId,
        cluster: &'n Cluster,
        now: Timestamp,
        nominated: impl Fn(&'n Pod) -> Option<&'n NodeName>,
    ) -> Assignment {
        let mut assignment = Assignment::new();
        let mut room: BTreeMap<PromisedTarget, u32> = self
            .by_group
            .get(&group)
            .into_iter()
            .flatten()
            .map(|target| (target.clone(), self.open(target, group, cluster)))
            .collect();
        if room.is_empty() {
            return assignment;
        }
        let waiting: Vec<&Pod> = candidates(group, cluster, now).collect();
        for pod in &waiting {
            let Some(node) = nominated(pod) else { continue };
            let target = target_of(node, cluster);
            if let Some(left) = room.get_mut(&target)
                && *left > 0
            {
                *left -= 1;
                assignment.insert(pod.name.clone(), target);
            }
        }
        let places = room
            .into_iter()
            .flat_map(|(target, left)| std::iter::repeat_n(target, left as usize));
        let rest: Vec<ObjectName> = waiting
            .iter()
            .filter(|pod| !assignment.contains_key(&pod.name))
            .map(|pod| pod.name.clone())
            .collect();
        assignment.extend(rest.into_iter().zip(places));
        assignment
    }

    /// The targets that still wait for pods of a group, when so many have come beside those that the cluster knows of.
    pub fn open_targets(
        &self,
        group: GroupId,
        cluster: &Cluster,
        come: &BTreeMap<PromisedTarget, u32>,
    ) -> Vec<&PromisedTarget> {
        let targets = self.by_group.get(&group).into_iter().flatten();
        let come = |target: &PromisedTarget| come.get(target).copied().unwrap_or(0);
        targets
            .filter(|target| self.open(target, group, cluster) > come(target))
            .collect()
    }

    /// `true` if a place on a target is open for a pod that is on its way: not bound yet, or about to leave a deleting node.
    pub fn awaits_pods(&self, target: &PromisedTarget, cluster: &Cluster, now: Timestamp) -> bool {
        let mut groups = self.groups_on(target).into_iter();
        let comes = |group| candidates(group, cluster, now).next().is_some();
        groups.any(|group| comes(group) && self.open(target, group, cluster) > 0)
    }

    /// How many pods of a group a target still waits for.
    pub fn open(&self, target: &PromisedTarget, group: GroupId, cluster: &Cluster) -> u32 {
        let promise = self
            .by_target
            .get(target)
            .and_then(|groups| groups.get(&group));
        let Some(promise) = promise else { return 0 };
        let bound = bound_of(group, target, cluster);
        promise
            .count
            .saturating_sub(bound.saturating_sub(promise.had))
    }
}

/// The target of a node: its claim, or itself when it is of others.
pub fn target_of(node: &NodeName, cluster: &Cluster) -> PromisedTarget {
    match cluster.claim_on(node) {
        Some(claim) => PromisedTarget::Claim(claim.name.clone()),
        None => PromisedTarget::Node(node.clone()),
    }
}

/// The node of a target, once there is one.
pub fn node_of(target: &PromisedTarget, cluster: &Cluster) -> Option<NodeName> {
    match target {
        PromisedTarget::Node(name) => cluster.nodes.get(name).map(|node| node.name.clone()),
        PromisedTarget::Claim(name) => {
            let claim = cluster.claims.get(name)?;
            let nodes = cluster.nodes_of(claim);
            nodes.first().map(|node| node.name.clone())
        }
    }
}

/// How many active pods of a group are bound to a target's node.
pub fn bound_of(group: GroupId, target: &PromisedTarget, cluster: &Cluster) -> u32 {
    let Some(node) = node_of(target, cluster) else {
        return 0;
    };
    let own = cluster.pods_of_on(group, &node);
    u32::try_from(own.filter(|pod| pod.is_active()).count()).unwrap_or(u32::MAX)
}

/// Pods of a group that may take up a promise, by name: unbound ones, then those whose node is deleting.
fn candidates(group: GroupId, cluster: &Cluster, now: Timestamp) -> impl Iterator<Item = &Pod> {
    let unbound = cluster.unbound_of(group).filter(|pod| pod.is_active());
    let displaced = cluster.displaced_of(group);
    let displaced = displaced.filter(move |pod| is_displaced(pod, now));
    unbound.chain(displaced).map(AsRef::as_ref)
}

/// Writes promises for [`ANNOTATION`].
pub fn to_annotation(promises: &BTreeMap<GroupId, u32>) -> String {
    let entries: Vec<String> = promises
        .iter()
        .map(|(group, count)| format!("{}:{count}", group.to_text()))
        .collect();
    entries.join(",")
}

/// Pods that a claim was bought for, by group, as they are written on it.
pub fn bought_for(claim: &NodeClaim) -> Vec<(GroupId, u32)> {
    parse(claim.annotations.get(ANNOTATION).map_or("", AsRef::as_ref))
}

/// Reads what [`to_annotation`] wrote; entries that make no sense are skipped.
fn parse(text: &str) -> Vec<(GroupId, u32)> {
    let entry = |entry: &str| {
        let (group, count) = entry.split_once(':')?;
        Some((GroupId::parse(group)?, count.parse().ok()?))
    };
    text.split(',').filter_map(entry).collect()
}
