//! Launch lists of claims that are finished already: what a ranking policy is asked about them, and the lists in its order.
//!
//! Waiting pods' claims are ordered while they are made ([`crate::launch`]). Those of a command about nodes come out of simulations, with a
//! ceiling on what they may cost, and those of a plan may be shown to another policy than the one that ordered them. Here such a claim is
//! sorted and shortened; nothing is added to it, so that what held for every way to buy it holds afterwards. What the policy takes off
//! comes back where minimum values or the variety of spot capacity want more to choose from, and something is always left.

use std::collections::BTreeSet;
use std::sync::Arc;

use plimsoll_base::ids::PoolName;
use plimsoll_hooks::hook::Context;
use plimsoll_hooks::rank::{Claims, LaunchList, OrderQuestion};
use plimsoll_model::PackingMode;
use plimsoll_model::catalogue::{CapacityType, Catalogue, InstanceType};
use plimsoll_model::plan::{LaunchOption, PlannedClaim};
use plimsoll_model::snapshot::Snapshot;

use super::claim_row;
use super::launch_list::Named;
use crate::batch::minimum::{self, Minimum};
use crate::claims::claim::{narrow_to_options, overlay_marks, unmark};
use crate::offers::templates::templates;
use crate::pods::volumes;
use crate::prices::sale::Offers;

/// Question to a ranking policy about the launch lists of claims; `pods` gives the number of pods planned on each. `None` where
/// there are no claims, or where one of them is of a pool or names an offering that these offers do not have: static pools are
/// not asked about.
pub fn order_question(
    snapshot: &Snapshot,
    offers: &Arc<Offers>,
    claims: &[PlannedClaim],
    pods: &[usize],
) -> Option<OrderQuestion> {
    let listed = offers.listed.as_ref().filter(|_| !claims.is_empty())?;
    let templates = templates(snapshot, &offers.overlaid, None);
    let provider = snapshot.catalogues.provider();
    let mut asked = Claims::default();
    for (number, claim) in claims.iter().enumerate() {
        let own = |template: &crate::offers::templates::Template| template.pool.name == claim.pool;
        let template = templates.iter().position(own)?;
        let candidates = in_question(&claim.options).iter().map(|option| {
            let sold = sold(offers, &claim.pool, option)?;
            listed.position_at(templates[template].class, sold, option.list_price)
        });
        let candidates: Vec<u32> = candidates.collect::<Option<_>>()?;
        let pods = pods.get(number).copied().unwrap_or(0);
        let row = claim_row(provider, listed.pool(template), &claim.requests, pods);
        asked.push(row, &candidates);
    }
    Some(OrderQuestion {
        context: Context::of(snapshot),
        tables: listed.tables(snapshot, &offers.supply(snapshot)),
        claims: asked,
    })
}

/// The options that a policy is asked about: those before the first type that no launch would be handed.
pub fn in_question(options: &[LaunchOption]) -> &[LaunchOption] {
    named(options).asked
}

fn named(options: &[LaunchOption]) -> Named<'_, LaunchOption> {
    Named::of_list(options, |option| &option.instance_type)
}

/// Where an option stands in the catalogue of its pool: type and offering.
fn sold(offers: &Offers, pool: &PoolName, option: &LaunchOption) -> Option<(usize, usize)> {
    let types = offers.overlaid.of(pool).types();
    let type_at = types.binary_search_by(|have| have.name.cmp(&option.instance_type));
    let type_at = type_at.ok()?;
    Some((type_at, option.position_in(&types[type_at])?))
}

/// A claim that is to be sorted by a policy's answer.
pub struct Relisted<'c> {
    /// The snapshot that it was planned on.
    pub snapshot: &'c Snapshot,
    /// Offers of its pools.
    pub offers: &'c Offers,
    /// The claim.
    pub claim: &'c PlannedClaim,
    /// Its pods, as rows of the snapshot.
    pub pods: &'c [usize],
    /// Spot types that it must name whatever guards say, if its first way to buy is spot.
    pub spot_types: usize,
}

