//! Finished nodes become others in zones that have addresses left, where one has too few.
//!
//! Of the nodes of such a zone those go first that lose least by it, each to the cheapest other offering that holds its pods
//! and, of those at one price, to the zone with the most left. A node's pods never change, so that what is pinned to a zone
//! stays. The claims of other nodes do not name a zone that was short, unless their pool asks for a minimum of values to
//! choose from.

use plimsoll_base::bits::Bits;
use plimsoll_model::snapshot::Guards;

use super::{beyond, of_node};
use crate::batch::compile::Compiled;
use crate::guards::guard_excluded;
use crate::guards::spot_share::{others, suits};
use crate::place::free_addresses::is_guarded;
use crate::place::new_node::NewNode;
use crate::prices::RowPrices;

/// Moves nodes out of zones that take more than is left, as far as others have room; addresses that are taken beyond what
/// is left afterwards.
pub(crate) fn shift(
    compiled: &Compiled<'_>,
    prices: &RowPrices,
    guards: &Guards,
    left: &[i64],
    nodes: &mut [NewNode],
) -> i64 {
    let before = beyond(compiled, guards, left, nodes);
    if before.iter().all(|beyond| *beyond == 0) {
        return 0;
    }
    let guard_excluded = guard_excluded(compiled, guards);
    let mut shifting = Shifting {
        compiled,
        prices,
        guards,
        guard_excluded,
        free: free(compiled, left, nodes),
    };
    for (zone, beyond) in before.iter().enumerate() {
        if *beyond > 0 {
            shifting.relieve(zone, nodes);
        }
    }
    for node in nodes.iter_mut() {
        keep_out(compiled, node, &before);
    }
    beyond(compiled, guards, left, nodes).iter().sum()
}

/// By zone, what is left after some nodes; below zero where they take too many.
fn free(compiled: &Compiled<'_>, left: &[i64], nodes: &[NewNode]) -> Vec<i64> {
    let mut result = left.to_vec();
    for node in nodes {
        if let Some(zone) = compiled.addresses.zone(node.row) {
            result[zone] -= of_node(compiled, node, node.row);
        }
    }
    result
}

struct Shifting<'a, 's> {
    compiled: &'a Compiled<'s>,
    prices: &'a RowPrices,
    guards: &'a Guards,
    guard_excluded: Bits,
    free: Vec<i64>,
}

impl Shifting<'_, '_> {
    /// Moves nodes out of a zone until it has enough for the others.
    fn relieve(&mut self, zone: usize, nodes: &mut [NewNode]) {
        let here = |node: &NewNode| {
            self.compiled.addresses.zone(node.row) == Some(zone)
                && is_guarded(self.compiled, node.row)
        };
        let mut movable: Vec<(i64, usize)> = Vec::new();
        for (at, node) in nodes.iter().enumerate() {
            if here(node)
                && let Some(row) = self.elsewhere(zone, node)
            {
                movable.push((self.prices.planned[row] - node.price, at));
            }
        }
        movable.sort_unstable();
        for (_, at) in movable {
            if self.free[zone] >= 0 {
                return;
            }
            let node = &mut nodes[at];
            let Some(row) = self.elsewhere(zone, node) else {
                continue;
            };
            self.free[zone] += of_node(self.compiled, node, node.row);
            if let Some(other) = self.compiled.addresses.zone(row) {
                self.free[other] -= of_node(self.compiled, node, row);
            }
            node.row = row;
            node.price = self.prices.planned[row];
        }
    }

    /// The cheapest row that a node may become outside a zone; of several at one price, one where the most is left.
    fn elsewhere(&self, zone: usize, node: &NewNode) -> Option<usize> {
        let addresses = &self.compiled.addresses;
        let left_after = |row: usize| match addresses.zone(row) {
            Some(other) => self.free[other] - of_node(self.compiled, node, row),
            None => i64::MAX,
        };
        let mut rows = others(self.compiled, self.prices, node).filter(|row| {
            addresses.zone(*row) != Some(zone)
                && left_after(*row) >= 0
                && suits(self.compiled, self.guards, &self.guard_excluded, node, *row)
        });
        let mut best = rows.next()?;
        let price = self.prices.planned[best];
        for row in rows.take_while(|row| self.prices.planned[*row] == price) {
            if left_after(row) > left_after(best) {
                best = row;
            }
        }
        Some(best)
    }
}

/// Takes rows of short zones, other than its own, off what a node may become.
fn keep_out(compiled: &Compiled<'_>, node: &mut NewNode, short: &[i64]) {
    if !node.minimum.is_empty() || !is_guarded(compiled, node.row) {
        return;
    }
    let own = compiled.addresses.zone(node.row);
    let is_short = |row: &usize| {
        let zone = compiled
            .addresses
            .zone(*row)
            .filter(|zone| Some(*zone) != own);
        zone.is_some_and(|zone| short[zone] > 0)
    };
    let rows: Vec<usize> = node.rows.iter().filter(is_short).collect();
    for row in rows {
        node.rows.remove(row);
    }
}
