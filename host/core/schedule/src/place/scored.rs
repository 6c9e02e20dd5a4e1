//! Onto the place that kube-scheduler's default scoring of resources likes best, nodes there are and new ones alike: the largest
//! share left free, and cpu and memory in balance.
//!
//! Of nodes there are the first hundred that can take the pod are scored, as many as the scheduler looks for at least. Scores of
//! topology, affinity and images are left out, and so are the requests that it assumes for pods that state none.

use std::cmp::Reverse;

use plimsoll_base::resources::{ResourceName, Resources};

use super::{Placer, Seeker, Where};

/// Nodes there are that are scored before the best of them is taken.
const MOST_SCORED: usize = 100;

impl Placer<'_, '_> {
    /// Puts the pod where its score is best; of equals onto a node there is, and onto the first.
    pub(super) fn best_scored(&mut self, seeker: &Seeker<'_>) -> Option<Where> {
        let takers = self.takers(seeker, MOST_SCORED).into_iter();
        let scored = takers.map(|row| (self.score_of_existing(seeker, row), row));
        let existing = scored.max_by_key(|(score, row)| (*score, Reverse(*row)));
        let bins = self.first_bin..self.bins.len();
        let mut bins: Vec<(i64, usize)> = bins
            .map(|bin| (self.score_of_bin(seeker, bin), bin))
            .collect();
        bins.sort_by_key(|(score, bin)| (Reverse(*score), *bin));
        let better = |score: i64| existing.is_none_or(|(best, _)| score > best);
        for (_, bin) in bins.into_iter().filter(|(score, _)| better(*score)) {
            if self.join(seeker, bin).is_ok() {
                return Some(Where::Bin(bin));
            }
        }
        let (_, row) = existing?;
        self.take_existing(seeker.pod, seeker.group, row);
        Some(Where::Existing(row))
    }

    fn score_of_existing(&self, seeker: &Seeker<'_>, row: usize) -> i64 {
        let node = self.compiled.snapshot.nodes[row].node.as_ref();
        let free = self.nodes.free_of(row);
        let (Some(node), Some(free)) = (node, free) else {
            return 0;
        };
        self.score(&node.allocatable, free, &seeker.group.request)
    }

    fn score_of_bin(&self, seeker: &Seeker<'_>, bin: usize) -> i64 {
        let bin = &self.bins[bin];
        let Some(row) = self.sets.bits(bin.rows).iter().next() else {
            return 0;
        };
        let (instance_type, offering) = self.compiled.offering(row);
        let capacity = self.compiled.rows.capacity(row).iter().zip(&bin.used);
        let free: Vec<i64> = capacity.map(|(capacity, used)| capacity - used).collect();
        let allocatable = instance_type.allocatable(offering);
        self.score(&allocatable, &free, &seeker.group.request)
    }

    /// Score of a node with so much left free once it has the pod, 0 to 2,000: the mean of what is left of cpu and memory, and
    /// their balance, a thousand each.
    fn score(&self, allocatable: &Resources, free: &[i64], request: &[i64]) -> i64 {
        let axes = &self.compiled.axes;
        let share = |name: ResourceName| {
            let axis = axes.position(&name).unwrap_or_default();
            let left = free[axis].saturating_sub(request[axis]).max(0);
            permille(left, allocatable.get(&name))
        };
        let (cpu, memory) = (share(ResourceName::Cpu), share(ResourceName::Memory));
        i64::midpoint(cpu, memory) + 1000 - (cpu - memory).abs() / 2
    }
}

/// A part of a whole in thousandths, at most 1,000; 0 where the whole is nothing.
fn permille(part: i64, whole: i64) -> i64 {
    let share = (i128::from(part) * 1000).checked_div(i128::from(whole));
    share.map_or(0, |share| i64::try_from(share).unwrap_or(1000).min(1000))
}
