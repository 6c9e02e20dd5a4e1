//! The scheduling simulation: the scheduler's own answer for pods of nodes that are removed, for many choices of nodes on one reading of a snapshot.
//!
//! [`Simulator`] reads a snapshot once, with the pods of every node that may go in the batch. A [`Simulation`] then takes pods off some
//! nodes and places them again, on nodes there are or on new ones, by the same procedure and the same rules as waiting pods;
//! the outcome is kept or taken back. Pods that wait already are placed first and hold their places; a spread does not count on
//! their coming. Room that is only kept
//! for pods to come holds nothing: it moves with the other pods of the node it was found on, at no cost, and is no part of
//! what is to be carried out.
//!
//! Pods of nodes that must go, whatever it costs, are another question of the same reading: [`reschedule()`].
//!
//! Invariants: a node that pods leave takes none; pods of a simulation go to initialised nodes or new ones only; a node that leaves
//! frees its share of its pool's limits, as with Karpenter, although its replacement comes before it goes.

mod bind_orders;
mod cost_cap;
mod exempt;
mod loads;
mod replacements;
pub mod reschedule;
mod simulator;

use std::collections::BTreeMap;

pub use loads::{NodeLoad, NodeLoads, PodWorth};
pub use replacements::{Ceiling, SPOT_TYPES};
pub use reschedule::reschedule;
pub use simulator::Simulator;

use plimsoll_base::units::PricePerHour;
use plimsoll_model::plan::{Placement, PlannedClaim, Target};
use plimsoll_model::supply::addresses_of;

use super::guards::addresses;
use super::offers::templates::Template;
use super::place::{PlaceSearch, Placer, Where};
use super::prices::supplies::Supplies;
use crate::place::new_node::NewNode;

/// The state of a cluster in which nodes are made to go, one choice after another.
pub struct Simulation<'g, 's> {
    simulator: &'g Simulator<'s>,
    placer: Placer<'g, 's>,
    supplies: Supplies<'g>,
    /// Addresses for new nodes, by zone.
    addresses: Vec<i64>,
    /// By node: pods that go elsewhere when it goes, as positions in the batch; those that have come there included.
    movable: Vec<Vec<usize>>,
    /// Nodes that hold a place for a waiting pod, and nodes that have gone, by row.
    held: Vec<bool>,
}

/// Where pods may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum To {
    /// Nodes that stay.
    Staying,
    /// Nodes that stay, and one new one.
    Both,
    /// One new node.
    New,
    /// Nodes that stay, and as many new ones as the packer wants.
    Packed,
}

/// Where pods go when some nodes do.
#[derive(Clone, Debug, PartialEq)]
pub struct SimulationOutcome {
    /// Their places, in the order in which they may be bound; new ones are rows of `claims`.
    pub placements: Vec<Placement>,
    /// Instances to ask for.
    pub claims: Vec<PlannedClaim>,
    /// Cost of the claims per hour at the prices that decide, with the nodes' own cost.
    pub planned: PricePerHour,
    /// Cost of the claims per hour at list price, with the nodes' own cost.
    pub list: PricePerHour,
    /// Supplies that they draw on, one entry for each new node that does.
    pub draws: Vec<Draw>,
}

/// A new node that is one of a few: out of a reservation, or at a price that a policy gives for the first ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draw {
    /// The supply, by its position on one reading of a snapshot.
    pub supply: usize,
    /// How many nodes it had.
    pub left: u32,
}

