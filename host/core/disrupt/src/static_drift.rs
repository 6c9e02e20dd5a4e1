//! Drifted nodes of static pools: each is replaced by one made straight from the pool's template, and goes once that is ready.
//!
//! Nothing is simulated: pods find their places when the node is drained. So many go at once as the pool's budget for drift
//! allows and as `limits.nodes` leaves room for successors beside them; a limit that equals the number of replicas therefore
//! stops drift. A pool that has more nodes than it keeps waits until those are gone. Rules are Karpenter's.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_base::ids::PoolName;
use plimsoll_model::command::{Command, Refused};
use plimsoll_model::plan::{Plan, PlannedClaim};
use plimsoll_model::supply::Supply;
use plimsoll_model::{DisruptionReason, NodePool};

use super::candidate::Candidate;
use super::pass::DisruptionPass;
use super::savings::{Savings, command_of};
use crate::static_pool::{Standing, drop_exhausted, keeps_number, planned, spread, zones};

const REASON: DisruptionReason = DisruptionReason::Drifted;

/// Result of a disruption pass over static pools.
#[derive(Debug, Default)]
pub(super) struct StaticDrift {
    /// One command a node, in order.
    pub(super) commands: Vec<Command>,
    /// Nodes that budgets keep.
    pub(super) over_budget: u32,
    /// Rows of nodes without room for a successor, and why.
    pub(super) held: Vec<(usize, String)>,
}

/// How many nodes of a pool may be replaced now, and what with.
enum SuccessorRoom {
    /// It has more nodes than it keeps, is deleting or is not ready: nothing to tell.
    Waits,
    /// Its limit or the market leaves none, in words.
    None(String),
    /// So many.
    For(u32, Box<Successors>),
}

/// Claims that replace drifted nodes of one pool.
struct Successors {
    planned: PlannedClaim,
    /// How many nodes of the pool stay in each zone.
    zones: BTreeMap<Arc<str>, u32>,
    /// Reservations as the nodes there are and the successors so far leave them.
    supply: Supply,
}

impl Successors {
    /// The command that replaces one node; `None` once nothing is left to buy. The successor is in the zone with fewest nodes
    /// but this one, at an equal price.
    fn replace(&mut self, candidate: &Candidate) -> Option<Command> {
        drop_exhausted(&mut self.planned, &self.supply);
        let own = candidate.zone.as_ref();
        if let Some(nodes) = own.and_then(|zone| self.zones.get_mut(zone)) {
            *nodes = nodes.saturating_sub(1);
        }
        spread(&mut self.planned, &self.zones);
        let chosen = self.planned.chosen()?;
        *self.zones.entry(Arc::clone(&chosen.zone)).or_insert(0) += 1;
        if let Some(id) = &chosen.reservation {
            self.supply.draw(id);
        }
        let plan = Plan {
            claims: vec![self.planned.clone()],
            ..Plan::default()
        };
        Some(command_of(REASON, &[candidate], Savings::default(), plan))
    }
}

/// The drifted nodes of all static pools that may go now; at most `most`.
pub(super) fn find(pass: &DisruptionPass<'_>, most: usize) -> StaticDrift {
    let mut result = StaticDrift::default();
    let snapshot = pass.fleet.snapshot;
    if !snapshot.pools.iter().any(|pool| pool.replicas.is_some()) {
        return result;
    }
    let mut by_pool: BTreeMap<PoolName, Vec<&Candidate>> = BTreeMap::new();
    let is_static = |candidate: &&Candidate| candidate.pool.replicas.is_some();
    for candidate in pass.drifted().iter().filter(is_static) {
        let own = by_pool.entry(candidate.pool.name.clone()).or_default();
        own.push(candidate);
    }
    for candidates in by_pool.into_values() {
        let pool = &candidates[0].pool;
        let allowed = pass.left(candidates[0], REASON);
        let (room, mut successors) = match room(pass, pool) {
            SuccessorRoom::Waits => continue,
            SuccessorRoom::None(words) => {
                let held = candidates.iter().map(|node| (node.row, words.clone()));
                result.held.extend(held);
                continue;
            }
            SuccessorRoom::For(room, successors) => (room, successors),
        };
        let over = candidates.len().saturating_sub(allowed as usize);
        result.over_budget += u32::try_from(over).unwrap_or(u32::MAX);
        let granted = allowed.min(room) as usize;
        for candidate in candidates.iter().take(granted) {
            if result.commands.len() >= most {
                break;
            }
            match successors.replace(candidate) {
                Some(command) => result.commands.push(command),
                None => result.held.push((candidate.row, sold_out(&pool.name))),
            }
        }
    }
    result
}

/// The command of a node as it would be found now, or who stands in its way.
pub(super) fn reconfirm(
    pass: &DisruptionPass<'_>,
    candidate: &Candidate,
) -> Result<Command, Refused> {
    if pass.left(candidate, REASON) == 0 {
        return Err(Refused {
            by_budget: 1,
            ..Refused::default()
        });
    }
    match room(pass, &candidate.pool) {
        SuccessorRoom::For(_, mut successors) => successors.replace(candidate),
        SuccessorRoom::Waits | SuccessorRoom::None(_) => None,
    }
    .ok_or(Refused {
        by_change: 1,
        ..Refused::default()
    })
}

/// Reason why a node has no successor, in words.
fn sold_out(pool: &PoolName) -> String {
    format!("nothing that pool {pool} requires can be had now for its successor")
}

fn room(pass: &DisruptionPass<'_>, pool: &NodePool) -> SuccessorRoom {
    let snapshot = pass.fleet.snapshot;
    let standing = Standing::of(snapshot, &pool.name);
    let keeps = keeps_number(pool).filter(|_| pool.ready);
    if keeps.is_none_or(|replicas| standing.excess(replicas) > 0) {
        return SuccessorRoom::Waits;
    }
    let headroom = standing.headroom(pool);
    if headroom == 0 {
        let name = &pool.name;
        return SuccessorRoom::None(format!(
            "limits.nodes of pool {name} leaves no room for its successor"
        ));
    }
    let catalogue = pass.fleet.catalogue(&pool.name);
    let planned = planned(pool, catalogue, &snapshot.settings);
    if planned.options.is_empty() {
        return SuccessorRoom::None(sold_out(&pool.name));
    }
    let nodes = snapshot.nodes.iter().filter(|node| !node.is_deleting());
    let claims = nodes.filter_map(|node| node.claim.as_deref());
    let own = claims.filter(|claim| claim.pool == pool.name);
    let zones = zones(own, catalogue);
    SuccessorRoom::For(
        headroom,
        Box::new(Successors {
            planned,
            zones,
            supply: pass.offers().supply(snapshot),
        }),
    )
}
