//! A snapshot read for simulations: which nodes may be removed, with which pods, and what each is worth.

use std::cell::OnceCell;
use std::ops::Range;
use std::sync::Arc;

use plimsoll_base::bits::Bits;
use plimsoll_base::ids::Uid;
use plimsoll_base::labels;
use plimsoll_base::units::PricePerHour;
use plimsoll_model::catalogue::{CapacityType, OfferingKey, Overlaid};
use plimsoll_model::is_fixed;
use plimsoll_model::plan::LaunchOption;
use plimsoll_model::snapshot::{NodeRemoval, Snapshot, StateNode};

use super::exempt::GuardExempt;
use crate::batch::attach_slots::AttachSlots;
use crate::batch::compile::{Compiled, compile_batch};
use crate::fleet::bound::worth_of_groups;
use crate::fleet::draft::{closed_tier, open_tier};
use crate::guards;
use crate::place::Tier;
use crate::place::strategy::PackingStrategy;
use crate::pods::eligible::{Eligible, waiting};
use crate::prices::RowPrices;
use crate::prices::priced::Priced;
use crate::prices::quoted::Quoted;
use crate::prices::sale::Offers;
use crate::reading::Reading;

/// A snapshot read once for many simulations.
pub struct Simulator<'s> {
    pub(super) compiled: Compiled<'s>,
    /// The prices that decide.
    pub(super) prices: Arc<Priced>,
    /// For each pool, one whose nodes pods may join; after them those whose pods the packer merges.
    pub(super) tiers: Vec<Tier>,
    pub(super) strategy: PackingStrategy,
    /// By node: pods that go elsewhere when it goes, as positions in the batch, in queue order.
    pub(super) movable: Vec<Vec<usize>>,
    /// By node: whether it may go.
    pub(super) may_go: Vec<bool>,
    /// Pods that wait already, as positions in the batch.
    pub(super) waiting: Vec<usize>,
    /// Nodes that take no pods of others.
    pub(super) excluded: Vec<usize>,
    /// By node: what it is sold for; `None` where no such node is on sale.
    sold: Vec<Option<NodeOffering>>,
    /// By group: what its pods are worth at list prices. Read when it is first asked for.
    listed_worth: OnceCell<Vec<i64>>,
    /// Rows that guards keep from being bought, in pools packed by price.
    pub(super) guard_excluded: Bits,
    /// Pods for which they yield.
    pub(super) exempt: GuardExempt,
    /// The most replicas of a workload on one new node, by owner.
    pub(super) replicas: std::collections::BTreeMap<Uid, u32>,
}

/// Offering of an existing node, with its prices.
#[derive(Clone, Copy, Debug)]
pub(super) struct NodeOffering {
    /// Its type, as a position in the catalogue.
    pub(super) instance_type: usize,
    /// Its capacity type.
    pub(super) capacity_type: CapacityType,
    /// Worth per hour at the prices that decide, with the node's own cost.
    pub(super) worth: PricePerHour,
    /// List price with the node's own cost.
    pub(super) list: PricePerHour,
}

impl<'s> Simulator<'s> {
    /// Reads which of the nodes that `removal` speaks of may go, one choice of them after another; those that are closed take
    /// no pods of theirs. A node with an active pod that could not be evicted stays. Offers of an earlier decision serve again
    /// where they still hold. Without `quoted` list prices decide.
    pub fn new(
        reading: &Reading<'s>,
        removal: &NodeRemoval,
        earlier: Option<&Arc<Offers>>,
        quoted: Option<&Quoted>,
    ) -> Self {
        let snapshot = reading.snapshot;
        let as_it_is = NodeRemoval::none();
        let may_go = may_go(reading, removal);
        let moves = |pod: usize| reading.node_of(pod).filter(|row| may_go[*row]);
        let Eligible { mut pods, refused } = waiting(snapshot);
        pods.extend(reading.displaced(&as_it_is));
        for row in removal.leaving().iter().filter(|row| may_go[**row]) {
            let own = reading.pods_on(*row).iter().copied();
            pods.extend(own.filter(|pod| reading.may_move(*pod)));
        }
        // All stand where they are until a choice takes some away.
        let candidates: Vec<usize> = (0..may_go.len()).filter(|row| may_go[*row]).collect();
        let batch = Eligible { pods, refused };
        let compiled = compile_batch(reading, as_it_is, &candidates, batch, earlier);
        let mut movable = vec![Vec::new(); snapshot.nodes.len()];
        let mut waits = Vec::new();
        for (at, pod) in compiled.pods.iter().enumerate() {
            match moves(pod.row) {
                Some(row) => movable[row].push(at),
                None => waits.push(at),
            }
        }
        let prices = compiled.priced(quoted);
        let limits = &snapshot.settings.guards;
        let mut guard_excluded = guards::guard_excluded(&compiled, limits);
        for (number, template) in compiled.templates.iter().enumerate() {
            if template.is_compatible() {
                guard_excluded.drop_all(&compiled.rows.of_template[number]);
            }
        }
        let exempt = GuardExempt::of(&compiled, &guard_excluded);
        let mut closed_to_all = guard_excluded.clone();
        closed_to_all.drop_all(&exempt.rows);
        Self {
            tiers: tiers(&compiled, &prices, &closed_to_all),
            strategy: PackingStrategy {
                slots: AttachSlots::are_counted(limits),
                ..PackingStrategy::default()
            },
            movable,
            may_go,
            waiting: waits,
            excluded: removal.closed().to_vec(),
            sold: sold(snapshot, &compiled.offers.overlaid, quoted),
            listed_worth: OnceCell::new(),
            replicas: guards::replicas_per_node(&compiled, limits),
            guard_excluded,
            exempt,
            prices,
            compiled,
        }
    }

