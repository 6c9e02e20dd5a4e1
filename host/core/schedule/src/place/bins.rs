//! Onto a node that this decision has opened: the first, fewest pods first unless they are filled in turn, then the older one,
//! that every rule admits.

use std::cell::Cell;

use plimsoll_model::HostPort;

use super::super::topology::Allowed;
use super::hosts::{HostSet, within};
use super::pin::{Guest, MOST_TRIES};
use super::{Filling, Placer, Seeker, Where, sum};
use crate::batch::alike::Like;
use crate::batch::compile::Compiled;
use crate::batch::minimum;
use crate::batch::pod_group::PodGroup;
use crate::batch::sets::SetId;

/// With more domains open than this, looking for one of them saves nothing.
const FEW_DOMAINS: usize = 16;

/// New nodes that pods may still join, and which of them could take whom.
pub(super) struct OpenBins {
    by_pods: Vec<HostSet>,
    /// By fit: bins that are full for its pods, or can never be what they ask for.
    refused: Vec<HostSet>,
    /// By host rules: bins that they keep their pods off for good.
    barred: Vec<HostSet>,
    /// By key and domain: bins that may still lie there; those that may lie in no domain come last.
    by_domain: Vec<Vec<HostSet>>,
}

impl OpenBins {
    pub(super) fn new(compiled: &Compiled<'_>) -> Self {
        let keys = compiled.model.keys.iter();
        Self {
            by_pods: Vec::new(),
            refused: vec![HostSet::default(); compiled.alike.fits()],
            barred: vec![HostSet::default(); compiled.alike.host_rules()],
            by_domain: keys
                .map(|key| vec![HostSet::default(); key.values.len() + 1])
                .collect(),
        }
    }

    /// Adds a bin of one pod, or moves one to the next number of pods.
    fn set_pods(&mut self, bin: usize, pods: usize) {
        if self.by_pods.len() <= pods {
            self.by_pods.resize(pods + 1, HostSet::default());
        }
        self.by_pods[pods - 1].remove(bin);
        self.by_pods[pods].insert(bin);
    }

    /// The first bin after `after`, in order of pods and age, that is not known to refuse; with its number of pods.
    fn next(
        &self,
        after: Option<(usize, usize)>,
        like: Like,
        allowed: &[Allowed],
    ) -> Option<(usize, usize)> {
        let (first, from) = after.map_or((0, 0), |(pods, bin)| (pods, bin + 1));
        let (refused, barred) = (&self.refused[like.fit], &self.barred[like.host_rules]);
        let passes = |at: usize| {
            let open = !(refused.word(at) | barred.word(at));
            allowed
                .iter()
                .fold(open, |word, allowed| word & self.may_lie(allowed, at))
        };
        (first..self.by_pods.len()).find_map(|pods| {
            let from = if pods == first { from } else { 0 };
            let found = self.by_pods[pods].first(from, passes)?;
            Some((pods, found))
        })
    }

    /// Bins that may lie in an open domain of a key.
    fn may_lie(&self, allowed: &Allowed, at: usize) -> u64 {
        if allowed.domains.len() > FEW_DOMAINS {
            return u64::MAX;
        }
        within(allowed, &self.by_domain[allowed.key], at)
    }
}

/// Reason why a bin does not take a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BinRefusal {
    /// It takes no pod of this fit: nodes only fill up.
    Fit,
    /// The pod's host rules keep it off.
    HostRules,
    /// Something that may change.
    ForNow,
}

impl Placer<'_, '_> {
    /// Tries nodes that this decision has opened: all open ones, or, for a pod that must join another, any.
    pub(super) fn open_bin(&mut self, seeker: &Seeker<'_>) -> Option<Where> {
        let view = seeker.group.view(seeker.level);
        if self.counts.must_join(&self.compiled.model, view) {
            let found =
                (self.first_bin..self.bins.len()).find(|bin| self.join(seeker, *bin).is_ok());
            return found.map(Where::Bin);
        }
        let like = seeker.like;
        let mut at = None;
        while let Some((pods, bin)) = self.open.next(at, like, seeker.allowed) {
            at = Some((pods, bin));
            match self.join(seeker, bin) {
                Ok(()) => return Some(Where::Bin(bin)),
                Err(BinRefusal::Fit) => self.open.refused[like.fit].insert(bin),
                Err(BinRefusal::HostRules) if like.lasting => {
                    self.open.barred[like.host_rules].insert(bin);
                }
                Err(BinRefusal::HostRules | BinRefusal::ForNow) => {}
            }
        }
        None
    }

