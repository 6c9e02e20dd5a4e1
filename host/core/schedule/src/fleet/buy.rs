//! Merges pods that wait on nodes of their own into the cheapest fleet.
//!
//! Placing has decided, pod by pod, which zone or other domain each is in; what is left is a packing problem: how many of
//! which instances, and who shares one. Rules about hosts become counters on a node.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plimsoll_base::bits::Bits;
use plimsoll_base::ids::Uid;
use plimsoll_model::snapshot::Guards;
use plimsoll_pack::{Class, Demand, Kind, Membership, NodeRule, Packing, Problem, SpendLimit};

use super::breadth::Breadth;
use super::node_rules::NodeRules;
use super::replicas::{NodeReplicas, Replicas};
use super::slot_axes::SlotAxes;
use crate::batch::sets::SetId;
use crate::offers::axes::fits;
use crate::offers::table::Guarded;
use crate::offers::templates::Template;
use crate::place::{Bin, Placer};
use crate::prices::RowPrices;

/// A node to buy: the row it is planned as, the rows it may be, and its bins.
#[derive(Clone, Debug)]
pub(crate) struct Purchase {
    /// The planned row.
    pub(crate) row: usize,
    /// Price of the planned row, which may be that of a supply.
    pub(crate) price: i64,
    /// Bins that share the node, ascending.
    pub(crate) bins: Vec<usize>,
}

/// Nodes bought for the bins of a placement, and the bins left over.
#[derive(Clone, Debug, Default)]
pub(crate) struct Purchases {
    /// Nodes.
    pub(crate) nodes: Vec<Purchase>,
    /// Bins for which limits or supplies leave no node.
    pub(crate) unplaced: Vec<usize>,
}

/// Packings that are tried with rules for shapes, after the first for some workloads too, before every workload gets a rule.
const MOST_DEALS: usize = 4;

/// Buys nodes for the bins of a placement that are not open, with the guards given, from what is left of each supply, with
/// so much counted work.
pub(crate) fn buy(
    placer: &Placer<'_, '_>,
    bins: &[usize],
    prices: &RowPrices,
    supplies: &[u32],
    guards: &Guards,
    effort: u32,
) -> Purchases {
    let replicas = Replicas::of(placer, bins, guards);
    let mut ruled = BTreeMap::new();
    let mut spread = false;
    let mut attempts = 0..MOST_DEALS;
    loop {
        let mut builder = ProblemBuilder::new(placer, prices, guards, bins, &ruled);
        builder.problem.supplies = supplies.to_vec();
        for bin in bins {
            builder.add(*bin);
        }
        if spread {
            builder.spread(&replicas);
        }
        let (problem, kinds, members) = builder.finish();
        let packing = plimsoll_pack::pack(&problem, effort);
        let (purchases, crowded) = purchases(&problem, &packing, &kinds, members, &replicas);
        if crowded.is_empty() || ruled.len() == replicas.limits().len() {
            return purchases;
        }
        let limits = replicas.limits().iter();
        let limits = limits.map(|(uid, limit)| (uid.clone(), *limit));
        match attempts.next() {
            Some(0) => spread = true,
            Some(_) => ruled.extend(limits.filter(|(uid, _)| crowded.contains(uid))),
            None => (ruled, spread) = (limits.collect(), false),
        }
    }
}

/// Deals the bins of each demand to the nodes that hold it, the oldest where not all are held; with the workloads of which some
/// node got too many replicas.
fn purchases(
    problem: &Problem,
    packing: &Packing,
    kinds: &[usize],
    mut members: Vec<Vec<usize>>,
    replicas: &Replicas,
) -> (Purchases, BTreeSet<Uid>) {
    let nodes = packing.nodes.iter().flat_map(|bought| {
        let dealt = || (bought.kind, NodeReplicas::new(bought.load.clone()));
        (0..bought.count).map(move |_| dealt())
    });
    let (kind_of, mut dealt): (Vec<usize>, Vec<NodeReplicas>) = nodes.unzip();
    let mut held = vec![0; members.len()];
    for (demand, count) in dealt.iter().flat_map(|node| &node.load) {
        held[*demand] += *count as usize;
    }
    let beyond = members
        .iter_mut()
        .zip(held)
        .flat_map(|(bins, held)| bins.split_off(held.min(bins.len())));
    let mut unplaced: Vec<usize> = beyond.collect();
    unplaced.sort_unstable();
    let crowded = replicas.deal(&mut dealt, &members);
    let node = |(kind, mut dealt): (usize, NodeReplicas)| {
        dealt.bins.sort_unstable();
        Purchase {
            row: kinds[kind],
            price: problem.kinds[kind].price,
            bins: dealt.bins,
        }
    };
    let nodes = kind_of.into_iter().zip(dealt).map(node).collect();
    (Purchases { nodes, unplaced }, crowded)
}