    /// Tiers whose nodes pods may join, by number: that of each template.
    pub(super) fn open(&self) -> Range<usize> {
        0..self.compiled.templates.len()
    }

    /// Tiers whose pods the packer merges.
    pub(super) fn closed(&self) -> Range<usize> {
        self.compiled.templates.len()..self.tiers.len()
    }

    /// Offers of the pools, to be kept for the next decision.
    pub fn offers(&self) -> &Arc<Offers> {
        &self.compiled.offers
    }

    /// Worth of a node per hour, with the node's own cost; zero where no such node is on sale.
    pub fn worth(&self, row: usize) -> PricePerHour {
        self.sold[row].map_or(PricePerHour::ZERO, |sold| sold.worth)
    }

    /// List price of a node with the node's own cost; zero where no such node is on sale.
    pub fn list_price(&self, row: usize) -> PricePerHour {
        self.sold[row].map_or(PricePerHour::ZERO, |sold| sold.list)
    }

    /// `true` if no policy's prices decide.
    pub(super) fn is_at_list(&self) -> bool {
        Arc::ptr_eq(&self.prices, self.compiled.listed())
    }

    /// By group: what one of its pods is worth at list prices, in nano-dollars per hour.
    pub(super) fn listed_worth(&self) -> &[i64] {
        let read = || worth_of_groups(&self.compiled, self.compiled.listed());
        self.listed_worth.get_or_init(read)
    }

    pub(super) fn sold(&self, row: usize) -> Option<NodeOffering> {
        self.sold[row]
    }

    /// The row behind an option of a claim that draws on a reservation.
    pub(super) fn row_of(&self, option: &LaunchOption) -> Option<usize> {
        let key = option.offering();
        self.prices.reserved.keys().copied().find(|row| {
            let (sold, offering) = self.compiled.offering(*row);
            OfferingKey::of(sold, offering) == key
        })
    }
}

/// By node, whether it may go: one of those meant to leave, unless a pod that must not be evicted runs there.
fn may_go(reading: &Reading<'_>, removal: &NodeRemoval) -> Vec<bool> {
    let snapshot = reading.snapshot;
    let stays = |row: &usize| {
        let pod = &snapshot.pods[*row];
        pod.is_active() && !is_fixed(pod) && !reading.may_move(*row)
    };
    let mut may_go = vec![false; snapshot.nodes.len()];
    for row in removal.leaving() {
        let pods = reading.pods_on(*row);
        may_go[*row] = !snapshot.nodes[*row].is_deleting() && !pods.iter().any(stays);
    }
    may_go
}

/// One open tier per pool; then a closed one for all pools of a weight that are packed by price, and for each that asks for a
/// minimum of values. None has rows that are `closed`: what guards keep back and no pod needs.
fn tiers(compiled: &Compiled<'_>, prices: &RowPrices, closed: &Bits) -> Vec<Tier> {
    let templates = compiled.templates.iter().enumerate();
    let open = templates.clone().map(|(number, _)| {
        let mut tier = open_tier(compiled, prices, number);
        tier.rows.drop_all(closed);
        tier
    });
    let mut result: Vec<Tier> = open.collect();
    let mut shared: Option<(u32, usize)> = None;
    for (number, template) in templates.filter(|(_, template)| !template.is_compatible()) {
        let rows = result[number].rows.clone();
        let weight = template.pool.weight;
        match shared.filter(|_| !template.has_minimum_values()) {
            Some((same, at)) if same == weight => result[at].rows.join(&rows),
            _ => {
                if !template.has_minimum_values() {
                    shared = Some((weight, result.len()));
                }
                result.push(closed_tier(rows));
            }
        }
    }
    result
}

/// Offering of every node: that of its type, zone and capacity type, whether or not it can be had just now; `None` where no
/// such node is on sale.
fn sold(
    snapshot: &Snapshot,
    overlaid: &Overlaid,
    quoted: Option<&Quoted>,
) -> Vec<Option<NodeOffering>> {
    let node_cost = snapshot.settings.node_cost;
    let sold = |node: &StateNode| {
        let pool = node.pool()?;
        let catalogue = overlaid.of(&pool);
        let name = node.labels().get(labels::INSTANCE_TYPE)?;
        let types = catalogue.types();
        let at = types.binary_search_by(|have| have.name.as_str().cmp(name));
        let at = at.ok()?;
        let offering = types[at].offering_of(catalogue.provider(), node.labels())?;
        let worth = quoted.and_then(|quoted| quoted.worth(&pool, node.labels()));
        Some(NodeOffering {
            instance_type: at,
            capacity_type: offering.capacity_type,
            worth: worth.unwrap_or(offering.price) + node_cost,
            list: offering.price + node_cost,
        })
    };
    snapshot.nodes.iter().map(sold).collect()
}
