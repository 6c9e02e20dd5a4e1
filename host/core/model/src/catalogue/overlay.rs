//! NodeOverlays on the catalogues: what each pool sells after its owner's corrections, and which overlays hold nowhere.
//!
//! An overlay speaks of the offerings whose type, together with the pool's labels, has every label that the overlay asks for.
//! Its price holds for those offerings, its capacity for their whole types. Overlays are taken by falling weight, and by
//! falling name among equals; the first to speak of a price, or of one resource of a type, decides it. A later one of equal
//! weight on the same thing is a conflict, even when it says the same, and then holds in no pool at all.
//!
//! A pool sells what its class does. Types that no overlay touches are shared with the class's catalogue, and every row keeps
//! its place, so that positions mean the same in both. Contract: the sections on node overlays and on instance types.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use plimsoll_base::ids::PoolName;
use plimsoll_base::labels;
use plimsoll_base::requirement::{Requirement, Requirements};
use plimsoll_base::resources::ResourceName;

use super::{Catalogue, Catalogues, InstanceType, Offering, PriceSource};
use crate::{NodeClaim, NodeOverlay, NodePool, PriceChange};

/// Why an overlay holds nowhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OverlayRefusal {
    /// It asks for something that no overlay may; in words.
    Invalid(String),
    /// Another overlay of its weight speaks of the same thing.
    Conflict {
        /// The overlay that holds.
        with: Arc<str>,
        /// The fact that both set, such as `the price of m7i.large in us-east-1a, spot, in pool general`.
        over: String,
    },
}

impl OverlayRefusal {
    /// The reason of the condition `ValidationSucceeded=False` that says so.
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::Invalid(_) => "RuntimeValidation",
            Self::Conflict { .. } => "Conflict",
        }
    }
}

impl fmt::Display for OverlayRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(words) => f.write_str(words),
            Self::Conflict { with, over } => {
                write!(f, "overlay {with} of the same weight sets {over}")
            }
        }
    }
}

/// Catalogue of each pool, overlays applied.
#[derive(Clone, Debug)]
pub struct Overlaid {
    listed: Arc<Catalogues>,
    /// With the number of its class's catalogue.
    by_pool: BTreeMap<PoolName, (usize, Arc<Catalogue>)>,
    refused: Vec<(Arc<str>, OverlayRefusal)>,
}

impl Overlaid {
    /// Catalogue of each pool's class as it is listed.
    pub fn plain(listed: &Arc<Catalogues>, pools: &[Arc<NodePool>]) -> Self {
        let of_pool = |pool: &Arc<NodePool>| {
            let catalogue = Arc::clone(listed.of(&pool.class));
            let number = listed.number_of(&pool.class);
            (pool.name.clone(), (number, catalogue))
        };
        Self {
            listed: Arc::clone(listed),
            by_pool: pools.iter().map(of_pool).collect(),
            refused: Vec::new(),
        }
    }

    /// The same with overlays applied, pool by pool.
    pub fn new(
        listed: &Arc<Catalogues>,
        pools: &[Arc<NodePool>],
        overlays: &[Arc<NodeOverlay>],
    ) -> Self {
        let mut order: Vec<&Arc<NodeOverlay>> = overlays.iter().collect();
        order.sort_by(|a, b| (b.weight, &b.name).cmp(&(a.weight, &a.name)));
        let mut pools_of: Vec<OverlaidPool<'_>> = pools
            .iter()
            .map(|pool| OverlaidPool::new(listed.of(&pool.class), pool))
            .collect();
        let mut result = Self::plain(listed, pools);
        for (number, overlay) in order.iter().enumerate() {
            let found: Vec<Vec<(usize, usize)>> = pools_of
                .iter()
                .map(|overlaid| overlaid.find(overlay))
                .collect();
            let with_found = || pools_of.iter().zip(&found);
            let refusal = invalid(listed, overlay)
                .map(OverlayRefusal::Invalid)
                .or_else(|| {
                    with_found()
                        .find_map(|(overlaid, found)| overlaid.conflict(&order, number, found))
                });
            if let Some(refusal) = refusal {
                result.refused.push((Arc::clone(&overlay.name), refusal));
                continue;
            }
            for (overlaid, found) in pools_of.iter_mut().zip(&found) {
                overlaid.record(&order, number, found);
            }
        }
        for overlaid in &pools_of {
            if let Some(catalogue) = overlaid.catalogue(&order)
                && let Some((_, own)) = result.by_pool.get_mut(&overlaid.pool)
            {
                *own = Arc::new(catalogue);
            }
        }
        result
    }