    /// Puts a pod on a bin if every rule agrees.
    pub(super) fn join(&mut self, seeker: &Seeker<'_>, bin: usize) -> Result<(), BinRefusal> {
        let group = seeker.group;
        let host = self.counts.new_host(bin);
        let view = group.view(seeker.level);
        if !self.counts.host_allows(&self.compiled.model, view, host) {
            return Err(BinRefusal::HostRules);
        }
        let taken = &self.bins[bin].ports;
        let conflict = |port: &HostPort| taken.iter().any(|taken| taken.conflicts_with(port));
        if group.spec.host_ports.iter().any(conflict) {
            return Err(BinRefusal::Fit);
        }
        let (tier, rows) = (self.bins[bin].tier, self.bins[bin].rows);
        if !self.quota_left(seeker, tier) {
            return Err(BinRefusal::ForNow);
        }
        let dependents = self.dependents;
        // Followers are a matter of the group, not of its fit.
        let mut refused = if dependents.is_followed(seeker.number) {
            BinRefusal::ForNow
        } else {
            BinRefusal::Fit
        };
        for alternative in 0..group.alternatives.len() {
            let Some(both) = self
                .base(seeker, alternative, tier)
                .and_then(|base| self.sets.join(rows, base))
            else {
                continue;
            };
            if !self.has_room_for(group, bin, both) {
                continue;
            }
            // Pods of one fit may have different volumes.
            refused = BinRefusal::ForNow;
            let Some(both) = self.attaching(seeker, bin, both) else {
                continue;
            };
            let used = sum(&self.bins[bin].used, &group.request);
            let asked = dependents.with_follower(seeker.number, &used);
            let followed = dependents.is_followed(seeker.number);
            if followed && !self.sets.has_room(self.compiled, both, &asked) {
                continue;
            }
            let (compiled, kept) = (self.compiled, self.bins[bin].minimum.clone());
            let guest = Guest {
                group,
                level: seeker.level,
                used: &asked,
                is_broad: &|rows| minimum::is_kept(compiled, &kept, rows, &used),
                tries: Cell::new(MOST_TRIES),
            };
            if let Some(narrowed) = self.pin(&guest, both, seeker.allowed) {
                self.narrow(bin, narrowed);
                self.bins[bin].used = used;
                self.bins[bin]
                    .ports
                    .extend(group.spec.host_ports.iter().cloned());
                self.attach(seeker.pod, bin);
                return Ok(());
            }
        }
        Err(refused)
    }

    /// `true` if a bin has room for one more pod on some row of a set.
    fn has_room_for(&mut self, group: &PodGroup, bin: usize, set: SetId) -> bool {
        let used = &self.bins[bin].used;
        self.sets
            .has_room_beside(self.compiled, set, used, &group.request)
    }

    /// Rows of a set that attach the volumes of a bin and of one more pod, have room for both, and an address; `None` where there are
    /// none. What attaches the volumes may be too small, and what is large enough may not attach them.
    fn attaching(&mut self, seeker: &Seeker<'_>, bin: usize, set: SetId) -> Option<SetId> {
        let rows = self.with_slots(seeker.pod, Some(bin), set)?;
        let has_room = rows == set || self.has_room_for(seeker.group, bin, rows);
        (has_room && self.may_pay(seeker, rows)).then_some(rows)
    }

    /// `true` if a pod finds an address on a node that may become a set.
    fn may_pay(&self, seeker: &Seeker<'_>, set: SetId) -> bool {
        let budget = &self.strategy.budget;
        let rows = self.sets.bits(set);
        self.free_addresses.is_unbounded()
            || self
                .free_addresses
                .allows(self.compiled, budget, seeker.pod, rows)
    }

    /// Makes a new bin one that pods may join.
    pub(super) fn open_up(&mut self, bin: usize) {
        self.open.set_pods(bin, 1);
        let rows = self.bins[bin].rows;
        for key in 0..self.domains.len() {
            for domain in 0..self.domains[key].len() {
                if self.in_domain(rows, key, domain).is_some() {
                    self.open.by_domain[key][domain].insert(bin);
                }
            }
        }
    }

    /// Takes one more pod on a bin, which narrows what it may become.
    fn narrow(&mut self, bin: usize, narrowed: SetId) {
        let former = std::mem::replace(&mut self.bins[bin].rows, narrowed);
        if !self.tiers[self.bins[bin].tier].open {
            return;
        }
        if self.search.filling == Filling::Evenly {
            self.open.set_pods(bin, self.bins[bin].steps.len() + 1);
        }
        if former == narrowed {
            return;
        }
        for key in 0..self.domains.len() {
            for domain in 0..self.domains[key].len() {
                if self.in_domain(narrowed, key, domain).is_none() {
                    self.open.by_domain[key][domain].remove(bin);
                }
            }
        }
    }
}