/// All rows that some bins may become.
fn rows_of(placer: &Placer<'_, '_>, bins: &[usize]) -> Bits {
    let sets: BTreeSet<SetId> = bins.iter().map(|bin| placer.bins[*bin].rows).collect();
    let mut used = Bits::none(placer.compiled.rows.len());
    for set in sets {
        used.join(placer.sets.bits(set));
    }
    used
}

struct ProblemBuilder<'p, 'c, 's> {
    placer: &'p Placer<'c, 's>,
    prices: &'p RowPrices,
    problem: Problem,
    /// Row of each kind, ascending.
    rows: Vec<usize>,
    rules: NodeRules,
    slots: SlotAxes,
    guarded: BTreeMap<SetId, Bits>,
    guarded_rows: Arc<Guarded>,
    classes: BTreeMap<(SetId, Vec<Membership>), usize>,
    demands: BTreeMap<(usize, Box<[i64]>), usize>,
    members: Vec<Vec<usize>>,
}

impl<'p, 'c, 's> ProblemBuilder<'p, 'c, 's> {
    fn new(
        placer: &'p Placer<'c, 's>,
        prices: &'p RowPrices,
        guards: &'p Guards,
        bins: &[usize],
        ruled: &BTreeMap<Uid, u32>,
    ) -> Self {
        let compiled = placer.compiled;
        let rules = NodeRules::new(placer, bins, ruled);
        let used = rows_of(placer, bins);
        let slots = SlotAxes::of(placer, bins, &used, guards);
        let mut problem = Problem {
            axes: compiled.axes.len() + slots.len(),
            ..Problem::default()
        };
        problem.rules.clone_from(&rules.limits);
        let mut result = Self {
            placer,
            prices,
            problem,
            rows: Vec::new(),
            rules,
            slots,
            guarded: BTreeMap::new(),
            guarded_rows: crate::guards::guarded(compiled, guards),
            classes: BTreeMap::new(),
            demands: BTreeMap::new(),
            members: Vec::new(),
        };
        result.add_kinds(bins, &used, guards);
        result
    }

    fn add_kinds(&mut self, bins: &[usize], used: &Bits, guards: &Guards) {
        let compiled = self.placer.compiled;
        let mut limit_of: BTreeMap<usize, usize> = BTreeMap::new();
        let mut firsts: BTreeMap<usize, (i64, usize)> = BTreeMap::new();
        for (row, price, supply) in &self.prices.first {
            firsts.insert(*row, (*price, *supply));
        }
        let fullest = bins
            .iter()
            .map(|bin| self.placer.bins[*bin].steps.len())
            .max()
            .unwrap_or(0);
        let breadth = Breadth::of(compiled, used);
        let rows = match self.best(bins, guards, fullest) {
            Some(rows) => rows,
            None => used.iter().collect(),
        };
        for row in rows {
            let mut capacity = crate::guards::capacity(compiled, row, guards, fullest);
            breadth.narrow(compiled, row, &mut capacity);
            let slots = self.slots.room(compiled, guards, row);
            let capacity = capacity.into_iter().chain(slots).collect();
            let spends = self.spends(row, &mut limit_of);
            let mut kind = Kind {
                capacity,
                price: self.prices.planned[row],
                list_price: self.prices.list[row],
                spends,
                supply: self.prices.reserved.get(&row).copied(),
            };
            let first = firsts.get(&row).filter(|_| kind.supply.is_none());
            if let Some((price, supply)) = first {
                self.push_kind(
                    row,
                    Kind {
                        price: *price,
                        supply: Some(*supply),
                        ..kind.clone()
                    },
                );
            }
            if self.prices.allowed.contains(row) {
                kind.price = kind.price.max(1);
                self.push_kind(row, kind);
            }
        }
    }

    /// The rows that can be of use, where nodes draw on nothing but their list price; `None` where any row may be.
    fn best(&self, bins: &[usize], guards: &Guards, fullest: usize) -> Option<Vec<usize>> {
        let compiled = self.placer.compiled;
        let listed = RowPrices::of_list(compiled);
        // Where more pods must share a host than guards want on a node, the guards yield.
        let most = guards.pods_small_node.min(guards.pods_large_node);
        let guards_hold =
            !guards.enabled || u32::try_from(fullest).is_ok_and(|fullest| fullest <= most);
        let is_bound =
            |template: &Template| template.remaining.is_some() || template.has_minimum_values();
        let plain = self.slots.len() == 0
            && guards_hold
            && self.prices.supplies.is_empty()
            && self.prices.at_list
            && !compiled.templates.iter().any(is_bound);
        if !plain {
            return None;
        }
        let sets: BTreeSet<SetId> = bins.iter().map(|bin| self.placer.bins[*bin].rows).collect();
        let sets = sets.into_iter().map(|set| {
            let rows = self.placer.sets.bits(set);
            let mut plain = rows.clone();
            plain.drop_all(&self.guarded_rows.guard_excluded);
            if plain.is_empty() {
                rows.clone()
            } else {
                plain
            }
        });
        let sets: Vec<Bits> = sets.collect();
        let room = |row: usize| crate::guards::capacity(compiled, row, guards, 0);
        let price = |row: usize| listed.planned[row].max(1);
        Some(self.guarded_rows.best.of_sets(sets.iter(), price, room))
    }

