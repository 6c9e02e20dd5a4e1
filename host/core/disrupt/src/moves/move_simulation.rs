//! Asks the scheduler about nodes of one's own choice, on one reading of a snapshot.

use std::sync::Arc;

use plimsoll_base::units::PricePerHour;
use plimsoll_hooks::score::MoveKind;
use plimsoll_model::MoveCost;
use plimsoll_model::plan::{Placement, Target};
use plimsoll_model::snapshot::Snapshot;
use plimsoll_schedule::reading::Reading;
use plimsoll_schedule::simulation::{
    Ceiling, NodeLoad, NodeLoads, PodWorth, Simulation, SimulationOutcome, Simulator, To,
};
use plimsoll_schedule::{Offers, Quoted};

use super::order::{Reordered, fullest_first};
use super::{BudgetRoom, Move, MoveSettings};

/// Reads a snapshot in which the nodes at `candidates` may go, and lets `asks` try what it wants.
pub fn ask<R>(
    snapshot: &Snapshot,
    candidates: &[usize],
    settings: &MoveSettings,
    asks: impl FnOnce(&mut MoveSimulation<'_, '_>) -> R,
) -> R {
    ask_at(snapshot, candidates, settings, KnownPrices::default(), asks).0
}

/// Offers and prices known before a snapshot is read.
#[derive(Clone, Copy, Default)]
pub(crate) struct KnownPrices<'m> {
    /// The offers of an earlier decision.
    pub(crate) offers: Option<&'m Arc<Offers>>,
    /// Prices that a ranking policy gave for them; without it list prices decide.
    pub(crate) quoted: Option<&'m Quoted>,
}

/// The same with what is known of the market; and the offers to keep for the next decision.
pub(crate) fn ask_at<R>(
    snapshot: &Snapshot,
    candidates: &[usize],
    settings: &MoveSettings,
    market: KnownPrices<'_>,
    asks: impl FnOnce(&mut MoveSimulation<'_, '_>) -> R,
) -> (R, Arc<Offers>) {
    let nodes = fullest_first(snapshot);
    let places = |rows: &[usize]| -> Vec<usize> {
        let places = rows.iter().filter_map(|row| nodes.place_of.get(*row));
        places.copied().collect()
    };
    let (leaving, excluded) = (places(candidates), places(&settings.excluded));
    let KnownPrices { offers, quoted } = market;
    let reading = Reading::of(&nodes.snapshot);
    let removal = reading.removal(&leaving, &excluded);
    let simulator = Simulator::new(&reading, &removal, offers, quoted);
    let mut simulation = MoveSimulation {
        nodes: &nodes,
        simulator: &simulator,
        simulation: Simulation::new(&simulator),
        settings,
    };
    let result = asks(&mut simulation);
    (result, Arc::clone(simulator.offers()))
}

/// A snapshot on which moves are tried. Nodes are given as positions in the snapshot that was handed in.
pub struct MoveSimulation<'a, 's> {
    nodes: &'s Reordered,
    simulator: &'a Simulator<'s>,
    simulation: Simulation<'a, 's>,
    settings: &'a MoveSettings,
}

impl MoveSimulation<'_, '_> {
    /// Nodes that may be removed now, ascending: those that were given, without those whose pods could not be evicted, those on
    /// which a waiting pod counts, and those that a move taken before speaks of.
    pub fn rows(&self) -> Vec<usize> {
        let all = 0..self.nodes.place_of.len();
        all.filter(|row| self.may_go(*row)).collect()
    }

    /// `true` if a node may be removed now.
    pub(crate) fn may_go(&self, row: usize) -> bool {
        let place = self.nodes.place_of.get(row);
        place.is_some_and(|place| self.simulation.may_go(*place))
    }

    /// Worth of a node per hour at the prices that decide, with the node's own cost; zero where no such node is on sale.
    pub fn price(&self, row: usize) -> PricePerHour {
        self.simulator.worth(self.nodes.place_of[row])
    }

    /// Worth of pods, and kinds for sale.
    pub(super) fn worth(&self) -> PodWorth {
        PodWorth::of(self.simulator)
    }

    /// Loads of all nodes that may be removed, as of now.
    pub(super) fn loads(&self, worth: &PodWorth) -> NodeLoads {
        self.simulation.loads(worth)
    }

