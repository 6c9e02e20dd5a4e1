//! What replacements may cost: whatever a launch gives, together they cost less than the nodes that go.
//!
//! Each claim may cost as much more than planned as its share of the saving; dearer ways to buy it are struck out. A claim
//! that could be had as spot or on demand is pinned to spot, since the saving was counted so. Spot nodes are replaced by
//! spot only where the gate is open, and a single one only by at least [`FLEXIBILITY`] cheaper types, of which the cheapest
//! that many are launched from: so the new node is not moved again at once. Minimum values must still hold.

use std::collections::BTreeSet;
use std::sync::Arc;

use thiserror::Error;

use super::candidate::Candidate;
use crate::catalog::CapacityType;
use crate::ids::TypeName;
use crate::labels::{self, LabelKey};
use crate::plan::{LaunchOption, PlannedClaim};
use crate::requirement::Requirement;
use crate::snapshot::Snapshot;
use crate::units::PricePerHour;

/// Cheaper types that a single spot node needs to be replaced by spot.
pub const FLEXIBILITY: usize = 15;

/// Why no replacement will do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum NoReplacement {
    /// Nothing that would do costs less.
    #[error("nothing that holds its pods costs less")]
    NotCheaper,
    /// The gate is closed.
    #[error("spot nodes are not replaced by spot nodes (gate SpotToSpotConsolidation is off)")]
    SpotToSpotOff,
    /// Too few cheaper types.
    #[error("{0} cheaper spot types hold its pods, expected at least 15")]
    TooFewSpotTypes(usize),
    /// What is left breaks a minimum of values.
    #[error("the cheaper types are fewer than minValues asks for")]
    MinimumOfValues,
}

/// Narrows claims in place; what is saved at least as planned, with each node's own cost.
pub(super) fn narrow(
    snapshot: &Snapshot,
    members: &[&Candidate],
    claims: &mut [PlannedClaim],
) -> Result<PricePerHour, NoReplacement> {
    let source: PricePerHour = members.iter().map(|member| member.price).sum();
    let planned: PricePerHour = claims
        .iter()
        .filter_map(PlannedClaim::chosen)
        .map(|option| option.list_price)
        .sum();
    let slack = (source - planned).nanos();
    let count = i64::try_from(claims.len()).unwrap_or(i64::MAX);
    if count > 0 && slack <= 0 {
        return Err(NoReplacement::NotCheaper);
    }
    let all_spot = members
        .iter()
        .all(|member| member.capacity_type == Some(CapacityType::Spot));
    for claim in claims.iter_mut() {
        let chosen = claim.chosen().ok_or(NoReplacement::NotCheaper)?;
        // Strictly less in all, and no rounding that adds up to a penny more.
        let most = chosen.list_price.nanos() + (slack - 1) / count;
        let spot = chosen.capacity_type == CapacityType::Spot;
        let mut options = claim.options.clone();
        options.retain(|option| {
            let pinned = !spot || option.capacity_type == CapacityType::Spot;
            pinned && option.list_price.nanos() <= most
        });
        if all_spot && spot {
            options = flexible(snapshot, members, count, options)?;
        }
        restrict(snapshot, claim, options)?;
    }
    let nodes = i64::try_from(members.len()).unwrap_or(i64::MAX) - count;
    Ok(source - planned + snapshot.settings.node_cost * nodes)
}

/// Spot for spot.
fn flexible(
    snapshot: &Snapshot,
    members: &[&Candidate],
    claims: i64,
    options: Vec<LaunchOption>,
) -> Result<Vec<LaunchOption>, NoReplacement> {
    if !snapshot.settings.churn.spot_to_spot {
        return Err(NoReplacement::SpotToSpotOff);
    }
    if members.len() > 1 || claims > 1 {
        return Ok(options);
    }
    let mut by_price: Vec<(PricePerHour, &TypeName)> = options
        .iter()
        .map(|option| (option.list_price, &option.instance_type))
        .collect();
    by_price.sort_unstable();
    let mut kept: BTreeSet<TypeName> = BTreeSet::new();
    for (_, name) in by_price {
        if kept.len() < FLEXIBILITY {
            kept.insert(name.clone());
        }
    }
    if kept.len() < FLEXIBILITY {
        return Err(NoReplacement::TooFewSpotTypes(kept.len()));
    }
    let mut options = options;
    options.retain(|option| kept.contains(&option.instance_type));
    Ok(options)
}

/// Lets a claim name these ways to buy it and no others.
fn restrict(
    snapshot: &Snapshot,
    claim: &mut PlannedClaim,
    options: Vec<LaunchOption>,
) -> Result<(), NoReplacement> {
    if options.is_empty() {
        return Err(NoReplacement::NotCheaper);
    }
    let types: BTreeSet<Arc<str>> = options
        .iter()
        .map(|option| Arc::from(option.instance_type.as_str()))
        .collect();
    let terms: BTreeSet<&str> = options
        .iter()
        .map(|option| option.capacity_type.as_str())
        .collect();
    let lacking = claim.requirements.iter().any(|requirement| {
        let least = requirement.min_values().unwrap_or(0) as usize;
        least > 0 && values_of(snapshot, requirement.key().as_str(), &options) < least
    });
    if lacking {
        return Err(NoReplacement::MinimumOfValues);
    }
    let one_of = |key: &str| LabelKey::from(key);
    let types = Requirement::one_of(one_of(labels::INSTANCE_TYPE), types);
    claim.requirements.add(types);
    let terms = Requirement::one_of(one_of(labels::CAPACITY_TYPE), terms);
    claim.requirements.add(terms);
    claim.options = options;
    Ok(())
}

/// How many values of a label options leave to choose from.
fn values_of(snapshot: &Snapshot, key: &str, options: &[LaunchOption]) -> usize {
    let value = |option: &LaunchOption| -> Option<Arc<str>> {
        match key {
            labels::ZONE => Some(Arc::clone(&option.zone)),
            labels::CAPACITY_TYPE => Some(Arc::from(option.capacity_type.as_str())),
            labels::INSTANCE_TYPE => Some(Arc::from(option.instance_type.as_str())),
            _ => {
                let listed = snapshot.catalogue.get(option.instance_type.as_str())?;
                listed.requirements.get(key)?.single().cloned()
            }
        }
    };
    let values: BTreeSet<Arc<str>> = options.iter().filter_map(value).collect();
    values.len()
}
