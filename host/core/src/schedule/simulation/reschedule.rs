//! The plan for pods of nodes that must go, whatever it costs: they are planned for as waiting pods are.
//!
//! Drift must end, so nothing here weighs what goes against what comes: as many new nodes as the pods need, at any price, and
//! guards yield where nothing else would hold a pod, as they do for pods that wait. Moves that are to save something are
//! another question, with a ceiling on their cost and guards that hold ([`super::Simulation`]); both are asked of one reading.

use std::sync::Arc;

use crate::plan::{Plan, Target};
use crate::schedule::batch::compile::compile_batch;
use crate::schedule::decision::finish_placing;
use crate::schedule::pods::eligible::Eligible;
use crate::schedule::prepared::Prepared;
use crate::schedule::prices::quoted::Quoted;
use crate::schedule::prices::sale::Offers;
use crate::schedule::reading::Reading;

/// Places for the pods of nodes that go, and of those that are deleting; `None` where a pod of a node at `leaving` finds none, or
/// would go to a node that has not initialised. Such a node may never come, so nothing is asked to go for its sake; yet it is
/// counted on, or a replacement that is late would be bought again as long as it does not come. Pods that wait are left out: a
/// command must not pay for them. Without `quoted` list prices decide.
pub(crate) fn reschedule(
    reading: &Reading<'_>,
    leaving: &[usize],
    earlier: Option<&Arc<Offers>>,
    quoted: Option<&Quoted>,
) -> Option<Plan> {
    let removal = reading.removal_open(leaving);
    let batch = Eligible {
        pods: reading.displaced(&removal).collect(),
        refused: Vec::new(),
    };
    let prepared = Prepared::new(compile_batch(reading, removal, batch, earlier));
    let leaves = |pod: usize| {
        let node = reading.node_of(pod);
        node.is_some_and(|row| leaving.contains(&row))
    };
    let nodes = &reading.snapshot.nodes;
    let is_late =
        |target: &Target| matches!(target, Target::Existing(row) if !nodes[*row].is_initialized());
    let plan = finish_placing(&prepared, quoted, leaves)?;
    let mut placed = plan.placements.iter();
    let counts_on_late = placed.any(|placed| is_late(&placed.target) && leaves(placed.pod));
    (!counts_on_late).then_some(plan)
}
