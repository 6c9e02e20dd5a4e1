//! Offers: what pools sell, read once and used for many decisions.
//!
//! Reading whole catalogues takes longer than deciding about a few pods, and it seldom changes between two decisions. What
//! is read here depends on catalogues, pools, overlays, daemons and two settings alone: neither on pods nor on nodes. A
//! later decision keeps the offers of the last decision; they serve again while all of those are the very same objects.

pub(crate) mod axes;
pub(crate) mod best;
pub(crate) mod choices;
pub(crate) mod daemons;
pub(crate) mod listed;
pub(crate) mod lru;
pub(crate) mod reachable;
pub(crate) mod row_order;
pub(crate) mod rows;
mod shared;
pub(crate) mod size;
pub(crate) mod table;
pub(crate) mod templates;
pub(crate) mod unused;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use daemons::{Daemons, Overhead};
use listed::Listed;
use plimsoll_base::labels::{self, LabelKey};
use plimsoll_base::requirement::{Requirement, Requirements};
use plimsoll_base::resources::Resources;
use plimsoll_model::catalogue::{Catalogues, InstanceType, Offering, Overlaid};
use plimsoll_model::snapshot::Snapshot;
use plimsoll_model::supply::Supply;
use plimsoll_model::{DaemonSet, NodeOverlay, NodePool};
use reachable::reachable;
use rows::agree;
use shared::SharedOffers;
use templates::{Template, templates};

/// Keys whose values are collected ahead: offerings decide them, and pods spread over them.
const REACHED: [&str; 2] = [labels::ZONE, labels::CAPACITY_TYPE];

/// Offerings of every usable pool, with the room that daemons leave on each.
pub struct Stock {
    source: StockSource,
    pub(crate) overlaid: Overlaid,
    /// Offerings that a ranking policy can be asked about; `None` where nothing is for sale.
    pub(crate) listed: Option<Listed>,
    /// By template: which of the listed its pool sells, ascending. Read when it is first asked for.
    pub(crate) asked: OnceLock<Vec<Vec<u32>>>,
    /// By template; the same for all whose pools sell the same.
    pub(crate) by_pool: Vec<Arc<PoolOffers>>,
    /// Distinct sets of what offerings make their nodes satisfy.
    pub(crate) own: Vec<Requirements>,
    /// By type: whether it is one that guards keep back.
    pub(crate) exotic: Vec<bool>,
    /// Reservations, limits and addresses before any node has taken of them.
    listed_supply: Supply,
}

/// Offerings of one pool.
pub(crate) struct PoolOffers {
    /// Available offerings that agree with the pool and that its daemons leave room on, by type and offering.
    pub(crate) offers: Vec<Offer>,
    /// Values that its nodes may have of some keys, whatever is available just now.
    reached: BTreeMap<LabelKey, BTreeSet<Arc<str>>>,
}

/// One offering in one pool.
pub(crate) struct Offer {
    /// Its type in the catalogue.
    pub(crate) instance_type: usize,
    /// Its position among the type's offerings.
    pub(crate) offering: usize,
    /// Daemons of its nodes.
    pub(crate) overhead: Arc<Overhead>,
    /// Resources that pods may have of a node: allocatable less daemons.
    pub(crate) room: Resources,
    /// Requirements that the offering adds to those of the type, as a position in [`Stock::own`].
    pub(crate) own: usize,
}

/// Parts of a snapshot that a stock was read from; while they are the same, so is the stock.
struct StockSource {
    catalogues: Arc<Catalogues>,
    pools: Vec<Arc<NodePool>>,
    overlays: Vec<Arc<NodeOverlay>>,
    daemon_sets: Vec<Arc<DaemonSet>>,
    reserved_capacity: bool,
    node_overlays: bool,
}

impl StockSource {
    fn is_of(&self, snapshot: &Snapshot) -> bool {
        Arc::ptr_eq(&self.catalogues, &snapshot.catalogues)
            && same_or(&self.pools, &snapshot.pools, sell_alike)
            && same(&self.overlays, &snapshot.overlays)
            && same(&self.daemon_sets, &snapshot.daemon_sets)
            && self.reserved_capacity == snapshot.settings.reserved_capacity
            && self.node_overlays == snapshot.settings.node_overlays
    }
}

fn same<T>(left: &[Arc<T>], right: &[Arc<T>]) -> bool {
    same_or(left, right, |_, _| false)
}

fn same_or<T>(left: &[Arc<T>], right: &[Arc<T>], alike: impl Fn(&T, &T) -> bool) -> bool {
    let same = |(a, b): (&Arc<T>, &Arc<T>)| Arc::ptr_eq(a, b) || alike(a, b);
    left.len() == right.len() && left.iter().zip(right).all(same)
}

/// `true` for pools that differ in their rules of disruption at most.
fn sell_alike(left: &NodePool, right: &NodePool) -> bool {
    let mut left = left.clone();
    left.disruption.clone_from(&right.disruption);
    left == *right
}

impl Stock {
    /// `true` if what was read serves this snapshot too: everything it depends on is the very same.
    pub(crate) fn is_of(&self, snapshot: &Snapshot) -> bool {
        self.source.is_of(snapshot)
    }

