//! Plans of parts of a batch as one plan.
//!
//! Steps stand in queue order as far as the order within each part allows, so that what is bought first, where not all can be,
//! does not depend on how many parts there are.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use plimsoll_model::plan::Target;

use super::draft::DraftPlan;
use crate::batch::compile::Compiled;
use crate::guards::addresses;

/// The plan of all parts.
pub(super) fn joined<'p>(
    compiled: &Compiled<'_>,
    plans: impl Iterator<Item = &'p DraftPlan>,
) -> DraftPlan {
    let plans: Vec<&DraftPlan> = plans.collect();
    if let [only] = plans[..] {
        return only.clone();
    }
    let mut result = DraftPlan::default();
    let mut position: Vec<Vec<usize>> = plans.iter().map(|_| Vec::new()).collect();
    let mut first_of: Vec<(usize, usize)> = Vec::new();
    for (plan, step) in in_order(&plans) {
        first_of.push((plan, step));
        position[plan].push(result.steps.len());
        result.steps.push(plans[plan].steps[step]);
    }
    let nodes = plans.iter().enumerate().flat_map(|(plan, it)| {
        let numbers = 0..it.nodes.len();
        numbers.map(move |node| (plan, node))
    });
    let mut nodes: Vec<(usize, usize)> = nodes.collect();
    let first = |(plan, node): &(usize, usize)| {
        let steps = &plans[*plan].nodes[*node].steps;
        steps.first().map(|step| position[*plan][*step])
    };
    nodes.sort_by_key(first);
    let mut number: Vec<Vec<usize>> = plans.iter().map(|plan| vec![0; plan.nodes.len()]).collect();
    for (at, (plan, node)) in nodes.iter().enumerate() {
        number[*plan][*node] = at;
        let mut own = plans[*plan].nodes[*node].clone();
        for step in &mut own.steps {
            *step = position[*plan][*step];
        }
        result.nodes.push(own);
    }
    let targets = first_of
        .iter()
        .map(|(plan, step)| match plans[*plan].targets[*step] {
            Target::New(node) => Target::New(number[*plan][node]),
            existing @ Target::Existing(_) => existing,
        });
    result.targets = targets.collect();
    for plan in plans {
        result.failed.extend_from_slice(&plan.failed);
        result.spare_failed += plan.spare_failed;
        result.kept_within |= plan.kept_within;
        result.notes.extend(plan.notes.iter().cloned());
    }
    result.failed.sort_unstable();
    let guards = &compiled.snapshot.settings.guards;
    result.overdrawn = addresses::overdrawn(compiled, guards, &result.nodes);
    result
}

/// Plan and step, again and again the next step of the plan whose next pod comes first in the queue.
fn in_order(plans: &[&DraftPlan]) -> Vec<(usize, usize)> {
    let next = |plan: usize, step: usize| {
        let step_of = plans[plan].steps.get(step)?;
        Some(Reverse((step_of.pod, plan, step)))
    };
    let mut heads: BinaryHeap<_> = (0..plans.len()).filter_map(|plan| next(plan, 0)).collect();
    let mut order = Vec::new();
    while let Some(Reverse((_, plan, step))) = heads.pop() {
        order.push((plan, step));
        heads.extend(next(plan, step + 1));
    }
    order
}
