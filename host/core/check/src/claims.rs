//! A planned claim as an object: it follows its pool, is decided where it must be, and asks for what its pods need.
//! Sections 10, 20 and 24 of the scheduling contract.

use std::collections::BTreeSet;
use std::sync::Arc;

use plimsoll_base::labels::{
    CAPACITY_OVERLAY_APPLIED, HOSTNAME, INITIALIZED, LabelKey, MIN_VALUES_RELAXED, NODEPOOL,
    PRICE_OVERLAY_APPLIED, REGISTERED,
};
use plimsoll_base::requirement::{Operator, Requirement, Requirements};
use plimsoll_base::resources::Resources;
use plimsoll_model::NodePool;
use plimsoll_model::plan::PlannedClaim;
use plimsoll_model::snapshot::{MinValuesPolicy, Snapshot};

use super::daemons;
use super::finding::{Breach, Rule};
use super::host::{Host, Sold, is_within};
use super::listings::Listings;
use super::market::{self, Shop};
use super::options;

/// Every rule that the claim breaks by itself, options apart.
pub(super) fn breaches(snapshot: &Snapshot, shops: &[Shop], claim: &PlannedClaim) -> Vec<Breach> {
    let Some(shop) = shops.iter().find(|shop| shop.pool.name == claim.pool) else {
        let why = snapshot
            .pool(claim.pool.as_str())
            .map_or("does not exist", |pool| {
                market::refusal(snapshot, pool).unwrap_or("cannot be used")
            });
        let value = format!("pool {} {why}", claim.pool);
        return vec![Breach::new(
            Rule::ClaimPool,
            value,
            "a pool that can be used",
        )];
    };
    let mut result: Vec<Breach> = template(&shop.pool, claim).into_iter().collect();
    result.extend(labels(snapshot, claim));
    result.extend(requirements(snapshot, shop, claim));
    result
}

fn template(pool: &NodePool, claim: &PlannedClaim) -> Option<Breach> {
    let of_pool = |key: &str, value: &str| claim.labels.get(key).map(AsRef::as_ref) != Some(value);
    let missing = || {
        let own = [
            (NODEPOOL.to_owned(), pool.name.as_str()),
            (pool.class.label_key(), pool.class.name.as_ref()),
        ];
        let template = pool
            .labels
            .iter()
            .map(|(key, value)| (key.to_string(), value.as_ref()));
        own.into_iter()
            .chain(template)
            .find(|(key, value)| of_pool(key, value))
    };
    let value = if claim.class != pool.class {
        format!("class {}", claim.class.name)
    } else if claim.taints != pool.taints {
        format!("{} taints", claim.taints.len())
    } else if claim.startup_taints != pool.startup_taints {
        format!("{} start-up taints", claim.startup_taints.len())
    } else if claim.expire_after != pool.expire_after {
        "another expiry".to_owned()
    } else if pool.termination_grace.is_some() && claim.termination_grace != pool.termination_grace
    {
        "another termination grace period".to_owned()
    } else if let Some((key, value)) = missing() {
        format!("no label {key}={value}")
    } else {
        return None;
    };
    Some(Breach::new(
        Rule::ClaimTemplate,
        value,
        format!("what pool {} says", pool.name),
    ))
}

/// A claim tells whether overlays have changed the price or the capacity of a type that it names, and only then.
pub(super) fn marks(listings: &Listings<'_>, claim: &PlannedClaim) -> Option<Breach> {
    let named = claim.options.iter();
    let changes = named.map(|option| listings.changes(&claim.pool, option.instance_type.as_str()));
    let (price, capacity) = changes.fold((false, false), |all, one| (all.0 | one.0, all.1 | one.1));
    let marks = [
        (PRICE_OVERLAY_APPLIED, price),
        (CAPACITY_OVERLAY_APPLIED, capacity),
    ];
    marks.into_iter().find_map(|(mark, expected)| {
        let said = claim.annotations.get(mark).map(AsRef::as_ref);
        (said != expected.then_some("true")).then(|| {
            let value = format!("annotation {mark} is {said:?}");
            let changed = if expected { "\"true\"" } else { "none" };
            Breach::new(Rule::ClaimMarks, value, changed)
        })
    })
}

/// Labels are allowed by the requirements, and every custom requirement that wants a label has got one.
fn labels(snapshot: &Snapshot, claim: &PlannedClaim) -> Option<Breach> {
    let breach = |value: String| {
        let expected = "one allowed value for every custom label";
        Some(Breach::new(Rule::ClaimLabels, value, expected))
    };
    for (key, value) in &claim.labels {
        let key = LabelKey::from(key.as_ref());
        if is_passing(&key) {
            return breach(format!("label {key}, which the node gets by itself"));
        }
        if let Some(requirement) = claim.requirements.get(key.as_str())
            && !requirement.allows(value)
        {
            return breach(format!("label {key}={value} against {requirement}"));
        }
    }
    let undecided = claim.requirements.iter().find(|requirement| {
        let key = requirement.key();
        let is_custom = !snapshot.catalogues.is_well_known(key) && key.as_str() != HOSTNAME;
        is_custom && !requirement.allows_absence() && !claim.labels.contains_key(key.as_str())
    })?;
    breach(format!("no label for {undecided}"))
}

