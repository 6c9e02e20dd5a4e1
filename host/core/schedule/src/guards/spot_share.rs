//! Spot nodes of one pool are spread over types and zones, since a market runs dry for all of them at once.
//!
//! Once a pool has enough spot nodes, those there are and those planned together, no more than a share of them is planned in
//! one type and zone. Nodes beyond the share become the cheapest other offering that holds their pods and has share left,
//! those first that lose least by it; where there is none they stay what they are. A node's pods never change. The claim of
//! a node that was moved does not name a full market, so that no order of its launch list leads back there, unless its pool
//! asks for a minimum of values to choose from.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_base::bits::Bits;
use plimsoll_base::ids::TypeName;
use plimsoll_base::labels;
use plimsoll_model::catalogue::{CapacityType, Catalogue};
use plimsoll_model::snapshot::{Guards, StateNode};

use super::{guard_excluded, most_pods};
use crate::batch::attach_slots::AttachSlots;
use crate::batch::compile::Compiled;
use crate::offers::axes::fits;
use crate::place::new_node::NewNode;
use crate::prices::RowPrices;

/// A market: type and zone.
type SpotPool = (TypeName, Arc<str>);

/// Spot nodes of one pool by market.
#[derive(Clone, Debug, Default)]
pub(crate) struct SpotShare {
    by_market: BTreeMap<SpotPool, u32>,
}

impl SpotShare {
    /// Spot nodes that a pool has and would have with those planned.
    pub(crate) fn of(compiled: &Compiled<'_>, template: usize, nodes: &[NewNode]) -> Self {
        let mut result = Self::default();
        let pool = &compiled.templates[template].pool.name;
        let nodes_there = compiled.snapshot.nodes.iter().enumerate();
        let standing = nodes_there.filter_map(|(row, node)| {
            let counts = node.is_managed() && compiled.removal.stays(row, node);
            (counts && node.pool().as_ref() == Some(pool)).then_some(node)
        });
        let catalogue = &compiled.templates[template].catalogue;
        for market in standing.filter_map(|node| market_of(node, catalogue)) {
            *result.by_market.entry(market).or_default() += 1;
        }
        let own = nodes
            .iter()
            .filter(|node| compiled.rows.rows[node.row].template == template);
        for market in own.filter_map(|node| market(compiled, node.row)) {
            *result.by_market.entry(market).or_default() += 1;
        }
        result
    }

    /// The most nodes that one market may have; `None` while the pool has too few for a share to mean anything.
    pub(crate) fn most(&self, guards: &Guards) -> Option<u32> {
        let all: u32 = self.by_market.values().sum();
        let counts = guards.enabled && all >= guards.spot_share_from;
        counts.then(|| (all.saturating_mul(guards.spot_share_percent) / 100).max(1))
    }

    fn count(&self, market: &SpotPool) -> u32 {
        self.by_market.get(market).copied().unwrap_or(0)
    }

    /// Markets with more than `most` nodes, and how many they have.
    pub(crate) fn beyond(&self, most: u32) -> impl Iterator<Item = (&SpotPool, u32)> {
        let markets = self
            .by_market
            .iter()
            .map(|(market, count)| (market, *count));
        markets.filter(move |(_, count)| *count > most)
    }

    /// Nodes among those planned that markets have beyond `most`.
    pub(crate) fn planned_beyond(
        &self,
        compiled: &Compiled<'_>,
        template: usize,
        nodes: &[NewNode],
        most: u32,
    ) -> u32 {
        let planned = |of: &SpotPool| {
            let own = nodes
                .iter()
                .filter(|node| compiled.rows.rows[node.row].template == template);
            let own = own.filter(|node| market(compiled, node.row).as_ref() == Some(of));
            u32::try_from(own.count()).unwrap_or(u32::MAX)
        };
        let beyond = self.beyond(most);
        beyond
            .map(|(market, count)| planned(market).min(count - most))
            .sum()
    }

    fn shift(&mut self, from: &SpotPool, to: Option<SpotPool>) {
        if let Some(count) = self.by_market.get_mut(from) {
            *count -= 1;
        }
        if let Some(to) = to {
            *self.by_market.entry(to).or_default() += 1;
        }
    }
}

/// The spot market that a row buys in, if it does.
fn market(compiled: &Compiled<'_>, row: usize) -> Option<SpotPool> {
    let (instance_type, offering) = compiled.offering(row);
    (offering.capacity_type == CapacityType::Spot)
        .then(|| (instance_type.name.clone(), Arc::clone(&offering.zone)))
}

