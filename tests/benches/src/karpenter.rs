//! Karpenter's consolidation as it is written down in its contract: empty nodes first; then the largest prefix of nodes,
//! best saving for its disruption first, that can go for at most one replacement, by binary search; then single nodes.
//!
//! One command at a time, carried out at once; its waits, budgets and time limits are left out, which only helps it.
//! Replacements and what they may cost are found by the same scheduler as ours, first fit on one node as Karpenter does.

use plimsoll_base::units::PricePerHour;
use plimsoll_disrupt::moves::{Move, MoveSettings, MoveSimulation, ask};
use plimsoll_hooks::score::MoveKind;
use plimsoll_model::snapshot::Snapshot;
use plimsoll_oracles::moves::Passed;

/// The most nodes that one command takes.
const MOST_NODES: usize = 100;

/// The fleet after the last command that the rules find.
pub fn consolidated(fleet: &Snapshot) -> Passed {
    let mut result = Passed::none(fleet);
    let settings = MoveSettings {
        least_saving: PricePerHour::ZERO,
        least_saving_percent: 0,
        ..MoveSettings::default()
    };
    loop {
        let all: Vec<usize> = (0..result.after.nodes.len()).collect();
        let command = ask(&result.after, &all, &settings, command);
        let Some(command) = command else { break };
        result.make(vec![command]);
    }
    result
}

/// The next command.
fn command(simulation: &mut MoveSimulation<'_, '_>) -> Option<Move> {
    let mut nodes: Vec<(f64, usize)> = Vec::new();
    let mut empty = Vec::new();
    for row in simulation.rows() {
        let cost = simulation.disruption(row);
        if cost.is_of_empty() {
            empty.push(row);
        } else {
            nodes.push((simulation.price(row).dollars() / cost.pods(), row));
        }
    }
    if !empty.is_empty() {
        return simulation.ask(&empty, 0);
    }
    nodes.sort_by(|left, right| right.0.total_cmp(&left.0).then(left.1.cmp(&right.1)));
    let rows: Vec<usize> = nodes.into_iter().map(|(_, row)| row).collect();
    several(simulation, &rows).or_else(|| {
        rows.iter()
            .find_map(|row| saving(simulation.ask(&[*row], 1)))
    })
}

/// The largest prefix that a binary search finds.
fn several(simulation: &mut MoveSimulation<'_, '_>, rows: &[usize]) -> Option<Move> {
    let (mut low, mut high) = (1, MOST_NODES.min(rows.len().saturating_sub(1)));
    let mut found = None;
    while low <= high {
        let middle = usize::midpoint(low, high);
        match saving(simulation.ask(&rows[..=middle], 1)) {
            Some(better) => {
                found = Some(better);
                low = middle + 1;
            }
            None => high = middle - 1,
        }
    }
    found
}

/// Deleting needs no saving; replacing does.
fn saving(found: Option<Move>) -> Option<Move> {
    found.filter(|found| found.kind != MoveKind::Replace || found.saving > PricePerHour::ZERO)
}
