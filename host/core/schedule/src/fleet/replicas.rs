//! Replicas of one workload, dealt to the nodes of a packing so that none gets more of them than guards let it have.
//!
//! To the packer pods of one shape are alike, whichever workload they belong to. A rule for every workload tells thousands of them
//! apart and leaves it little to put together. So it packs without such rules at first, and replicas are dealt afterwards: those
//! of the largest workload first, each to the node that has most left to get of those that may have it. For one shape that finds
//! a deal wherever there is one (the condition of Gale and Ryser, with the limits as the most that an entry may be).
//!
//! There is none where too few nodes take too much of a shape. The packer then starts again with a rule for each shape, of which a
//! node gets at most so much that replicas can be dealt. Workloads whose pods have several shapes may still be in the way; those
//! get rules of their own, in the end every one.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use plimsoll_base::ids::Uid;
use plimsoll_model::snapshot::Guards;

use crate::guards::replica_limit;
use crate::place::Placer;

/// Workloads with their counts of replicas.
type ReplicaCounts = [(Uid, u32)];

/// Workloads of which a node may have only some replicas, as far as some bins hold replicas of them.
#[derive(Debug, Default)]
pub(crate) struct Replicas {
    /// The most that one node may get, by workload.
    limits: BTreeMap<Uid, u32>,
    /// Workloads with their counts, by bin.
    of_bin: Vec<Vec<(Uid, u32)>>,
}

/// A node of a packing that bins are to be dealt to.
#[derive(Debug)]
pub(crate) struct NodeReplicas {
    /// How many bins of each demand it takes.
    pub(crate) load: Vec<(usize, u32)>,
    /// Its bins.
    pub(crate) bins: Vec<usize>,
    replicas: BTreeMap<Uid, u32>,
}

impl NodeReplicas {
    /// A node that has nothing yet and takes so many bins of each demand.
    pub(crate) fn new(load: Vec<(usize, u32)>) -> Self {
        Self {
            load,
            bins: Vec::new(),
            replicas: BTreeMap::new(),
        }
    }

    /// Gets a bin with these replicas.
    fn take(&mut self, bin: usize, own: &[(Uid, u32)]) {
        self.bins.push(bin);
        for (uid, more) in own {
            *self.replicas.entry(uid.clone()).or_default() += more;
        }
    }
}

impl Replicas {
    /// Limits that the replica guard sets for the workloads of some bins.
    pub(crate) fn of(placer: &Placer<'_, '_>, bins: &[usize], guards: &Guards) -> Self {
        let mut result = Self::default();
        result.of_bin.resize(placer.bins.len(), Vec::new());
        for bin in bins {
            let mut counts: BTreeMap<&Uid, u32> = BTreeMap::new();
            for step in &placer.bins[*bin].steps {
                let pod = placer.compiled.pods[placer.steps[*step].pod].row;
                if let Some(owner) = &placer.compiled.snapshot.pods[pod].owner {
                    *counts.entry(&owner.uid).or_default() += 1;
                }
            }
            for (uid, count) in counts {
                // The guard yields where pods that must share a host are more than it lets one node have.
                let limit = replica_limit(placer.compiled, guards, uid);
                if let Some(limit) = limit.filter(|limit| count <= *limit) {
                    result.of_bin[*bin].push((uid.clone(), count));
                    result.limits.insert(uid.clone(), limit);
                }
            }
        }
        result
    }

    /// The most replicas of each workload that one node may get.
    pub(crate) fn limits(&self) -> &BTreeMap<Uid, u32> {
        &self.limits
    }

    /// Deals the bins of each demand to nodes, as many as each takes; workloads of which some node got too many.
    pub(crate) fn deal(&self, nodes: &mut [NodeReplicas], members: &[Vec<usize>]) -> BTreeSet<Uid> {
        let mut crowded = BTreeSet::new();
        let mut takers: Vec<BTreeSet<(Reverse<u32>, usize)>> = vec![BTreeSet::new(); members.len()];
        for (number, node) in nodes.iter().enumerate() {
            for (demand, count) in node.load.iter().filter(|(_, count)| *count > 0) {
                takers[*demand].insert((Reverse(*count), number));
            }
        }
        for (bins, mut takers) in members.iter().zip(takers) {
            for (own, bins) in self.by_workload(bins) {
                let mut full = BTreeSet::new();
                for bin in bins {
                    let mut open = std::iter::from_fn(|| takers.pop_first());
                    let roomy = open.find(|taker @ (_, number)| {
                        let has_room = self.has_room(&nodes[*number], own);
                        if !has_room {
                            full.insert(*taker);
                        }
                        has_room
                    });
                    let Some((Reverse(count), number)) = roomy.or_else(|| {
                        crowded.extend(own.iter().map(|(uid, _)| uid.clone()));
                        full.pop_first()
                    }) else {
                        break;
                    };
                    nodes[number].take(bin, own);
                    if count > 1 {
                        takers.insert((Reverse(count - 1), number));
                    }
                }
                takers.append(&mut full);
            }
        }
        crowded
    }

