//! Pods that may be planned: those the scheduler has marked unschedulable and that no other controller takes care of, and those that
//! must leave nodes that are deleting. Sections 4 and 5 of the scheduling contract.

use std::collections::BTreeMap;

use plimsoll_base::ids::NodeName;
use plimsoll_base::labels::{CAPACITY_TYPE, NODEPOOL};
use plimsoll_base::requirement::{Operator, Requirement};
use plimsoll_base::resources::ResourceName;
use plimsoll_model::catalogue::CapacityType;
use plimsoll_model::snapshot::Snapshot;
use plimsoll_model::{DoNotDisrupt, Effect, OwnerKind, Pod, PodDisruptionBudget, PodPhase, Taint};

use super::{daemons, one_pod, volumes};

/// Standing of a pod in a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Eligibility {
    /// It waits: placed or listed as going nowhere.
    Waits,
    /// It may be planned, or be left out: it is deleting, or that cannot be known.
    Free,
    /// It waits but cannot be planned; listed as such, or left out silently.
    Invalid(String),
    /// It asks for devices that are not served.
    DynamicResources,
    /// It does not wait at all.
    Elsewhere(String),
}

/// The entry of every pod of a snapshot, by row.
pub(super) fn entries(snapshot: &Snapshot) -> Vec<Eligibility> {
    let deleting: BTreeMap<&NodeName, bool> = snapshot
        .nodes
        .iter()
        .filter_map(|node| Some((&node.node.as_ref()?.name, node.is_deleting())))
        .collect();
    let devices = devices_of_claims(snapshot);
    let asks =
        |pod: &Pod, name: &ResourceName| pod.node.is_none() && pod.spec.requests.get(name) > 0;
    let entry = |pod: &std::sync::Arc<Pod>| {
        let entry = match &pod.node {
            None => pending(snapshot, pod, &deleting),
            Some(node) if deleting.get(node) == Some(&true) => leaving(snapshot, pod),
            Some(node) => Eligibility::Elsewhere(format!("it is bound to {node}")),
        };
        match entry {
            Eligibility::Waits | Eligibility::Free
                if pod.spec.dynamic_resources || devices.iter().any(|name| asks(pod, name)) =>
            {
                Eligibility::DynamicResources
            }
            other => other,
        }
    };
    let mut entries: Vec<Eligibility> = snapshot.pods.iter().map(entry).collect();
    one_pod::correct(snapshot, &deleting, &mut entries);
    entries
}

/// Extended resources that DeviceClasses offer and that neither a node nor a type for sale has.
fn devices_of_claims(snapshot: &Snapshot) -> Vec<ResourceName> {
    let mut names = Vec::new();
    for class in &snapshot.device_classes {
        let own_name = format!("deviceclass.resource.kubernetes.io/{}", class.name);
        names.push(ResourceName::from(own_name.as_str()));
        names.extend(class.extended_resource.as_deref().map(ResourceName::from));
    }
    for node in &snapshot.nodes {
        let there = node.allocatable();
        names.retain(|name| there.get(name) <= 0);
    }
    for overlay in &snapshot.overlays {
        names.retain(|name| overlay.capacity.get(name) <= 0);
    }
    for sold in snapshot
        .catalogues
        .distinct()
        .iter()
        .flat_map(|listed| listed.types())
    {
        names.retain(|name| sold.capacity.get(name) <= 0);
    }
    names
}

/// A pod without a node.
fn pending(snapshot: &Snapshot, pod: &Pod, deleting: &BTreeMap<&NodeName, bool>) -> Eligibility {
    if !pod.unschedulable {
        return Eligibility::Elsewhere("the scheduler has not marked it unschedulable".into());
    }
    if let Some(node) = &pod.nominated
        && deleting.get(node) == Some(&false)
    {
        return Eligibility::Elsewhere(format!("it is promised to {node}"));
    }
    for kind in [OwnerKind::DaemonSet, OwnerKind::Node] {
        if pod.is_owned_by(kind) {
            return Eligibility::Elsewhere(format!("it is owned by a {kind:?}"));
        }
    }
    if !can_join_a_pool(pod) {
        return Eligibility::Elsewhere(format!("it asks for nodes without {NODEPOOL}"));
    }
    if let Some(problem) = problem(snapshot, pod) {
        return Eligibility::Invalid(problem);
    }
    if pod.is_active() {
        Eligibility::Waits
    } else {
        Eligibility::Free
    }
}

