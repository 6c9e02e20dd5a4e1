//! Nodes there are, and machines on their way, as places for pods.
//!
//! What is free on a node is its allocatable less its pods and less what daemons still need there. A node that is on its
//! way out, or overcommitted in any resource, takes nothing. A claim that has not launched offers its floor, as the snapshot
//! says it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::labels::{self, LabelKey};
use crate::model::{HostPort, Taint, Toleration, first_untolerated};
use crate::requirement::{Requirement, Requirements, Undefined};
use crate::resources::Resources;
use crate::schedule::offers::axes::Axes;
use crate::schedule::offers::daemons;
use crate::schedule::pods::volumes::{self, ClaimsByDriver};
use crate::snapshot::{Snapshot, StateNode};

/// Nodes that look the same to every pod of the batch: same taints, same values of the labels that pods mention.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct NodeSignature {
    taints: Vec<Taint>,
    labels: Requirements,
}

/// A pod's demands on a node, resources apart.
#[derive(Clone, Copy)]
pub(crate) struct NodeRequest<'a> {
    /// Requirements on the node's labels.
    pub(crate) requirements: &'a Requirements,
    /// Requirements that the pod's volumes add to them.
    pub(crate) volumes: &'a Requirements,
    /// Tolerations of the pod.
    pub(crate) tolerations: &'a [Toleration],
}

/// The existing nodes of a snapshot, by row.
#[derive(Clone, Debug)]
pub(crate) struct Existing {
    /// Free room per row; `None` where nothing can be put.
    pub(crate) free: Vec<Option<Box<[i64]>>>,
    /// Ports taken per row.
    pub(crate) ports: Vec<Vec<HostPort>>,
    /// Volumes attached per row, by driver; only where a limit counts them.
    pub(crate) attached: BTreeMap<usize, ClaimsByDriver>,
    signatures: Vec<NodeSignature>,
    look_of: Vec<usize>,
}

impl Existing {
    /// Reads the nodes of a snapshot. `bound` are the pods of each, `mentioned` the label keys that pods of the batch ask for.
    pub(crate) fn of(
        snapshot: &Snapshot,
        bound: &[Vec<usize>],
        axes: &Axes,
        mentioned: &BTreeSet<LabelKey>,
    ) -> Self {
        let mut result = Self {
            free: Vec::with_capacity(snapshot.nodes.len()),
            ports: Vec::with_capacity(snapshot.nodes.len()),
            attached: BTreeMap::new(),
            signatures: Vec::new(),
            look_of: Vec::with_capacity(snapshot.nodes.len()),
        };
        let mut numbers: BTreeMap<NodeSignature, usize> = BTreeMap::new();
        for (row, node) in snapshot.nodes.iter().enumerate() {
            let labels = node_labels(node, mentioned);
            let signature = NodeSignature {
                taints: node.taints(),
                labels,
            };
            let number = *numbers.entry(signature).or_insert_with_key(|signature| {
                result.signatures.push(signature.clone());
                result.signatures.len() - 1
            });
            result.look_of.push(number);
            result
                .free
                .push(free(snapshot, node, &bound[row]).map(|free| axes.vector(&free)));
            let live = || {
                bound[row]
                    .iter()
                    .map(|pod| &snapshot.pods[*pod])
                    .filter(|pod| !pod.is_terminal())
            };
            result.ports.push(
                live()
                    .flat_map(|pod| pod.spec.host_ports.iter().cloned())
                    .collect(),
            );
            if node
                .node
                .as_ref()
                .is_some_and(|node| snapshot.volumes.nodes.contains_key(&node.name))
            {
                let mut attached = ClaimsByDriver::new();
                for pod in live().filter(|pod| !pod.spec.volumes.is_empty()) {
                    for (driver, claims) in volumes::attached(pod, &snapshot.volumes) {
                        attached.entry(driver).or_default().extend(claims);
                    }
                }
                result.attached.insert(row, attached);
            }
        }
        result
    }

    /// Rows of nodes that labels and taints open to a pod, in the order in which they are tried.
    pub(crate) fn open_to(&self, asked: NodeRequest<'_>) -> Vec<usize> {
        let opens = |signature: &NodeSignature| {
            first_untolerated(&signature.taints, asked.tolerations).is_none()
                && signature
                    .labels
                    .accepts(asked.requirements, Undefined::Refused)
                    .is_ok()
                && signature
                    .labels
                    .accepts(asked.volumes, Undefined::Refused)
                    .is_ok()
        };
        let open: Vec<bool> = self.signatures.iter().map(opens).collect();
        (0..self.free.len())
            .filter(|row| open[self.look_of[*row]] && self.free[*row].is_some())
            .collect()
    }
}

/// Labels of a node as requirements: those mentioned, with the host name where it is mentioned.
fn node_labels(node: &StateNode, mentioned: &BTreeSet<LabelKey>) -> Requirements {
    let mut result = Requirements::new();
    for (key, value) in node.certain_labels().iter() {
        let key = LabelKey::from(key.as_ref());
        if mentioned.contains(&key) {
            result.add(Requirement::one_of(key, [Arc::clone(value)]));
        }
    }
    let hostname = LabelKey::from(labels::HOSTNAME);
    if mentioned.contains(&hostname) {
        result.replace(Requirement::one_of(hostname, [node.hostname()]));
    }
    result
}

/// Resources that pods may still have of a node; `None` while it is deleting, or is not launched and reports no resources.
fn free(snapshot: &Snapshot, node: &StateNode, bound: &[usize]) -> Option<Resources> {
    if node.is_deleting() {
        return None;
    }
    let allocatable = node.allocatable();
    if !node.is_launched() && allocatable.is_empty() {
        return None;
    }
    let mut used = Resources::new();
    for pod in bound
        .iter()
        .map(|row| &snapshot.pods[*row])
        .filter(|pod| !pod.is_terminal())
    {
        used.add(&pod.spec.requests);
    }
    let mut free = allocatable.minus(&used);
    if !snapshot.daemon_sets.is_empty() {
        let mut requirements = Requirements::from_labels(node.certain_labels().as_ref());
        requirements.replace(Requirement::one_of(
            LabelKey::from(labels::HOSTNAME),
            [node.hostname()],
        ));
        let need = daemons::remaining_need(snapshot, node, &requirements, bound);
        free = free.minus(&need);
    }
    let overcommitted = free.iter().any(|(_, amount)| amount < 0);
    (!overcommitted).then_some(free)
}
