//! Replicas of one workload, dealt to the nodes of a packing so that none gets more of them than guards let it have.
//!
//! To the packer pods of one shape are alike, whichever workload they belong to. A rule for every workload tells thousands of them
//! apart and leaves it little to put together. So it packs without such rules at first, and replicas are dealt afterwards: those
//! of the largest workload first, each to the node that has most left to get. Where that does not come out even, as where all
//! pods of a shape share few nodes, workloads that are in the way get a rule, in the end every one, and the packer starts again.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::ids::Uid;
use crate::schedule::guards::replicas_per_node;
use crate::schedule::place::Placer;
use crate::snapshot::Guards;

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
pub(crate) struct Hand {
    /// How many bins of each demand it takes.
    pub(crate) load: Vec<(usize, u32)>,
    /// Its bins.
    pub(crate) bins: Vec<usize>,
    replicas: BTreeMap<Uid, u32>,
}

impl Hand {
    /// A node that has nothing yet and takes so many bins of each demand.
    pub(crate) fn new(load: Vec<(usize, u32)>) -> Self {
        Self {
            load,
            bins: Vec::new(),
            replicas: BTreeMap::new(),
        }
    }
}

impl Replicas {
    /// Limits that the replica guard sets for the workloads of some bins.
    pub(crate) fn of(placer: &Placer<'_, '_>, bins: &[usize], guards: &Guards) -> Self {
        let all = replicas_per_node(placer.compiled, guards);
        let mut result = Self::default();
        if all.is_empty() {
            return result;
        }
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
                if let Some(limit) = all.get(uid).filter(|limit| count <= **limit) {
                    result.of_bin[*bin].push((uid.clone(), count));
                    result.limits.insert(uid.clone(), *limit);
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
    pub(crate) fn deal(&self, hands: &mut [Hand], members: &[Vec<usize>]) -> BTreeSet<Uid> {
        let mut crowded = BTreeSet::new();
        let mut takers: Vec<BTreeSet<(Reverse<u32>, usize)>> = vec![BTreeSet::new(); members.len()];
        for (number, hand) in hands.iter().enumerate() {
            for (demand, count) in hand.load.iter().filter(|(_, count)| *count > 0) {
                takers[*demand].insert((Reverse(*count), number));
            }
        }
        for (bins, mut takers) in members.iter().zip(takers) {
            for (own, bins) in self.by_workload(bins) {
                let mut left = bins.as_slice();
                while !left.is_empty() && !takers.is_empty() {
                    let round = self.round(own, left, hands, &mut takers);
                    left = &left[round..];
                    if round == 0 {
                        crowded.extend(own.iter().map(|(uid, _)| uid.clone()));
                        let (Reverse(count), number) = takers.pop_first().expect("some are left");
                        hands[number].bins.push(left[0]);
                        left = &left[1..];
                        if count > 1 {
                            takers.insert((Reverse(count - 1), number));
                        }
                    }
                }
            }
        }
        crowded
    }

    /// One bin each for nodes that may have it, those with most left to get first; how many bins were dealt.
    fn round(
        &self,
        own: &[(Uid, u32)],
        bins: &[usize],
        hands: &mut [Hand],
        takers: &mut BTreeSet<(Reverse<u32>, usize)>,
    ) -> usize {
        let mut seen = Vec::new();
        let mut dealt = 0;
        while dealt < bins.len()
            && let Some((Reverse(count), number)) = takers.pop_first()
        {
            let hand = &mut hands[number];
            let has = |uid: &Uid| hand.replicas.get(uid).copied().unwrap_or(0);
            if own
                .iter()
                .all(|(uid, more)| has(uid) + more <= self.limits[uid])
            {
                for (uid, more) in own {
                    *hand.replicas.entry(uid.clone()).or_default() += more;
                }
                hand.bins.push(bins[dealt]);
                dealt += 1;
                seen.extend((count > 1).then_some((Reverse(count - 1), number)));
            } else {
                seen.push((Reverse(count), number));
            }
        }
        takers.extend(seen);
        dealt
    }

    /// Bins by what they hold of workloads: those with most bins first, and last those that may go anywhere.
    fn by_workload(&self, bins: &[usize]) -> Vec<(&[(Uid, u32)], Vec<usize>)> {
        let mut alike: BTreeMap<&[(Uid, u32)], Vec<usize>> = BTreeMap::new();
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

    /// Workloads with so many bins each, one replica in every bin, of which a node may have `limit`.
    fn replicas(sizes: &[usize], limit: u32) -> (Replicas, Vec<Vec<usize>>) {
        let workloads = || sizes.iter().enumerate();
        let of_bin = workloads().flat_map(|(workload, size)| vec![vec![(uid(workload), 1)]; *size]);
        let of_bin: Vec<_> = of_bin.collect();
        let limits = workloads().map(|(workload, _)| (uid(workload), limit));
        let bins = (0..of_bin.len()).collect();
        let limits = limits.collect();
        (Replicas { limits, of_bin }, vec![bins])
    }

    fn hands(loads: &[u32]) -> Vec<Hand> {
        let loads = loads.iter();
        loads.map(|count| Hand::new(vec![(0, *count)])).collect()
    }

    fn most_of_one_workload(replicas: &Replicas, hands: &[Hand]) -> usize {
        let of_hand = |hand: &Hand| {
            let mut counts: BTreeMap<&Uid, usize> = BTreeMap::new();
            for bin in &hand.bins {
                *counts.entry(&replicas.of_bin[*bin][0].0).or_default() += 1;
            }
            counts.into_values().max().unwrap_or(0)
        };
        hands.iter().map(of_hand).max().unwrap_or(0)
    }

    #[test]
    fn a_workload_that_fills_what_others_need_is_named() {
        let (replicas, members) = replicas(&[10, 2], 3);
        let mut three = hands(&[4, 4, 4]);
        let crowded = replicas.deal(&mut three, &members);
        assert_eq!(crowded, BTreeSet::from([uid(0)]));
        let dealt: usize = three.iter().map(|hand| hand.bins.len()).sum();
        assert_eq!(dealt, 12, "what is in the way is dealt all the same");
        let mut four = hands(&[3, 3, 3, 3]);
        assert_eq!(replicas.deal(&mut four, &members), BTreeSet::new());
    }

    proptest! {
        #[test]
        fn every_bin_is_dealt_once_and_limits_hold_unless_said(
            sizes in prop::collection::vec(1..20_usize, 1..12), limit in 1..5_u32, cuts in prop::collection::vec(1..15_u32, 1..20),
        ) {
            let (replicas, members) = replicas(&sizes, limit);
            let mut left = u32::try_from(members[0].len()).unwrap();
            let mut loads = Vec::new();
            for cut in cuts {
                loads.push(cut.min(left));
                left -= cut.min(left);
            }
            loads.push(left);
            let mut hands = hands(&loads);
            let crowded = replicas.deal(&mut hands, &members);
            for (hand, load) in hands.iter().zip(&loads) {
                prop_assert_eq!(hand.bins.len(), *load as usize);
            }
            let mut all: Vec<usize> = hands.iter().flat_map(|hand| hand.bins.clone()).collect();
            all.sort_unstable();
            prop_assert_eq!(&all, &members[0]);
            if crowded.is_empty() {
                prop_assert!(most_of_one_workload(&replicas, &hands) <= limit as usize);
            }
            let nodes = loads.iter().filter(|load| **load > 0).count();
            let roomy = sizes.iter().all(|size| *size <= nodes) && loads.iter().all(|load| *load as usize <= sizes.len());
            let even = loads.iter().max() == loads.iter().filter(|load| **load > 0).min();
            if roomy && even {
                prop_assert!(crowded.is_empty(), "{:?} on {:?}", sizes, loads);
            }
        }
    }
}
