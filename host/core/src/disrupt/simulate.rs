//! The scheduling simulation without some nodes: the scheduler's own answer, on a copy.
//!
//! The nodes are shown as deleting, so that their pods are planned for like any others; what waits already is left out, for a
//! move must not be paid for by pods that wait anyway. Nodes that are excluded take nothing.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::moves::KnownPrices;
use crate::ids::ObjectName;
use crate::model::{Effect, Node, NodeClaim, Pod, Taint};
use crate::plan::{Plan, Target};
use crate::schedule;
use crate::snapshot::Snapshot;

/// Key of the taint that keeps everything off a node in a simulation; no object ever carries it.
const EXCLUDED_TAINT: &str = "plimsoll.dev/receives-nothing";

/// Places of the pods if their nodes went.
#[derive(Clone, Debug)]
pub(super) struct Simulated {
    /// The plan; rows are those of the snapshot that was asked about.
    pub(super) plan: Plan,
    /// Pods of the nodes for which there is no place.
    pub(super) stranded: Vec<ObjectName>,
}

/// Plans for the pods of nodes as if the nodes went, at what is known of the market. `members` and `excluded` are rows of the
/// snapshot.
pub(super) fn simulate(
    snapshot: &Snapshot,
    members: &[usize],
    excluded: &[usize],
    market: KnownPrices<'_>,
) -> Simulated {
    let mut shown = snapshot.clone();
    for row in members {
        let node = &mut shown.nodes[*row];
        if let Some(claim) = &mut node.claim {
            Arc::make_mut(claim).deleting = Some(snapshot.now);
        }
    }
    for row in excluded {
        let node = &mut shown.nodes[*row];
        let taints = (node
            .node
            .as_mut()
            .map(|node| &mut Arc::<Node>::make_mut(node).taints))
        .into_iter()
        .chain((node.claim.as_mut()).map(|claim| &mut Arc::<NodeClaim>::make_mut(claim).taints));
        taints.for_each(|taints| taints.push(excluded_taint()));
    }
    for pod in &mut shown.pods {
        if pod.node.is_none() && pod.unschedulable {
            Arc::<Pod>::make_mut(pod).unschedulable = false;
        }
    }
    let prepared = schedule::prepare_with(&shown, market.offers);
    let plan = match market.quoted {
        Some(quoted) => schedule::finish_quoted(&prepared, quoted),
        None => schedule::finish(&prepared, None),
    };
    let stranded = stranded(snapshot, members, excluded, &plan);
    Simulated { plan, stranded }
}

fn excluded_taint() -> Taint {
    Taint {
        key: Arc::from(EXCLUDED_TAINT),
        value: Arc::from(""),
        effect: Effect::NoSchedule,
    }
}

/// Pods of the members that the plan leaves without a place, or puts where nothing may go.
fn stranded(
    snapshot: &Snapshot,
    members: &[usize],
    excluded: &[usize],
    plan: &Plan,
) -> Vec<ObjectName> {
    let names: BTreeSet<_> = members
        .iter()
        .filter_map(|row| Some(&snapshot.nodes[*row].node.as_ref()?.name))
        .collect();
    let of_members = |row: usize| {
        let pod = &snapshot.pods[row];
        let moved = pod.node.as_ref().is_some_and(|node| names.contains(node));
        moved.then(|| pod.name.clone())
    };
    let unplaced = plan.unplaced.iter().map(|unplaced| unplaced.pod);
    let misplaced = plan
        .placements
        .iter()
        .filter(|placement| match placement.target {
            Target::Existing(row) => excluded.contains(&row),
            Target::New(_) => false,
        });
    let misplaced = misplaced.map(|placement| placement.pod);
    unplaced.chain(misplaced).filter_map(of_members).collect()
}
