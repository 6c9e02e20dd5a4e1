//! One pod after another: onto a node there is, onto a node that this decision has opened, or onto a new one.
//!
//! The same procedure serves two purposes. For pools in `compatible` packing it is the whole decision: first fit in
//! Karpenter's order. For pools packed by price it decides, pod by pod, what must be decided in order (which existing node,
//! which zone) and leaves every pod on a node of its own; [`super::fleet::buy`] then merges those into the cheapest fleet.
//!
//! Each step is feasible at its place in the sequence, so the sequence is the order in which the plan may be bound.

pub(crate) mod address_budget;
pub(crate) mod dependents;
pub(crate) mod free_addresses;
pub(crate) mod hosts;
pub(crate) mod limits;
pub(crate) mod new_node;
pub(crate) mod strategy;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use plimsoll_base::bits::Bits;
use plimsoll_model::HostPort;

use super::batch::alike::Like;
use super::batch::attach_slots::AttachSlot;
use super::batch::compile::Compiled;
use super::batch::memo::Memo;
use super::batch::minimum::{self, Minimum};
use super::batch::pod_group::PodGroup;
use super::batch::sets::{SetId, Sets};
use super::topology::{Allowed, Among, Counts, TopologyModel};
use dependents::{Dependents, NO_DEPENDENTS, others_first};
use free_addresses::FreeAddresses;
use strategy::{PackingStrategy, QuotaKey};

mod bins;
mod existing;
mod pin;
mod replay;
mod scored;
mod slots;
mod undo;

use bins::OpenBins;
use existing::ExistingNodes;
use pin::{Guest, MOST_TRIES, required_groups};
use slots::RowsWithSlots;

/// Pools that are tried together for a new node.
#[derive(Clone, Debug)]
pub(crate) struct Tier {
    /// Their rows.
    pub(crate) rows: Bits,
    /// `true` if later pods may join nodes of this tier.
    pub(crate) open: bool,
    /// The one template of an open tier.
    pub(crate) template: Option<usize>,
}

/// Where a step has put its pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Where {
    /// Row of an existing node.
    Existing(usize),
    /// Number of a bin.
    Bin(usize),
}

/// One pod placed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlacementStep {
    /// Position among the batch's pods.
    pub(crate) pod: usize,
    /// Step of relaxation.
    pub(crate) level: usize,
    /// Where to.
    pub(crate) place: Where,
}

/// A node to buy, as far as it is decided.
#[derive(Clone, Debug)]
pub(crate) struct Bin {
    /// Rows that the node may become.
    pub(crate) rows: SetId,
    /// Requests of its pods, per axis.
    pub(crate) used: Box<[i64]>,
    /// Its pods, as positions among the steps.
    pub(crate) steps: Vec<usize>,
    /// Ports its pods take.
    pub(crate) ports: Vec<HostPort>,
    /// Volumes its pods use, as far as any type limits their driver.
    pub(crate) claims: BTreeSet<AttachSlot>,
    /// How many values its claim must leave to choose from.
    pub(crate) minimum: Minimum,
    /// The tier it was made in.
    pub(crate) tier: usize,
}

/// A pod that looks for a place, at one step of relaxation.
struct Seeker<'a> {
    /// Its position in the batch.
    pod: usize,
    /// Its group, and the group's number.
    group: &'a PodGroup,
    number: usize,
    level: usize,
    like: Like,
    /// Domains open to it now.
    allowed: &'a [Allowed],
}

/// In which order a pod looks at places.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PlaceSearch {
    /// `true` if it keeps off existing nodes.
    pub(crate) skips_existing: bool,
    /// `true` if new nodes are tried before existing ones.
    pub(crate) new_first: bool,
    /// `true` if the last of existing nodes is tried first.
    pub(crate) backwards: bool,
    /// Order in which new nodes are tried.
    pub(crate) filling: Filling,
}

/// How new nodes fill up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Filling {
    /// Those with the fewest pods come first.
    #[default]
    Evenly,
    /// One after another.
    InTurn,
    /// The one with the best score, nodes there are included.
    Scored,
}

