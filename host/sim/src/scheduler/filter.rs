//! The scheduler's filters: taints, free resources, ports, labels.

use std::sync::Arc;

use plimsoll_base::labels::{self, LabelKey};
use plimsoll_base::requirement::{Requirement, Requirements, Undefined};
use plimsoll_model::{Effect, Node, Pod, PodSpec, Taint};

use crate::api::Api;

/// The first rule that refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Refused {
    /// A taint that the pod does not tolerate.
    Taint,
    /// Too little room, or too many pods.
    Room,
    /// A port of the host that is taken.
    Port,
    /// Node selector or required node affinity.
    Labels,
    /// A hard spread constraint.
    Spread,
    /// Required affinity to other pods.
    Affinity,
    /// Required anti-affinity, of the pod or of one that is there.
    AntiAffinity,
    /// Volumes: unusable, out of reach, or more than the node attaches.
    Volumes,
}

/// Taints, room and ports.
pub(crate) fn fits(pod: &Pod, node: &Node, api: &Api) -> Result<(), Refused> {
    if !tolerates(&pod.spec, node) {
        return Err(Refused::Taint);
    }
    if !has_room(pod, node, api) {
        return Err(Refused::Room);
    }
    if pod.spec.host_ports.is_empty() {
        return Ok(());
    }
    let taken = api
        .pods_on(&node.name)
        .filter(|other| !other.is_terminal())
        .flat_map(|other| &other.spec.host_ports);
    for have in taken {
        if pod
            .spec
            .host_ports
            .iter()
            .any(|port| port.conflicts_with(have))
        {
            return Err(Refused::Port);
        }
    }
    Ok(())
}

/// `true` if no taint of a node keeps a pod out.
pub(crate) fn tolerates(spec: &PodSpec, node: &Node) -> bool {
    !node.taints.iter().any(|taint| keeps_out(taint, spec))
}

fn keeps_out(taint: &Taint, spec: &PodSpec) -> bool {
    let mut tolerations = spec.tolerations.iter();
    taint.effect != Effect::PreferNoSchedule
        && !tolerations.any(|toleration| toleration.tolerates(taint))
}

/// Room beside the pods that are there and those nominated there that matter as much.
fn has_room(pod: &Pod, node: &Node, api: &Api) -> bool {
    let used = api.used(&node.name);
    let kept_for =
        |other: &&Arc<Pod>| other.name != pod.name && other.spec.priority >= pod.spec.priority;
    pod.spec.requests.iter().all(|(name, amount)| {
        let bound = used.map_or(0, |used| used.get(name));
        let free = node.allocatable.get(name) - bound;
        if amount == 0 || amount > free {
            return amount == 0;
        }
        let others = api.nominated_to(&node.name).filter(kept_for);
        let kept: i64 = others.map(|other| other.spec.requests.get(name)).sum();
        amount <= free - kept
    })
}

/// `true` if a pod says anything about labels of nodes.
pub(crate) fn asks_for_labels(pod: &Pod) -> bool {
    !pod.spec.node_selector.is_empty() || !pod.spec.node_required.is_empty()
}

/// Node selector and required node affinity.
pub(crate) fn labels_fit(pod: &Pod, node: &Requirements) -> Result<(), Refused> {
    let accepted = |asked: &Requirements| node.accepts(asked, Undefined::Refused).is_ok();
    let terms = &pod.spec.node_required;
    let one = terms.is_empty() || terms.iter().any(|term| accepted(&term.requirements));
    if accepted(&pod.spec.node_selector) && one {
        Ok(())
    } else {
        Err(Refused::Labels)
    }
}

/// A node's labels as requirements.
pub(crate) fn requirements_of(node: &Node) -> Requirements {
    let mut result = Requirements::from_labels(&node.labels);
    if result.get(labels::HOSTNAME).is_none() {
        let key = LabelKey::from(labels::HOSTNAME);
        result.add(Requirement::one_of(key, [node.name.as_str()]));
    }
    result
}

/// `true` if a daemon's pod belongs on a node: its taints apart from those that daemons always tolerate, and its labels.
pub(crate) fn daemon_fits(spec: &PodSpec, node: &Node) -> bool {
    let passing = |taint: &Taint| taint.key.starts_with("node.kubernetes.io/");
    let kept_out = node
        .taints
        .iter()
        .any(|taint| !passing(taint) && keeps_out(taint, spec));
    let labels = requirements_of(node);
    let accepted = |asked: &Requirements| labels.accepts(asked, Undefined::Refused).is_ok();
    let terms = &spec.node_required;
    let one = terms.is_empty() || terms.iter().any(|term| accepted(&term.requirements));
    !kept_out && accepted(&spec.node_selector) && one
}