impl<'g, 's> Simulation<'g, 's> {
    /// Everybody in place, and the places of waiting pods taken.
    pub fn new(simulator: &'g Simulator<'s>) -> Self {
        let compiled = &simulator.compiled;
        let mut placer = Placer::new(
            compiled,
            &simulator.tiers,
            &simulator.prices.planned,
            &simulator.strategy,
        );
        for (row, pods) in simulator.movable.iter().enumerate() {
            for pod in pods {
                placer.count(*pod, row);
            }
        }
        let mut held = vec![false; simulator.movable.len()];
        placer.begin(usize::MAX);
        placer.look(PlaceSearch::default(), simulator.open());
        placer.run(simulator.waiting.iter().copied());
        let mut movable = simulator.movable.clone();
        for at in placer.trial_steps() {
            let step = &placer.steps[at];
            match step.place {
                Where::Existing(row) if compiled.pods[step.pod].is_spare => {
                    movable[row].push(step.pod);
                }
                Where::Existing(row) => held[row] = true,
                Where::Bin(_) => {}
            }
        }
        placer.keep_expected();
        simulator
            .excluded
            .iter()
            .for_each(|row| placer.exclude(*row));
        Self {
            simulator,
            placer,
            supplies: Supplies::new(&simulator.prices),
            addresses: compiled.addresses.left().to_vec(),
            movable,
            held,
        }
    }

    /// `true` if a node could be made to go now: it may, is still there, and no pod that is yet to come counts on it.
    pub fn may_go(&self, row: usize) -> bool {
        self.simulator.may_go[row] && !self.held[row]
    }

    /// Takes the pods off the leaving nodes and places them again; the dearest that new nodes may turn out to cost together
    /// stays below the ceiling. `None` where some pod finds no place, or none at that price, or where the places would hold
    /// the pods only if they were bound in the right order. Either way the simulation goes on until [`Simulation::undo`] or
    /// [`Simulation::keep`].
    pub fn attempt(&mut self, to: To, ceiling: &Ceiling<'_>) -> Option<SimulationOutcome> {
        let leaving = ceiling.leaving;
        if !self.place(leaving, to) {
            return None;
        }
        let mut nodes = match to {
            To::Packed => replacements::packed(self.simulator, &self.placer, &self.supplies)?,
            _ => replacements::opened(self.simulator, &self.placer, &self.supplies)?,
        };
        if !self.find_addresses(&mut nodes) {
            return None;
        }
        let claims = replacements::claims(self.simulator, &self.placer, ceiling, &nodes)?;
        let outcome = self.outcome(&nodes, claims);
        if nodes.len() > 1 || (self.is_guarded(leaving) && self.depends_on_order()) {
            let rows: Vec<usize> = nodes.iter().map(|node| node.row).collect();
            self.placer.undo();
            if !self.withstands(leaving, &rows) {
                return None;
            }
            self.place(leaving, to);
        }
        Some(outcome)
    }

    /// `true` if zones have addresses for new nodes, some of which may become others for it: the guard does not yield to a move.
    fn find_addresses(&self, nodes: &mut [NewNode]) -> bool {
        let simulator = self.simulator;
        let guards = &simulator.compiled.snapshot.settings.guards;
        let (prices, left) = (&simulator.prices, &self.addresses);
        addresses::shift(&simulator.compiled, prices, guards, left, nodes) == 0
    }

    /// `true` if a node goes whose pool is not packed as Karpenter packs.
    fn is_guarded(&self, leaving: &[usize]) -> bool {
        let compiled = &self.simulator.compiled;
        let snapshot = compiled.snapshot;
        let compatible = |row: &usize| {
            let pool = snapshot.nodes[*row].pool();
            let mut templates = compiled.templates.iter();
            let own = templates.find(|template| Some(&template.pool.name) == pool.as_ref());
            own.is_some_and(Template::is_compatible)
        };
        snapshot.settings.guards.enabled && !leaving.iter().all(compatible)
    }

    /// Begins a simulation; whether every pod has found a place.
    fn place(&mut self, leaving: &[usize], to: To) -> bool {
        let simulator = self.simulator;
        let (most_new, tiers) = match to {
            To::Staying => (0, simulator.open()),
            To::Both | To::New => (1, simulator.open()),
            To::Packed => (usize::MAX, simulator.closed()),
        };
        self.placer.begin(most_new);
        let search = PlaceSearch {
            skips_existing: to == To::New,
            ..PlaceSearch::default()
        };
        self.placer.look(search, tiers);
        let pods = self.vacate(leaving);
        self.placer.place_all(&pods)
    }

