//! Simulations: pods leave their nodes, look for other places, and come back unless the outcome is kept.
//!
//! Between [`Placer::begin`] and [`Placer::undo`] the state of placing remembers what it changes. Nodes that pods leave are
//! closed, so that all others only fill up, as everywhere in placing. Nodes that a kept simulation has opened stay closed to later
//! ones: what they hold is promised to a claim.

use std::collections::BTreeSet;
use std::ops::Range;

use plimsoll_base::bits::Bits;

use super::limits::Limits;
use super::{Bin, OpenBins, PlaceSearch, Placer};
use crate::batch::minimum::Minimum;

/// The state at the beginning of a simulation, as far as it is not remembered elsewhere.
pub(super) struct Mark {
    steps: usize,
    limits: Limits,
}

impl Placer<'_, '_> {
    /// Begins a simulation that may open at most so many nodes.
    pub(crate) fn begin(&mut self, most_new: usize) {
        self.counts.begin();
        self.nodes.begin();
        self.mark = Some(Mark {
            steps: self.steps.len(),
            limits: self.limits.clone(),
        });
        self.first_bin = self.bins.len();
        self.most_bins = self.bins.len().saturating_add(most_new);
    }

    /// Where pods look for places from now on, and in which tiers new nodes are opened.
    pub(crate) fn look(&mut self, search: PlaceSearch, tiers: Range<usize>) {
        self.search = search;
        self.active = tiers;
    }

    /// Puts a new node of one row there, empty, for pods to join.
    pub(crate) fn stand_ready(&mut self, row: usize, tier: usize) {
        let mut rows = Bits::none(self.compiled.rows.len());
        rows.insert(row);
        let Some(rows) = self.sets.intern(rows) else {
            return;
        };
        self.counts
            .record_daemons(&self.compiled.model, self.sets.bits(rows));
        let bin = self.bins.len();
        self.bins.push(Bin {
            rows,
            used: vec![0; self.compiled.axes.len()].into(),
            steps: Vec::new(),
            ports: Vec::new(),
            claims: BTreeSet::new(),
            minimum: Minimum::new(),
            tier,
        });
        self.open_up(bin);
    }

    /// Takes pods off an existing node, which then takes none.
    pub(crate) fn vacate(&mut self, row: usize, pods: &[usize]) {
        self.nodes.close(row);
        self.limits.free(self.compiled, row);
        for pod in pods {
            let group = &self.compiled.groups[self.compiled.pods[*pod].group];
            self.counts
                .forget_existing(&self.compiled.model, row, group.counted_by());
        }
    }

    /// Counts a pod where it runs.
    pub(crate) fn count(&mut self, pod: usize, row: usize) {
        let group = &self.compiled.groups[self.compiled.pods[pod].group];
        self.counts
            .record_existing(&self.compiled.model, row, group.counted_by());
    }

    /// Places every one of these pods, or stops at the first that is certain to find no place. A pod under rules of its own
    /// is tried again after the others, until a whole round brings nothing.
    pub(crate) fn place_all(&mut self, pods: &[usize]) -> bool {
        let mut left: Vec<usize> = pods.to_vec();
        while !left.is_empty() {
            let before = left.len();
            let mut again = Vec::new();
            for pod in left {
                if self.place(pod) {
                    continue;
                }
                let group = &self.compiled.groups[self.compiled.pods[pod].group];
                if group.levels.iter().all(|level| level.owned.is_empty()) {
                    return false;
                }
                again.push(pod);
            }
            if again.len() == before {
                return false;
            }
            left = again;
        }
        true
    }

    /// Positions of the steps of the simulation.
    pub(crate) fn trial_steps(&self) -> Range<usize> {
        let first = self.mark.as_ref().map_or(0, |mark| mark.steps);
        first..self.steps.len()
    }

    /// Numbers of the nodes that the simulation has opened.
    pub(crate) fn simulated_bins(&self) -> Range<usize> {
        self.first_bin..self.bins.len()
    }

    /// Ends the simulation as if it had not been.
    pub(crate) fn undo(&mut self) {
        self.counts.undo();
        self.nodes.undo();
        if let Some(mark) = self.mark.take() {
            self.steps.truncate(mark.steps);
            self.limits = mark.limits;
        }
        self.close_bins();
        self.bins.truncate(self.first_bin);
        self.failed.clear();
    }

    fn close_bins(&mut self) {
        if self.first_bin < self.bins.len() {
            self.open = OpenBins::new(self.compiled);
        }
    }

    /// Ends the simulation; what it has come to holds from now on.
    pub(crate) fn keep(&mut self) {
        self.counts.keep();
        self.close_simulation();
    }

    /// The same where the pods are yet to come: no pod finds a place because of the domains that they will be in.
    pub(crate) fn keep_expected(&mut self) {
        self.counts.keep_expected(&self.compiled.model);
        self.close_simulation();
    }

    fn close_simulation(&mut self) {
        self.nodes.keep();
        if let Some(mark) = self.mark.take() {
            self.limits.keep_since(&mark.limits);
        }
        self.close_bins();
        self.first_bin = self.bins.len();
    }

    /// Lets no pod onto an existing node any more.
    pub(crate) fn exclude(&mut self, row: usize) {
        self.nodes.close(row);
    }
}
