//! Offerings that would hold a pod if its pool had other rules: outside the pool's requirements or its limits, or sold out.
//!
//! They are read off the catalogue and not tried: spread, affinity or other limits may refuse them as well.

use std::collections::BTreeMap;
use std::fmt;

use plimsoll_base::labels::{self, LabelKey};
use plimsoll_base::requirement::{Requirement, Undefined};
use plimsoll_base::resources::{ResourceName, Resources};
use plimsoll_model::catalogue::{InstanceType, Offering, OfferingKey};
use plimsoll_model::first_untolerated;
use plimsoll_model::provider::ProviderFacts;

use super::refusal::told_of;
use crate::batch::compile::Compiled;
use crate::batch::pod_group::{Level, PodGroup};
use crate::offers::daemons::Daemons;
use crate::offers::templates::Template;

/// Candidates of one group of pods in one pool: those with the fewest obstacles are enough to say something useful.
const MOST_CANDIDATES: usize = 6;

/// An offering that has room for a pod, and what keeps it from the pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NearOffering {
    /// The cheapest offering with these obstacles.
    pub(crate) offering: OfferingKey,
    /// The rules to lift, at least one.
    pub(crate) obstacles: Vec<Obstacle>,
}

/// A reason why a pool does not buy an offering for a pod.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Obstacle {
    /// The pool's limits leave less of these resources than one node of it has.
    Limits(Resources),
    /// The pool's limits leave enough of these resources for one such node, if not for all that the plan buys.
    SharedLimits(Resources),
    /// The pool requires other nodes.
    Requirement(Requirement),
    /// It is not on sale now.
    SoldOut,
}

impl fmt::Display for Obstacle {
    /// Words that follow `but`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Limits(left) => write!(f, "the pool's limits leave {left}"),
            Self::SharedLimits(left) => write!(
                f,
                "the pool's limits leave {left}, not enough for all of this plan"
            ),
            Self::Requirement(required) => write!(f, "the NodePool requires {required}"),
            Self::SoldOut => f.write_str("it is sold out, or its node class cannot launch it"),
        }
    }
}

/// Offerings that one pool might buy for pods of the group, at a step of relaxation, under other rules: fewest obstacles first, then cheapest.
pub(crate) fn candidates(
    compiled: &Compiled<'_>,
    group: &PodGroup,
    level: &Level,
    number: usize,
) -> Vec<NearOffering> {
    let template = &compiled.templates[number];
    let mut cheapest = cheapest_by_obstacles(compiled, group, level, template);
    // Nothing about these offerings is refused, so other pods of the plan may have used up what limits leave.
    let unhindered: &[Obstacle] = &[];
    let free = cheapest.remove(unhindered);
    let left = template.remaining.clone().unwrap_or_default();
    let shared = free.into_iter().flat_map(|(price, offering)| {
        let shares = shares_of(&left).into_iter().map(Obstacle::SharedLimits);
        shares.map(move |shared| (0, price, offering.clone(), vec![shared]))
    });
    let others = cheapest.into_iter();
    let others =
        others.map(|(obstacles, (price, offering))| (obstacles.len(), price, offering, obstacles));
    let mut all: Vec<_> = shared.chain(others).collect();
    all.sort_by_key(|(count, price, ..)| (*count, *price));
    all.truncate(MOST_CANDIDATES);
    let candidate = |(_, _, offering, obstacles)| NearOffering {
        offering,
        obstacles,
    };
    all.into_iter().map(candidate).collect()
}

/// The step of relaxation at which a pool's offerings are looked at; `None` where they are not what keeps its nodes from the pods.
pub(crate) fn level_to_search<'g>(
    compiled: &Compiled<'_>,
    group: &'g PodGroup,
    number: usize,
) -> Option<&'g Level> {
    let level = told_of(compiled, group, number)?;
    let template = &compiled.templates[number];
    let known = |key: &LabelKey| compiled.snapshot.catalogues.is_well_known(key);
    let accepted = template
        .requirements
        .accepts(&level.requirements, Undefined::Allowed(&known));
    let is_sold = accepted.err().is_none_or(|incompatible| {
        let key = incompatible.asked.key();
        known(key) && key.as_str() != labels::NODEPOOL
    });
    let refused = || {
        group
            .needs
            .refused_by(&template.pool.name, compiled.snapshot)
    };
    let helps = is_sold
        && first_untolerated(template.taints(), &level.tolerations).is_none()
        && refused().is_none();
    helps.then_some(level)
}

/// For each set of obstacles the cheapest offering that has room for a pod of the group, with its price.
fn cheapest_by_obstacles(
    compiled: &Compiled<'_>,
    group: &PodGroup,
    level: &Level,
    template: &Template,
) -> BTreeMap<Vec<Obstacle>, (i64, OfferingKey)> {
    let mut daemons = Daemons::of(compiled.snapshot, template);
    let provider = compiled.snapshot.catalogues.provider();
    let mut cheapest: BTreeMap<Vec<Obstacle>, (i64, OfferingKey)> = BTreeMap::new();
    let listed = compiled.snapshot.catalogues.of(&template.pool.class);
    for sold in listed.types() {
        let of_type = daemons.of_type(template, sold);
        for offering in &sold.offerings {
            if !serves(provider, group, level, sold, offering) {
                continue;
            }
            let own = offering.node_requirements(provider);
            let mut needed = group.spec.requests.clone();
            needed.add(&daemons.overhead(&of_type, &own).requests);
            if !holds(&sold.allocatable(offering), &needed) {
                continue;
            }
            let price = offering.price.nanos();
            let obstacles = obstacles(provider, template, sold, offering);
            let best = cheapest.get(&obstacles);
            if best.is_none_or(|(least, _)| price < *least) {
                cheapest.insert(obstacles, (price, OfferingKey::of(sold, offering)));
            }
        }
    }
    cheapest
}