    fn push_kind(&mut self, row: usize, kind: Kind) {
        self.rows.push(row);
        self.problem.kinds.push(kind);
    }

    /// Amounts that one node of a row takes of its pool's limits, with the position of the limit; `None` where the pool has none.
    fn spends(
        &mut self,
        row: usize,
        limit_of: &mut BTreeMap<usize, usize>,
    ) -> Option<(usize, Box<[i64]>)> {
        let compiled = self.placer.compiled;
        let template = compiled.rows.rows[row].template;
        let remaining = self.placer.limits.for_new(template)?;
        let limit = *limit_of.entry(template).or_insert_with(|| {
            self.problem.spend_limits.push(SpendLimit {
                remaining: remaining.into(),
            });
            self.problem.spend_limits.len() - 1
        });
        Some((limit, compiled.rows.spends(row).into()))
    }

    fn add(&mut self, number: usize) {
        let bin: &Bin = &self.placer.bins[number];
        let memberships = self.rules.memberships(self.placer, bin);
        let class = match self.classes.get(&(bin.rows, memberships.clone())) {
            Some(class) => *class,
            None => self.add_class(bin.rows, memberships),
        };
        let request = self.request(bin, class);
        let next = self.members.len();
        let demand = *self.demands.entry((class, request.clone())).or_insert(next);
        if demand == next {
            self.members.push(Vec::new());
            self.problem.demands.push(Demand {
                class,
                request,
                count: 0,
            });
        }
        self.problem.demands[demand].count += 1;
        self.members[demand].push(number);
    }

    /// Request of a bin, per axis; attach slots no more than the best instance with room for it has.
    fn request(&self, bin: &Bin, class: usize) -> Box<[i64]> {
        let axes = bin.used.len();
        let mut asked = self.slots.asked(self.placer, bin);
        if asked.iter().any(|asked| *asked > 0) {
            let kinds = self.problem.classes[class].kinds.iter();
            let mut most = vec![0; asked.len()];
            for kind in kinds {
                let (room, slots) = self.problem.kinds[kind].capacity.split_at(axes);
                if fits(&bin.used, room) {
                    most.iter_mut()
                        .zip(slots)
                        .for_each(|(most, slots)| *most = (*most).max(*slots));
                }
            }
            asked
                .iter_mut()
                .zip(most)
                .for_each(|(asked, most)| *asked = most.min(*asked));
        }
        bin.used.iter().copied().chain(asked).collect()
    }

    fn add_class(&mut self, set: SetId, memberships: Vec<Membership>) -> usize {
        if !self.guarded.contains_key(&set) {
            let rows = self.placer.sets.bits(set);
            let mut plain = rows.clone();
            plain.drop_all(&self.guarded_rows.guard_excluded);
            // A guard yields rather than leave a pod without any instance.
            let kinds = self.kinds_among(&plain);
            let kinds = if kinds.is_empty() {
                self.kinds_among(rows)
            } else {
                kinds
            };
            self.guarded.insert(set, kinds);
        }
        let class = self.problem.classes.len();
        self.problem.classes.push(Class {
            kinds: self.guarded[&set].clone(),
            memberships: memberships.clone(),
        });
        self.classes.insert((set, memberships), class);
        class
    }

    fn kinds_among(&self, rows: &Bits) -> Bits {
        let mut kinds = Bits::none(self.problem.kinds.len());
        for (kind, row) in self.rows.iter().enumerate() {
            if rows.contains(*row) {
                kinds.insert(kind);
            }
        }
        kinds
    }

    /// Lets a node have only so many bins of each demand that their replicas can be dealt.
    fn spread(&mut self, replicas: &Replicas) {
        let problem = &mut self.problem;
        for (demand, bins) in problem.demands.iter_mut().zip(&self.members) {
            if let Some(limit) = replicas.most_bins(bins) {
                let mut class = problem.classes[demand.class].clone();
                class.memberships.push(Membership {
                    rule: problem.rules.len(),
                    owner: true,
                    counted: 1,
                });
                problem.rules.push(NodeRule { limit });
                demand.class = problem.classes.len();
                problem.classes.push(class);
            }
        }
    }

    fn finish(self) -> (Problem, Vec<usize>, Vec<Vec<usize>>) {
        (self.problem, self.rows, self.members)
    }
}
