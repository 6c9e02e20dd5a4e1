//! Several nodes that are removed at once, their pods to nodes that stay: moves of which no two share a node.
//!
//! Found one by one, deletions want the same receivers, the fullest nodes with room, so that few of them can be carried out in
//! one pass. Here a bundle is tried as a whole, halved until it fits, and its nodes and receivers are closed to the next one.

use std::collections::VecDeque;

use plimsoll_schedule::simulation::To;

use super::{Move, MoveSimulation};
use crate::MOST_COMMANDS;

/// Nodes of one move at most: where one pod has come in the way since, none of them go.
const TOGETHER: usize = 8;

/// Moves of two nodes or more, each of which could go alone, in the order given.
pub(super) fn deletions(simulation: &mut MoveSimulation<'_, '_>, alone: &[usize]) -> Vec<Move> {
    let mut left: VecDeque<usize> = alone.iter().copied().collect();
    let mut moves = Vec::new();
    // More moves than a pass carries out are of no use.
    while moves.len() < MOST_COMMANDS && left.len() > 1 {
        let Some(found) = next(simulation, &mut left) else {
            continue;
        };
        simulation.rest();
        for row in found.members.iter().chain(&found.receivers()) {
            simulation.close(*row);
        }
        moves.push(found);
    }
    moves.retain(|found| found.members.len() > 1);
    moves
}

/// The first nodes that can go together, taken off those that are left; `None` where the first of them cannot go any more.
fn next(simulation: &mut MoveSimulation<'_, '_>, left: &mut VecDeque<usize>) -> Option<Move> {
    let (mut members, mut later) = (Vec::new(), Vec::new());
    let mut room = simulation.room();
    while members.len() < TOGETHER
        && let Some(row) = left.pop_front()
    {
        if !simulation.may_go(row) {
            continue;
        }
        if room.take(row) || members.is_empty() {
            members.push(row);
        } else {
            later.push(row);
        }
    }
    for row in later.into_iter().rev() {
        left.push_front(row);
    }
    loop {
        let found = simulation.attempt(&members, To::Staying);
        if found.is_some() || members.len() < 2 {
            return found;
        }
        for row in members.drain(members.len().div_ceil(2)..).rev() {
            left.push_front(row);
        }
    }
}