/// A pod on a node that is deleting.
fn leaving(snapshot: &Snapshot, pod: &Pod) -> Eligibility {
    let no = |reason: &str| Eligibility::Elsewhere(reason.to_owned());
    let ends =
        pod.is_terminal() || (pod.deleting.is_some() && !pod.is_owned_by(OwnerKind::StatefulSet));
    if ends {
        return no("it has ended or is ending");
    }
    if pod.is_owned_by(OwnerKind::DaemonSet) || pod.is_owned_by(OwnerKind::Node) {
        return no("it belongs to its node");
    }
    if pod.is_active() && is_protected(snapshot, pod) {
        return no("it asks not to be disrupted");
    }
    if is_blocked(snapshot, pod) {
        return no("a disruption budget allows no eviction");
    }
    if pod.spec.problem.is_some() || volumes::problem(snapshot, pod).is_some() {
        return Eligibility::Free;
    }
    Eligibility::Waits
}

fn is_protected(snapshot: &Snapshot, pod: &Pod) -> bool {
    match &pod.do_not_disrupt {
        DoNotDisrupt::No | DoNotDisrupt::Malformed(_) => false,
        DoNotDisrupt::Always => true,
        DoNotDisrupt::For(span) => pod
            .started
            .is_none_or(|started| snapshot.now.since(started) < *span),
    }
}

/// `true` if budgets never let the pod go: one that blocks everything, or two at once. A pod that tolerates the taint of
/// disruption is never evicted, hence never blocked; one that is deleting or has not begun to run is evicted without a look at budgets.
fn is_blocked(snapshot: &Snapshot, pod: &Pod) -> bool {
    let disrupted = Taint {
        key: "karpenter.sh/disrupted".into(),
        value: "".into(),
        effect: Effect::NoSchedule,
    };
    if pod
        .spec
        .tolerations
        .iter()
        .any(|toleration| toleration.tolerates(&disrupted))
    {
        return false;
    }
    if pod.deleting.is_some() || matches!(pod.phase, PodPhase::Pending) {
        return false;
    }
    let selects = |budget: &&std::sync::Arc<PodDisruptionBudget>| {
        budget.name.namespace == pod.name.namespace && budget.selector.matches(&pod.labels)
    };
    let mut budgets = snapshot.disruption_budgets.iter().filter(selects);
    let Some(first) = budgets.next() else {
        return false;
    };
    let is_unready = pod.ready == Some(false);
    let lets_unready_go = first.always_allow_unhealthy || first.is_met;
    budgets.next().is_some() || (first.blocks_all() && !(is_unready && lets_unready_go))
}

/// Fault of a waiting pod, in words; `None` where it can be planned.
fn problem(snapshot: &Snapshot, pod: &Pod) -> Option<String> {
    let spec = &pod.spec;
    if let Some(problem) = &spec.problem {
        return Some(problem.as_ref().to_owned());
    }
    let mut faults = daemons::alternatives(spec).into_iter().map(|asked| {
        let mut asked = asked.iter();
        asked.find_map(|asked| requirement_problem(snapshot, asked))
    });
    let first = faults.next().flatten();
    first
        .filter(|_| faults.all(|fault| fault.is_some()))
        .or_else(|| volumes::problem(snapshot, pod))
}

/// `true` if some required alternative leaves the pod nodes of a pool.
fn can_join_a_pool(pod: &Pod) -> bool {
    daemons::alternatives(&pod.spec).iter().any(|asked| {
        let own = asked.get(NODEPOOL);
        own.is_none_or(|own| own.operator() != Operator::DoesNotExist)
    })
}

fn requirement_problem(snapshot: &Snapshot, requirement: &Requirement) -> Option<String> {
    if let Some(restriction) = snapshot.catalogues.restriction(requirement.key()) {
        return Some(restriction);
    }
    let no_capacity_type = requirement.key().as_str() == CAPACITY_TYPE
        && requirement.operator() == Operator::In
        && !requirement
            .named()
            .iter()
            .any(|value| CapacityType::parse(value).is_some());
    no_capacity_type.then(|| format!("{requirement} names no capacity type there is"))
}
