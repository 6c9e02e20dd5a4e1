//! One pod after another: onto a node there is, onto a node that this decision has opened, or onto a new one.
//!
//! The same procedure serves two purposes. For pools in `compatible` packing it is the whole decision: first fit in the
//! incumbent's order. For pools packed by price it decides, pod by pod, what must be decided in order (which existing node,
//! which zone) and leaves every pod on a node of its own; [`super::buy`] then merges those into the cheapest fleet.
//!
//! Each step is feasible at its place in the sequence, so the sequence is the order in which the plan may be bound.

use std::collections::{BTreeMap, VecDeque};

use super::compile::{Compiled, PodGroup};
use super::minimum::{self, Minimum};
use super::open_bins::{BinSet, OpenBins};
use super::sets::{SetId, Sets};
use super::topology::{Allowed, Counts};
use super::volumes::ClaimsByDriver;
use crate::bits::Bits;
use crate::model::HostPort;

mod existing;
mod pin;

use existing::Candidates;

/// Pools that are tried together for a new node.
#[derive(Clone, Debug)]
pub(super) struct Tier {
    /// Their rows.
    pub(super) rows: Bits,
    /// Whether later pods may join nodes of this tier.
    pub(super) open: bool,
    /// The one template of an open tier.
    pub(super) template: Option<usize>,
}

/// Where a step has put its pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Where {
    /// Row of an existing node.
    Existing(usize),
    /// Number of a bin.
    Bin(usize),
}

/// One pod placed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    /// Position among the batch's pods.
    pub(super) pod: usize,
    /// Step of relaxation.
    pub(super) level: usize,
    /// Where to.
    pub(super) place: Where,
}

/// A node to buy, as far as it is decided.
#[derive(Clone, Debug)]
pub(super) struct Bin {
    /// What it may become.
    pub(super) rows: SetId,
    /// What its pods ask for.
    pub(super) used: Box<[i64]>,
    /// Its pods, as positions among the steps.
    pub(super) steps: Vec<usize>,
    /// Ports its pods take.
    pub(super) ports: Vec<HostPort>,
    /// How many values its claim must leave to choose from.
    pub(super) minimum: Minimum,
    /// The tier it was made in.
    pub(super) tier: usize,
}

/// The state of placing.
pub(super) struct Placer<'c, 's> {
    pub(super) compiled: &'c Compiled<'s>,
    pub(super) sets: Sets,
    pub(super) bins: Vec<Bin>,
    pub(super) steps: Vec<Step>,
    /// Positions of pods that found no place.
    pub(super) failed: Vec<usize>,
    tiers: &'c [Tier],
    prices: &'c [i64],
    /// Pods that a tier takes of a group at most, where a limit was found to bind.
    quotas: &'c BTreeMap<(usize, usize), u32>,
    taken: BTreeMap<(usize, usize), u32>,
    counts: Counts,
    free: Vec<Option<Box<[i64]>>>,
    ports: Vec<Vec<HostPort>>,
    attached: BTreeMap<usize, ClaimsByDriver>,
    candidates: BTreeMap<(usize, usize, usize), Candidates>,
    open: OpenBins,
    refused: BTreeMap<(usize, usize), BinSet>,
    bases: BTreeMap<(usize, usize, usize, usize), Option<SetId>>,
    domains: BTreeMap<(SetId, usize, usize), Option<SetId>>,
    limits: super::limits::Limits,
}

impl<'c, 's> Placer<'c, 's> {
    /// Ready to place the batch of a compiled snapshot. `prices` are per row and break ties between domains.
    pub(super) fn new(
        compiled: &'c Compiled<'s>,
        tiers: &'c [Tier],
        prices: &'c [i64],
        quotas: &'c BTreeMap<(usize, usize), u32>,
    ) -> Self {
        Self {
            compiled,
            sets: Sets::default(),
            bins: Vec::new(),
            steps: Vec::new(),
            failed: Vec::new(),
            tiers,
            prices,
            quotas,
            taken: BTreeMap::new(),
            counts: compiled.counts.clone(),
            free: compiled.existing.free.clone(),
            ports: compiled.existing.ports.clone(),
            attached: compiled.existing.attached.clone(),
            candidates: BTreeMap::new(),
            open: OpenBins::default(),
            refused: BTreeMap::new(),
            bases: BTreeMap::new(),
            domains: BTreeMap::new(),
            limits: super::limits::Limits::new(compiled),
        }
    }

