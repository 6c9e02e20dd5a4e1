//! Pods without a node that a decision leaves alone, with the reason.
//!
//! Every pod that is not bound and has not ended is either planned for (placed, or unschedulable with a reason) or in here:
//! none is skipped in silence. What only wishes for nodes of no pool is planned for; what requires them is not.

use std::fmt;

use plimsoll_base::ids::NodeName;
use plimsoll_base::labels;
use plimsoll_base::requirement::{Operator, Requirements};
use plimsoll_model::snapshot::{RowsByNode, Snapshot};
use plimsoll_model::{OwnerKind, Pod, PodSpec};

/// Reason why a pod without a node is not planned for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outside {
    /// A scheduling gate, or a scheduler that says no more than that it waits, holds it back.
    Gated,
    /// The scheduler has not tried it yet.
    Untried,
    /// The scheduler, or an earlier decision, has promised it this node.
    Nominated(NodeName),
    /// A DaemonSet made it for one node: another node is no help.
    Daemon,
    /// It mirrors a static pod of a kubelet.
    StaticPod,
    /// It is being deleted.
    Deleting,
    /// It requires nodes that belong to no NodePool.
    AvoidsPools,
}

impl Outside {
    /// The reason in one word, as documents give it.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Gated => "SchedulingGated",
            Self::Untried => "NotTriedYet",
            Self::Nominated(_) => "Nominated",
            Self::Daemon => "DaemonSet",
            Self::StaticPod => "StaticPod",
            Self::Deleting => "Deleting",
            Self::AvoidsPools => "ExcludesNodePools",
        }
    }
}

impl fmt::Display for Outside {
    /// A clause that follows the pod's name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gated => f.write_str(
                "needs no node yet: a scheduling gate holds it back, or its scheduler has not marked it unschedulable",
            ),
            Self::Untried => f.write_str("needs no node yet: the scheduler has not tried it"),
            Self::Nominated(node) => write!(f, "is nominated to {node}"),
            Self::Daemon => f.write_str(
                "belongs to a DaemonSet and is bound to its node: no other node can take it",
            ),
            Self::StaticPod => f.write_str("mirrors a static pod of its node's kubelet"),
            Self::Deleting => f.write_str("is being deleted"),
            Self::AvoidsPools => write!(
                f,
                "requires nodes without the label {}: no NodePool can launch one",
                labels::NODEPOOL
            ),
        }
    }
}

/// Pods without a node that a plan of this snapshot neither places nor calls unschedulable, by row.
pub fn outside(snapshot: &Snapshot) -> Vec<(usize, Outside)> {
    let rows = snapshot.rows_by_node();
    let pods = snapshot.pods.iter().enumerate();
    pods.filter_map(|(row, pod)| Some((row, of_pod(snapshot, &rows, pod)?)))
        .collect()
}

/// Reason why a pod is not planned for; `None` where it is, or where it has a node or has ended.
pub(super) fn of_pod(snapshot: &Snapshot, rows: &RowsByNode<'_>, pod: &Pod) -> Option<Outside> {
    let promised = |name: &&NodeName| {
        let row = rows.get(name.as_str());
        row.is_some_and(|row| !snapshot.nodes[row].is_deleting())
    };
    if pod.node.is_some() || pod.is_terminal() {
        None
    } else if pod.deleting.is_some() {
        Some(Outside::Deleting)
    } else if pod.is_owned_by(OwnerKind::DaemonSet) {
        Some(Outside::Daemon)
    } else if pod.is_owned_by(OwnerKind::Node) {
        Some(Outside::StaticPod)
    } else if let Some(name) = pod.nominated.as_ref().filter(promised) {
        Some(Outside::Nominated(name.clone()))
    } else if !pod.unschedulable && pod.untried {
        Some(Outside::Untried)
    } else if !pod.unschedulable {
        Some(Outside::Gated)
    } else if avoids_pools(&pod.spec) {
        Some(Outside::AvoidsPools)
    } else {
        None
    }
}

/// `true` if whatever a pod requires leaves it nodes of no pool alone.
fn avoids_pools(spec: &PodSpec) -> bool {
    let refuses = |requirements: &Requirements| {
        let asked = requirements.get(labels::NODEPOOL);
        asked.is_some_and(|asked| asked.operator() == Operator::DoesNotExist)
    };
    let mut terms = spec.node_required.iter();
    refuses(&spec.node_selector)
        || (!spec.node_required.is_empty() && terms.all(|term| refuses(&term.requirements)))
}