/// Labels that a node gets in the course of its life; no claim may carry them.
fn is_passing(key: &LabelKey) -> bool {
    [REGISTERED, INITIALIZED].contains(&key.as_str())
}

fn requirements(snapshot: &Snapshot, shop: &Shop, claim: &PlannedClaim) -> Option<Breach> {
    let expected = "requirements no wider than the pool's";
    let passing = claim.requirements.iter().find(|r| is_passing(r.key()));
    if let Some(passing) = passing {
        let value = format!("{passing}, which is never launched with");
        return Some(Breach::new(Rule::ClaimRequirements, value, expected));
    }
    let wider = shop.node.iter().find(|asked| {
        let have = claim.requirements.get(asked.key().as_str());
        let is_open = asked.operator() == Operator::Exists && asked.bounds() == (None, None);
        let may_be_absent =
            have.is_none() && is_open && snapshot.catalogues.is_well_known(asked.key());
        !is_passing(asked.key()) && !may_be_absent && !is_within(have, asked)
    })?;
    let value = match claim.requirements.get(wider.key().as_str()) {
        Some(have) => format!("{have} where the pool says {wider}"),
        None => format!("nothing where the pool says {wider}"),
    };
    Some(Breach::new(Rule::ClaimRequirements, value, expected))
}

/// The ways named leave enough distinct values to choose from, and no fewer than the claim itself asks for.
pub(super) fn min_values(
    snapshot: &Snapshot,
    listings: &Listings<'_>,
    claim: &PlannedClaim,
) -> Option<Breach> {
    let pool = snapshot.pool(claim.pool.as_str())?;
    let options = claim.options.iter();
    let ways: Vec<Sold> = options
        .filter_map(|option| options::find(listings, claim, option))
        .collect();
    let is_relaxed = claim
        .annotations
        .get(MIN_VALUES_RELAXED)
        .is_some_and(|value| value.as_ref() == "true");
    pool.requirements.iter().find_map(|asked| {
        let wanted = asked.min_values()?;
        let own = claim.requirements.get(asked.key().as_str());
        let kept = own.and_then(Requirement::min_values).unwrap_or(0);
        let may_be_less = snapshot.settings.min_values == MinValuesPolicy::BestEffort && is_relaxed;
        let least = if may_be_less {
            kept.min(wanted)
        } else {
            wanted
        };
        let key = asked.key();
        let found = distinct(ways.iter(), key, &claim.requirements);
        let too_few = |least: u32| found < usize::try_from(least).unwrap_or(usize::MAX);
        let value = if too_few(least.max(kept)) {
            format!("{found} values of {key}")
        } else if kept < least {
            format!("minValues of {key} is not carried on")
        } else {
            return None;
        };
        let expected = format!("at least {}", least.max(kept));
        Some(Breach::new(Rule::MinValues, value, expected))
    })
}

/// How many distinct values of a key some ways to buy leave a node whose requirements are these.
pub(super) fn distinct<'a>(
    ways: impl Iterator<Item = &'a Sold>,
    key: &LabelKey,
    node: &Requirements,
) -> usize {
    let allowed = |value: &Arc<str>| {
        let asked = node.get(key.as_str());
        asked.is_none_or(|asked| asked.allows(value))
    };
    let mut values: BTreeSet<Arc<str>> = BTreeSet::new();
    for way in ways {
        let own = way.value(key.as_str());
        let own = own.as_ref().and_then(Requirement::listed).into_iter();
        values.extend(own.flatten().filter(|value| allowed(value)).cloned());
    }
    values.len()
}

/// Breach by a claim's requests; `None` where they lie between the requests of its pods with the daemons of its leanest way, and
/// those with every daemon.
pub(super) fn requests(snapshot: &Snapshot, claim: &PlannedClaim, host: &Host) -> Option<Breach> {
    let mut least: Option<Resources> = None;
    for way in host.named() {
        let (daemons, _) = daemons::on_new(snapshot, host, way);
        least = Some(match least {
            Some(least) => least.smaller(&daemons),
            None => daemons,
        });
    }
    let mut least = least.unwrap_or_default();
    least.add(&host.asked);
    let mut most = daemons::all(snapshot);
    most.add(&host.asked);
    let names = most.iter().map(|(name, _)| name.clone());
    let others = claim.requests.iter().map(|(name, _)| name.clone());
    names.chain(others).find_map(|name| {
        let asked = claim.requests.get(&name);
        let range = least.get(&name)..=most.get(&name);
        (!range.contains(&asked)).then(|| {
            Breach::new(
                Rule::ClaimRequests,
                format!("{asked} of {name}"),
                format!("{} for pods and daemons", range.start()),
            )
        })
    })
}