    /// Places pods in the order given. A pod that finds no place is tried again after the others, until a whole round
    /// brings nothing.
    pub(super) fn run(&mut self, order: impl IntoIterator<Item = usize>) {
        let mut queue: VecDeque<(usize, Option<usize>)> =
            order.into_iter().map(|pod| (pod, None)).collect();
        // A group whose pods no count can help fails once for all.
        let mut hopeless: BTreeMap<usize, usize> = BTreeMap::new();
        while let Some((pod, remembered)) = queue.pop_front() {
            if remembered == Some(queue.len() + 1) {
                self.failed = std::iter::once(pod)
                    .chain(queue.into_iter().map(|(pod, _)| pod))
                    .collect();
                self.failed.sort_unstable();
                return;
            }
            let group = self.compiled.pods[pod].group;
            let same_state = hopeless.get(&group) == Some(&self.steps.len());
            if same_state || !self.place(pod) {
                hopeless.insert(group, self.steps.len());
                queue.push_back((pod, Some(queue.len() + 1)));
            }
        }
    }

    fn place(&mut self, pod: usize) -> bool {
        let group = &self.compiled.groups[self.compiled.pods[pod].group];
        (0..group.levels.len()).any(|level| self.place_at(pod, group, level))
    }

    fn place_at(&mut self, pod: usize, group: &'c PodGroup, level: usize) -> bool {
        let view = group.view(level);
        let Some(allowed) = self.counts.allowed(&self.compiled.model, view) else {
            return false;
        };
        let found = self
            .existing_node(pod, group, level, &allowed)
            .or_else(|| self.open_bin(pod, group, level, &allowed))
            .or_else(|| self.new_bin(pod, group, level, &allowed));
        let Some(place) = found else { return false };
        self.commit(pod, group, level, place);
        true
    }

    fn commit(&mut self, pod: usize, group: &PodGroup, level: usize, place: Where) {
        let model = &self.compiled.model;
        match place {
            Where::Existing(row) => {
                self.counts
                    .record_existing(model, row, &group.selected, &group.inverse);
            }
            Where::Bin(bin) => {
                let host = self.counts.new_host(bin);
                let rows = self.sets.bits(self.bins[bin].rows);
                self.counts
                    .record_new(model, host, rows, &group.selected, &group.inverse);
                self.bins[bin].steps.push(self.steps.len());
                let tier = self.bins[bin].tier;
                *self
                    .taken
                    .entry((self.compiled.pods[pod].group, tier))
                    .or_default() += 1;
            }
        }
        self.steps.push(Step { pod, level, place });
    }

    /// Tries nodes that this decision has opened: all open ones, or, for a pod that must join another, any.
    fn open_bin(
        &mut self,
        pod: usize,
        group: &PodGroup,
        level: usize,
        allowed: &Allowed,
    ) -> Option<Where> {
        let must_join = self
            .counts
            .must_join(&self.compiled.model, group.view(level));
        if must_join {
            let found = (0..self.bins.len())
                .find(|bin| self.join(pod, group, level, allowed, *bin).is_ok());
            return found.map(Where::Bin);
        }
        let key = (self.compiled.pods[pod].group, level);
        let mut refused = self.refused.remove(&key).unwrap_or_default();
        let mut at = None;
        let mut found = None;
        while let Some(next) = self.open.next(at, Some(&refused)) {
            at = Some(next);
            match self.join(pod, group, level, allowed, next.1) {
                Ok(()) => {
                    found = Some(Where::Bin(next.1));
                    break;
                }
                Err(Lasting::ForGood) => refused.insert(next.1),
                Err(Lasting::ForNow) => {}
            }
        }
        self.refused.insert(key, refused);
        found
    }

