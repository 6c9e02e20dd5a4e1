//! The one value that decisions read, made of what was seen, what was asked for and what was promised.
//!
//! - Claims asked for are there, and claims that a command is moving are deleting.
//! - A pod that stands for a promise is shown as bound to its target: it takes room there, counts for its neighbours, and
//!   is not planned again. A target without a Node object gets a placeholder node of the claim's name.
//! - Pods that need planning are those left over: waiting ones, and those on nodes that are deleting.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::cluster::Cluster;
use super::expected::Expected;
use super::promise::{Assignment, PromisedTarget, Promises, node_of};
use crate::catalogue::Market;
use crate::ids::{ClaimName, NodeName, ObjectName};
use crate::labels::{self, Labels};
use crate::model::{Node, NodeClaim, Pod, Readiness, is_displaced, wants_node};
use crate::resources::Resources;
use crate::snapshot::{Settings, Snapshot};
use crate::time::Timestamp;

/// Parts of a snapshot.
#[derive(Debug)]
pub struct World<'a> {
    /// The objects.
    pub cluster: &'a Cluster,
    /// Claims asked for and not seen yet.
    pub expected: &'a Expected,
    /// Catalogues of instance types with their offerings as they are now.
    pub market: &'a Market,
    /// How to decide.
    pub settings: &'a Arc<Settings>,
    /// Handed on to decisions.
    pub seed: u64,
}

/// Pods that stand for each promise, over all groups.
pub fn assignments(promises: &Promises, cluster: &Cluster, now: Timestamp) -> Assignment {
    let groups = promises.groups().into_iter();
    groups
        .flat_map(|group| promises.assign(group, cluster, now))
        .collect()
}

/// Freezes the state at an instant.
pub fn freeze(world: &World<'_>, assigned: &Assignment, now: Timestamp) -> Snapshot {
    let cluster = world.cluster;
    let mut objects = cluster.objects();
    objects.claims = world.expected.overlay(cluster);
    for pod in &mut objects.pods {
        if let Some(shown) = without_stale_nomination(pod, cluster) {
            *pod = shown;
        }
    }
    for (name, target) in assigned {
        let row = objects.pods.binary_search_by(|pod| pod.name.cmp(name));
        if let Some(pod) = row.ok().and_then(|row| objects.pods.get_mut(row)) {
            *pod = promised(pod, target, cluster);
        }
    }
    let catalogues = Arc::clone(world.market.catalogues());
    let settings = Arc::clone(world.settings);
    let mut snapshot = Snapshot::new(now, world.seed, settings, catalogues, objects);
    add_placeholders(&mut snapshot, assigned, cluster);
    snapshot
}

/// Pods that wait for a node, or will, and stand for no promise: what there is to plan.
pub fn open_pods(cluster: &Cluster, assigned: &Assignment, now: Timestamp) -> Vec<ObjectName> {
    let unbound = cluster
        .unbound_groups()
        .flat_map(|group| cluster.unbound_of(group))
        .filter(|pod| wants_node(pod) && !is_nominated_elsewhere(pod, cluster));
    let displaced = cluster
        .deleting()
        .flat_map(|node| cluster.pods_on(node))
        .filter(|pod| is_displaced(pod, now));
    unbound
        .chain(displaced)
        .filter(|pod| !assigned.contains_key(&pod.name))
        .map(|pod| pod.name.clone())
        .collect()
}

/// A nomination that is none of ours and still good: a preempting pod that will get its place by itself.
fn is_nominated_elsewhere(pod: &Pod, cluster: &Cluster) -> bool {
    pod.nominated
        .as_ref()
        .is_some_and(|name| is_good(name, cluster))
}

fn is_good(name: &NodeName, cluster: &Cluster) -> bool {
    cluster.nodes.get(name).is_some_and(|node| {
        node.deleting.is_none()
            && cluster
                .claim_on(name)
                .is_none_or(|claim| claim.deleting.is_none())
    })
}

fn without_stale_nomination(pod: &Arc<Pod>, cluster: &Cluster) -> Option<Arc<Pod>> {
    let name = pod.nominated.as_ref()?;
    if is_good(name, cluster) {
        return None;
    }
    let mut shown = Pod::clone(pod);
    shown.nominated = None;
    Some(Arc::new(shown))
}

fn promised(pod: &Arc<Pod>, target: &PromisedTarget, cluster: &Cluster) -> Arc<Pod> {
    let mut shown = Pod::clone(pod);
    shown.node = Some(shown_name(target, cluster));
    shown.nominated = None;
    Arc::new(shown)
}

/// The node's name, or the claim's as long as there is no node.
fn shown_name(target: &PromisedTarget, cluster: &Cluster) -> NodeName {
    node_of(target, cluster).unwrap_or_else(|| match target {
        PromisedTarget::Claim(name) => NodeName::from(name.as_str()),
        PromisedTarget::Node(name) => name.clone(),
    })
}

/// Gives claims without a Node object a node of their own name to which promised pods can be shown as bound. It carries no
/// label of registration, so that the claim goes on speaking for it.
fn add_placeholders(snapshot: &mut Snapshot, assigned: &Assignment, cluster: &Cluster) {
    let mut wanted: BTreeMap<&ClaimName, &PromisedTarget> = BTreeMap::new();
    for target in assigned.values() {
        if let PromisedTarget::Claim(name) = target {
            wanted.insert(name, target);
        }
    }
    for row in &mut snapshot.nodes {
        let Some(claim) = row.claim.as_ref().filter(|_| row.node.is_none()) else {
            continue;
        };
        if let Some(target) = wanted.get(&claim.name) {
            row.node = Some(Arc::new(placeholder(claim, shown_name(target, cluster))));
        }
    }
}

fn placeholder(claim: &NodeClaim, name: NodeName) -> Node {
    let mut own = Labels::new();
    own.insert(Arc::from(labels::HOSTNAME), Arc::from(claim.name.as_str()));
    Node {
        name,
        provider_id: claim.provider_id.clone(),
        labels: own,
        annotations: Labels::new(),
        taints: Vec::new(),
        capacity: Resources::new(),
        allocatable: Resources::new(),
        ready: Readiness::Unknown,
        created: claim.created,
        deleting: None,
    }
}
