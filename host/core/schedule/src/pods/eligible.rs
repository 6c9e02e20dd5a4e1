//! Pods that enter a decision, and those of them that cannot be planned at all.
//!
//! Rules: the scheduling contract's sections on provisionable pods, pods of deleting nodes, and validation. A pod of a
//! deleting node enters only when it could be evicted today; a waiting pod only when the scheduler has given up on it.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_base::labels::{self, LabelKey};
use plimsoll_base::requirement::{Requirement, Requirements};
use plimsoll_model::catalogue::Catalogues;
use plimsoll_model::plan::{Refusal, Unplaced};
use plimsoll_model::snapshot::Snapshot;
use plimsoll_model::{Pod, PodSpec, wants_node};

use super::{devices, outside, single_pod, volumes};

/// Values of `karpenter.sh/capacity-type`.
const CAPACITY_TYPES: [&str; 3] = ["on-demand", "reserved", "spot"];

/// Pods of a batch, and those that would be in it if they could be planned.
#[derive(Debug, Default)]
pub(crate) struct Eligible {
    /// Rows of pods to plan for, in any order.
    pub(crate) pods: Vec<usize>,
    /// Pods that enter but cannot be planned.
    pub(crate) refused: Vec<Unplaced>,
}

/// Pods that the scheduler has given up on and that no node holds a place for.
pub(crate) fn waiting(snapshot: &Snapshot) -> Eligible {
    let rows = snapshot.rows_by_node();
    let mut result = Eligible::default();
    let is_promised = |pod: &Pod| {
        let node = pod.nominated.as_ref();
        let node = node.and_then(|name| rows.get(name.as_str()));
        node.is_some_and(|row| !snapshot.nodes[row].is_deleting())
    };
    for (row, pod) in snapshot.pods.iter().enumerate() {
        if wants_node(pod) && outside::of_pod(snapshot, &rows, pod).is_none() {
            admit(snapshot, row, &mut result);
        }
    }
    let has_place = |pod: &Pod| pod.node.is_some() || is_promised(pod);
    let refused = single_pod::refuse_users(snapshot, &mut result.pods, has_place);
    result.refused.extend(refused);
    result
}

fn admit(snapshot: &Snapshot, row: usize, result: &mut Eligible) {
    let pod = &snapshot.pods[row];
    let problem = pod.spec.problem.as_ref().map(ToString::to_string);
    let problem = problem
        .or_else(|| invalid_selector(&snapshot.catalogues, &pod.spec))
        .or_else(|| volumes::problem(pod, &snapshot.volumes));
    let reason = match problem {
        Some(problem) => Some(Refusal::Invalid(problem)),
        None if pod.spec.dynamic_resources || devices::asks_for_claims(snapshot, &pod.spec) => {
            Some(Refusal::DynamicResources)
        }
        None => {
            let unused = snapshot.unused_nodes.get(&pod.uid);
            unused.map(|nodes| Refusal::Unused(Arc::clone(nodes)))
        }
    };
    match reason {
        Some(reason) => result.refused.push(Unplaced { pod: row, reason }),
        None => result.pods.push(row),
    }
}

/// Sentence about an invalid node selector, or about required node affinity of which no alternative is valid; `None` when the pod
/// can be planned by one.
fn invalid_selector(catalogues: &Catalogues, spec: &PodSpec) -> Option<String> {
    let fault = |requirements: &Requirements| {
        let mut requirements = requirements.iter();
        requirements.find_map(|asked| invalid_requirement(catalogues, asked))
    };
    let of_terms = || {
        let terms = spec.node_required.iter();
        let faults: Option<Vec<String>> = terms.map(|term| fault(&term.requirements)).collect();
        faults.and_then(|faults| faults.into_iter().next())
    };
    fault(&spec.node_selector).or_else(of_terms)
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

/// Karpenter's queue order: cpu, then memory, descending; then age; then uid. Room that is only kept comes last, whatever
/// it asks for.
pub(crate) fn queue_order(snapshot: &Snapshot, pods: &mut [usize]) {
    use plimsoll_base::resources::ResourceName::{Cpu, Memory};
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
