//! Whether several new nodes hold the pods that are meant for them in whatever order these are bound.
//!
//! An evicted pod comes back under another name, and the kube-scheduler binds it where it likes among the nodes with room. With
//! several nodes to choose from, small pods may take the place of large ones. So the pods are bound again, by the scheduler's
//! own rules, in orders made to break the plan: largest and smallest first on every resource, and shuffled; each on the
//! emptiest new node first and on nodes there are first. The plan stands only if every one of them leaves nobody out.

use super::Trial;

/// Shuffled orders that are tried.
const SHUFFLES: usize = 4;

impl Trial<'_, '_> {
    /// Whether every order tried binds all pods of the leaving nodes on nodes that stay and on new ones of these rows.
    pub(super) fn withstands(&mut self, leaving: &[usize], rows: &[usize]) -> bool {
        let pods = leaving
            .iter()
            .flat_map(|row| self.movable[*row].iter().copied());
        let mut pods: Vec<usize> = pods.collect();
        pods.sort_unstable();
        self.orders(&pods).iter().all(|order| {
            [false, true]
                .into_iter()
                .all(|new_first| self.binds(leaving, rows, order, new_first))
        })
    }

    fn binds(
        &mut self,
        leaving: &[usize],
        rows: &[usize],
        order: &[usize],
        new_first: bool,
    ) -> bool {
        self.placer.begin(rows.len());
        self.placer.look(false, new_first, self.ground.open());
        for row in rows {
            let template = self.ground.compiled.rows.rows[*row].template;
            self.placer.stand_ready(*row, template);
        }
        self.vacate(leaving);
        let bound = self.placer.place_all(order);
        self.placer.undo();
        bound
    }

    /// Orders that try to break the plan.
    fn orders(&self, pods: &[usize]) -> Vec<Vec<usize>> {
        let compiled = &self.ground.compiled;
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
            let key = |pod: &usize| crate::fixed_hash::hash_of(&(seed, round, *pod));
            shuffled.sort_by_cached_key(key);
            result.push(shuffled);
        }
        result
    }
}
