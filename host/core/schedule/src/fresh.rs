//! The fleet that would be bought now for the pods of a running cluster if there were no nodes: the yardstick for what the nodes that are
//! there cost beyond need, guard by guard.
//!
//! Plans are packed by price, at list prices, whatever packing is set; ranking policies are not asked. Guards are those of the settings, and
//! none where all NodePools are packed by Karpenter's rules, which know of none.

use std::sync::Arc;

use plimsoll_base::units::PricePerHour;
use plimsoll_model::snapshot::{Guard, Guards, Settings, Snapshot};
use plimsoll_model::{PackingMode, Pod};

use super::decision::finish;
use super::fleet::bound::{as_if_waiting, bound_and_worth};
use super::session::Session;

/// Prices of fleets bought from nothing, per hour at list prices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FreshFleet {
    /// Lower bound on any fleet for the pods that are bound to nodes.
    pub bound: PricePerHour,
    /// The plan for these pods with the first 0, 1, ... of [`Guard::ALL`] in force.
    pub by_guards: [PricePerHour; Guard::ALL.len() + 1],
    /// The plan for these pods and those that wait, with all guards.
    pub with_waiting: PricePerHour,
    /// Part of the bound that each pod of the snapshot is worth, by row, in nano-dollars per hour; zero for those that wait.
    pub worth: Vec<i64>,
}

impl FreshFleet {
    /// The plan with all guards, for the pods that are bound.
    pub fn price(&self) -> PricePerHour {
        self.by_guards[Guard::ALL.len()]
    }
}

/// Plans the live pods of a snapshot as if there were no nodes. Offers of the pools are kept in the session.
pub fn fresh_fleet(snapshot: &Snapshot, session: &Session) -> FreshFleet {
    let (mut bare, kept) = as_if_waiting(snapshot, is_bound);
    let (bound, worth_of_kept) = bound_and_worth(&bare, Some(&session.offers(&bare)));
    let mut worth = vec![0; snapshot.pods.len()];
    for (row, value) in kept.into_iter().zip(worth_of_kept) {
        worth[row] = value;
    }
    let settings = by_price(&snapshot.settings);
    bare.settings = Arc::clone(&settings);
    let mut by_guards = [PricePerHour::ZERO; Guard::ALL.len() + 1];
    for first in [0, Guard::ALL.len()] {
        by_guards[first] = price_under(&mut bare, session, &settings.guards, first);
    }
    fill(&mut by_guards, 0, Guard::ALL.len(), &mut |first| {
        price_under(&mut bare, session, &settings.guards, first)
    });
    let with_all = by_guards[Guard::ALL.len()];
    let waits = |pod: &Pod| !is_bound(pod);
    let is_waited_for = snapshot
        .pods
        .iter()
        .any(|pod| pod.is_active() && waits(pod));
    FreshFleet {
        bound,
        by_guards,
        with_waiting: if is_waited_for {
            let mut all = as_if_waiting(snapshot, |_| true).0;
            all.settings = settings;
            price(&all, session)
        } else {
            with_all
        },
        worth,
    }
}

fn by_price(settings: &Arc<Settings>) -> Arc<Settings> {
    let mut result = Settings::clone(settings);
    result.guards.enabled &= settings.packing != Some(PackingMode::Compatible);
    result.packing = Some(PackingMode::Price);
    Arc::new(result)
}

fn is_bound(pod: &Pod) -> bool {
    pod.node.is_some()
}

/// Fills in what is between two places; where both cost the same, none of the guards between them costs anything.
fn fill(
    by_guards: &mut [PricePerHour],
    low: usize,
    high: usize,
    price: &mut impl FnMut(usize) -> PricePerHour,
) {
    let (first, last) = (by_guards[low], by_guards[high]);
    if first == last {
        by_guards[low..high].fill(last);
    } else if high - low > 1 {
        let middle = usize::midpoint(low, high);
        by_guards[middle] = price(middle);
        fill(by_guards, low, middle, price);
        fill(by_guards, middle, high, price);
    }
}

/// The price with the first of [`Guard::ALL`] in force and the others lifted.
fn price_under(
    bare: &mut Snapshot,
    session: &Session,
    guards: &Guards,
    first: usize,
) -> PricePerHour {
    let lifted = Guard::ALL[first..].iter();
    let guards = lifted.fold(guards.clone(), |guards, guard| guards.without(*guard));
    Arc::make_mut(&mut bare.settings).guards = guards;
    price(bare, session)
}

fn price(bare: &Snapshot, session: &Session) -> PricePerHour {
    let planned = finish(&session.prepare(bare), None);
    let chosen = planned.claims.iter().filter_map(|claim| claim.chosen());
    chosen.map(|option| option.list_price).sum()
}
