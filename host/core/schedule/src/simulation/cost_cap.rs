//! The cost cap of a move: whatever a ranking policy says, new nodes cost at list prices no more than those that go, or at most
//! so many times what their pods are worth there.
//!
//! Without it a policy could lead a fleet, move by move, to the dearest instances there are; the cost cap of a plan speaks of
//! that plan alone.

use plimsoll_hooks::rank::COST_CAP;

use super::Simulator;
use crate::place::Placer;
use crate::place::new_node::NewNode;

/// `true` if the cost cap allows these new nodes for the nodes that are removed.
pub(super) fn allows(
    simulator: &Simulator<'_>,
    placer: &Placer<'_, '_>,
    leaving: &[usize],
    nodes: &[NewNode],
) -> bool {
    if nodes.is_empty() || simulator.is_at_list() {
        return true;
    }
    let bought = nodes
        .iter()
        .map(|node| i128::from(simulator.prices.list[node.row]));
    let bought: i128 = bought.sum();
    let left = leaving
        .iter()
        .map(|row| i128::from(simulator.list_price(*row).nanos()));
    if bought <= left.sum() {
        return true;
    }
    let worth = simulator.listed_worth();
    let steps = nodes.iter().flat_map(|node| &node.steps);
    let pods = steps.map(|step| {
        let pod = placer.steps[*step].pod;
        i128::from(worth[simulator.compiled.pods[pod].group])
    });
    bought <= pods.sum::<i128>() * i128::from(COST_CAP)
}
