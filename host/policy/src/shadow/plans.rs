//! Two plans for one snapshot: which launches are the same, and what one costs more than the other.

use std::collections::BTreeMap;

use plimsoll_base::ids::{PoolName, TypeName};
use plimsoll_base::units::PricePerHour;
use plimsoll_base::words::shortened;
use plimsoll_model::catalogue::CapacityType;
use plimsoll_model::plan::Plan;

use super::log::Compared;

/// A launch as it is counted: the pool and the first choice.
type Launch<'p> = (&'p PoolName, &'p TypeName, &'p str, CapacityType);

/// How many there are of each.
type Launches<'p> = BTreeMap<Launch<'p>, u64>;

pub(super) fn compare(active: &Plan, shadow: &Plan) -> Compared {
    let (mine, theirs) = (launches(active), launches(shadow));
    let same = mine.iter().map(|(launch, count)| {
        let other = theirs.get(launch).copied().unwrap_or(0);
        (*count).min(other)
    });
    let agree: u64 = same.sum();
    let rows = (active.claims.len().max(shadow.claims.len())) as u64;
    let waiting = signed(shadow.unplaced.len()) - signed(active.unplaced.len());
    // What serves more pods may cost more: only fleets for the same number of pods are held against each other.
    let regret = if waiting == 0 {
        shadow.cost.list - active.cost.list
    } else {
        PricePerHour::ZERO
    };
    let differ = agree < rows || waiting != 0;
    Compared {
        rows,
        agree,
        regret,
        waiting,
        words: differ.then(|| (words(&mine, &theirs, active), words(&theirs, &mine, shadow))),
        ..Compared::default()
    }
}

fn signed(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn launches(plan: &Plan) -> Launches<'_> {
    let mut counts = BTreeMap::new();
    for claim in &plan.claims {
        if let Some(chosen) = claim.chosen() {
            let launch = (
                &claim.pool,
                &chosen.instance_type,
                chosen.zone.as_ref(),
                chosen.capacity_type,
            );
            *counts.entry(launch).or_insert(0) += 1;
        }
    }
    counts
}

/// Launches that one plan has beyond the other's: `2 m5.large spot us-east-1a`.
fn words(launches: &Launches<'_>, others: &Launches<'_>, plan: &Plan) -> String {
    let own = launches.iter().filter_map(|(launch, count)| {
        let shared = others.get(launch).copied().unwrap_or(0);
        let (_, name, zone, terms) = launch;
        let more = count.checked_sub(shared).filter(|more| *more > 0)?;
        Some(format!("{more} {name} {terms} {zone}"))
    });
    let bought = shortened(own);
    match (bought.is_empty(), plan.unplaced.len()) {
        (false, 0) => bought,
        (true, 0) => "nothing more".to_owned(),
        (true, waiting) => format!("{waiting} pods wait"),
        (false, waiting) => format!("{bought}; {waiting} pods wait"),
    }
}
