//! The test that the places meant for pods hold them in whatever order these are bound.
//!
//! An evicted pod comes back under another name, and the kube-scheduler binds it where it likes among the nodes with room. With
//! several nodes to choose from, small pods may take the place of large ones, for which a new node must then be bought; and
//! that may be the very node that was saved. So the pods are bound again, by the scheduler's own rules, in orders made to
//! break the plan: largest and smallest first on every resource, and shuffled; each on new nodes first and on nodes there
//! are first, the fullest or the emptiest, and on several new nodes evenly, the dearest first for as long as it has room, or
//! where the scheduler's default scoring would have each, which fills nodes of different sizes by their shares. The plan stands
//! only if every one of them leaves no pod out.

use std::cmp::Reverse;

use super::Simulation;
use crate::place::{Filling, PlaceSearch};

/// Shuffled orders that are tried.
const SHUFFLES: usize = 4;

/// Searches for places that are tried with so many new nodes.
fn searches(new: usize) -> &'static [PlaceSearch] {
    const fn search(new_first: bool, backwards: bool, filling: Filling) -> PlaceSearch {
        PlaceSearch {
            skips_existing: false,
            new_first,
            backwards,
            filling,
        }
    }
    const SEARCHES: [PlaceSearch; 7] = [
        search(false, false, Filling::Evenly),
        search(false, true, Filling::Evenly),
        search(true, false, Filling::Evenly),
        search(true, true, Filling::Evenly),
        search(false, false, Filling::InTurn),
        search(true, false, Filling::InTurn),
        // A pod left over by a move without new nodes costs less than the moves that this would forbid save.
        search(false, false, Filling::Scored),
    ];
    let matter = match new {
        0 => 2,
        1 => 4,
        _ => SEARCHES.len(),
    };
    &SEARCHES[..matter]
}

impl Simulation<'_, '_> {
    /// `true` if the order may matter in which the pods of the last attempt are bound: they are not all alike, and go to more
    /// than one place.
    pub(super) fn depends_on_order(&self) -> bool {
        let compiled = &self.simulator.compiled;
        let group = |pod: usize| compiled.pods[pod].group;
        let steps = self.placer.trial_steps().map(|at| &self.placer.steps[at]);
        let mut steps = steps.filter(|step| !self.is_spare(step.pod));
        let Some(first) = steps.next() else {
            return false;
        };
        let (mut several_places, mut several_groups) = (false, false);
        for step in steps {
            several_places |= step.place != first.place;
            several_groups |= group(step.pod) != group(first.pod);
        }
        several_places && several_groups
    }

    /// `true` if every order tried binds all pods of the leaving nodes on nodes that stay and on new ones of these rows.
    pub(super) fn withstands(&mut self, leaving: &[usize], rows: &[usize]) -> bool {
        let pods = leaving
            .iter()
            .flat_map(|row| self.movable[*row].iter().copied());
        // Room that is only kept is never bound.
        let pods = pods.filter(|pod| !self.is_spare(*pod));
        let mut pods: Vec<usize> = pods.collect();
        pods.sort_unstable();
        let searches = searches(rows.len());
        let prices = &self.simulator.compiled.listed().planned;
        let mut rows = rows.to_vec();
        rows.sort_by_key(|row| Reverse(prices[*row]));
        self.orders(&pods).iter().all(|order| {
            let mut searches = searches.iter();
            searches.all(|search| self.binds(leaving, &rows, order, *search))
        })
    }

    fn binds(
        &mut self,
        leaving: &[usize],
        rows: &[usize],
        order: &[usize],
        search: PlaceSearch,
    ) -> bool {
        self.placer.begin(rows.len());
        self.placer.look(search, self.simulator.open());
        for row in rows {
            let template = self.simulator.compiled.rows.rows[*row].template;
            self.placer.stand_ready(*row, template);
        }
        self.vacate(leaving);
        let bound = self.placer.place_all(order);
        self.placer.undo();
        bound
    }

    /// Orders that try to break the plan.
    fn orders(&self, pods: &[usize]) -> Vec<Vec<usize>> {
        let compiled = &self.simulator.compiled;
        let mut result = vec![pods.to_vec()];
        for axis in 0..compiled.axes.len() {
            let asked = |pod: &usize| compiled.groups[compiled.pods[*pod].group].request[axis];
            let mut ascending = pods.to_vec();
            ascending.sort_by_key(asked);
            let descending = ascending.iter().rev().copied().collect();
            result.extend([ascending, descending]);
        }
        let seed = compiled.snapshot.seed;
        for round in 0..SHUFFLES {
            let mut shuffled = pods.to_vec();
            let key = |pod: &usize| plimsoll_base::fixed_hash::hash_of(&(seed, round, *pod));
            shuffled.sort_by_cached_key(key);
            result.push(shuffled);
        }
        result
    }
}
