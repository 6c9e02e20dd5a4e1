//! Pods that enter a decision, and those of them that cannot be planned at all.
//!
//! Rules: the scheduling contract's sections on provisionable pods, pods of deleting nodes, and validation. A pod of a
//! deleting node enters only when it could be evicted today; a waiting pod only when the scheduler has given up on it.

use std::collections::BTreeMap;

use super::volumes;
use crate::catalogue::Catalogues;
use crate::labels::{self, LabelKey};
use crate::model::{BudgetIndex, OwnerKind, Pod, PodSpec, is_fixed};
use crate::plan::{Refusal, Unplaced};
use crate::requirement::{Operator, Requirement, Requirements};
use crate::snapshot::{PreferencePolicy, Snapshot};
use crate::time::Timestamp;

/// Values of `karpenter.sh/capacity-type`.
const CAPACITY_TYPES: [&str; 3] = ["on-demand", "reserved", "spot"];

/// Pods of a snapshot sorted by what a decision does with them.
#[derive(Debug, Default)]
pub(crate) struct Eligible {
    /// Rows of pods to plan for, in snapshot order.
    pub(crate) pods: Vec<usize>,
    /// Pods that enter but cannot be planned.
    pub(crate) refused: Vec<Unplaced>,
}

/// Sorts the snapshot's pods.
pub(crate) fn eligible(snapshot: &Snapshot) -> Eligible {
    let rows = snapshot.rows_by_node();
    let budgets = BudgetIndex::of(&snapshot.disruption_budgets);
    let mut result = Eligible::default();
    for (row, pod) in snapshot.pods.iter().enumerate() {
        let node = |name: &str| rows.get(name).map(|row| &snapshot.nodes[row]);
        match &pod.node {
            None => {
                let promised = pod.nominated.as_ref().is_some_and(|name| {
                    node(name.as_str()).is_some_and(|node| !node.is_deleting())
                });
                if pod.unschedulable && !promised && !is_fixed(pod) && pod.is_active() {
                    admit(snapshot, row, &mut result);
                }
            }
            Some(name) => {
                let leaving =
                    node(name.as_str()).is_some_and(crate::snapshot::StateNode::is_deleting);
                if leaving && is_reschedulable(&budgets, pod, snapshot.now) {
                    result.pods.push(row);
                }
            }
        }
    }
    result
}

fn admit(snapshot: &Snapshot, row: usize, result: &mut Eligible) {
    let pod = &snapshot.pods[row];
    if avoids_our_nodes(&pod.spec, snapshot.settings.preferences) {
        return;
    }
    let problem = pod.spec.problem.as_ref().map(ToString::to_string);
    let problem = problem
        .or_else(|| invalid_selector(&snapshot.catalogues, &pod.spec))
        .or_else(|| volumes::problem(pod, &snapshot.volumes));
    let reason = match problem {
        Some(problem) => Some(Refusal::Invalid(problem)),
        None if pod.spec.dynamic_resources => Some(Refusal::DynamicResources),
        None => None,
    };
    match reason {
        Some(reason) => result.refused.push(Unplaced { pod: row, reason }),
        None => result.pods.push(row),
    }
}

/// `true` if a pod asks for nodes that belong to no pool. A mere preference counts, as upstream.
fn avoids_our_nodes(spec: &PodSpec, preferences: PreferencePolicy) -> bool {
    let heaviest = spec
        .node_preferred
        .iter()
        .max_by_key(|preferred| preferred.weight);
    let preferred = heaviest
        .filter(|_| preferences == PreferencePolicy::Respect)
        .map(|preferred| &preferred.term);
    [
        Some(&spec.node_selector),
        spec.node_required.first().map(|term| &term.requirements),
    ]
    .into_iter()
    .chain([preferred.map(|term| &term.requirements)])
    .flatten()
    .filter_map(|requirements| requirements.get(labels::NODEPOOL))
    .any(|requirement| requirement.operator() == Operator::DoesNotExist)
}

/// Sentence about an invalid node selector or required node affinity; `None` when both are valid.
fn invalid_selector(catalogues: &Catalogues, spec: &PodSpec) -> Option<String> {
    let terms = spec.node_required.iter().map(|term| &term.requirements);
    std::iter::once(&spec.node_selector)
        .chain(terms)
        .flat_map(Requirements::iter)
        .find_map(|asked| invalid_requirement(catalogues, asked))
}

fn invalid_requirement(catalogues: &Catalogues, requirement: &Requirement) -> Option<String> {
    if let Some(restricted) = catalogues.restriction(requirement.key()) {
        return Some(restricted);
    }
    let capacity_type = requirement.key() == &LabelKey::from(labels::CAPACITY_TYPE);
    let listed = requirement
        .listed()
        .filter(|values| capacity_type && !values.is_empty())?;
    if listed
        .iter()
        .any(|value| CAPACITY_TYPES.contains(&value.as_ref()))
    {
        return None;
    }
    Some(format!(
        "requirement {requirement} names no capacity type; expected one of {}",
        CAPACITY_TYPES.join(", ")
    ))
}

/// `true` if a bound pod could be evicted now and would come back elsewhere.
pub(crate) fn is_reschedulable(budgets: &BudgetIndex<'_>, pod: &Pod, now: Timestamp) -> bool {
    let alive =
        !pod.is_terminal() && (pod.deleting.is_none() || pod.is_owned_by(OwnerKind::StatefulSet));
    alive && !is_fixed(pod) && !pod.is_protected(now) && !budgets.blocks(pod)
}

/// Queue order of the incumbent: cpu, then memory, descending; then age; then uid. Room that is only kept comes last, whatever
/// it asks for.
pub(crate) fn queue_order(snapshot: &Snapshot, pods: &mut [usize]) {
    use crate::resources::ResourceName::{Cpu, Memory};
    let mut keys = BTreeMap::new();
    for row in pods.iter() {
        let spec = &snapshot.pods[*row].spec;
        keys.entry(std::sync::Arc::as_ptr(spec))
            .or_insert_with(|| (-spec.requests.get(&Cpu), -spec.requests.get(&Memory)));
    }
    let keyed = pods.iter().map(|row| {
        let pod = &snapshot.pods[*row];
        let key = keys[&std::sync::Arc::as_ptr(&pod.spec)];
        (pod.is_spare(), key, pod.created, &pod.uid, *row)
    });
    let mut keyed: Vec<_> = keyed.collect();
    keyed.sort_unstable();
    for (place, (.., row)) in pods.iter_mut().zip(keyed) {
        *place = row;
    }
}
