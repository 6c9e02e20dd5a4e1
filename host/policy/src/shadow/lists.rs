//! Launch lists of one claim by two policies: the same first choice, and how far they agree on the order of the rest.
//!
//! The active policy's claims are shown to the shadow as the host would name them, in order of price, and it orders them; one that does
//! not order has its list in order of its own prices, without what it vetoes. The same claims for both, so that nothing of what else they
//! would plan differently enters.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use plimsoll_base::ids::{ReservationId, TypeName};
use plimsoll_base::units::PricePerHour;
use plimsoll_hooks::hook::Sym;
use plimsoll_hooks::rank::{LaunchList, LaunchLists, OrderQuestion, Pools, Price, Prices};
use plimsoll_model::catalogue::CapacityType;
use plimsoll_model::plan::{LaunchOption, MAX_LAUNCH_TYPES, Plan, PlannedClaim};
use plimsoll_model::snapshot::Snapshot;
use plimsoll_schedule::{Offers, order_question};
use serde::Serialize;

use crate::decide::Ranker;
use crate::module::Module;
use crate::outcome::Fault;

/// Kendall's tau of two lists in the same order.
const MILLION: i64 = 1_000_000;

/// How launch lists agree, many claims together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Lists {
    /// Claims of the active policy's plans for which the shadow has a launch list.
    pub claims: u64,
    /// Those with the same first choice.
    pub same_first: u64,
    /// Those whose lists have at least two candidates in common.
    pub lists: u64,
    /// Kendall's tau of those lists, in millionths, added up: a million each for the same order, minus a million for the reverse.
    pub tau_sum: i64,
}

impl Lists {
    pub(super) fn add(&mut self, other: Self) {
        self.claims += other.claims;
        self.same_first += other.same_first;
        self.lists += other.lists;
        self.tau_sum += other.tau_sum;
    }

    /// Share of claims with the same first choice, in thousandths; `None` where there are none.
    pub fn first_choice(&self) -> Option<u64> {
        (self.same_first * 1000).checked_div(self.claims)
    }

    /// Kendall's tau, the mean of all lists, in thousandths from -1,000 to 1,000; `None` where there are none.
    pub fn order(&self) -> Option<i64> {
        let lists = i64::try_from(self.lists).ok()?;
        (self.tau_sum / 1000).checked_div(lists)
    }

    fn enter(&mut self, active: &[LaunchOption], shadow: &[&LaunchOption]) {
        self.claims += 1;
        let first = active.first().map(name);
        self.same_first += u64::from(first == shadow.first().map(|option| name(option)));
        if let Some(tau) = tau(active, shadow) {
            self.lists += 1;
            self.tau_sum += tau;
        }
    }
}

/// Prices that a policy gave, and the pools that their rows stand for.
pub(super) type Priced = (Pools, Prices);

/// How the lists of a plan's claims agree with those of a shadow that has planned for the same snapshot with these offers.
pub(super) fn compare(
    shadow: &Module,
    snapshot: &Snapshot,
    offers: &Arc<Offers>,
    active: &Plan,
    priced: Option<&Priced>,
) -> Result<Lists, Fault> {
    let shown: Vec<PlannedClaim> = active.claims.iter().map(by_price).collect();
    let pods: Vec<usize> = active.pods_by_claim().iter().map(Vec::len).collect();
    let Some(question) = order_question(snapshot, offers, &shown, &pods) else {
        return Ok(Lists::default());
    };
    let own = match priced {
        _ if shadow.manifest().orders => Ranker::order(shadow, &question)?,
        Some(priced) => by_own_prices(&question, priced),
        None => return Ok(Lists::default()),
    };
    let mut lists = Lists::default();
    let claims = active.claims.iter().zip(&shown).zip(&own.claims);
    for ((claim, shown), own) in claims {
        let own = own.kept.iter().filter_map(|at| shown.options.get(*at));
        lists.enter(&claim.options, &own.collect::<Vec<_>>());
    }
    Ok(lists)
}

/// A claim as the host names it before a policy orders.
fn by_price(claim: &PlannedClaim) -> PlannedClaim {
    let mut claim = claim.clone();
    claim.options.sort_by_key(|option| option.price);
    claim
}

/// Lists in order of the prices that a policy has given.
fn by_own_prices(question: &OrderQuestion, (pools, prices): &Priced) -> LaunchLists {
    let mut known: BTreeMap<(Sym, u32), &Price> = BTreeMap::new();
    let mut rows = pools.cand.iter().zip(&prices.rows);
    let mut start = 0;
    for (pool, end) in pools.name.iter().zip(&pools.cand_ends) {
        let own = rows.by_ref().take((end - start) as usize);
        known.extend(own.map(|(row, price)| ((*pool, *row), price)));
        start = *end;
    }
    let claims = question.claims.ranges().zip(&question.claims.pool);
    let list = |(range, pool): (Range<usize>, &Sym)| {
        let rows = question.claims.cand[range].iter().enumerate();
        let priced = rows.filter_map(|(at, row)| Some((next(known.get(&(*pool, *row))?)?, at)));
        let mut priced: Vec<(PricePerHour, usize)> = priced.collect();
        priced.sort_unstable();
        LaunchList {
            kept: priced.into_iter().map(|(_, at)| at).collect(),
            removed: Vec::new(),
        }
    };
    LaunchLists {
        claims: claims.map(list).collect(),
    }
}

/// Price per hour of the next node; `None` where it is vetoed.
fn next(price: &Price) -> Option<PricePerHour> {
    let first = price.first.price.filter(|_| price.first_count > 0);
    first.or(price.then.price)
}

/// Key of a launch option within its list.
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

/// Kendall's tau of what two lists have in common, in millionths; `None` below two candidates.
fn tau(active: &[LaunchOption], shadow: &[&LaunchOption]) -> Option<i64> {
    let places = shadow.iter().map(|option| name(option)).enumerate();
    let places: BTreeMap<Name<'_>, usize> = places.map(|(place, name)| (name, place)).collect();
    let common = active.iter().take(MAX_LAUNCH_TYPES);
    let common: Vec<usize> = common
        .filter_map(|option| places.get(&name(option)).copied())
        .collect();
    let (in_order, pairs) = order(&common);
    (in_order * MILLION).checked_div(pairs)
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

    #[test]
    fn the_mean_counts_lists_and_not_pairs() {
        let of = |tau_sum| Lists {
            claims: 1,
            same_first: 0,
            lists: 1,
            tau_sum,
        };
        let mut both = of(MILLION);
        both.add(of(-MILLION / 2));
        assert_eq!(both.order(), Some(250));
        assert_eq!(both.first_choice(), Some(0));
        assert_eq!(Lists::default().order(), None);
    }
}