/// Offerings that would hold a pod of the group, were it not for the pool's limits: how many there are, and the cheapest of them with what
/// the limits leave; `None` where there is none.
pub(super) fn beyond_limits(
    compiled: &Compiled<'_>,
    group: &PodGroup,
    level: &Level,
    number: usize,
) -> Option<(usize, OfferingKey, Resources)> {
    let template = &compiled.templates[number];
    let limits = template.remaining.as_ref()?;
    let mut daemons = Daemons::of(compiled.snapshot, template);
    let provider = compiled.snapshot.catalogues.provider();
    let listed = compiled.snapshot.catalogues.of(&template.pool.class);
    let mut found: Option<(usize, i64, OfferingKey, Resources)> = None;
    for sold in listed.types() {
        // Types that the limits have room for are looked at one by one elsewhere.
        let one = sold.capacity.clone().with(ResourceName::Nodes, 1);
        if limits.iter().all(|(name, left)| one.get(name) <= left) {
            continue;
        }
        let of_type = daemons.of_type(template, sold);
        for offering in &sold.offerings {
            if !holds(&sold.allocatable(offering), &group.spec.requests)
                || !serves(provider, group, level, sold, offering)
            {
                continue;
            }
            let own = offering.node_requirements(provider);
            let mut needed = group.spec.requests.clone();
            needed.add(&daemons.overhead(&of_type, &own).requests);
            if !holds(&sold.allocatable(offering), &needed) {
                continue;
            }
            let obstacles = obstacles(provider, template, sold, offering);
            let [Obstacle::Limits(left)] = obstacles.as_slice() else {
                continue;
            };
            let price = offering.price.nanos();
            let count = found.as_ref().map_or(0, |(count, ..)| *count) + 1;
            match &mut found {
                Some((known, least, ..)) if *least <= price => *known = count,
                found => {
                    let key = OfferingKey::of(sold, offering);
                    *found = Some((count, price, key, left.clone()));
                }
            }
        }
    }
    found.map(|(count, _, key, left)| (count, key, left))
}

/// Each resource of what limits leave by itself, then all of them together.
fn shares_of(left: &Resources) -> Vec<Resources> {
    let one = |(name, amount): (&ResourceName, i64)| Resources::new().with(name.clone(), amount);
    let mut shares: Vec<Resources> = left.iter().map(one).collect();
    if shares.len() > 1 {
        shares.push(left.clone());
    }
    shares
}

/// `true` if an offering is what the pod and its volumes ask for.
fn serves(
    provider: &ProviderFacts,
    group: &PodGroup,
    level: &Level,
    sold: &InstanceType,
    offering: &Offering,
) -> bool {
    let agrees = |asked: &Requirement| {
        let of_type = sold.requirements.get(asked.key().as_str());
        let of_offering = offering.node_requirement(provider, asked.key());
        let have = match (of_type, of_offering) {
            (Some(of_type), Some(of_offering)) => Some(of_type.intersect(&of_offering)),
            (of_type, of_offering) => of_offering.or_else(|| of_type.cloned()),
        };
        have.is_none_or(|have| have.agrees_with(asked))
    };
    let mut alternatives = group.alternatives.iter();
    level.requirements.iter().all(agrees) && alternatives.any(|volumes| volumes.iter().all(agrees))
}

fn holds(room: &Resources, needed: &Resources) -> bool {
    let mut amounts = needed.iter();
    amounts.all(|(name, amount)| amount <= room.get(name))
}

/// The rules of a pool that keep an offering from it.
fn obstacles(
    provider: &ProviderFacts,
    template: &Template,
    sold: &InstanceType,
    offering: &Offering,
) -> Vec<Obstacle> {
    let mut result = Vec::new();
    for required in template.requirements.iter() {
        let refuses = |have: &Requirement| !have.agrees_with(required);
        let of_type = sold.requirements.get(required.key().as_str());
        let of_offering = offering.node_requirement(provider, required.key());
        if of_type.is_some_and(refuses) || of_offering.as_ref().is_some_and(refuses) {
            result.push(Obstacle::Requirement(required.clone()));
        }
    }
    if !offering.available {
        result.push(Obstacle::SoldOut);
    }
    if let Some(left) = &template.remaining {
        let one = sold.capacity_of(offering).with(ResourceName::Nodes, 1);
        let over = left.iter().filter(|(name, left)| one.get(name) > *left);
        let over: Resources = over.map(|(name, left)| (name.clone(), left)).collect();
        if !over.is_empty() {
            result.push(Obstacle::Limits(over));
        }
    }
    result
}
