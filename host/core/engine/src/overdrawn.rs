//! Promises that a node has no room for any more, since pods took it for whom it was not meant.
//!
//! The scheduler binds what fits, and forgets a nomination after a failed attempt: room that was promised to one may go to another.
//! A pod whose place is gone would wait for the promise to lapse; it is taken back as soon as the pods are seen there, and
//! the pod asks anew. Daemons that have still to come are not counted: what is kept for them is not promised to anybody.

use std::collections::BTreeSet;

use plimsoll_base::ids::NodeName;
use plimsoll_base::resources::Resources;
use plimsoll_cluster::{GroupId, PromisedTarget, target_of};

use super::Engine;

/// Places on a node that pods of a group still stand for.
pub(super) struct OpenPlaces {
    group: GroupId,
    /// Request of one.
    request: Resources,
    count: usize,
}

impl Engine {
    /// Takes back what was promised on these nodes and has no room there, for pods were bound to them.
    pub(super) fn cut_promises(&mut self, nodes: &BTreeSet<NodeName>) {
        for node in nodes {
            let target = target_of(node, &self.cluster);
            if !self.promises.has_any(&target) {
                continue;
            }
            for group in self.without_room(node, &target) {
                self.promises.take_back(&target, group);
                self.dirty_groups.insert(group);
                self.orphaned_groups.insert(group);
            }
        }
    }

    /// Groups that lose a place on a node, once for each place.
    fn without_room(&self, node: &NodeName, target: &PromisedTarget) -> Vec<GroupId> {
        let Some(seen) = self.cluster.nodes.get(node) else {
            return Vec::new();
        };
        let mut used = Resources::new();
        for pod in self.cluster.pods_on(node).filter(|pod| !pod.is_terminal()) {
            used.add(&pod.spec.requests);
        }
        let free = seen.allocatable.minus(&used);
        let groups = self.promises.groups_on(target).into_iter();
        let open = groups.filter_map(|group| self.open_places(target, group));
        excess(&seen.allocatable, &free, open.collect())
    }

    /// Places of a group on a target, as far as there are pods that wait for them.
    pub(super) fn open_places(
        &self,
        target: &PromisedTarget,
        group: GroupId,
    ) -> Option<OpenPlaces> {
        let open = self.promises.open(target, group, &self.cluster) as usize;
        let mut waiting = self.cluster.unbound_of(group).take(open).peekable();
        let request = waiting.peek()?.spec.requests.clone();
        Some(OpenPlaces {
            group,
            request,
            count: waiting.count(),
        })
    }
}

/// The places to give up so that the rest fits what is free: the smallest that is enough by itself, else the largest, and so on.
fn excess(allocatable: &Resources, free: &Resources, mut places: Vec<OpenPlaces>) -> Vec<GroupId> {
    places.sort_by_cached_key(|places| (share(&places.request, allocatable), places.group));
    let mut given_up = Vec::new();
    loop {
        places.retain(|places| places.count > 0);
        let mut needed = Resources::new();
        for places in &places {
            for _ in 0..places.count {
                needed.add(&places.request);
            }
        }
        if places.is_empty() || free.fits(&needed) {
            return given_up;
        }
        let is_enough = |places: &OpenPlaces| free.fits(&needed.minus(&places.request));
        let least = places.iter().position(is_enough);
        let chosen = least.unwrap_or(places.len() - 1);
        places[chosen].count -= 1;
        given_up.push(places[chosen].group);
    }
}

/// The largest part of a node that a request takes of any resource, in millionths.
fn share(request: &Resources, allocatable: &Resources) -> i128 {
    let shares = request.iter().map(|(name, amount)| {
        let whole = i128::from(allocatable.get(name).max(1));
        i128::from(amount) * 1_000_000 / whole
    });
    shares.max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use plimsoll_base::resources::ResourceName;

    use super::*;

    fn cpu(milli: i64) -> Resources {
        Resources::new().with(ResourceName::Cpu, milli)
    }

    /// How many places of a small and of a large group are given up, where so many are open and so much is free.
    fn given_up(open: (usize, usize), free: i64) -> (usize, usize) {
        let [small, large] =
            ["01", "02"].map(|text| GroupId::parse(&format!("{text:0>16}")).expect("an id"));
        let places =
            [(small, 900, open.0), (large, 3500, open.1)].map(|(group, milli, count)| OpenPlaces {
                group,
                request: cpu(milli),
                count,
            });
        let gone = excess(&cpu(16_000), &cpu(free), places.into());
        let count = |group| gone.iter().filter(|one| **one == group).count();
        (count(small), count(large))
    }

    #[test]
    fn what_fits_is_kept_and_the_smallest_place_that_is_enough_goes_first() {
        assert_eq!(given_up((2, 1), 5300), (0, 0));
        assert_eq!(given_up((2, 1), 4400), (1, 0));
        assert_eq!(given_up((2, 1), 3500), (0, 1), "no small one is enough");
        assert_eq!(given_up((0, 1), 1800), (0, 1));
        assert_eq!(given_up((3, 2), 0), (3, 2));
        assert_eq!(given_up((1, 0), -5), (1, 0), "overcommitted");
    }
}
