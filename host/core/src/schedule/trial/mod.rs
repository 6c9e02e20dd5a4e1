//! What becomes of pods when nodes go: the scheduler's own answer, for many choices of nodes on one reading of a snapshot.
//!
//! [`Ground`] reads a snapshot once, with the pods of every node that may go in the batch. A [`Trial`] then takes pods off some
//! nodes and places them again, on nodes there are or on new ones, by the same procedure and the same rules as waiting pods;
//! the outcome is kept or taken back. Pods that wait already are placed first and hold their places.
//!
//! Invariants: a node that pods leave takes nobody; pods of a trial go to initialised nodes or new ones only; what a pool's
//! limits leave is reckoned with the leaving nodes still there, since replacements come before they go.

mod close;
mod ground;

use std::ops::Range;

pub(crate) use close::Ceiling;
pub(crate) use ground::Ground;

use super::place::{Placer, Where};
use super::supplies::Supplies;
use crate::plan::{Placement, PlannedClaim, Target};
use crate::units::PricePerHour;

/// The state of a cluster in which nodes are made to go, one choice after another.
pub(crate) struct Trial<'g, 's> {
    ground: &'g Ground<'s>,
    placer: Placer<'g, 's>,
    supplies: Supplies<'g>,
    /// Nodes that hold a place for a pod that is yet to come, and nodes that have gone, by row.
    held: Vec<bool>,
}

/// Where pods go when some nodes do.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Outcome {
    /// Their places, in the order in which they may be bound; new ones are rows of `claims`.
    pub(crate) placements: Vec<Placement>,
    /// Machines to ask for.
    pub(crate) claims: Vec<PlannedClaim>,
    /// What they cost at the prices that decide.
    pub(crate) planned: PricePerHour,
    /// What they cost at list price, with the nodes' own cost.
    pub(crate) list: PricePerHour,
}

impl<'g, 's> Trial<'g, 's> {
    /// Everybody in place, and the places of waiting pods taken.
    pub(crate) fn new(ground: &'g Ground<'s>) -> Self {
        let compiled = &ground.compiled;
        let mut placer = Placer::new(
            compiled,
            &ground.tiers,
            &ground.prices.planned,
            &ground.manner,
        );
        for (row, pods) in ground.movable.iter().enumerate() {
            for pod in pods {
                placer.count(*pod, row);
            }
        }
        let mut held = vec![false; ground.movable.len()];
        placer.begin(usize::MAX);
        placer.run(ground.waiting.iter().copied());
        placer.trial_nodes().for_each(|row| held[row] = true);
        placer.keep();
        ground.shut.iter().for_each(|row| placer.shut(*row));
        Self {
            ground,
            placer,
            supplies: Supplies::new(&ground.prices),
            held,
        }
    }

    /// Whether a node could be made to go now: it may, is still there, and nobody who is yet to come counts on it.
    pub(crate) fn may_go(&self, row: usize) -> bool {
        self.ground.may_go[row] && !self.held[row]
    }

    /// Takes the pods off nodes and places them on others and on at most `most_new` new ones; the dearest that these may turn
    /// out to cost together stays below the ceiling. `None` where some pod finds no place, or none at that price. Either way
    /// the trial goes on until [`Trial::undo`] or [`Trial::keep`].
    pub(crate) fn attempt(
        &mut self,
        leaving: &[usize],
        most_new: usize,
        ceiling: &Ceiling<'_>,
    ) -> Option<Outcome> {
        self.placer.begin(most_new);
        let mut pods: Vec<usize> = Vec::new();
        for row in leaving {
            let own = &self.ground.movable[*row];
            self.placer.vacate(*row, own);
            pods.extend_from_slice(own);
        }
        pods.sort_unstable();
        if !self.placer.place_all(&pods) {
            return None;
        }
        self.outcome(ceiling)
    }

    fn outcome(&self, ceiling: &Ceiling<'_>) -> Option<Outcome> {
        let closed = close::close_all(self.ground, &self.placer, &self.supplies, ceiling)?;
        let bins = self.placer.trial_bins();
        Some(Outcome {
            placements: self.placements(&bins),
            planned: closed
                .iter()
                .map(|(node, _)| PricePerHour::from_nanos(node.price))
                .sum(),
            list: closed
                .iter()
                .map(|(node, _)| PricePerHour::from_nanos(self.ground.prices.list[node.row]))
                .sum(),
            claims: closed.into_iter().map(|(_, claim)| claim).collect(),
        })
    }

    fn placements(&self, bins: &Range<usize>) -> Vec<Placement> {
        let steps = self.placer.steps[self.placer.trial_steps()].iter();
        let placement = |step: &super::place::Step| Placement {
            pod: self.ground.compiled.pods[step.pod].row,
            target: match step.place {
                Where::Existing(row) => Target::Existing(row),
                Where::Bin(bin) => Target::New(bin - bins.start),
            },
            relaxed: u32::try_from(step.level).unwrap_or(u32::MAX),
        };
        steps.map(placement).collect()
    }

    /// As if the last attempt had not been made.
    pub(crate) fn undo(&mut self) {
        self.placer.undo();
    }

    /// The last attempt is carried out in thought: later ones build on it.
    pub(crate) fn keep(&mut self, leaving: &[usize], outcome: &Outcome) {
        self.placer
            .trial_nodes()
            .for_each(|row| self.held[row] = true);
        for row in leaving {
            self.held[*row] = true;
        }
        self.placer.keep();
        let chosen = outcome.claims.iter().filter_map(PlannedClaim::chosen);
        for option in chosen.filter(|option| option.reservation.is_some()) {
            if let Some(row) = self.ground.row_of(option) {
                self.supplies.take(row, option.price.nanos());
            }
        }
    }
}