    /// Empties nodes; their pods in queue order.
    fn vacate(&mut self, leaving: &[usize]) -> Vec<usize> {
        let mut pods: Vec<usize> = Vec::new();
        for row in leaving {
            let own = &self.movable[*row];
            self.placer.vacate(*row, own);
            pods.extend_from_slice(own);
        }
        pods.sort_unstable();
        pods
    }

    fn outcome(&self, nodes: &[NewNode], claims: Vec<PlannedClaim>) -> SimulationOutcome {
        let prices = &self.simulator.prices;
        let list = nodes.iter().map(|node| prices.list[node.row]);
        let planned = nodes.iter().map(|node| node.price);
        let draw = |node: &NewNode| {
            let supply = self.supplies.drawn_on(node.row, node.price)?;
            let left = prices.supplies[supply];
            Some(Draw { supply, left })
        };
        SimulationOutcome {
            placements: self.placements(nodes),
            planned: planned.map(PricePerHour::from_nanos).sum(),
            list: list.map(PricePerHour::from_nanos).sum(),
            draws: nodes.iter().filter_map(draw).collect(),
            claims,
        }
    }

    fn placements(&self, nodes: &[NewNode]) -> Vec<Placement> {
        let of_node = |(number, node): (usize, &NewNode)| {
            let steps = node.steps.clone().into_iter();
            steps.map(move |step| (step, number))
        };
        let new: BTreeMap<usize, usize> = nodes.iter().enumerate().flat_map(of_node).collect();
        let steps = self.placer.trial_steps();
        let real = steps.filter(|at| !self.is_spare(self.placer.steps[*at].pod));
        let steps = real.map(|at| {
            let step = &self.placer.steps[at];
            Placement {
                pod: self.simulator.compiled.pods[step.pod].row,
                target: match step.place {
                    Where::Existing(row) => Target::Existing(row),
                    Where::Bin(_) => {
                        let number = new.get(&at).copied();
                        Target::New(
                            number.expect("every node of a simulation is among its new ones"),
                        )
                    }
                },
                relaxed: self.simulator.compiled.given_up(step.pod, step.level),
            }
        });
        steps.collect()
    }

    /// `true` if a pod of the batch stands for room that is only kept.
    fn is_spare(&self, pod: usize) -> bool {
        self.simulator.compiled.pods[pod].is_spare
    }

    /// As if the last attempt had not been made.
    pub fn undo(&mut self) {
        self.placer.undo();
    }

    /// The last attempt is carried out in thought: later ones build on it. `claims` are its own.
    pub fn keep(&mut self, leaving: &[usize], claims: &[PlannedClaim]) {
        for row in leaving {
            self.held[*row] = true;
            self.movable[*row].clear();
        }
        for at in self.placer.trial_steps() {
            let step = &self.placer.steps[at];
            if let Where::Existing(row) = step.place {
                self.movable[row].push(step.pod);
            }
        }
        self.placer.keep();
        for claim in claims {
            let zone = claim.chosen().map(|option| &option.zone);
            let known = zone.and_then(|zone| self.simulator.compiled.addresses.zone_called(zone));
            if let Some(zone) = known {
                self.addresses[zone] -= addresses_of(&claim.requests);
            }
        }
        let chosen = claims.iter().filter_map(PlannedClaim::chosen);
        for option in chosen.filter(|option| option.reservation.is_some()) {
            if let Some(row) = self.simulator.row_of(option) {
                self.supplies.take(row, option.price.nanos());
            }
        }
    }

    /// From now on a node neither goes nor takes pods; between attempts.
    pub fn close(&mut self, row: usize) {
        self.held[row] = true;
        self.placer.exclude(row);
    }

    /// Pods that go elsewhere when a node goes, as rows of the snapshot.
    pub fn pods(&self, row: usize) -> impl Iterator<Item = usize> + '_ {
        let pods = self.movable[row].iter();
        pods.map(|pod| self.simulator.compiled.pods[*pod].row)
    }

    /// Loads of the nodes that may be removed, as of now.
    pub fn loads(&self, worth: &PodWorth) -> NodeLoads {
        NodeLoads::of(self.simulator, &self.movable, worth)
    }
}
