//! Spread constraints that the cluster gives to pods without any of their own, with the selector that the kube-scheduler
//! would deduce. Section 9 of the scheduling contract.

use crate::labels::Labels;
use crate::model::{
    LabelSelector, NodeInclusion, OwnerKind, Pod, Replicated, SelectorOperator, SpreadConstraint,
    WorkloadKind,
};
use crate::snapshot::Snapshot;

/// The defaults for a pod; none when nothing says which pods belong with it.
pub(super) fn constraints(snapshot: &Snapshot, pod: &Pod) -> Vec<SpreadConstraint> {
    if snapshot.settings.default_spread.is_empty() || !pod.spec.spread.is_empty() {
        return Vec::new();
    }
    let selector = deduced(snapshot, pod);
    if matches!(&selector, LabelSelector::All(conditions) if conditions.is_empty()) {
        return Vec::new();
    }
    let own = |default: &crate::model::DefaultSpread| SpreadConstraint {
        max_skew: default.max_skew,
        topology_key: default.topology_key.clone(),
        when_unsatisfiable: default.when_unsatisfiable,
        selector: selector.clone(),
        match_label_keys: Vec::new(),
        min_domains: default.min_domains,
        node_affinity: NodeInclusion::Honor,
        node_taints: NodeInclusion::Ignore,
    };
    snapshot.settings.default_spread.iter().map(own).collect()
}

/// Services that select the pod, merged, later ones first in a clash; then what the controller says.
fn deduced(snapshot: &Snapshot, pod: &Pod) -> LabelSelector {
    let mut labels = Labels::new();
    for service in &snapshot.services {
        let Some(selector) = &service.selector else {
            continue;
        };
        let selects = selector
            .iter()
            .all(|(key, value)| pod.labels.get(key) == Some(value));
        if service.name.namespace == pod.name.namespace && selects {
            labels.extend(selector.clone());
        }
    }
    let Some(controller) = controller(snapshot, pod) else {
        return LabelSelector::match_labels(&labels);
    };
    let LabelSelector::All(conditions) = &controller.selector else {
        return LabelSelector::match_labels(&labels);
    };
    if controller.kind == WorkloadKind::ReplicationController {
        let equalities = conditions
            .iter()
            .filter(|c| c.operator == SelectorOperator::In);
        for condition in equalities {
            if let [value] = condition.values.as_slice() {
                labels.insert(condition.key.clone(), value.clone());
            }
        }
        return LabelSelector::match_labels(&labels);
    }
    LabelSelector::match_labels(&labels).and(conditions.iter().cloned())
}

fn controller<'a>(snapshot: &'a Snapshot, pod: &Pod) -> Option<&'a Replicated> {
    let owner = pod.owner.as_ref()?;
    let kind = match owner.kind {
        OwnerKind::ReplicaSet => WorkloadKind::ReplicaSet,
        OwnerKind::ReplicationController => WorkloadKind::ReplicationController,
        OwnerKind::StatefulSet => WorkloadKind::StatefulSet,
        OwnerKind::DaemonSet
        | OwnerKind::Job
        | OwnerKind::Node
        | OwnerKind::CapacityBuffer
        | OwnerKind::Other => return None,
    };
    let is_owner = |workload: &&std::sync::Arc<Replicated>| {
        workload.kind == kind
            && workload.name.namespace == pod.name.namespace
            && workload.name.name == owner.name
    };
    snapshot.workloads.iter().find(is_owner).map(AsRef::as_ref)
}