/// The spot market of a node there is, by its labels; a claim in flight counts as what it was planned as.
fn market_of(node: &StateNode, catalogue: &Catalogue) -> Option<SpotPool> {
    let labels = node.labels();
    let Some(capacity_type) = labels.get(labels::CAPACITY_TYPE) else {
        let sold = catalogue.planned(node.claim.as_deref()?)?;
        let zone = &sold.offering.zone;
        return (sold.offering.capacity_type == CapacityType::Spot)
            .then(|| (sold.instance_type.name.clone(), Arc::clone(zone)));
    };
    if capacity_type.as_ref() != CapacityType::Spot.as_str() {
        return None;
    }
    let name = TypeName::from(labels.get(labels::INSTANCE_TYPE)?.as_ref());
    Some((name, Arc::clone(labels.get(labels::ZONE)?)))
}

/// Rounds in which nodes are moved; a node that leaves spot makes every share smaller.
const MOST_ROUNDS: usize = 8;

/// Plans nodes in other markets where one has more than its share.
pub(crate) fn spread(
    compiled: &Compiled<'_>,
    prices: &RowPrices,
    guards: &Guards,
    nodes: &mut [NewNode],
) {
    let guard_excluded = guard_excluded(compiled, guards);
    let mut rounds = 0..MOST_ROUNDS;
    while rounds.next().is_some() && spread_once(compiled, prices, guards, &guard_excluded, nodes) {
    }
}

/// `true` if any node was moved.
fn spread_once(
    compiled: &Compiled<'_>,
    prices: &RowPrices,
    guards: &Guards,
    guard_excluded: &Bits,
    nodes: &mut [NewNode],
) -> bool {
    let mut moved = false;
    for (number, template) in compiled.templates.iter().enumerate() {
        if template.is_compatible() || !has_own(compiled, number, nodes) {
            continue;
        }
        let mut share = SpotShare::of(compiled, number, nodes);
        let Some(most) = share.most(guards) else {
            continue;
        };
        let moves = |node: &NewNode, share: &SpotShare| -> Option<(usize, SpotPool)> {
            let here = market(compiled, node.row)?;
            if share.count(&here) <= most {
                return None;
            }
            let mut others = others(compiled, prices, node);
            let other = others.find(|row| {
                let other = market(compiled, *row);
                let has_share = other.is_none_or(|other| share.count(&other) < most);
                has_share && suits(compiled, guards, guard_excluded, node, *row)
            })?;
            Some((other, here))
        };
        let mut beyond: Vec<(i64, usize)> = Vec::new();
        for (at, node) in nodes.iter().enumerate() {
            let own = compiled.rows.rows[node.row].template == number && !node.compatible;
            if own && let Some((row, _)) = moves(node, &share) {
                beyond.push((prices.planned[row] - node.price, at));
            }
        }
        beyond.sort_unstable();
        for (_, at) in beyond {
            if let Some((row, from)) = moves(&nodes[at], &share) {
                keep_out(compiled, &mut nodes[at], &share, most);
                share.shift(&from, market(compiled, row));
                nodes[at].row = row;
                nodes[at].price = prices.planned[row];
                moved = true;
            }
        }
    }
    moved
}

/// `true` if one of some new nodes is of a template.
pub(crate) fn has_own(compiled: &Compiled<'_>, template: usize, nodes: &[NewNode]) -> bool {
    let mut rows = nodes.iter().map(|node| &compiled.rows.rows[node.row]);
    rows.any(|row| row.template == template)
}

/// Takes rows of full markets off what a node may become, where its pool asks for no minimum.
fn keep_out(compiled: &Compiled<'_>, node: &mut NewNode, share: &SpotShare, most: u32) {
    if !node.minimum.is_empty() {
        return;
    }
    let is_full =
        |row: &usize| market(compiled, *row).is_some_and(|market| share.count(&market) >= most);
    let full: Vec<usize> = node.rows.iter().filter(is_full).collect();
    for row in full {
        node.rows.remove(row);
    }
}

/// `true` if guards that speak of single nodes let a node become another row, out of those that are not `guard_excluded`.
pub(crate) fn suits(
    compiled: &Compiled<'_>,
    guards: &Guards,
    guard_excluded: &Bits,
    node: &NewNode,
    row: usize,
) -> bool {
    let guard_excluded = guard_excluded.contains(row) && !guard_excluded.contains(node.row);
    let crowded = node.steps.len() > most_pods(compiled, row, guards);
    !guard_excluded && !crowded && AttachSlots::has(compiled, guards, row, &node.attached)
}

/// Other rows that a node may be planned as, cheapest first: of its pool and label state, with room for its pods, and no
/// larger where the pool has limits.
pub(crate) fn others<'a>(
    compiled: &'a Compiled<'_>,
    prices: &'a RowPrices,
    node: &'a NewNode,
) -> impl Iterator<Item = usize> + 'a {
    let model = &compiled.rows.rows[node.row];
    let own = compiled.rows.spends(node.row);
    prices.order.among(&node.rows).filter(move |row| {
        let other = &compiled.rows.rows[*row];
        other.template == model.template
            && other.state == model.state
            && prices.allowed.contains(*row)
            && !prices.reserved.contains_key(row)
            && fits(&node.used, compiled.rows.capacity(*row))
            && fits(compiled.rows.spends(*row), own)
    })
}