    /// The load of a node that may be removed.
    pub(super) fn load<'l>(&self, loads: &'l NodeLoads, row: usize) -> Option<&'l NodeLoad> {
        loads.get(self.nodes.place_of[row])
    }

    /// Cost, for its pods, of emptying a node.
    pub fn disruption(&self, row: usize) -> MoveCost {
        let pods = self.simulation.pods(self.nodes.place_of[row]);
        MoveCost::of_node(pods.map(|pod| self.nodes.snapshot.pods[pod].as_ref()))
    }

    /// The move that takes all of these nodes away for no new node, at most one, or (`most_new` above 1) as many as the packer
    /// wants; `None` where some pod finds no place, some node may not go, or the new ones do not save enough.
    pub fn ask(&mut self, members: &[usize], most_new: usize) -> Option<Move> {
        let to = match most_new {
            0 => To::Staying,
            1 => To::Both,
            _ => To::Packed,
        };
        let found = self.attempt(members, to);
        self.simulation.undo();
        found
    }

    /// The same where all pods go to one new node together, none to nodes that stay.
    pub fn ask_into_one(&mut self, members: &[usize]) -> Option<Move> {
        let found = self.attempt(members, To::New);
        self.simulation.undo();
        found
    }

    /// The same, not taken back before the next question, so that [`MoveSimulation::take`] may follow.
    pub(super) fn attempt(&mut self, members: &[usize], to: To) -> Option<Move> {
        self.simulation.undo();
        if members.is_empty() || !members.iter().all(|row| self.may_go(*row)) {
            return None;
        }
        let replaced = |row: &usize| self.may_be_replaced(*row);
        if to != To::Staying && !members.iter().all(replaced) {
            return None;
        }
        let price: PricePerHour = members.iter().map(|row| self.price(*row)).sum();
        let places = members.iter().map(|row| self.nodes.place_of[*row]);
        let places: Vec<usize> = places.collect();
        let ceiling = Ceiling {
            nanos: self.most(price),
            leaving: &places,
            spot_to_spot: self.settings.spot_to_spot,
        };
        let outcome = self.simulation.attempt(to, &ceiling)?;
        Some(self.named(members, price, outcome))
    }

    /// Makes a node go in thought where all that moves with it finds room on nodes that stay; whether it does.
    pub(crate) fn vacate(&mut self, row: usize) -> bool {
        let found = self.attempt(&[row], To::Staying);
        match &found {
            Some(found) => self.take(found),
            None => self.rest(),
        }
        found.is_some()
    }

    /// `true` if a node may go for a new one, not only for none.
    pub(super) fn may_be_replaced(&self, row: usize) -> bool {
        self.settings.young.binary_search(&row).is_err()
    }

    /// Room for nodes of one move.
    pub(super) fn room(&self) -> BudgetRoom {
        self.settings.room.clone()
    }

    /// From now on a node neither goes nor takes pods. The last question must have been taken back.
    pub(super) fn close(&mut self, row: usize) {
        self.simulation.close(self.nodes.place_of[row]);
    }

    /// `true` if the pods of a node could stand on several.
    pub(super) fn may_split(&self, row: usize) -> bool {
        self.simulation
            .pods(self.nodes.place_of[row])
            .nth(1)
            .is_some()
    }

    /// Takes back the last question.
    pub(super) fn rest(&mut self) {
        self.simulation.undo();
    }

    /// Carries out in thought the move that was just found.
    pub(super) fn take(&mut self, found: &Move) {
        let members = found.members.iter();
        let places: Vec<usize> = members.map(|row| self.nodes.place_of[*row]).collect();
        self.simulation.keep(&places, &found.claims);
    }

    /// Bound that the cost of replacements for nodes of this price must stay below, in nano-dollars per hour.
    pub(super) fn most(&self, price: PricePerHour) -> i64 {
        let (least, percent) = (
            self.settings.least_saving,
            self.settings.least_saving_percent,
        );
        let least = super::least_of(price, least, percent).nanos();
        price.nanos().saturating_sub((least - 1).max(0))
    }

    fn named(&self, members: &[usize], price: PricePerHour, outcome: SimulationOutcome) -> Move {
        let list = members.iter().map(|row| self.nodes.place_of[*row]);
        let list: PricePerHour = list.map(|place| self.simulator.list_price(place)).sum();
        let mut members = members.to_vec();
        members.sort_unstable();
        let placement = |placement: &Placement| Placement {
            target: match placement.target {
                Target::Existing(place) => Target::Existing(self.nodes.row_of[place]),
                new @ Target::New(_) => new,
            },
            ..placement.clone()
        };
        Move {
            kind: match (outcome.placements.is_empty(), outcome.claims.is_empty()) {
                (true, _) => MoveKind::Empty,
                (_, true) => MoveKind::Delete,
                _ => MoveKind::Replace,
            },
            disruption: members.iter().map(|row| self.disruption(*row)).sum(),
            saving: price - outcome.planned,
            list_saving: list - outcome.list,
            draws: outcome.draws,
            claims: outcome.claims,
            placements: outcome.placements.iter().map(placement).collect(),
            members,
        }
    }
}
