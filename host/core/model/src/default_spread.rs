//! Cluster-wide default spread constraints, for pods that have none of their own.
//!
//! The selector is deduced as the Kubernetes scheduler does: services that select the pod, joined with the selector of its
//! controller. A pod for which nothing can be deduced gets no default. Section 9 of the scheduling contract.

use std::sync::Arc;

use plimsoll_base::labels::Labels;

use super::pod::{OwnerKind, Pod};
use super::selector::{LabelExpression, LabelSelector, SelectorOperator};
use super::spread::{DefaultSpread, NodeInclusion, SpreadConstraint};
use super::workload::{Replicated, Service, WorkloadKind};

/// The constraints that a pod gets of `defaults`; none when it has its own or nothing says which pods belong with it.
pub fn default_constraints(
    defaults: &[DefaultSpread],
    services: &[Arc<Service>],
    workloads: &[Arc<Replicated>],
    pod: &Pod,
) -> Vec<SpreadConstraint> {
    if defaults.is_empty() || !pod.spec.spread.is_empty() {
        return Vec::new();
    }
    let Some(selector) = deduced_selector(services, workloads, pod) else {
        return Vec::new();
    };
    let constraint = |default: &DefaultSpread| SpreadConstraint {
        max_skew: default.max_skew,
        topology_key: default.topology_key.clone(),
        when_unsatisfiable: default.when_unsatisfiable,
        selector: selector.clone(),
        match_label_keys: Vec::new(),
        min_domains: default.min_domains,
        node_affinity: NodeInclusion::Honor,
        node_taints: NodeInclusion::Ignore,
    };
    defaults.iter().map(constraint).collect()
}

fn deduced_selector(
    services: &[Arc<Service>],
    workloads: &[Arc<Replicated>],
    pod: &Pod,
) -> Option<LabelSelector> {
    let namespace = &pod.name.namespace;
    let mut merged = Labels::new();
    for service in services
        .iter()
        .filter(|service| service.name.namespace == *namespace)
    {
        if let Some(selector) = service
            .selector
            .as_ref()
            .filter(|selector| contains(&pod.labels, selector))
        {
            merged.extend(
                selector
                    .iter()
                    .map(|(key, value)| (Arc::clone(key), Arc::clone(value))),
            );
        }
    }
    let owner = pod.owner.as_ref().and_then(|owner| {
        let kind = match owner.kind {
            OwnerKind::ReplicaSet => WorkloadKind::ReplicaSet,
            OwnerKind::StatefulSet => WorkloadKind::StatefulSet,
            OwnerKind::ReplicationController => WorkloadKind::ReplicationController,
            OwnerKind::DaemonSet
            | OwnerKind::Job
            | OwnerKind::Node
            | OwnerKind::CapacityBuffer
            | OwnerKind::Other => {
                return None;
            }
        };
        workloads.iter().find(|workload| {
            workload.kind == kind
                && workload.name.namespace == *namespace
                && workload.name.name == owner.name
        })
    });
    let conditions = match owner.map(|workload| (workload.kind, &workload.selector)) {
        Some((WorkloadKind::ReplicationController, LabelSelector::All(own))) => {
            overwritten(&merged, own)
        }
        Some((_, LabelSelector::All(own))) => {
            equalities(&merged).chain(own.iter().cloned()).collect()
        }
        _ => equalities(&merged).collect(),
    };
    (!conditions.is_empty()).then(|| LabelSelector::all(conditions))
}

fn contains(labels: &Labels, selector: &Labels) -> bool {
    selector
        .iter()
        .all(|(key, value)| labels.get(key) == Some(value))
}

fn equalities(labels: &Labels) -> impl Iterator<Item = LabelExpression> + '_ {
    labels.iter().map(|(key, value)| LabelExpression {
        key: Arc::clone(key),
        operator: SelectorOperator::In,
        values: vec![Arc::clone(value)],
    })
}

/// A replication controller's map replaces what services say of the same keys.
fn overwritten(merged: &Labels, own: &[LabelExpression]) -> Vec<LabelExpression> {
    let kept =
        equalities(merged).filter(|have| own.iter().all(|expression| expression.key != have.key));
    kept.chain(own.iter().cloned()).collect()
}