    /// Reads what the pools of a snapshot sell.
    pub(crate) fn read(snapshot: &Snapshot) -> Self {
        let overlaid = snapshot.overlaid();
        let mut numbers: BTreeMap<Requirements, usize> = BTreeMap::new();
        let templates = templates(snapshot, &overlaid, None);
        let mut shared = SharedOffers::default();
        let by_pool: Vec<Arc<PoolOffers>> = templates
            .iter()
            .map(|template| {
                let mut daemons = Daemons::of(snapshot, template);
                let tolerating = daemons.positions();
                let read = || PoolOffers::read(snapshot, template, &mut daemons, &mut numbers);
                shared.get(template, &snapshot.daemon_sets, tolerating, read)
            })
            .collect();
        let mut own = vec![Requirements::new(); numbers.len()];
        for (requirements, number) in numbers {
            own[number] = requirements;
        }
        Self {
            source: StockSource {
                catalogues: Arc::clone(&snapshot.catalogues),
                pools: snapshot.pools.clone(),
                overlays: snapshot.overlays.clone(),
                daemon_sets: snapshot.daemon_sets.clone(),
                reserved_capacity: snapshot.settings.reserved_capacity,
                node_overlays: snapshot.settings.node_overlays,
            },
            overlaid,
            listed: Listed::new(&snapshot.catalogues, &templates, &by_pool),
            asked: OnceLock::new(),
            by_pool,
            own,
            exotic: snapshot
                .catalogues
                .of_others()
                .types()
                .iter()
                .map(|sold| {
                    let provider = snapshot.catalogues.provider();
                    provider.is_exotic(&sold.requirements, &sold.capacity)
                })
                .collect(),
            listed_supply: Supply::listed(&snapshot.catalogues, &snapshot.pools),
        }
    }

    /// Supply that the nodes of a snapshot and its claims in flight leave.
    pub fn supply(&self, snapshot: &Snapshot) -> Supply {
        let listed = self.listed_supply.clone();
        listed.less(&snapshot.catalogues, &snapshot.nodes)
    }

    /// By template, which of the listed its pool sells, whatever limits leave; nothing where nothing is listed.
    pub(crate) fn candidates(&self, templates: &[Template]) -> &[Vec<u32>] {
        self.asked.get_or_init(|| {
            let Some(listed) = &self.listed else {
                return Vec::new();
            };
            let mut held: Vec<Vec<u32>> = Vec::new();
            for (number, template) in templates.iter().enumerate() {
                let own = &self.by_pool[number];
                let mut earlier = self.by_pool[..number].iter();
                let rows = if let Some(same) = earlier.position(|other| Arc::ptr_eq(other, own)) {
                    held[same].clone()
                } else {
                    let offers = own.offers.iter();
                    let sold = offers.map(|offer| (offer.instance_type, offer.offering));
                    sold.filter_map(|offer| listed.position(template, offer))
                        .collect()
                };
                held.push(rows);
            }
            held
        })
    }

    /// Values that nodes of a template may have of a key, by the types it allows, available or not.
    pub(crate) fn reachable(
        &self,
        templates: &[Template],
        number: usize,
        key: &LabelKey,
    ) -> BTreeSet<Arc<str>> {
        let known = self.by_pool[number].reached.get(key);
        known.map_or_else(|| reachable(&templates[number], key), Clone::clone)
    }
}

impl PoolOffers {
    /// Positions of the types that are sold, in the catalogue.
    pub(crate) fn types(&self) -> impl Iterator<Item = usize> {
        self.offers.iter().map(|offer| offer.instance_type)
    }

    fn read(
        snapshot: &Snapshot,
        template: &Template,
        daemons: &mut Daemons<'_>,
        numbers: &mut BTreeMap<Requirements, usize>,
    ) -> Self {
        let mut offers = Vec::new();
        let types = template.catalogue.types().iter().enumerate();
        for (at, sold) in types.filter(|(_, sold)| all_agree(template, &sold.requirements)) {
            let of_type = daemons.of_type(template, sold);
            for (offering_at, offering) in sold.offerings.iter().enumerate() {
                let own = offering.node_requirements(template.catalogue.provider());
                let reserved = offering.reservation.is_some();
                let sellable = offering.available
                    && (!reserved || snapshot.settings.reserved_capacity)
                    && all_agree(template, &own);
                if !sellable {
                    continue;
                }
                let overhead = daemons.overhead(&of_type, &own);
                let Some(room) = room(sold, offering, &overhead) else {
                    continue;
                };
                let next = numbers.len();
                offers.push(Offer {
                    instance_type: at,
                    offering: offering_at,
                    overhead,
                    room,
                    own: *numbers.entry(own).or_insert(next),
                });
            }
        }
        let reached = REACHED.iter().map(|key| {
            let key = LabelKey::from(*key);
            let values = reachable(template, &key);
            (key, values)
        });
        Self {
            offers,
            reached: reached.collect(),
        }
    }
}

fn all_agree(template: &Template, own: &Requirements) -> bool {
    let agrees = |requirement: &Requirement| {
        agree(
            template.requirements.get(requirement.key().as_str()),
            requirement,
        )
    };
    own.iter().all(agrees)
}

/// Resources that daemons leave of a node; `None` when they ask for more than it has, or for a resource that it does not name.
fn room(sold: &InstanceType, offering: &Offering, overhead: &Overhead) -> Option<Resources> {
    let room = sold.allocatable(offering).minus(&overhead.requests);
    let overcommitted = room.iter().any(|(_, amount)| amount < 0);
    let mut asked = overhead.requests.iter();
    let short = asked.any(|(name, amount)| amount > 0 && !room.contains(name));
    (!overcommitted && !short).then_some(room)
}
