//! Consolidation moves: which nodes may be removed so that the same pods run for less.
//!
//! From a snapshot and the nodes that may be removed, [`find`] says what could be done about them, each move with its saving and its
//! disruption; which of them are worth it, and how many may happen now, is for others to say. Feasibility is the scheduler's:
//! every move has been tried by [`plimsoll_schedule`] on a copy of its state, and its placements are in an order in which they
//! may be bound. Rules that touch the choice (what a replacement may cost, spot for spot, types that go and come) are those of
//! the disruption contract, sections 10 to 14; unlike there a move may have several replacements.
//!
//! Each move of [`find`] stands by itself on the snapshot. Moves that share no node, neither one that goes nor one that takes
//! pods, may be carried out together; of others each has to be found again after the one before.

mod after;
mod budget_room;
mod bundle;
mod move_simulation;
mod order;
mod search;
mod together;

pub use after::carry_out;
pub use budget_room::{BudgetRoom, PoolRoom};
pub(super) use move_simulation::{KnownPrices, ask_at};
pub use move_simulation::{MoveSimulation, ask};

pub use plimsoll_schedule::simulation::Draw;

use std::collections::BTreeMap;

use plimsoll_base::units::PricePerHour;
use plimsoll_hooks::score::MoveKind;
use plimsoll_model::MoveCost;
use plimsoll_model::plan::{Placement, PlannedClaim, Target};
use plimsoll_model::snapshot::Snapshot;

/// Nodes that are removed, and what becomes of their pods.
#[derive(Clone, Debug, PartialEq)]
pub struct Move {
    /// Its effect on pods and nodes.
    pub kind: MoveKind,
    /// Nodes that are removed: positions in the snapshot's nodes, ascending.
    pub members: Vec<usize>,
    /// Instances to ask for first. Whatever their launches give costs less together than the members do.
    pub claims: Vec<PlannedClaim>,
    /// Where the members' pods go, in the order in which they may be bound; new targets are positions in `claims`.
    pub placements: Vec<Placement>,
    /// Worth of the members less the cost of the planned claims, per hour, at the prices that decide, with each node's own cost:
    /// the ranking policy's where it has been asked, else list prices.
    pub saving: PricePerHour,
    /// The same at list prices; below nothing where the policy finds it worth its money.
    pub list_saving: PricePerHour,
    /// Supplies that the claims draw on. Moves that are made together must not draw more than there is.
    pub draws: Vec<Draw>,
    /// Disruption of pods: the cost of emptying each member, added up.
    pub disruption: MoveCost,
}

impl Move {
    /// How many pods are evicted and come back.
    pub fn pods_moved(&self) -> usize {
        self.placements.len()
    }

    /// `true` if it draws more than is left of some supply when so many nodes have been drawn from each.
    pub(super) fn exceeds(&self, drawn: &BTreeMap<usize, u32>) -> bool {
        let own = |supply: usize| {
            let own = self.draws.iter().filter(|draw| draw.supply == supply);
            u32::try_from(own.count()).unwrap_or(u32::MAX)
        };
        let mut draws = self.draws.iter();
        draws.any(|draw| {
            let before = drawn.get(&draw.supply).copied().unwrap_or(0);
            before.saturating_add(own(draw.supply)) > draw.left
        })
    }

    /// Counts what it draws.
    pub(super) fn draw(&self, drawn: &mut BTreeMap<usize, u32>) {
        for draw in &self.draws {
            *drawn.entry(draw.supply).or_default() += 1;
        }
    }

    /// Nodes that stay and take pods: positions in the snapshot's nodes, ascending.
    pub fn receivers(&self) -> Vec<usize> {
        let existing = self
            .placements
            .iter()
            .filter_map(|placement| match placement.target {
                Target::Existing(row) => Some(row),
                Target::New(_) => None,
            });
        let mut rows: Vec<usize> = existing.collect();
        rows.sort_unstable();
        rows.dedup();
        rows
    }
}

/// How moves are looked for.
#[derive(Clone, Debug, PartialEq)]
pub struct MoveSettings {
    /// `true` if spot nodes may be replaced by spot nodes (gate `SpotToSpotConsolidation`); deleting them needs no gate.
    pub spot_to_spot: bool,
    /// The least that replacing must save, in dollars per hour at the prices that decide (0.02).
    pub least_saving: PricePerHour,
    /// The least that replacing must save, in percent of what its nodes are worth (5).
    pub least_saving_percent: u32,
    /// Nodes that take no pods of others, such as those that are not consolidatable yet: positions in the
    /// snapshot's nodes.
    pub excluded: Vec<usize>,
    /// Nodes too young for a move that buys something; they may go without a replacement. Positions in the snapshot's nodes,
    /// ascending.
    pub young: Vec<usize>,
    /// Nodes of each NodePool that may go at once; budgets allow no more.
    pub room: BudgetRoom,
}

impl Default for MoveSettings {
    fn default() -> Self {
        Self {
            spot_to_spot: false,
            least_saving: PricePerHour::from_nanos(20_000_000),
            least_saving_percent: 5,
            excluded: Vec::new(),
            young: Vec::new(),
            room: BudgetRoom::default(),
        }
    }
}

/// Least saving per hour of a move of nodes of this price: `saving` or `percent` of the price, whichever is more.
pub(super) fn least_of(price: PricePerHour, saving: PricePerHour, percent: u32) -> PricePerHour {
    let share = price.nanos() / 100 * i64::from(percent);
    saving.max(PricePerHour::from_nanos(share))
}

/// The moves there are for nodes that may be removed, given as positions in the snapshot's nodes: best saving for its disruption
/// first. A candidate with a pod that could not be evicted, or on which a waiting pod counts, is left alone.
pub fn find(snapshot: &Snapshot, candidates: &[usize], settings: &MoveSettings) -> Vec<Move> {
    ask(snapshot, candidates, settings, search::find)
}

/// The same where it is known already what pools sell, and for what.
pub(super) fn find_at(
    snapshot: &Snapshot,
    candidates: &[usize],
    settings: &MoveSettings,
    market: KnownPrices<'_>,
) -> Vec<Move> {
    ask_at(snapshot, candidates, settings, market, search::find).0
}
