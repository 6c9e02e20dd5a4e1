//! The options of a planned claim: on sale, within its requirements, at the right price, enough of them.

use std::collections::BTreeSet;

use plimsoll_base::labels::{INSTANCE_TYPE, LabelKey};
use plimsoll_base::requirement::{Requirement, Undefined};
use plimsoll_model::catalogue::CapacityType;
use plimsoll_model::plan::{LaunchOption, MAX_CLAIM_TYPES, PlannedClaim};
use plimsoll_model::snapshot::Snapshot;

use super::PriceRule;
use super::finding::{Breach, Rule};
use super::host::Sold;
use super::listings::Listings;

/// The offering that an option of a claim means, as the claim's pool sells it.
pub(super) fn find(
    listings: &Listings<'_>,
    claim: &PlannedClaim,
    option: &LaunchOption,
) -> Option<Sold> {
    let instance_type = listings.find(&claim.pool, option.instance_type.as_str())?;
    let at = instance_type.offerings.iter().position(|offering| {
        offering.zone == option.zone
            && offering.capacity_type == option.capacity_type
            && offering.reservation.as_ref().map(|r| &r.id) == option.reservation.as_ref()
    })?;
    Some(Sold {
        provider: std::sync::Arc::clone(listings.provider()),
        instance_type: std::sync::Arc::clone(instance_type),
        at,
    })
}

/// `m7g.large in zone-a, spot`, for an option that may not be on sale.
fn shown(option: &LaunchOption) -> String {
    let LaunchOption {
        instance_type,
        zone,
        capacity_type,
        ..
    } = option;
    format!("{instance_type} in {zone}, {capacity_type}")
}

/// Every rule that the options of a claim break.
pub(super) fn breaches(
    snapshot: &Snapshot,
    listings: &Listings<'_>,
    claim: &PlannedClaim,
    prices: PriceRule,
) -> Vec<Breach> {
    let mut result: Vec<Breach> = count(claim).into_iter().collect();
    for option in &claim.options {
        match find(listings, claim, option) {
            None => result.push(Breach::new(
                Rule::OptionSold,
                format!("{} is not in the catalogue", shown(option)),
                "offerings of the catalogue",
            )),
            Some(sold) => {
                result.extend(availability(snapshot, &sold));
                result.extend(requirements(snapshot, claim, &sold));
                result.extend(price(snapshot, option, &sold, prices));
            }
        }
    }
    result.extend(unnamed(claim));
    result
}

fn count(claim: &PlannedClaim) -> Option<Breach> {
    let types: BTreeSet<&str> = claim
        .options
        .iter()
        .map(|o| o.instance_type.as_str())
        .collect();
    let ways: BTreeSet<_> = claim
        .options
        .iter()
        .map(|o| (&o.instance_type, &o.zone, o.capacity_type, &o.reservation))
        .collect();
    let expected = format!("1 to {MAX_CLAIM_TYPES} types, each way once");
    if types.is_empty() || types.len() > MAX_CLAIM_TYPES {
        return Some(Breach::new(
            Rule::OptionCount,
            format!("{} types are named", types.len()),
            expected,
        ));
    }
    (ways.len() < claim.options.len()).then(|| {
        let twice = claim.options.len() - ways.len();
        Breach::new(
            Rule::OptionCount,
            format!("{twice} options repeat others"),
            expected,
        )
    })
}

fn availability(snapshot: &Snapshot, sold: &Sold) -> Option<Breach> {
    let is_closed = sold.offering().capacity_type == CapacityType::Reserved
        && !snapshot.settings.reserved_capacity;
    let problem = if is_closed {
        "draws on a reservation, and reservations are not used"
    } else if sold.offering().available {
        return None;
    } else {
        "is not available"
    };
    Some(Breach::new(
        Rule::OptionSold,
        format!("{sold} {problem}"),
        "offerings to be had now",
    ))
}

fn requirements(snapshot: &Snapshot, claim: &PlannedClaim, sold: &Sold) -> Option<Breach> {
    let well_known = |key: &LabelKey| snapshot.catalogues.is_well_known(key);
    let of_type = sold
        .instance_type
        .requirements
        .accepts(&claim.requirements, Undefined::Ignored);
    let of_offering = claim.requirements.accepts(
        &sold.offering().node_requirements(&sold.provider),
        Undefined::Allowed(&well_known),
    );
    let clash = of_type.and(of_offering).err()?;
    Some(Breach::new(
        Rule::OptionRequirements,
        format!("{sold}: {clash}"),
        "options that the claim's own requirements allow",
    ))
}

/// A type that the claim names without an option for it: the launch might pick it.
fn unnamed(claim: &PlannedClaim) -> Option<Breach> {
    let expected = "the names of the options' types, and no others";
    let Some(named) = claim
        .requirements
        .get(INSTANCE_TYPE)
        .and_then(Requirement::listed)
    else {
        let value = format!("{INSTANCE_TYPE} is left open");
        return Some(Breach::new(Rule::OptionRequirements, value, expected));
    };
    let without = named.iter().find(|name| {
        !claim
            .options
            .iter()
            .any(|option| option.instance_type.as_str() == name.as_ref())
    })?;
    let value = format!("type {without} is required by name but is no option");
    Some(Breach::new(Rule::OptionRequirements, value, expected))
}

fn price(
    snapshot: &Snapshot,
    option: &LaunchOption,
    sold: &Sold,
    prices: PriceRule,
) -> Option<Breach> {
    let list = sold.offering().price;
    if option.list_price != list {
        return Some(Breach::new(
            Rule::OptionPrice,
            format!("{sold} at a list price of {}", option.list_price),
            list.to_string(),
        ));
    }
    let whole = (list + snapshot.settings.node_cost).max(super::cost::LEAST);
    (prices == PriceRule::List && option.price != whole).then(|| {
        Breach::new(
            Rule::OptionPrice,
            format!("{sold} at {}", option.price),
            format!("{whole}, the list price and the node's own cost"),
        )
    })
}
