//! The cluster after moves: members gone, replacements there as planned and ready, pods where the moves put them.
//!
//! This is a forecast, for valuing several moves in a row and for judging them; nothing is done. Daemons come with a node and
//! go with it: what they need of a new one is counted as if they were still to start.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plimsoll_base::ids::{ClaimName, NodeName, ProviderId, Uid};
use plimsoll_base::labels::{self, Labels};
use plimsoll_model::catalogue::{NodeResources, Overlaid};
use plimsoll_model::plan::{PlannedClaim, Target};
use plimsoll_model::snapshot::{Snapshot, StateNode};
use plimsoll_model::{
    ClaimPhase, Conditions, Node, NodeClaim, NodeConditions, Pod, Readiness, Unread,
};
use plimsoll_schedule::features_of_new;

use super::Move;

/// The snapshot with moves carried out. They must have been found on it, share no member, and each take what those before
/// it have left.
pub fn carry_out(snapshot: &Snapshot, moves: &[Move]) -> Snapshot {
    let overlaid = snapshot.overlaid();
    let deleting: BTreeSet<usize> = moves
        .iter()
        .flat_map(|made| made.members.iter().copied())
        .collect();
    let mut new_nodes = Vec::new();
    let mut home: BTreeMap<usize, NodeName> = BTreeMap::new();
    for (number, made) in moves.iter().enumerate() {
        let names = names(snapshot, number, made);
        let built = made.claims.iter().zip(&names);
        new_nodes.extend(built.filter_map(|(claim, name)| ready(snapshot, &overlaid, claim, name)));
        for placement in &made.placements {
            let node = match placement.target {
                Target::New(at) => names.get(at).cloned(),
                Target::Existing(row) => snapshot.nodes[row]
                    .node
                    .as_ref()
                    .map(|node| node.name.clone()),
            };
            home.extend(node.map(|node| (placement.pod, node)));
        }
    }
    let mut result = snapshot.clone();
    let staying =
        |(row, node): (usize, &StateNode)| (!deleting.contains(&row)).then(|| node.clone());
    result.nodes = snapshot
        .nodes
        .iter()
        .enumerate()
        .filter_map(staying)
        .collect();
    result.nodes.extend(new_nodes);
    result
        .nodes
        .sort_by(|a, b| (!a.is_initialized(), a.name()).cmp(&(!b.is_initialized(), b.name())));
    result.pods = pods_after(snapshot, &deleting, &home);
    result
}

/// Names of a move's new nodes: after its first member, whose own name is free then; after how many nodes there were, where
/// nothing goes.
fn names(snapshot: &Snapshot, number: usize, made: &Move) -> Vec<NodeName> {
    let first = made.members.first().map(|row| snapshot.nodes[*row].name());
    let stem = first.map_or_else(
        || format!("new-{}-{number}", snapshot.nodes.len()),
        ToOwned::to_owned,
    );
    let all = 0..made.claims.len();
    all.map(|at| NodeName::from(format!("{stem}.{at}")))
        .collect()
}

/// Pods that have moved are bound anew; those that belong to a node that is removed, or end with it, are gone.
fn pods_after(
    snapshot: &Snapshot,
    deleting: &BTreeSet<usize>,
    home: &BTreeMap<usize, NodeName>,
) -> Vec<Arc<Pod>> {
    let gone: BTreeSet<&NodeName> = deleting
        .iter()
        .filter_map(|row| Some(&snapshot.nodes[*row].node.as_ref()?.name))
        .collect();
    let after = |(row, pod): (usize, &Arc<Pod>)| match home.get(&row) {
        Some(node) => {
            let mut moved = Pod::clone(pod);
            moved.node = Some(node.clone());
            moved.nominated = None;
            moved.unschedulable = false;
            Some(Arc::new(moved))
        }
        None if pod.node.as_ref().is_some_and(|node| gone.contains(node)) => None,
        None => Some(Arc::clone(pod)),
    };
    snapshot.pods.iter().enumerate().filter_map(after).collect()
}

/// The node that a claim becomes if it is launched as planned; `None` for a claim that names no way to buy it.
fn ready(
    snapshot: &Snapshot,
    overlaid: &Overlaid,
    claim: &PlannedClaim,
    name: &NodeName,
) -> Option<StateNode> {
    let catalogue = overlaid.of(&claim.pool);
    let sold = catalogue.offering(&claim.chosen()?.offering())?;
    let mut labels = sold.node_labels(&claim.labels, &claim.requirements);
    for key in [labels::REGISTERED, labels::INITIALIZED] {
        labels.insert(key.into(), "true".into());
    }
    labels.insert(labels::HOSTNAME.into(), Arc::from(name.as_str()));
    let resources = sold.resources();
    let provider_id = Some(ProviderId::from(format!("planned:///{name}")));
    let node = Node {
        name: name.clone(),
        uid: Uid::from(format!("planned-{name}")),
        provider_id: provider_id.clone(),
        labels: labels.clone(),
        annotations: claim.annotations.clone(),
        taints: claim.taints.clone(),
        capacity: resources.capacity.clone(),
        allocatable: resources.allocatable.clone(),
        features: features_of_new(&claim.pool, snapshot),
        conditions: NodeConditions::of(Readiness::Ready, snapshot.now),
        created: snapshot.now,
        deleting: None,
        held: true,
    };
    let claim = launched(snapshot, claim, name, labels, resources);
    Some(StateNode {
        node: Some(Arc::new(node)),
        claim: Some(Arc::new(NodeClaim {
            provider_id,
            ..claim
        })),
    })
}

fn launched(
    snapshot: &Snapshot,
    claim: &PlannedClaim,
    name: &NodeName,
    labels: Labels,
    resources: NodeResources,
) -> NodeClaim {
    NodeClaim {
        name: ClaimName::from(name.as_str()),
        uid: Uid::from(format!("planned-{name}")),
        pool: claim.pool.clone(),
        class: claim.class.clone(),
        provider_id: None,
        node: Some(name.clone()),
        labels,
        annotations: claim.annotations.clone(),
        requirements: claim.requirements.clone(),
        requests: claim.requests.clone(),
        taints: claim.taints.clone(),
        startup_taints: claim.startup_taints.clone(),
        capacity: resources.capacity,
        allocatable: resources.allocatable,
        created: snapshot.now,
        conditions: Conditions::reached(ClaimPhase::Initialized, snapshot.now),
        expire_after: claim.expire_after,
        termination_grace: claim.termination_grace,
        deleting: None,
        drained_by: None,
        last_pod_event: None,
        held: true,
        unread: Unread::default(),
    }
}
