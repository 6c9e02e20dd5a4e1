//! Objects as decisions see them, made of what was seen, what was asked for and what was promised.
//!
//! - Claims asked for are there, and claims that a command is moving are deleting.
//! - A pod that stands for a promise is shown as bound to its target: it takes room there, counts for its neighbours, and
//!   is not planned again. A target without a Node object gets a placeholder node of the claim's name.
//! - Pods that need planning are those left over: waiting ones, and those on nodes that are deleting. A pod that the scheduler has not
//!   tried is shown as found unschedulable where another of its group was.
//!
//! The step after puts them into a snapshot ([`super::frozen`]).

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_base::ids::{ClaimName, NodeName, ObjectName, Uid};
use plimsoll_base::labels::{self, Labels};
use plimsoll_base::resources::Resources;
use plimsoll_base::time::Timestamp;
use plimsoll_model::catalogue::Market;
use plimsoll_model::snapshot::{NodeJoin, Settings, StateNode};
use plimsoll_model::{Node, NodeClaim, NodeConditions, Pod, Readiness, is_displaced};

use super::cluster::Cluster;
use super::expected::Expected;
use super::promise::{Assignment, PromisedTarget, Promises, node_of};

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

/// Pods that wait for a node, or will, and stand for no promise: what there is to plan.
pub fn open_pods(cluster: &Cluster, assigned: &Assignment, now: Timestamp) -> Vec<ObjectName> {
    let unbound = cluster
        .unbound_groups()
        .flat_map(|group| cluster.unbound_of(group))
        .filter(|pod| cluster.wants_node(pod) && !is_nominated_elsewhere(pod, cluster));
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

/// A pod as decisions see it; `None` where that is as it is.
pub(super) fn shown_otherwise(
    pod: &Pod,
    assigned: &Assignment,
    cluster: &Cluster,
) -> Option<Arc<Pod>> {
    let is_implied = cluster.is_implied(pod);
    let node = match assigned.get(&pod.name) {
        Some(target) => Some(shown_name(target, cluster)),
        None if is_implied => None,
        None if is_good(pod.nominated.as_ref()?, cluster) => return None,
        None => pod.node.clone(),
    };
    let mut shown = Pod::clone(pod);
    shown.node = node;
    shown.nominated = None;
    if is_implied {
        (shown.unschedulable, shown.untried) = (true, false);
    }
    Some(Arc::new(shown))
}

/// Nodes and claims of a join as decisions see them, each by name: claims asked for among them, those that a command is moving
/// as deleting.
pub(super) fn joined(join: &NodeJoin, world: &World<'_>) -> (Vec<Arc<Node>>, Vec<Arc<NodeClaim>>) {
    let (nodes, mut claims) = world.cluster.joined(join);
    if let NodeJoin::Claim(name) = join
        && world.cluster.claims.get(name).is_none()
    {
        claims.extend(world.expected.get(name).cloned());
    }
    for claim in &mut claims {
        if let Some(since) = world.cluster.marked(&claim.name)
            && claim.deleting.is_none()
        {
            Arc::make_mut(claim).deleting = Some(since);
        }
    }
    (nodes, claims)
}

/// Claims that pods stand for, each with its target.
pub(super) fn wanted(assigned: &Assignment) -> BTreeMap<&ClaimName, &PromisedTarget> {
    let targets = assigned.values();
    let claims = targets.filter_map(|target| match target {
        PromisedTarget::Claim(name) => Some((name, target)),
        PromisedTarget::Node(_) => None,
    });
    claims.collect()
}

/// Gives a claim without a Node object to which promised pods can be shown as bound a node of its name; whether it did. The node
/// carries no label of registration, so that the claim goes on speaking for it.
pub(super) fn add_placeholder(
    row: &mut StateNode,
    wanted: &BTreeMap<&ClaimName, &PromisedTarget>,
    cluster: &Cluster,
) -> bool {
    let claim = row.claim.as_ref().filter(|_| row.node.is_none());
    let placeholder = claim.and_then(|claim| {
        let target = wanted.get(&claim.name)?;
        Some(Arc::new(placeholder(claim, shown_name(target, cluster))))
    });
    let is_added = placeholder.is_some();
    if is_added {
        row.node = placeholder;
    }
    is_added
}

/// The node's name, or the claim's as long as there is no node.
fn shown_name(target: &PromisedTarget, cluster: &Cluster) -> NodeName {
    node_of(target, cluster).unwrap_or_else(|| match target {
        PromisedTarget::Claim(name) => NodeName::from(name.as_str()),
        PromisedTarget::Node(name) => name.clone(),
    })
}

fn placeholder(claim: &NodeClaim, name: NodeName) -> Node {
    let mut own = Labels::new();
    own.insert(Arc::from(labels::HOSTNAME), Arc::from(claim.name.as_str()));
    Node {
        name,
        uid: Uid::default(),
        provider_id: claim.provider_id.clone(),
        labels: own,
        annotations: Labels::new(),
        taints: Vec::new(),
        capacity: Resources::new(),
        allocatable: Resources::new(),
        features: Vec::new(),
        conditions: NodeConditions::of(Readiness::Unknown, claim.created),
        created: claim.created,
        deleting: None,
        held: false,
    }
}