/// The state of placing.
pub(crate) struct Placer<'c, 's> {
    pub(crate) compiled: &'c Compiled<'s>,
    pub(crate) sets: Sets,
    pub(crate) bins: Vec<Bin>,
    pub(crate) steps: Vec<PlacementStep>,
    /// Positions of pods that found no place.
    pub(crate) failed: Vec<usize>,
    tiers: &'c [Tier],
    prices: &'c [i64],
    strategy: &'c PackingStrategy,
    /// Where pods go that others follow, until no other can be placed.
    dependents: &'c Dependents,
    /// `true` if some new node could have been in another domain, or on the other side of a node filter.
    pub(crate) had_choice: bool,
    taken: BTreeMap<QuotaKey, u32>,
    counts: Counts,
    /// Topology groups that some pod requires, beside those that are no more than wishes.
    required: Bits,
    nodes: ExistingNodes,
    open: OpenBins,
    /// By fit, then by alternative and tier: rows open to its pods; `None` where they have none.
    bases: Vec<Memo<Option<SetId>>>,
    /// By key and domain, the rows there; those that lie in no domain come last.
    domains: Vec<Vec<Option<SetId>>>,
    pub(crate) limits: limits::Limits,
    rows_with_slots: RowsWithSlots,
    /// Addresses left in zones that are short of them.
    free_addresses: FreeAddresses,
    /// Bins before this one are closed to everybody.
    first_bin: usize,
    /// No bin is opened beyond this many.
    most_bins: usize,
    search: PlaceSearch,
    /// Tiers in which new nodes are opened.
    active: std::ops::Range<usize>,
    /// Where a simulation began; `None` outside one.
    mark: Option<undo::Mark>,
}

impl<'c, 's> Placer<'c, 's> {
    /// Ready to place the batch of a compiled snapshot. `prices` are per row and break ties between domains.
    pub(crate) fn new(
        compiled: &'c Compiled<'s>,
        tiers: &'c [Tier],
        prices: &'c [i64],
        strategy: &'c PackingStrategy,
    ) -> Self {
        let mut sets = Sets::default();
        let domains = domain_sets(&compiled.model, compiled.rows.len(), &mut sets);
        Self {
            compiled,
            sets,
            bins: Vec::new(),
            steps: Vec::new(),
            failed: Vec::new(),
            tiers,
            prices,
            strategy,
            dependents: &strategy.dependents,
            had_choice: false,
            taken: BTreeMap::new(),
            counts: compiled.counts.clone(),
            required: required_groups(compiled),
            nodes: ExistingNodes::new(compiled),
            open: OpenBins::new(compiled),
            bases: vec![Memo::default(); compiled.alike.fits()],
            domains,
            limits: limits::Limits::new(compiled),
            rows_with_slots: RowsWithSlots::default(),
            free_addresses: FreeAddresses::new(compiled, &strategy.budget),
            first_bin: 0,
            most_bins: usize::MAX,
            search: PlaceSearch::default(),
            active: 0..tiers.len(),
            mark: None,
        }
    }

    /// Places pods in the order given, those that exist before room is kept for others. A pod that finds no place is tried
    /// again after the others of its sort, until a whole round brings nothing.
    pub(crate) fn run(&mut self, order: impl IntoIterator<Item = usize>) {
        let pods = &self.compiled.pods;
        let is_spare = |pod: &usize| pods[*pod].is_spare;
        let (spare, real): (Vec<usize>, Vec<usize>) = order.into_iter().partition(is_spare);
        self.run_all(real);
        let mut failed = std::mem::take(&mut self.failed);
        self.run_all(spare);
        self.failed.append(&mut failed);
        self.failed.sort_unstable();
    }

    fn run_all(&mut self, order: Vec<usize>) {
        let order = others_first(self.compiled, order).into_iter();
        let mut queue: VecDeque<(usize, Option<usize>)> = order.map(|pod| (pod, None)).collect();
        // By group: how many steps there were when a pod of it failed; no count has changed since.
        let mut hopeless: Vec<Option<usize>> = vec![None; self.compiled.groups.len()];
        while let Some((pod, remembered)) = queue.pop_front() {
            if remembered == Some(queue.len() + 1) && !self.dependents.is_empty() {
                // Rather no followers than no place.
                self.dependents = &NO_DEPENDENTS;
                hopeless.fill(None);
                queue.push_front((pod, None));
                for (_, remembered) in &mut queue {
                    *remembered = None;
                }
                continue;
            }
            if remembered == Some(queue.len() + 1) {
                self.failed = std::iter::once(pod)
                    .chain(queue.into_iter().map(|(pod, _)| pod))
                    .collect();
                self.failed.sort_unstable();
                return;
            }
            let group = self.compiled.pods[pod].group;
            let same_state = hopeless[group] == Some(self.steps.len());
            if same_state || !self.place(pod) {
                hopeless[group] = Some(self.steps.len());
                queue.push_back((pod, Some(queue.len() + 1)));
            }
        }
    }

