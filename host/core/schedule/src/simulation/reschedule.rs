//! The plan for pods of nodes that must go, whatever it costs: they are planned for as waiting pods are.
//!
//! Drift must end, so nothing here weighs what goes against what comes: as many new nodes as the pods need, at any price, and
//! guards yield where nothing else would hold a pod, as they do for pods that wait. Moves that are to save something are
//! another question, with a ceiling on their cost and guards that hold ([`super::Simulation`]); both are asked of one reading.

use std::sync::Arc;

use plimsoll_model::plan::{Plan, Target};
use plimsoll_model::snapshot::NodeRemoval;

use crate::batch::compile::compile_batch;
use crate::decision::finish_placing;
use crate::pods::eligible::Eligible;
use crate::prepared::Prepared;
use crate::prices::quoted::Quoted;
use crate::prices::sale::Offers;
use crate::reading::Reading;

/// Places for the pods of nodes that are removed, and of those that are deleting; `None` where a pod of a node at `leaving` finds none, or
/// where nodes that have not initialised could take what other nodes cannot. Such a node may never come, so nothing is asked to go
/// for its sake; but what it would take is not bought again, or a replacement that is late would be followed by one after the
/// other. Where something is bought anyway, late nodes are left out. Pods that wait are, too: a command must not pay for them.
/// Without `quoted` list prices decide.
pub fn reschedule(
    reading: &Reading<'_>,
    leaving: &[usize],
    earlier: Option<&Arc<Offers>>,
    quoted: Option<&Quoted>,
) -> Option<Plan> {
    let places = |removal| places(reading, removal, leaving, (earlier, quoted));
    let plan = places(reading.removal_open(leaving))?;
    let nodes = &reading.snapshot.nodes;
    let moved = plan.placements.iter();
    let moved = moved.filter(|placed| leaves(reading, leaving, placed.pod));
    let (mut waits, mut buys) = (false, false);
    for placed in moved {
        match placed.target {
            Target::Existing(row) => waits |= !nodes[row].is_initialized(),
            Target::New(_) => buys = true,
        }
    }
    match (waits, buys) {
        (false, _) => Some(plan),
        (true, false) => None,
        (true, true) => places(reading.removal(leaving, &[])),
    }
}

/// Places under an assumption about nodes; `None` where a pod of a node at `leaving` finds none.
fn places(
    reading: &Reading<'_>,
    removal: NodeRemoval,
    leaving: &[usize],
    (earlier, quoted): (Option<&Arc<Offers>>, Option<&Quoted>),
) -> Option<Plan> {
    let batch = Eligible {
        pods: reading.displaced(&removal).collect(),
        refused: Vec::new(),
    };
    let prepared = Prepared::new(compile_batch(reading, removal, &[], batch, earlier));
    finish_placing(&prepared, quoted, |pod| leaves(reading, leaving, pod))
}

/// `true` if a pod is on a node at `leaving`.
fn leaves(reading: &Reading<'_>, leaving: &[usize], pod: usize) -> bool {
    let node = reading.node_of(pod);
    node.is_some_and(|row| leaving.contains(&row))
}