    /// Catalogue of a pool; that of classes without a name for a pool that is not there.
    pub fn of(&self, pool: &PoolName) -> &Arc<Catalogue> {
        let own = self.by_pool.get(pool);
        own.map_or_else(|| self.listed.of_others(), |(_, catalogue)| catalogue)
    }

    /// Catalogue by which a claim is made: its pool's, or what the claim's own class lists where the pool has none, or by now
    /// that of another class.
    pub fn of_claim(&self, claim: &NodeClaim) -> &Arc<Catalogue> {
        let number = self.listed.number_of(&claim.class);
        match self.by_pool.get(&claim.pool) {
            Some((own, catalogue)) if *own == number => catalogue,
            _ => self.listed.of(&claim.class),
        }
    }

    /// The overlays that hold nowhere, by name, with the reason; heaviest first.
    pub fn refused(&self) -> &[(Arc<str>, OverlayRefusal)] {
        &self.refused
    }
}

/// The first fault of an overlay; `None` for a valid one.
fn invalid(listed: &Catalogues, overlay: &NodeOverlay) -> Option<String> {
    let provider = listed.provider();
    let keys = overlay.requirements.iter().map(Requirement::key);
    let key = keys
        .filter(|key| !provider.of_classes.contains(*key))
        .find_map(|key| listed.restriction(key));
    key.or_else(|| {
        let (name, _) = overlay
            .capacity
            .iter()
            .find(|(name, _)| provider.reports(name))?;
        Some(format!(
            "capacity {name} is reported by the provider; expected an extended resource"
        ))
    })
}

/// Who has spoken of one thing: the first, who decides, and the latest. Positions in the order of overlays.
#[derive(Clone, Copy, Debug)]
struct Spoken {
    first: usize,
    latest: usize,
}

/// One pool while overlays are taken one by one.
struct OverlaidPool<'a> {
    pool: PoolName,
    labels: Requirements,
    listed: &'a Catalogue,
    /// By type and offering.
    prices: BTreeMap<(usize, usize), Spoken>,
    /// By type and resource.
    capacity: BTreeMap<(usize, ResourceName), Spoken>,
}

impl<'a> OverlaidPool<'a> {
    fn new(listed: &'a Catalogue, pool: &NodePool) -> Self {
        let name: Arc<str> = pool.name.clone().into();
        let mut labels = pool.labels.clone();
        labels.insert(Arc::from(labels::NODEPOOL), name);
        labels.insert(
            Arc::from(pool.class.label_key()),
            Arc::clone(&pool.class.name),
        );
        Self {
            pool: pool.name.clone(),
            labels: Requirements::from_labels(&labels),
            listed,
            prices: BTreeMap::new(),
            capacity: BTreeMap::new(),
        }
    }

