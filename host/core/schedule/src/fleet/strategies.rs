//! Choices that rules leave open while pods are placed, and the several ways of making them.
//!
//! The first way is the plain one. Where it leaves pods waiting, they come first in a second one, and the pods they follow are
//! kept to places that they can reach; where a batch is small, a third takes the cheapest domain within a skew instead of the
//! emptiest. All are feasible; the best by (unplaced, preferences given up, price, nodes) is the plan.

use std::collections::BTreeSet;

use super::draft::DraftPlan;
use crate::batch::compile::Compiled;
use crate::place::dependents::{self, Dependents};
use crate::place::strategy::PackingStrategy;

/// Parts of a batch up to this size are planned in the cheap-domain way too; in larger ones a skew is a small part of the whole.
const SMALL_BATCH: usize = 200;

/// Attempts at batches of which some pods wait.
const MOST_ATTEMPTS: usize = 2;

/// The best of several ways; `attempt` plans a part of the batch in an order and a strategy.
pub(crate) fn best_of(
    compiled: &Compiled<'_>,
    order: &[usize],
    effort: u32,
    attempt: impl Fn(&[usize], PackingStrategy) -> DraftPlan,
) -> DraftPlan {
    let mut best = attempt(order, PackingStrategy::default());
    let left_out = rules_of_left_out(compiled, order);
    let mut first: BTreeSet<usize> = BTreeSet::new();
    for _ in 0..MOST_ATTEMPTS {
        let before = first.len();
        first.extend(to_come_first(compiled, &best, &left_out, &first));
        if first.len() == before {
            break;
        }
        let dependents = Dependents::of(compiled, &first);
        let mut changed = order.to_vec();
        changed.sort_by_key(|pod| turn(compiled, &dependents, &first, *pod));
        let strategy = PackingStrategy {
            dependents,
            ..PackingStrategy::default()
        };
        best = better(best, attempt(&changed, strategy));
    }
    if order.len() <= SMALL_BATCH && effort > 0 && spreads(compiled, order) {
        let strategy = PackingStrategy {
            prefers_cheap_domains: true,
            ..PackingStrategy::default()
        };
        best = better(best, attempt(order, strategy));
    }
    best
}

/// Pods that wait for others and did not come first yet. Room kept for pods that do not exist is one of them only where none that
/// exists is: it may not change how those are placed.
fn to_come_first(
    compiled: &Compiled<'_>,
    best: &DraftPlan,
    left_out: &BTreeSet<usize>,
    first: &BTreeSet<usize>,
) -> Vec<usize> {
    let waiting = best.failed.iter().copied();
    let waiting = waiting.filter(|pod| is_bound_by_others(compiled, *pod, left_out));
    let (spare, exist): (Vec<usize>, Vec<usize>) = waiting
        .filter(|pod| !first.contains(pod))
        .partition(|pod| compiled.pods[*pod].is_spare);
    if exist.is_empty() { spare } else { exist }
}

fn better(one: DraftPlan, other: DraftPlan) -> DraftPlan {
    if other.rank() < one.rank() {
        other
    } else {
        one
    }
}

/// When a pod's turn is, once some were found waiting: those first, with the pods that they follow right before followers.
fn turn(
    compiled: &Compiled<'_>,
    dependents: &Dependents,
    waiting: &BTreeSet<usize>,
    pod: usize,
) -> u8 {
    let group = compiled.pods[pod].group;
    let follows = dependents::follows(compiled, &compiled.groups[group]);
    match (
        waiting.contains(&pod),
        dependents.is_followed(group),
        follows,
    ) {
        (true, _, false) => 0,
        (_, true, _) => 1,
        (true, false, true) => 2,
        (false, false, _) => 3,
    }
}

/// Rules between pods that only pods of the batch have which are not in the order: nothing depends on them.
fn rules_of_left_out(compiled: &Compiled<'_>, order: &[usize]) -> BTreeSet<usize> {
    if order.len() == compiled.pods.len() {
        return BTreeSet::new();
    }
    let rules_of = |groups: &BTreeSet<usize>| -> BTreeSet<usize> {
        let levels = groups.iter().flat_map(|at| &compiled.groups[*at].levels);
        levels
            .flat_map(|level| level.owned.iter().copied())
            .collect()
    };
    let placed: BTreeSet<usize> = order.iter().map(|pod| compiled.pods[*pod].group).collect();
    let others = (0..compiled.groups.len()).filter(|group| !placed.contains(group));
    let others: BTreeSet<usize> = others.collect();
    &rules_of(&others) - &rules_of(&placed)
}

/// `true` if it depends on other pods where this one may be, though all preferences are given up. Rules of pods that are left out
/// do not count.
fn is_bound_by_others(compiled: &Compiled<'_>, pod: usize, left_out: &BTreeSet<usize>) -> bool {
    let group = &compiled.groups[compiled.pods[pod].group];
    let owns = group
        .levels
        .last()
        .is_some_and(|level| !level.owned.is_empty());
    let usable = group
        .levels
        .last()
        .is_some_and(|level| level.rows.iter().any(|rows| !rows.is_empty()));
    let is_selected = || group.selected.iter().any(|rule| !left_out.contains(rule));
    usable && (owns || is_selected())
}

/// `true` if any of some pods spreads over domains that have prices.
fn spreads(compiled: &Compiled<'_>, order: &[usize]) -> bool {
    let groups = order.iter().map(|pod| compiled.pods[*pod].group);
    let groups: BTreeSet<usize> = groups.collect();
    let mut owned = groups
        .iter()
        .flat_map(|group| &compiled.groups[*group].levels)
        .flat_map(|level| &level.owned);
    owned.any(|owned| !compiled.model.is_by_host(*owned))
}