impl Relisted<'_> {
    /// The claim with its list in the policy's order.
    pub fn in_order(&self, list: &LaunchList) -> PlannedClaim {
        let all = &self.claim.options;
        let ways = named(all);
        let wanted = self.wanted_spot(ways.first(list).or(all.first()));
        let minimum = self.minimum();
        let leaves_enough = |options: &[&LaunchOption]| self.leaves_enough(&minimum, options);
        let spot_type = |option: &LaunchOption| {
            let is_spot = option.capacity_type == CapacityType::Spot;
            is_spot.then(|| option.instance_type.clone())
        };
        let slots = self.slots();
        let attaches = |option: &LaunchOption| slots.has(option);
        let attaches: Option<&dyn Fn(&LaunchOption) -> bool> = match all.first() {
            Some(first) if attaches(first) => Some(&attaches),
            _ => None,
        };
        let order = ways.in_order_with_spot(list, wanted, spot_type, leaves_enough, attaches);
        if order.is_empty() {
            return self.claim.clone();
        }
        self.naming(order.into_iter().cloned().collect())
    }

    /// The claim as it names these options and no others.
    fn naming(&self, options: Vec<LaunchOption>) -> PlannedClaim {
        let mut claim = self.claim.clone();
        let provider = self.snapshot.catalogues.provider();
        narrow_to_options(&mut claim.requirements, &options, provider);
        let listed = self.snapshot.catalogues.of(&claim.class).types();
        let types = options.iter().filter_map(|option| {
            let (at, _) = sold(self.offers, &claim.pool, option)?;
            let own: &Arc<InstanceType> = &self.offers.overlaid.of(&claim.pool).types()[at];
            Some((own, &listed[at]))
        });
        let marks: Vec<_> = overlay_marks(types).collect();
        unmark(&mut claim.annotations);
        claim.annotations.extend(marks);
        claim.options = options;
        claim
    }

    /// How many values the claim must leave its launch to choose from.
    fn minimum(&self) -> Minimum {
        let requirements = self.claim.requirements.iter();
        let least = requirements.filter_map(|requirement| {
            let least = requirement.min_values()?;
            Some((requirement.key().clone(), least))
        });
        least.collect()
    }

    fn leaves_enough(&self, minimum: &Minimum, options: &[&LaunchOption]) -> bool {
        let catalogue = self.snapshot.catalogues.of(&self.claim.class);
        let sold = options.iter().filter_map(|option| {
            let sold = catalogue.get(option.instance_type.as_str())?;
            Some((&**sold, &sold.offerings[option.position_in(sold)?]))
        });
        let requirements = &self.claim.requirements;
        minimum::short_of_ways(minimum, requirements, catalogue.provider(), &sold).is_empty()
    }

    /// Spot types that the list must name, where it has so many, if that is its first way to buy.
    fn wanted_spot(&self, first: Option<&LaunchOption>) -> usize {
        let guards = &self.snapshot.settings.guards;
        let guarded = if guards.enabled { guards.spot_types } else { 0 };
        match first {
            Some(first) if first.capacity_type == CapacityType::Spot => {
                self.spot_types.max(guarded as usize)
            }
            _ => 0,
        }
    }

    fn slots(&self) -> ClaimVolumes<'_> {
        let Self {
            snapshot,
            claim,
            pods,
            ..
        } = self;
        let guards = &snapshot.settings.guards;
        let pool = snapshot.pool(claim.pool.as_str());
        let packing = snapshot.settings.packing.or(pool.map(|pool| pool.packing));
        let counts = guards.enabled && guards.attach_slots && packing == Some(PackingMode::Price);
        let mut taken = volumes::ClaimsByDriver::new();
        for pod in pods.iter().filter(|_| counts) {
            for (driver, names) in volumes::attached(&snapshot.pods[*pod], &snapshot.volumes) {
                taken.entry(driver).or_default().extend(names);
            }
        }
        let catalogue = snapshot.catalogues.of(&claim.class);
        ClaimVolumes { catalogue, taken }
    }
}

/// The volumes of a claim's pods, as far as a guard counts them.
struct ClaimVolumes<'s> {
    catalogue: &'s Catalogue,
    taken: volumes::ClaimsByDriver,
}

impl ClaimVolumes<'_> {
    /// `true` if an instance attaches all of them.
    fn has(&self, option: &LaunchOption) -> bool {
        let sold = self.catalogue.get(option.instance_type.as_str());
        let limit = |driver: &Arc<str>| sold?.attach_limits.get(driver).copied();
        let fits = |(driver, names): (&Arc<str>, &BTreeSet<_>)| {
            limit(driver).is_none_or(|limit| names.len() <= limit as usize)
        };
        self.taken.iter().all(fits)
    }
}