    /// The offerings that an overlay speaks of, as type and offering.
    fn find(&self, overlay: &NodeOverlay) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        for (at, instance_type) in self.listed.types().iter().enumerate() {
            for (offering_at, offering) in instance_type.offerings.iter().enumerate() {
                if self.speaks_of(overlay, instance_type, offering) {
                    found.push((at, offering_at));
                }
            }
        }
        found
    }

    fn speaks_of(
        &self,
        overlay: &NodeOverlay,
        instance_type: &InstanceType,
        offering: &Offering,
    ) -> bool {
        overlay.requirements.iter().all(|asked| {
            let key = asked.key().as_str();
            let own = [self.labels.get(key), instance_type.requirements.get(key)];
            let own = own.into_iter().flatten().cloned();
            let known = own
                .chain(offering.node_requirement(self.listed.provider(), asked.key()))
                .reduce(|left, right| left.intersect(&right));
            known.map_or(asked.allows_absence(), |known| known.agrees_with(asked))
        })
    }

    /// The first thing of those found that another overlay of the same weight has spoken of.
    fn conflict(
        &self,
        order: &[&Arc<NodeOverlay>],
        number: usize,
        found: &[(usize, usize)],
    ) -> Option<OverlayRefusal> {
        let overlay = order[number];
        let clash = |spoken: &Spoken| {
            let other = order[spoken.latest];
            (other.weight == overlay.weight).then(|| Arc::clone(&other.name))
        };
        let pool = &self.pool;
        let types = self.listed.types();
        found.iter().find_map(|(at, offering_at)| {
            let instance_type = &types[*at];
            let spoken = self.prices.get(&(*at, *offering_at));
            if let Some(with) = spoken.filter(|_| overlay.price.is_some()).and_then(clash) {
                let offering = &instance_type.offerings[*offering_at];
                let (name, zone) = (&instance_type.name, &offering.zone);
                let capacity_type = offering.capacity_type;
                let over =
                    format!("the price of {name} in {zone}, {capacity_type}, in pool {pool}");
                return Some(OverlayRefusal::Conflict { with, over });
            }
            overlay.capacity.iter().find_map(|(resource, _)| {
                let with = clash(self.capacity.get(&(*at, resource.clone()))?)?;
                let name = &instance_type.name;
                let over = format!("{resource} of {name} in pool {pool}");
                Some(OverlayRefusal::Conflict { with, over })
            })
        })
    }

    fn record(&mut self, order: &[&Arc<NodeOverlay>], number: usize, found: &[(usize, usize)]) {
        let new = Spoken {
            first: number,
            latest: number,
        };
        for (at, offering) in found {
            if order[number].price.is_some() {
                self.prices.entry((*at, *offering)).or_insert(new).latest = number;
            }
            for (resource, _) in order[number].capacity.iter() {
                let thing = (*at, resource.clone());
                self.capacity.entry(thing).or_insert(new).latest = number;
            }
        }
    }

    /// The pool's own catalogue; `None` where no overlay changes anything.
    fn catalogue(&self, order: &[&Arc<NodeOverlay>]) -> Option<Catalogue> {
        let mut changed: BTreeMap<usize, InstanceType> = BTreeMap::new();
        let types = self.listed.types();
        for ((at, offering_at), spoken) in &self.prices {
            let listed = &types[*at].offerings[*offering_at];
            let change = order[spoken.first].price.as_ref();
            let Some(change) = change.filter(|change| change.apply(listed.price) != listed.price)
            else {
                continue;
            };
            let own = changed
                .entry(*at)
                .or_insert_with(|| InstanceType::clone(&types[*at]));
            reprice(&mut own.offerings[*offering_at], *change);
        }
        for ((at, resource), spoken) in &self.capacity {
            let amount = order[spoken.first].capacity.get(resource);
            if types[*at].capacity.get(resource) == amount {
                continue;
            }
            let own = changed
                .entry(*at)
                .or_insert_with(|| InstanceType::clone(&types[*at]));
            own.capacity.set(resource.clone(), amount);
        }
        (!changed.is_empty()).then(|| self.listed.revised(changed))
    }
}

/// A changed price. A change of a modelled price is still a model.
fn reprice(offering: &mut Offering, change: PriceChange) {
    offering.price = change.apply(offering.price);
    let is_model = offering.price_source == PriceSource::Model;
    if !is_model || matches!(change, PriceChange::Set(_)) {
        offering.price_source = PriceSource::Overlay;
    }
}