    /// `true` if a node may have one more bin with these replicas.
    fn has_room(&self, node: &NodeReplicas, own: &[(Uid, u32)]) -> bool {
        let has = |uid: &Uid| node.replicas.get(uid).copied().unwrap_or(0);
        own.iter()
            .all(|(uid, more)| has(uid) + more <= self.limits[uid])
    }

    /// The most of some bins that one node may get so that they can be dealt to any nodes which get no more; `None` if one node
    /// may get all of them. At least 1.
    ///
    /// Bins can be dealt if, for every number of nodes, those with most bins get no more than that many nodes may have of each
    /// workload. This is hardest to meet one node short of the number that some workload needs.
    pub(crate) fn most_bins(&self, bins: &[usize]) -> Option<u32> {
        let workloads = self.by_workload(bins);
        let limit = |own: &[(Uid, u32)]| {
            let limits = own.iter().map(|(uid, each)| self.limits[uid] / each);
            limits.min().map_or(usize::MAX, |limit| limit as usize)
        };
        let needed = workloads
            .iter()
            .map(|(own, bins)| bins.len().div_ceil(limit(own)));
        let short = needed.max()?.checked_sub(1).filter(|short| *short > 0)?;
        let had = workloads
            .iter()
            .map(|(own, bins)| bins.len().min(limit(own).saturating_mul(short)));
        let most = (had.sum::<usize>() / short).max(1);
        Some(u32::try_from(most).unwrap_or(u32::MAX))
    }

