//! Daemons: what they will take of a node that is not there yet, and what is still to come on one that is; and their pods there, as
//! others see them.
//! Section 15 of the scheduling contract.

use std::sync::Arc;

use plimsoll_base::labels::{INITIALIZED, LabelKey, REGISTERED};
use plimsoll_base::requirement::{Requirement, Requirements, Undefined};
use plimsoll_base::resources::Resources;
use plimsoll_model::snapshot::{Snapshot, StateNode};
use plimsoll_model::{
    DaemonSet, Effect, HostPort, OwnerKind, Pod, PodSpec, Taint, first_untolerated,
};

use super::host::{Host, Way};

/// Daemons that are planned for: those that use dynamic resource allocation are declined like any such pod.
fn served(snapshot: &Snapshot) -> impl Iterator<Item = &Arc<DaemonSet>> {
    let sets = snapshot.daemon_sets.iter();
    sets.filter(|daemon| !daemon.pod.dynamic_resources)
}

/// Requests and ports of the daemons that will run on a new place if it turns out in this way.
///
/// This is the node's own truth: a daemon pinned to another zone is not charged, where the contract charges it to every
/// type sold there. What satisfies the contract satisfies this.
pub(super) fn on_new(snapshot: &Snapshot, host: &Host, way: &Way) -> (Resources, Vec<HostPort>) {
    let mut requests = Resources::new();
    let mut ports = Vec::new();
    for daemon in running(snapshot, host, way) {
        requests.add(&daemon.pod.requests);
        ports.extend(daemon.pod.host_ports.iter().cloned());
    }
    (requests, ports)
}

/// Addresses that the same daemons take: one for each that is not on its host's network.
pub(super) fn addresses(snapshot: &Snapshot, host: &Host, way: &Way) -> i64 {
    let running = running(snapshot, host, way);
    running
        .map(|daemon| i64::from(!daemon.pod.host_network))
        .sum()
}

fn running<'a>(
    snapshot: &'a Snapshot,
    host: &'a Host,
    way: &'a Way,
) -> impl Iterator<Item = &'a Arc<DaemonSet>> {
    served(snapshot).filter(move |daemon| {
        tolerates_hard(&host.taints, &daemon.pod) && may_run(snapshot, host, way, &daemon.pod)
    })
}

/// The pods that daemons bring, by set: each as it would be on a node.
pub(super) fn pods(snapshot: &Snapshot) -> impl Iterator<Item = (&Arc<DaemonSet>, Pod)> {
    served(snapshot).map(|daemon| {
        let mut pod = Pod::pending(daemon.uid.clone(), daemon.name.clone(), daemon.created);
        pod.labels = Arc::clone(&daemon.labels);
        pod.spec = Arc::clone(&daemon.pod);
        (daemon, pod)
    })
}

/// Number of the ways in which a claim of the plan gets a daemon.
pub(super) fn ways_with(snapshot: &Snapshot, host: &Host, daemon: &DaemonSet) -> usize {
    if !tolerates_hard(&host.taints, &daemon.pod) {
        return 0;
    }
    let ways = host.ways.iter();
    ways.filter(|way| may_run(snapshot, host, way, &daemon.pod))
        .count()
}

/// `true` if a node there is has no pod of a daemon yet and gets one.
pub(super) fn is_to_come(
    snapshot: &Snapshot,
    node: &StateNode,
    bound: &[usize],
    daemon: &DaemonSet,
) -> bool {
    let is_its = |row: &usize| {
        let pod = &snapshot.pods[*row];
        pod.is_owned_by(OwnerKind::DaemonSet)
            && pod
                .owner
                .as_ref()
                .is_some_and(|owner| owner.name == daemon.name.name)
            && pod.name.namespace == daemon.name.namespace
            && !pod.is_terminal()
    };
    !node.is_deleting() && runs_on(node, daemon) && !bound.iter().any(is_its)
}

/// `true` if the taints and labels of a node there is let a daemon run.
fn runs_on(node: &StateNode, daemon: &DaemonSet) -> bool {
    let asked = alternatives(&daemon.pod)
        .into_iter()
        .next()
        .unwrap_or_default();
    first_untolerated(&node.taints(), &daemon.pod.tolerations).is_none()
        && super::labels_of(node)
            .accepts(&asked, Undefined::Refused)
            .is_ok()
}

fn tolerates_hard(taints: &[Taint], daemon: &PodSpec) -> bool {
    let hard: Vec<Taint> = taints
        .iter()
        .filter(|taint| taint.effect != Effect::PreferNoSchedule)
        .cloned()
        .collect();
    first_untolerated(&hard, &daemon.tolerations).is_none()
}

/// `true` if some required term lets the daemon run on the place in this way.
fn may_run(snapshot: &Snapshot, host: &Host, way: &Way, daemon: &PodSpec) -> bool {
    alternatives(daemon).iter().any(|asked| {
        let keys = asked.iter().map(Requirement::key);
        let mut known: Requirements = keys
            .filter_map(|key| host.value(way, key.as_str()))
            .collect();
        for key in [REGISTERED, INITIALIZED] {
            known.replace(Requirement::one_of(LabelKey::from(key), ["true"]));
        }
        let well_known = |key: &LabelKey| snapshot.catalogues.is_well_known(key);
        known
            .accepts(asked, Undefined::Allowed(&well_known))
            .is_ok()
    })
}

/// Node selector with each required term in turn; the selector alone when there is none.
pub(super) fn alternatives(spec: &PodSpec) -> Vec<Requirements> {
    if spec.node_required.is_empty() {
        return vec![spec.node_selector.clone()];
    }
    let with = |term: &plimsoll_model::NodeTerm| spec.node_selector.intersect(&term.requirements);
    spec.node_required.iter().map(with).collect()
}

/// The most that daemons could take of any node of a template: for the upper bound of a claim's requests.
pub(super) fn all(snapshot: &Snapshot) -> Resources {
    let mut requests = Resources::new();
    for daemon in served(snapshot) {
        requests.add(&daemon.pod.requests);
    }
    requests
}

/// Resources that daemons will still take of an existing node: the requests of those that run there by its taints and labels,
/// less the requests of daemons on it already, never below zero.
pub(super) fn still_to_come(snapshot: &Snapshot, node: &StateNode, bound: &[usize]) -> Resources {
    let mut wanted = Resources::new();
    for daemon in served(snapshot).filter(|daemon| runs_on(node, daemon)) {
        wanted.add(&daemon.pod.requests);
    }
    let mut there = Resources::new();
    let daemons = bound.iter().map(|row| &snapshot.pods[*row]);
    for pod in daemons.filter(|pod| !pod.is_terminal() && pod.is_owned_by(OwnerKind::DaemonSet)) {
        there.add(&pod.spec.requests);
    }
    wanted.minus(&there).map(|_, amount| amount.max(0))
}
