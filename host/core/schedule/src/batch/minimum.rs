//! Distinct values that a claim must leave its launch to choose from (`minValues`).
//!
//! Counted are the ways to buy that are left for a node, each with its own values: once its pods leave one zone, other zones
//! count for nothing, whatever else the types sell there. A strict minimum refuses; under best effort a new node lowers it to
//! what there is, and later pods must keep the lowered one. Contract: the section on minimum values; Karpenter counts so
//! since 1.14.3, over whole types.

use std::collections::BTreeSet;

use plimsoll_base::bits::Bits;
use plimsoll_base::ids::ReservationId;
use plimsoll_base::labels::LabelKey;
use plimsoll_base::requirement::{Requirement, Requirements};
use plimsoll_model::catalogue::{InstanceType, Offering};
use plimsoll_model::provider::ProviderFacts;
use plimsoll_model::snapshot::MinValuesPolicy;

use crate::offers::axes::fits;
use crate::offers::choices::{self, ChoiceTally};
use crate::prices::sale::Sale;

pub(crate) use crate::offers::choices::Minimum;

/// Minimum values that a new node of some rows keeps when pods ask for `used` on it. Under the best-effort policy a minimum that
/// is not met is lowered to the values found; `None` when a strict minimum is not met.
pub(crate) fn of_new(sale: &Sale<'_>, rows: &Bits, used: &[i64]) -> Option<Minimum> {
    let template = sale.rows.rows[rows.first()?].template;
    let result = wanted(sale, template);
    if result.is_empty() {
        return Some(result);
    }
    let (tally, is_met) = counted_alike(sale, template, &result, rows, used);
    if is_met {
        Some(result)
    } else if sale.snapshot.settings.min_values == MinValuesPolicy::Strict {
        None
    } else {
        Some(lowered(&result, &tally))
    }
}

/// Minimum values that a template's requirements ask for; empty when they ask for none.
pub(crate) fn wanted(sale: &Sale<'_>, template: usize) -> Minimum {
    choices::wanted(&sale.templates[template])
}

/// Minimum that a claim can keep which names some rows of a template: under best effort no more than they have.
pub(crate) fn of_claim(
    sale: &Sale<'_>,
    template: usize,
    minimum: &Minimum,
    named: &[usize],
) -> Minimum {
    let (tally, is_met) = counted(sale, template, minimum, named.iter().copied());
    if is_met || sale.snapshot.settings.min_values == MinValuesPolicy::Strict {
        minimum.clone()
    } else {
        lowered(minimum, &tally)
    }
}

/// Keys of which rows with room for `used` leave too few values, with those wanted and those left.
pub(crate) fn short_of(sale: &Sale<'_>, rows: &Bits, used: &[i64]) -> Vec<(LabelKey, u32, u32)> {
    let Some(first) = rows.first() else {
        return Vec::new();
    };
    let template = sale.rows.rows[first].template;
    let wanted = wanted(sale, template);
    let (tally, _) = counted_alike(sale, template, &wanted, rows, used);
    let all = wanted.into_iter().zip(tally.counts());
    let short = all.filter(|((_, least), found)| found < least);
    short
        .map(|((key, least), found)| (key, least, found))
        .collect()
}

/// `true` if rows with room for `used` leave enough values.
pub(crate) fn is_kept(sale: &Sale<'_>, minimum: &Minimum, rows: &Bits, used: &[i64]) -> bool {
    minimum.is_empty()
        || rows.first().is_some_and(|first| {
            let template = sale.rows.rows[first].template;
            counted_alike(sale, template, minimum, rows, used).1
        })
}

/// `true` if rows of one template leave enough values.
pub(crate) fn is_met(
    sale: &Sale<'_>,
    template: usize,
    minimum: &Minimum,
    rows: impl Iterator<Item = usize>,
) -> bool {
    minimum.is_empty() || counted(sale, template, minimum, rows).1
}

/// Counts values of a template's rows until a minimum is met; `true` if it is.
fn counted<'s>(
    sale: &'s Sale<'_>,
    template: usize,
    minimum: &Minimum,
    rows: impl Iterator<Item = usize>,
) -> (ChoiceTally<'s>, bool) {
    let mut tally = sale.choices().tally(template);
    let mut is_met = tally.meets(minimum);
    for row in rows {
        if is_met {
            break;
        }
        tally.add(row);
        is_met = tally.meets(minimum);
    }
    (tally, is_met)
}

/// The same for rows with room for `used`, of which one claim names those on no reservation or those of one: the first of these that
/// have enough, or else that are there.
fn counted_alike<'s>(
    sale: &'s Sale<'_>,
    template: usize,
    minimum: &Minimum,
    rows: &Bits,
    used: &[i64],
) -> (ChoiceTally<'s>, bool) {
    let reservation = |row: usize| {
        let offering = sale.offering(row).1;
        offering.reservation.as_ref().map(|own| &own.id)
    };
    let roomy = || {
        let all = rows.iter();
        all.filter(|row| fits(used, sale.rows.capacity(*row)))
    };
    let of = |kind: Option<&ReservationId>| {
        let own = roomy().filter(|row| reservation(*row) == kind);
        counted(sale, template, minimum, own)
    };
    let unreserved = of(None);
    if unreserved.1 {
        return unreserved;
    }
    let reservations: BTreeSet<&ReservationId> = roomy().filter_map(reservation).collect();
    let mut counts = reservations.into_iter().map(|own| of(Some(own)));
    let is_any_unreserved = roomy().any(|row| reservation(row).is_none());
    let first = if is_any_unreserved {
        unreserved
    } else {
        counts.next().unwrap_or(unreserved)
    };
    if first.1 {
        return first;
    }
    counts.find(|(_, is_met)| *is_met).unwrap_or(first)
}

/// A minimum lowered to the values counted.
fn lowered(minimum: &Minimum, tally: &ChoiceTally<'_>) -> Minimum {
    let all = minimum.iter().zip(tally.counts());
    all.map(|((key, least), found)| (key.clone(), (*least).min(found)))
        .collect()
}

/// Keys of which ways to buy leave too few values under requirements, with those wanted and those left.
pub(crate) fn short_of_ways<'w>(
    minimum: &Minimum,
    requirements: &Requirements,
    provider: &ProviderFacts,
    ways: &(impl Iterator<Item = (&'w InstanceType, &'w Offering)> + Clone),
) -> Vec<(LabelKey, u32, u32)> {
    let left = |key: &LabelKey| -> u32 {
        let allowed: [Option<&Requirement>; 1] = [requirements.get(key.as_str())];
        let values = ways.clone().flat_map(|(instance_type, offering)| {
            choices::of_way(key, instance_type, offering, provider, &allowed)
        });
        let distinct: BTreeSet<_> = values.collect();
        u32::try_from(distinct.len()).unwrap_or(u32::MAX)
    };
    let all = minimum.iter().map(|(key, least)| (key, *least, left(key)));
    all.filter(|(_, least, left)| left < least)
        .map(|(key, least, left)| (key.clone(), least, left))
        .collect()
}