    /// Bins by what they hold of workloads: those with most bins first, and last those that may go anywhere.
    fn by_workload(&self, bins: &[usize]) -> Vec<(&ReplicaCounts, Vec<usize>)> {
        let mut alike: BTreeMap<&ReplicaCounts, Vec<usize>> = BTreeMap::new();
        for bin in bins {
            let own = self.of_bin.get(*bin).map_or(&[][..], Vec::as_slice);
            alike.entry(own).or_default().push(*bin);
        }
        let mut result: Vec<_> = alike.into_iter().collect();
        result.sort_by_key(|(own, bins)| (own.is_empty(), Reverse(bins.len())));
        result
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn uid(workload: usize) -> Uid {
        Uid::from(format!("w{workload}").as_str())
    }

    /// Workloads with so many bins each, one replica in every bin, of which a node may have so many.
    fn replicas(workloads: &[(usize, u32)]) -> (Replicas, Vec<Vec<usize>>) {
        let numbered = || workloads.iter().enumerate();
        let of_bin =
            numbered().flat_map(|(workload, (size, _))| vec![vec![(uid(workload), 1)]; *size]);
        let of_bin: Vec<_> = of_bin.collect();
        let limits = numbered().map(|(workload, (_, limit))| (uid(workload), *limit));
        let bins = (0..of_bin.len()).collect();
        let limits = limits.collect();
        (Replicas { limits, of_bin }, vec![bins])
    }

    fn node_replicas(loads: &[u32]) -> Vec<NodeReplicas> {
        let loads = loads.iter();
        loads
            .map(|count| NodeReplicas::new(vec![(0, *count)]))
            .collect()
    }

    /// Nodes that get so many bins each, the last what is left.
    fn full_node_replicas(each: u32, members: &[Vec<usize>]) -> Vec<NodeReplicas> {
        let sizes = members[0].chunks(each as usize).map(<[usize]>::len);
        let loads: Vec<u32> = sizes.map(|size| u32::try_from(size).unwrap()).collect();
        node_replicas(&loads)
    }

    fn holds_limits(replicas: &Replicas, nodes: &[NodeReplicas]) -> bool {
        nodes.iter().all(|node| {
            let mut counts: BTreeMap<&Uid, u32> = BTreeMap::new();
            for bin in &node.bins {
                *counts.entry(&replicas.of_bin[*bin][0].0).or_default() += 1;
            }
            let mut counts = counts.iter();
            counts.all(|(uid, count)| *count <= replicas.limits[*uid])
        })
    }

    /// The condition of Gale and Ryser: no number of nodes gets more than that many may have of each workload.
    fn can_be_dealt(workloads: &[(usize, u32)], loads: &[u32]) -> bool {
        let mut loads = loads.to_vec();
        loads.sort_unstable_by_key(|load| Reverse(*load));
        (1..=loads.len()).all(|nodes| {
            let had = workloads.iter();
            let had = had.map(|(size, limit)| (*size).min(*limit as usize * nodes));
            let most: u32 = loads[..nodes].iter().sum();
            most as usize <= had.sum::<usize>()
        })
    }

    #[test]
    fn a_workload_that_fills_what_others_need_is_named() {
        let (replicas, members) = replicas(&[(10, 3), (2, 3)]);
        let mut three = node_replicas(&[4, 4, 4]);
        let crowded = replicas.deal(&mut three, &members);
        assert_eq!(crowded, BTreeSet::from([uid(0)]));
        let dealt: usize = three.iter().map(|node| node.bins.len()).sum();
        assert_eq!(dealt, 12, "what is in the way is dealt all the same");
        let mut four = node_replicas(&[3, 3, 3, 3]);
        assert_eq!(replicas.deal(&mut four, &members), BTreeSet::new());
    }

    #[test]
    fn a_large_node_gets_what_it_may_of_each_workload_before_small_ones_are_full() {
        let (replicas, members) = replicas(&[(3, 2); 4]);
        let mut uneven = node_replicas(&[8, 2, 2]);
        assert_eq!(replicas.deal(&mut uneven, &members), BTreeSet::new());
        assert!(holds_limits(&replicas, &uneven));
    }

    #[test]
    fn ten_replicas_of_which_a_node_may_have_a_third_let_it_have_three_tenths_of_their_shape() {
        let (tens, members) = replicas(&[(10, 3); 66]);
        assert_eq!(tens.most_bins(&members[0]), Some(198));
        let (threes, members) = replicas(&[(3, 3); 66]);
        assert_eq!(threes.most_bins(&members[0]), None);
    }

    proptest! {
        #[test]
        fn every_bin_is_dealt_once_and_limits_hold_wherever_they_can(
            workloads in prop::collection::vec((1..20_usize, 1..5_u32), 1..12), cuts in prop::collection::vec(1..40_u32, 1..20),
        ) {
            let (replicas, members) = replicas(&workloads);
            let mut left = u32::try_from(members[0].len()).unwrap();
            let mut loads = Vec::new();
            for cut in cuts {
                loads.push(cut.min(left));
                left -= cut.min(left);
            }
            loads.push(left);
            let mut nodes = node_replicas(&loads);
            let crowded = replicas.deal(&mut nodes, &members);
            for (node, load) in nodes.iter().zip(&loads) {
                prop_assert_eq!(node.bins.len(), *load as usize);
            }
            let mut all: Vec<usize> = nodes.iter().flat_map(|node| node.bins.clone()).collect();
            all.sort_unstable();
            prop_assert_eq!(&all, &members[0]);
            prop_assert_eq!(crowded.is_empty(), holds_limits(&replicas, &nodes));
            prop_assert_eq!(crowded.is_empty(), can_be_dealt(&workloads, &loads), "{:?} on {:?}", workloads, loads);
        }

        #[test]
        fn nodes_that_get_the_most_bins_of_a_shape_can_be_dealt_to_and_with_one_more_cannot(
            workloads in prop::collection::vec((1..20_usize, 1..5_u32), 1..12),
        ) {
            let (replicas, members) = replicas(&workloads);
            let whole = u32::try_from(members[0].len()).unwrap();
            let most = replicas.most_bins(&members[0]);
            let mut nodes = full_node_replicas(most.unwrap_or(whole), &members);
            prop_assert!(replicas.deal(&mut nodes, &members).is_empty());
            if let Some(most) = most {
                let mut nodes = full_node_replicas(most + 1, &members);
                prop_assert!(!replicas.deal(&mut nodes, &members).is_empty());
            }
        }
    }
}