    /// Puts a pod on a bin if every rule agrees.
    fn join(
        &mut self,
        pod: usize,
        group: &PodGroup,
        level: usize,
        allowed: &Allowed,
        bin: usize,
    ) -> Result<(), Lasting> {
        let used = sum(&self.bins[bin].used, &group.request);
        let conflict = |port: &HostPort| {
            self.bins[bin]
                .ports
                .iter()
                .any(|taken| taken.conflicts_with(port))
        };
        if group.spec.host_ports.iter().any(conflict) {
            return Err(Lasting::ForGood);
        }
        let (tier, rows) = (self.bins[bin].tier, self.bins[bin].rows);
        if !self.quota_left(pod, tier) {
            return Err(Lasting::ForNow);
        }
        let mut lasting = Lasting::ForGood;
        for alternative in 0..group.alternatives.len() {
            let Some(base) = self.base(pod, group, level, alternative, tier) else {
                continue;
            };
            let Some(both) = self.sets.join(rows, base) else {
                continue;
            };
            if !self.sets.has_room(self.compiled, both, &used) {
                continue;
            }
            lasting = Lasting::ForNow;
            let host = self.counts.new_host(bin);
            if !self
                .counts
                .host_allows(&self.compiled.model, group.view(level), host)
            {
                continue;
            }
            let Some(narrowed) = self.pin(group, level, both, allowed, &used) else {
                continue;
            };
            let kept = &self.bins[bin].minimum;
            if !minimum::is_kept(self.compiled, kept, self.sets.bits(narrowed), &used) {
                continue;
            }
            let former = u32::try_from(self.bins[bin].steps.len()).unwrap_or(u32::MAX);
            if self.tiers[tier].open {
                self.open.set(bin, Some(former), former + 1);
            }
            let found = &mut self.bins[bin];
            found.rows = narrowed;
            found.used = used;
            found.ports.extend(group.spec.host_ports.iter().cloned());
            return Ok(());
        }
        Err(lasting)
    }

    /// Opens a new node in the first tier that has one for the pod.
    fn new_bin(
        &mut self,
        pod: usize,
        group: &PodGroup,
        level: usize,
        allowed: &Allowed,
    ) -> Option<Where> {
        let host = self.counts.new_host(self.bins.len());
        if !self
            .counts
            .host_allows(&self.compiled.model, group.view(level), host)
        {
            return None;
        }
        for tier in 0..self.tiers.len() {
            if !self.quota_left(pod, tier) {
                continue;
            }
            for alternative in 0..group.alternatives.len() {
                let Some(base) = self.base(pod, group, level, alternative, tier) else {
                    continue;
                };
                let Some(base) = self.within_limits(tier, base) else {
                    continue;
                };
                if !self.sets.has_room(self.compiled, base, &group.request) {
                    continue;
                }
                let Some(rows) = self.pin(group, level, base, allowed, &group.request) else {
                    continue;
                };
                let bits = self.sets.bits(rows);
                let Some(minimum) = minimum::of_new(self.compiled, bits, &group.request) else {
                    continue;
                };
                if let Some(template) = self.tiers[tier].template {
                    self.limits
                        .charge(self.compiled, template, self.sets.bits(rows));
                }
                let bin = self.bins.len();
                self.bins.push(Bin {
                    rows,
                    used: group.request.clone(),
                    steps: Vec::new(),
                    ports: group.spec.host_ports.clone(),
                    minimum,
                    tier,
                });
                if self.tiers[tier].open {
                    self.open.set(bin, None, 1);
                }
                return Some(Where::Bin(bin));
            }
        }
        None
    }

    fn quota_left(&self, pod: usize, tier: usize) -> bool {
        let key = (self.compiled.pods[pod].group, tier);
        self.quotas
            .get(&key)
            .is_none_or(|quota| self.taken.get(&key).copied().unwrap_or(0) < *quota)
    }

    /// Rows of a tier that are open to a group, if one of them could hold a pod of it alone.
    fn base(
        &mut self,
        pod: usize,
        group: &PodGroup,
        level: usize,
        alternative: usize,
        tier: usize,
    ) -> Option<SetId> {
        let key = (self.compiled.pods[pod].group, level, alternative, tier);
        if let Some(known) = self.bases.get(&key) {
            return *known;
        }
        let bits = group.levels[level].rows[alternative].and(&self.tiers[tier].rows);
        let found = self.sets.intern(bits);
        let result = found.filter(|set| self.sets.has_room(self.compiled, *set, &group.request));
        self.bases.insert(key, result);
        result
    }

    fn within_limits(&mut self, tier: usize, set: SetId) -> Option<SetId> {
        let Some(template) = self.tiers[tier].template else {
            return Some(set);
        };
        match self
            .limits
            .within(self.compiled, template, self.sets.bits(set))
        {
            Some(bits) => self.sets.intern(bits),
            None => Some(set),
        }
    }
}

/// Whether a refusal can change while this decision goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lasting {
    /// Nodes only fill up.
    ForGood,
    /// Counts may change.
    ForNow,
}

fn sum(left: &[i64], right: &[i64]) -> Box<[i64]> {
    left.iter()
        .zip(right)
        .map(|(left, right)| left.saturating_add(*right))
        .collect()
}
