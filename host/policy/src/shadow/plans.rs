//! Two plans for one snapshot: which launches are the same, how launch lists agree, and what one costs more than the other.

use std::collections::BTreeMap;

use plimsoll_core::catalog::CapacityType;
use plimsoll_core::ids::{PoolName, ReservationId, TypeName};
use plimsoll_core::plan::{LaunchOption, Plan, PlannedClaim, Target};
use plimsoll_core::units::PricePerHour;
use plimsoll_core::words::shortened;

use super::Compared;

/// Candidates of a launch list that are compared: those tried first.
const LIST: usize = 60;

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
    let (in_order, pairs) = lists(active, shadow);
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
        in_order,
        pairs,
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

/// What one plan buys and the other does not: `2 m5.large spot us-east-1a`.
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

/// How the launch lists of claims for the same pods agree: pairs in the same order less those the other way round, and all pairs.
fn lists(active: &Plan, shadow: &Plan) -> (i64, i64) {
    let theirs: BTreeMap<_, _> = by_pods(shadow).collect();
    let (mut in_order, mut pairs) = (0, 0);
    for (key, claim) in by_pods(active) {
        if let Some(other) = theirs.get(&key) {
            let (more, all) = tau(claim, other);
            (in_order, pairs) = (in_order + more, pairs + all);
        }
    }
    (in_order, pairs)
}

/// Claims by their pool and the pods that they are for.
fn by_pods(plan: &Plan) -> impl Iterator<Item = ((&PoolName, Vec<usize>), &PlannedClaim)> {
    let mut pods = vec![Vec::new(); plan.claims.len()];
    for placement in &plan.placements {
        if let Target::New(claim) = placement.target
            && let Some(pods) = pods.get_mut(claim)
        {
            pods.push(placement.pod);
        }
    }
    plan.claims.iter().zip(pods).map(|(claim, mut pods)| {
        pods.sort_unstable();
        ((&claim.pool, pods), claim)
    })
}

/// What tells a launch option from the others of its list.
type Name<'p> = (
    &'p TypeName,
    &'p str,
    CapacityType,
    Option<&'p ReservationId>,
);

fn name(option: &LaunchOption) -> Name<'_> {
    let LaunchOption {
        instance_type,
        zone,
        capacity_type,
        reservation,
        ..
    } = option;
    (
        instance_type,
        zone.as_ref(),
        *capacity_type,
        reservation.as_ref(),
    )
}

fn tau(active: &PlannedClaim, shadow: &PlannedClaim) -> (i64, i64) {
    let places = shadow.options.iter().map(name).enumerate();
    let places: BTreeMap<Name<'_>, usize> = places.map(|(place, name)| (name, place)).collect();
    let common = active.options.iter().take(LIST);
    let common: Vec<usize> = common
        .filter_map(|option| places.get(&name(option)).copied())
        .collect();
    order(&common)
}

/// Pairs of places that rise less those that fall, and all pairs.
fn order(places: &[usize]) -> (i64, i64) {
    let (mut in_order, mut pairs) = (0, 0);
    for (at, one) in places.iter().enumerate() {
        for other in &places[at + 1..] {
            in_order += if one < other { 1 } else { -1 };
            pairs += 1;
        }
    }
    (in_order, pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_agree_by_the_pairs_that_stand_in_the_same_order() {
        assert_eq!(order(&[0, 1, 2]), (3, 3));
        assert_eq!(order(&[2, 1, 0]), (-3, 3));
        assert_eq!(order(&[1, 0, 2]), (1, 3));
        assert_eq!(order(&[4]), (0, 0));
    }
}