    fn place(&mut self, pod: usize) -> bool {
        let number = self.compiled.pods[pod].group;
        let levels = self.compiled.groups[number].levels.len();
        (0..levels).any(|level| self.place_at(pod, number, level))
    }

    fn place_at(&mut self, pod: usize, number: usize, level: usize) -> bool {
        let group = &self.compiled.groups[number];
        let view = group.view(level);
        let model = &self.compiled.model;
        let there = self.counts.allowed(model, view, Among::All);
        if there.is_some_and(|allowed| self.place_within(pod, number, level, &allowed, Among::All))
        {
            return true;
        }
        if view.by_daemons.is_empty() {
            return false;
        }
        // A new node brings the daemons along that the pod wants to be near.
        let new = self.counts.allowed(model, view, Among::New);
        new.is_some_and(|allowed| self.place_within(pod, number, level, &allowed, Among::New))
    }

    fn place_within(
        &mut self,
        pod: usize,
        number: usize,
        level: usize,
        allowed: &[Allowed],
        among: Among,
    ) -> bool {
        let group = &self.compiled.groups[number];
        let seeker = Seeker {
            pod,
            group,
            number,
            level,
            like: self.compiled.alike.like(number, level),
            allowed,
        };
        let found = if among == Among::New {
            None
        } else if self.search.filling == Filling::Scored {
            self.best_scored(&seeker)
        } else if self.search.new_first {
            let open = self.open_bin(&seeker);
            open.or_else(|| self.existing_node(&seeker))
        } else {
            let existing = self.existing_node(&seeker);
            existing.or_else(|| self.open_bin(&seeker))
        };
        let found = found.or_else(|| self.new_bin(&seeker));
        let Some(place) = found else { return false };
        self.commit(&seeker, place);
        true
    }

    fn commit(&mut self, seeker: &Seeker<'_>, place: Where) {
        let model = &self.compiled.model;
        let group = seeker.group;
        match place {
            Where::Existing(row) => {
                self.counts.record_existing(model, row, group.counted_by());
            }
            Where::Bin(bin) => {
                let host = self.counts.new_host(bin);
                let rows = self.sets.bits(self.bins[bin].rows);
                self.counts
                    .record_new(model, host, rows, group.counted_by());
                self.free_addresses.pay(self.compiled, seeker.pod, rows);
                self.bins[bin].steps.push(self.steps.len());
                let key = (seeker.number, seeker.level, self.bins[bin].tier);
                if self.strategy.quotas.contains_key(&key) {
                    *self.taken.entry(key).or_default() += 1;
                }
            }
        }
        self.steps.push(PlacementStep {
            pod: seeker.pod,
            level: seeker.level,
            place,
        });
    }

    /// Opens a new node in the first tier that has one for the pod.
    fn new_bin(&mut self, seeker: &Seeker<'_>) -> Option<Where> {
        if self.bins.len() >= self.most_bins {
            return None;
        }
        let group = seeker.group;
        let host = self.counts.new_host(self.bins.len());
        let view = group.view(seeker.level);
        if !self.counts.host_allows(&self.compiled.model, view, host) {
            return None;
        }
        let dependents = self.dependents;
        let asked = dependents.with_follower(seeker.number, &group.request);
        for tier in self.active.clone() {
            if !self.quota_left(seeker, tier) {
                continue;
            }
            for alternative in 0..group.alternatives.len() {
                let Some(base) = self
                    .base(seeker, alternative, tier)
                    .and_then(|base| self.with_slots(seeker.pod, None, base))
                    .and_then(|base| self.within_limits(tier, base))
                else {
                    continue;
                };
                let found = if self.free_addresses.is_unbounded() {
                    self.pin_new(seeker, base, &asked)
                } else {
                    let parts = self.free_addresses.parts(
                        self.compiled,
                        &self.strategy.budget,
                        &mut self.sets,
                        seeker.pod,
                        base,
                    );
                    let mut parts = parts.into_iter();
                    parts.find_map(|part| self.pin_new(seeker, part, &asked))
                };
                if let Some((rows, minimum)) = found {
                    let bin = self.add_bin(group, tier, rows, minimum);
                    self.attach(seeker.pod, bin);
                    return Some(Where::Bin(bin));
                }
            }
        }
        None
    }

