//! Room on a node there is: what pods may still have of its resources, its ports and its attach slots.
//!
//! What is free is its allocatable less its pods and less what daemons still need there. A node that is deleting, or
//! overcommitted in any resource, takes nothing. A claim that has not launched offers its floor, as the snapshot says it.

use std::collections::BTreeMap;

use plimsoll_base::ids::NodeName;
use plimsoll_base::labels::{self, LabelKey};
use plimsoll_base::requirement::{Requirement, Requirements};
use plimsoll_base::resources::Resources;
use plimsoll_model::HostPort;
use plimsoll_model::snapshot::{Snapshot, StateNode};

use crate::offers::daemons;
use crate::pods::attached::AttachedVolumes;
use crate::pods::volumes::ClaimsByDriver;

/// Room on one node.
#[derive(Clone, Debug)]
pub(crate) struct NodeRoom {
    /// Resources that pods may still have; `None` where nothing can be put.
    pub(crate) free: Option<Resources>,
    /// Ports taken.
    pub(crate) ports: Vec<HostPort>,
    /// Volumes on it; `None` where no limit counts them.
    pub(crate) attached: Option<AttachedVolumes>,
}

impl NodeRoom {
    /// Reads the node at a row; `bound` are the pods on it, `attached` what VolumeAttachments say of every node.
    pub(super) fn of(
        snapshot: &Snapshot,
        row: usize,
        bound: &[usize],
        attached: &BTreeMap<&NodeName, ClaimsByDriver>,
    ) -> Self {
        let node = &snapshot.nodes[row];
        let live = || {
            let pods = bound.iter().map(|pod| &snapshot.pods[*pod]);
            pods.filter(|pod| !pod.is_terminal())
        };
        let name = node.node.as_ref().map(|node| &node.name);
        let attached = name.and_then(|name| attached.get(name));
        let sets = snapshot.daemon_sets.iter();
        let to_come = sets.filter(|set| {
            !set.pod.host_ports.is_empty() && daemons::is_to_come(snapshot, node, set, bound)
        });
        Self {
            free: free(snapshot, node, bound),
            ports: live()
                .map(|pod| &pod.spec)
                .chain(to_come.map(|set| &set.pod))
                .flat_map(|spec| spec.host_ports.iter().cloned())
                .collect(),
            attached: AttachedVolumes::of(snapshot, node, live(), attached),
        }
    }
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
    let pods = bound.iter().map(|row| &snapshot.pods[*row]);
    for pod in pods.filter(|pod| !pod.is_terminal()) {
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
