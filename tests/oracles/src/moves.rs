//! Judges of consolidation moves: what the checker says of one, what a fleet costs, and what it comes to when moves are made until
//! none is worth it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plimsoll_base::labels::{CAPACITY_TYPE, INSTANCE_TYPE, ZONE};
use plimsoll_base::units::PricePerHour;
use plimsoll_check::{Finding, PriceRule, Rule, Subject, review};
use plimsoll_disrupt::moves::{Move, MoveSettings, carry_out, find};
use plimsoll_model::catalogue::CapacityType;
use plimsoll_model::plan::{Plan, PlanCost, PlannedClaim};
use plimsoll_model::snapshot::{Snapshot, StateNode};

/// Everything that is wrong with a move, carried out at once: its members go, and their pods are bound in its order.
/// Waiting pods and those of other deleting nodes do not matter here.
pub fn findings(snapshot: &Snapshot, found: &Move) -> Vec<Finding> {
    findings_at(snapshot, found, PriceRule::List)
}

/// The same for a move that was found at these prices.
pub fn findings_at(snapshot: &Snapshot, found: &Move, prices: PriceRule) -> Vec<Finding> {
    let vacated = vacated(snapshot, &found.members);
    let chosen = || found.claims.iter().filter_map(PlannedClaim::chosen);
    let whole = |price: PricePerHour| {
        (price + snapshot.settings.node_cost).max(PricePerHour::from_nanos(1))
    };
    let dearest = |claim: &PlannedClaim| claim.options.iter().map(|option| option.list_price).max();
    let plan = Plan {
        placements: found.placements.clone(),
        claims: found.claims.clone(),
        unplaced: Vec::new(),
        cost: PlanCost {
            planned: chosen().map(|option| option.price).sum(),
            list: chosen().map(|option| whole(option.list_price)).sum(),
            dearest: found.claims.iter().filter_map(dearest).map(whole).sum(),
            ..PlanCost::default()
        },
        notes: Vec::new(),
    };
    let names: BTreeMap<_, _> = snapshot.pods.iter().map(|pod| (&pod.name, pod)).collect();
    let is_others = |finding: &Finding| match &finding.subject {
        Subject::Pod(name) if finding.rule == Rule::Complete => {
            let node = names.get(name).and_then(|pod| pod.node.as_ref());
            let own =
                |row: &usize| snapshot.nodes[*row].node.as_ref().map(|node| &node.name) == node;
            node.is_none() || !found.members.iter().any(own)
        }
        _ => false,
    };
    let mut result = review(&vacated, &plan, prices);
    result.retain(|finding| !finding.rule.is_remark() && !is_others(finding));
    result
}

/// The snapshot with some nodes asked to go.
pub fn vacated(snapshot: &Snapshot, members: &[usize]) -> Snapshot {
    let mut result = snapshot.clone();
    for row in members {
        let node = &mut result.nodes[*row];
        if let Some(claim) = &mut node.claim {
            Arc::make_mut(claim).deleting = Some(snapshot.now);
        } else if let Some(node) = &mut node.node {
            Arc::make_mut(node).deleting = Some(snapshot.now);
        }
    }
    result
}

/// List price of all nodes of ours that are not deleting, with each node's own cost; nodes that are not on sale are free.
pub fn fleet_cost(snapshot: &Snapshot) -> PricePerHour {
    let staying = snapshot.nodes.iter().filter(|node| !node.is_deleting());
    staying.filter_map(|node| node_price(snapshot, node)).sum()
}

/// List price of a node, with its own cost, by its labels.
pub fn node_price(snapshot: &Snapshot, node: &StateNode) -> Option<PricePerHour> {
    let overlaid = snapshot.overlaid();
    let labels = node.labels();
    let sold = overlaid.of(&node.pool()?).get(labels.get(INSTANCE_TYPE)?)?;
    let terms = CapacityType::parse(labels.get(CAPACITY_TYPE)?)?;
    let zone = labels.get(ZONE)?;
    let mut offerings = sold.offerings.iter();
    let own = offerings.find(|own| own.zone == *zone && own.capacity_type == terms)?;
    Some(own.price + snapshot.settings.node_cost)
}

/// A fleet after all moves that were made, one round after another.
#[derive(Clone, Debug)]
pub struct Passed {
    /// The moves, in order. Positions in each are those of the snapshot of its round.
    pub moves: Vec<Move>,
    /// How many moves each round made.
    pub rounds: Vec<usize>,
    /// The fleet after them.
    pub after: Snapshot,
}

impl Passed {
    /// A fleet to which nothing has happened yet.
    pub fn none(fleet: &Snapshot) -> Self {
        Self {
            moves: Vec::new(),
            rounds: Vec::new(),
            after: fleet.clone(),
        }
    }

    /// How many evictions the moves take; a pod that moves twice counts twice.
    pub fn evictions(&self) -> usize {
        self.moves.iter().map(Move::pods_moved).sum()
    }

    /// Makes moves that were found on the fleet and touch no node twice.
    pub fn make(&mut self, moves: Vec<Move>) {
        self.after = carry_out(&self.after, &moves);
        self.rounds.push(moves.len());
        self.moves.extend(moves);
    }
}

/// Makes moves until none saves anything: each round finds all that there are, as one disruption pass does, and makes those that touch no node
/// of another, the largest saving first. `candidates` says which nodes of a snapshot may go, as positions. Without budgets, waits and
/// a limit on the moves of one pass.
pub fn pass(
    fleet: &Snapshot,
    candidates: impl Fn(&Snapshot) -> Vec<usize>,
    settings: &MoveSettings,
) -> Passed {
    let mut passed = Passed::none(fleet);
    loop {
        let found = find(&passed.after, &candidates(&passed.after), settings);
        let made = apart(found);
        if made.is_empty() {
            return passed;
        }
        passed.make(made);
    }
}

/// Moves that save something and may be made together. Of those that draw on a supply that can run out, one.
fn apart(mut found: Vec<Move>) -> Vec<Move> {
    found.retain(|found| found.saving > PricePerHour::ZERO);
    found.sort_by_key(|found| std::cmp::Reverse(found.saving));
    let mut touched: BTreeSet<usize> = BTreeSet::new();
    let mut draws = false;
    found.retain(|found| {
        let rows: Vec<usize> = (found.members.iter().copied())
            .chain(found.receivers())
            .collect();
        let is_apart = !rows.iter().any(|row| touched.contains(row));
        let may = is_apart && (found.draws.is_empty() || !draws);
        if may {
            touched.extend(rows);
            draws |= !found.draws.is_empty();
        }
        may
    });
    found
}