    /// Rows of a set that a new node for a pod may become, with room for `asked`, and the minimum values that they keep; `None`
    /// when none is left.
    fn pin_new(
        &mut self,
        seeker: &Seeker<'_>,
        base: SetId,
        asked: &[i64],
    ) -> Option<(SetId, Minimum)> {
        let (compiled, group) = (self.compiled, seeker.group);
        if !self.sets.has_room(compiled, base, asked) {
            return None;
        }
        let minimum = |rows: &Bits| minimum::of_new(compiled, rows, &group.request);
        let guest = Guest {
            group,
            level: seeker.level,
            used: asked,
            is_broad: &|rows| minimum(rows).is_some(),
            tries: Cell::new(MOST_TRIES),
        };
        let rows = self.pin(&guest, base, seeker.allowed)?;
        let minimum = minimum(self.sets.bits(rows)).expect("pinned to a broad set");
        Some((rows, minimum))
    }

    fn add_bin(&mut self, group: &PodGroup, tier: usize, rows: SetId, minimum: Minimum) -> usize {
        if let Some(template) = self.tiers[tier].template {
            let bits = self.sets.bits(rows);
            self.limits.charge(self.compiled, template, bits);
        }
        self.counts
            .record_daemons(&self.compiled.model, self.sets.bits(rows));
        let bin = self.bins.len();
        self.bins.push(Bin {
            rows,
            used: group.request.clone(),
            steps: Vec::new(),
            ports: group.spec.host_ports.clone(),
            claims: BTreeSet::new(),
            minimum,
            tier,
        });
        if self.tiers[tier].open {
            self.open_up(bin);
        }
        bin
    }

    fn quota_left(&self, seeker: &Seeker<'_>, tier: usize) -> bool {
        let key = (seeker.number, seeker.level, tier);
        self.strategy
            .quotas
            .get(&key)
            .is_none_or(|quota| self.taken.get(&key).copied().unwrap_or(0) < *quota)
    }

    /// Rows of a tier that are open to a pod, if one of them could hold it alone; those that its followers can use too.
    fn base(&mut self, seeker: &Seeker<'_>, alternative: usize, tier: usize) -> Option<SetId> {
        let base = self.own_base(seeker, alternative, tier)?;
        match self.dependents.rows(seeker.number) {
            Some(kept) => self.sets.intern(self.sets.bits(base).and(kept)),
            None => Some(base),
        }
    }

    fn own_base(&mut self, seeker: &Seeker<'_>, alternative: usize, tier: usize) -> Option<SetId> {
        let at = alternative * self.tiers.len() + tier;
        if let Some(known) = self.bases[seeker.like.fit].get(at) {
            return *known;
        }
        let group = seeker.group;
        let bits = group.levels[seeker.level].rows[alternative].and(&self.tiers[tier].rows);
        let found = self.sets.intern(bits);
        let result = found.filter(|set| self.sets.has_room(self.compiled, *set, &group.request));
        self.bases[seeker.like.fit].set(at, result);
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

/// The rows of every domain of every key, then those that lie in no domain.
fn domain_sets(model: &TopologyModel, rows: usize, sets: &mut Sets) -> Vec<Vec<Option<SetId>>> {
    let of_key = |key: &super::topology::TopologyKey| {
        let mut outside = Bits::all(rows);
        key.rows.iter().for_each(|rows| outside.drop_all(rows));
        let domains = key.rows.iter().cloned().chain([outside]);
        domains.map(|rows| sets.intern(rows)).collect()
    };
    model.keys.iter().map(of_key).collect()
}

/// Amounts per axis, added up.
pub(crate) fn sum(left: &[i64], right: &[i64]) -> Box<[i64]> {
    left.iter()
        .zip(right)
        .map(|(left, right)| left.saturating_add(*right))
        .collect()
}
