//! Bounds of a plan that was made: what its pods cost at least, bought as pools may buy, and as guards let them.
//!
//! Both are the linear programme's, and at least the price of the cheapest node where it buys any: nodes are whole, which is most of what a plan for
//! few pods costs. Pods are taken as they ask once they have given up what they merely prefer; guards that hold between nodes, or on how many
//! pods share one, only raise costs and are left out.

use std::collections::BTreeSet;

use plimsoll_base::bits::Bits;
use plimsoll_base::units::PricePerHour;
use plimsoll_model::plan::Plan;
use plimsoll_pack::Problem;

use super::{BoundPrices, problem};
use crate::batch::compile::Compiled;
use crate::guards::guard_excluded;
use crate::offers::axes::fits;
use crate::offers::best::Best;
use crate::prepared::Prepared;

/// Lower bounds on the cost of new nodes for the pods that a plan places, beside the room that there is, at the provider's prices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlanBounds {
    /// On what pools may buy while the guards on kinds of nodes hold. They yield for pods that nothing else holds, and never bound a plan above its
    /// cost.
    pub within_guards: PricePerHour,
    /// On all that pools may buy.
    pub without_guards: PricePerHour,
}

/// Bounds of a plan for the snapshot that was prepared.
pub fn bounds_of_plan(prepared: &Prepared<'_>, plan: &Plan) -> PlanBounds {
    let compiled = &prepared.compiled;
    let placed: BTreeSet<usize> = plan.placements.iter().map(|own| own.pod).collect();
    let pods = compiled.pods.iter().enumerate();
    let pods = pods.filter(|(_, pod)| placed.contains(&pod.row));
    let pods: Vec<(usize, usize)> = pods
        .map(|(at, pod)| (at, compiled.groups[pod.group].levels.len() - 1))
        .collect();
    let listed = compiled.listed();
    let mut guarded = listed.allowed.clone();
    guarded.drop_all(&excluded(compiled, &listed.allowed));
    let without_guards = bound(compiled, &pods, &listed.allowed);
    // Guards may have yielded for pods that share a node, too.
    let within_guards = bound(compiled, &pods, &guarded).min(plan.cost.list);
    PlanBounds {
        within_guards: within_guards.max(without_guards),
        without_guards,
    }
}

/// Rows that guards keep every pod from: not those of pools that are packed without guards, nor those that alone hold some pod as it wishes, for
/// which guards yield.
fn excluded(compiled: &Compiled<'_>, allowed: &Bits) -> Bits {
    let mut excluded = guard_excluded(compiled, &compiled.snapshot.settings.guards);
    for (number, template) in compiled.templates.iter().enumerate() {
        if template.is_compatible() {
            excluded.drop_all(&compiled.rows.of_template[number]);
        }
    }
    let mut exempt = Bits::none(compiled.rows.len());
    for group in &compiled.groups {
        let holds = |row: &usize| fits(&group.request, compiled.rows.capacity(*row));
        for level in &group.levels {
            let mut open = Bits::none(compiled.rows.len());
            level.rows.iter().for_each(|rows| open.join(rows));
            let open = open.and(allowed);
            let mut holding = open.iter().filter(holds);
            if !holding.any(|row| !excluded.contains(row)) {
                exempt.join(&open);
            }
        }
    }
    excluded.drop_all(&exempt);
    excluded
}

/// The bound for these pods, each with its level of relaxation, bought of these rows.
fn bound(compiled: &Compiled<'_>, pods: &[(usize, usize)], allowed: &Bits) -> PricePerHour {
    let listed = compiled.listed();
    let best = Best::default();
    let market = BoundPrices {
        prices: &listed.least,
        allowed,
        best: &best,
    };
    let each = pods.iter().map(|(pod, level)| (*pod, *level, 1));
    let problem = problem(compiled, &market, each);
    let relaxed = plimsoll_pack::bound(&problem).list_price;
    let least = if relaxed > 0 { cheapest(&problem) } else { 0 };
    PricePerHour::from_nanos(relaxed.max(least))
}

/// Price of the cheapest node that holds a pod; 0 where none holds any.
fn cheapest(problem: &Problem) -> i64 {
    let holds = |kind: usize| {
        problem.demands.iter().any(|demand| {
            let class = &problem.classes[demand.class];
            class.kinds.contains(kind) && fits(&demand.request, &problem.kinds[kind].capacity)
        })
    };
    let kinds = problem.kinds.iter().enumerate();
    let prices = kinds.filter(|(kind, _)| holds(*kind));
    prices.map(|(_, kind)| kind.list_price).min().unwrap_or(0)
}
