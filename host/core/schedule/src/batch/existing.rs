//! Nodes there are, and instances on their way, as places for the pods of a batch.
//!
//! What is free on a node is read once for all batches ([`crate::reading`]); here it is told in the resources that
//! pods of the batch ask for, and nodes that look the same to all of them are told apart no more. A node that leaves, or is
//! closed, takes nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plimsoll_base::labels::{self, LabelKey};
use plimsoll_base::requirement::{Requirement, Requirements, Undefined};
use plimsoll_model::snapshot::{NodeRemoval, Snapshot, StateNode};
use plimsoll_model::{HostPort, Taint, Toleration, first_untolerated};

use crate::offers::axes::{Axes, fits};
use crate::pods::attached::AttachedVolumes;
use crate::pods::needs::NodeNeeds;
use crate::reading::{NodeKind, NodeKinds, Reading};

/// Nodes that look the same to every pod of the batch: same taints, same values of the labels that pods ask for.
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
    /// Needs of the pod beside these.
    pub(crate) needs: &'a NodeNeeds,
}

/// The existing nodes of a snapshot, by row.
#[derive(Clone, Debug)]
pub(crate) struct Existing {
    /// Free room per row; `None` where nothing can be put.
    pub(crate) free: Vec<Option<Box<[i64]>>>,
    /// Ports taken per row.
    pub(crate) ports: Vec<Vec<HostPort>>,
    /// Volumes per row; only where a limit counts them.
    pub(crate) attached: BTreeMap<usize, AttachedVolumes>,
    signatures: Vec<NodeSignature>,
    signature_of: Vec<usize>,
}

impl Existing {
    /// Reads the nodes of a snapshot of which some go or are closed to pods. `required` are the label keys of which pods of the
    /// batch ask for values.
    pub(crate) fn of(
        reading: &Reading<'_>,
        removal: &NodeRemoval,
        axes: &Axes,
        required: &BTreeSet<LabelKey>,
    ) -> Self {
        let nodes = &reading.snapshot.nodes;
        let mut result = Self {
            free: Vec::with_capacity(nodes.len()),
            ports: Vec::with_capacity(nodes.len()),
            attached: BTreeMap::new(),
            signatures: Vec::new(),
            signature_of: Vec::with_capacity(nodes.len()),
        };
        for ((row, node), room) in nodes.iter().enumerate().zip(reading.rooms()) {
            let free = room.free.as_ref().filter(|_| removal.opens(row, node));
            result.free.push(free.map(|free| axes.vector(free)));
            result.ports.push(room.ports.clone());
            if let Some(attached) = &room.attached {
                result.attached.insert(row, attached.clone());
            }
        }
        result.sign(reading, required);
        result
    }

    /// Tells nodes apart by their taints and the labels of which pods ask for values.
    fn sign(&mut self, reading: &Reading<'_>, required: &BTreeSet<LabelKey>) {
        let NodeKinds { kinds, of_node } = reading.kinds();
        let signature = |kind: &NodeKind| NodeSignature {
            taints: kind.taints.clone(),
            labels: required_labels(kind, required),
        };
        let mut numbers: BTreeMap<NodeSignature, usize> = BTreeMap::new();
        let of_kind = kinds.iter().map(|kind| {
            let next = numbers.len();
            *numbers.entry(signature(kind)).or_insert(next)
        });
        let of_kind: Vec<usize> = of_kind.collect();
        let mut signatures: Vec<(NodeSignature, usize)> = numbers.into_iter().collect();
        signatures.sort_unstable_by_key(|(_, number)| *number);
        let signatures = signatures.into_iter().map(|(signature, _)| signature);
        self.signatures = signatures.collect();
        self.signature_of = of_node.iter().map(|kind| of_kind[*kind]).collect();
        let hostname = LabelKey::from(labels::HOSTNAME);
        if !required.contains(&hostname) {
            return;
        }
        // By its name each node looks like no other.
        let named = |(node, number): (&StateNode, &usize)| {
            let mut signature = self.signatures[*number].clone();
            let own = Requirement::one_of(hostname.clone(), [node.hostname()]);
            signature.labels.replace(own);
            signature
        };
        let nodes = reading.snapshot.nodes.iter();
        self.signatures = nodes.zip(&self.signature_of).map(named).collect();
        self.signature_of = (0..self.signatures.len()).collect();
    }

    /// Rows of the snapshot's nodes that are open to a pod, room apart, in the order in which they are tried.
    pub(crate) fn open_to(&self, snapshot: &Snapshot, asked: NodeRequest<'_>) -> Vec<usize> {
        let signatures = self.signatures.iter();
        let open: Vec<bool> = signatures
            .map(|signature| signature.opens_to(asked))
            .collect();
        (0..self.free.len())
            .filter(|row| open[self.signature_of[*row]] && self.free[*row].is_some())
            .filter(|row| asked.needs.are_met_by(&snapshot.nodes[*row], snapshot))
            .collect()
    }

    /// Number of the set of nodes that look the same which a node is of.
    pub(crate) fn alike(&self, row: usize) -> usize {
        self.signature_of[row]
    }

    /// The most that some node has free, per axis, of each set of nodes that look the same; `None` where nothing can be put.
    pub(crate) fn rooms(&self) -> Vec<Option<Box<[i64]>>> {
        let mut rooms: Vec<Option<Box<[i64]>>> = vec![None; self.signatures.len()];
        for (signature, free) in self.signature_of.iter().zip(&self.free) {
            match (&mut rooms[*signature], free) {
                (Some(most), Some(free)) => {
                    let axes = most.iter_mut().zip(free);
                    axes.for_each(|(most, free)| *most = (*most).max(*free));
                }
                (none, Some(free)) => *none = Some(free.clone()),
                (_, None) => {}
            }
        }
        rooms
    }

    /// The sets of nodes that look the same which labels and taints open to a pod, and of which some may have room for it, by
    /// their [`Existing::rooms`].
    pub(crate) fn alike_open_to<'a>(
        &'a self,
        asked: NodeRequest<'a>,
        request: &'a [i64],
        rooms: &'a [Option<Box<[i64]>>],
    ) -> impl Iterator<Item = usize> + 'a {
        let sets = self.signatures.iter().zip(rooms).enumerate();
        let open = sets.filter(move |(_, (signature, room))| {
            let roomy = room.as_ref().is_some_and(|room| fits(request, room));
            roomy && signature.opens_to(asked)
        });
        open.map(|(set, _)| set)
    }
}

impl NodeSignature {
    /// `true` if labels and taints open such nodes to a pod.
    fn opens_to(&self, asked: NodeRequest<'_>) -> bool {
        let has = |requirements: &Requirements| {
            let labels = self.labels.accepts(requirements, Undefined::Refused);
            labels.is_ok()
        };
        first_untolerated(&self.taints, asked.tolerations).is_none()
            && has(asked.requirements)
            && has(asked.volumes)
    }
}

/// Labels of a kind of nodes as requirements: those required.
fn required_labels(kind: &NodeKind, required: &BTreeSet<LabelKey>) -> Requirements {
    let mut result = Requirements::new();
    for (key, value) in &kind.labels {
        if required.contains(key) {
            result.add(Requirement::one_of(key.clone(), [Arc::clone(value)]));
        }
    }
    result
}
