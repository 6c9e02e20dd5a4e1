//! Free addresses of subnets: all new nodes of a zone, with their pods, against what the zone has left.
//!
//! A new node takes one address for itself and one for every pod planned on it, daemons included, that is not on its host's
//! network: what a network plugin hands out that gives pods addresses of the subnet. (Karpenter's provider expects the
//! most pods that any of the types could hold, of each node by itself, section 13.4 of its contract; a plan knows its pods.)
//! Plugins that hold addresses in stock take more for a while.
//!
//! Counting is exact on a finished plan ([`beyond`]) and costs nothing while there is enough. Where a plan takes
//! too many, nodes become others elsewhere first ([`shift`]), then pods are placed again with less to spend in the zones
//! that were short ([`crate::fleet::address_rounds`]). Like every guard this one yields rather than leave a pod waiting.

mod shift;

pub(crate) use shift::shift;

use plimsoll_model::snapshot::Guards;

use crate::batch::compile::Compiled;
use crate::place::Placer;
use crate::place::free_addresses::{holds, is_guarded, of_pod};
use crate::place::new_node::NewNode;

/// By zone, how many addresses new nodes take beyond those that are left, as far as the guard speaks of those nodes.
/// Empty where the guard does not hold.
pub(crate) fn beyond(
    compiled: &Compiled<'_>,
    guards: &Guards,
    left: &[i64],
    nodes: &[NewNode],
) -> Vec<i64> {
    if !holds(compiled, guards) {
        return Vec::new();
    }
    let mut taken = vec![(0i64, 0i64); left.len()];
    for node in nodes {
        if let Some(zone) = compiled.addresses.zone(node.row) {
            let own = of_node(compiled, node, node.row);
            taken[zone].0 += own;
            taken[zone].1 += if is_guarded(compiled, node.row) {
                own
            } else {
                0
            };
        }
    }
    let beyond = taken.into_iter().zip(left);
    beyond
        .map(|((all, guarded), left)| (all - left).clamp(0, guarded))
        .collect()
}

/// Addresses that the nodes of a plan take beyond those that are left, in all zones together.
pub(crate) fn overdrawn(compiled: &Compiled<'_>, guards: &Guards, nodes: &[NewNode]) -> i64 {
    let left = compiled.addresses.left();
    beyond(compiled, guards, left, nodes).iter().sum()
}

/// Of a template: addresses beyond those left in the zones in which it has nodes.
pub(crate) fn beyond_of(
    compiled: &Compiled<'_>,
    guards: &Guards,
    template: usize,
    nodes: &[NewNode],
) -> usize {
    let beyond = beyond(compiled, guards, compiled.addresses.left(), nodes);
    let own = |zone: usize| {
        let mut nodes = nodes.iter().map(|node| node.row);
        nodes.any(|row| {
            compiled.rows.rows[row].template == template
                && compiled.addresses.zone(row) == Some(zone)
        })
    };
    let zones = beyond.iter().enumerate().filter(|(zone, _)| own(*zone));
    let sum: i64 = zones.map(|(_, beyond)| beyond).sum();
    usize::try_from(sum).unwrap_or(usize::MAX)
}

/// Addresses that a node takes as one of a row: its own, those of its daemons, and those of its pods.
pub(crate) fn of_node(compiled: &Compiled<'_>, node: &NewNode, row: usize) -> i64 {
    1 + compiled.rows.rows[row].overhead.addresses + node.addresses
}

/// Addresses that the pods of some steps take; not counted where nothing is known of any zone.
pub(crate) fn of_steps(placer: &Placer<'_, '_>, steps: &[usize]) -> i64 {
    let compiled = placer.compiled;
    if compiled.addresses.zones.is_empty() {
        return 0;
    }
    let pods = steps.iter().map(|step| placer.steps[*step].pod);
    pods.map(|pod| of_pod(compiled, pod)).sum()
}
