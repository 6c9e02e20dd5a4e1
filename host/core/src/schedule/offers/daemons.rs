//! Resources that daemons take of a node before any pod comes.
//!
//! On a new node a daemon counts when it tolerates the pool's taints and its selector agrees with the pool and the type;
//! the pool's own requirements decide, not what pods narrow them to, so a daemon of zone a is charged to a type sold there
//! even if the node ends in zone b. On a node there is, a daemon counts less what of it runs there already.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::templates::Template;
use crate::catalogue::{Catalogues, InstanceType};
use crate::model::{DaemonSet, Effect, HostPort, OwnerKind, PodSpec, Taint, first_untolerated};
use crate::requirement::{Requirements, Undefined};
use crate::resources::Resources;
use crate::snapshot::{Snapshot, StateNode};

/// Daemons of one set of types: what they ask for together and the ports they take.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Overhead {
    /// Sum of their requests, pods included.
    pub(crate) requests: Resources,
    /// Ports they take on the host.
    pub(crate) ports: Vec<HostPort>,
    /// Addresses they take of a subnet.
    pub(crate) addresses: i64,
    /// Positions of their sets in the snapshot, ascending.
    pub(crate) sets: Vec<usize>,
}

/// Daemons by template, as one can ask of a type.
pub(crate) struct Daemons<'a> {
    /// Sets with their positions in the snapshot.
    tolerating: Vec<(usize, &'a DaemonSet)>,
    catalogues: &'a Catalogues,
    known: BTreeMap<Vec<usize>, Arc<Overhead>>,
}

impl<'a> Daemons<'a> {
    /// The daemons that tolerate a template's taints and agree with its requirements at all.
    pub(crate) fn of(snapshot: &'a Snapshot, template: &Template) -> Self {
        let hard: Vec<Taint> = template
            .taints()
            .iter()
            .filter(|taint| taint.effect != Effect::PreferNoSchedule)
            .cloned()
            .collect();
        let sets = snapshot.daemon_sets.iter().map(AsRef::as_ref);
        let tolerating = sets.enumerate().filter(|(_, set)| {
            first_untolerated(&hard, &set.pod.tolerations).is_none() && !set.pod.dynamic_resources
        });
        Self {
            tolerating: tolerating.collect(),
            catalogues: &snapshot.catalogues,
            known: BTreeMap::new(),
        }
    }

    /// Resources and addresses that daemons take of a new node of this type; equal answers are shared.
    pub(crate) fn overhead(
        &mut self,
        template: &Template,
        instance_type: &InstanceType,
    ) -> Arc<Overhead> {
        let well_known = |key: &crate::labels::LabelKey| self.catalogues.is_well_known(key);
        let runs = |set: &DaemonSet| {
            strict_terms(&set.pod).any(|strict| {
                let allowed = || {
                    let pool = &template.requirements;
                    pool.accepts(&strict, Undefined::Allowed(&well_known))
                        .is_ok()
                        && instance_type
                            .requirements
                            .accepts(&strict, Undefined::Ignored)
                            .is_ok()
                        && is_sold_for(self.catalogues, instance_type, &strict)
                };
                strict.is_empty() || allowed()
            })
        };
        let running: Vec<usize> = self
            .tolerating
            .iter()
            .enumerate()
            .filter(|(_, (_, set))| runs(set))
            .map(|(at, _)| at)
            .collect();
        if let Some(overhead) = self.known.get(&running) {
            return Arc::clone(overhead);
        }
        let mut overhead = Overhead::default();
        for at in &running {
            let (number, set) = self.tolerating[*at];
            overhead.requests.add(&set.pod.requests);
            overhead.addresses += set.pod.addresses();
            overhead.ports.extend(set.pod.host_ports.iter().cloned());
            overhead.sets.push(number);
        }
        let overhead = Arc::new(overhead);
        self.known.insert(running, Arc::clone(&overhead));
        overhead
    }
}

/// `true` if any offering of a type agrees with requirements on zone and capacity type.
fn is_sold_for(
    catalogues: &Catalogues,
    instance_type: &InstanceType,
    strict: &Requirements,
) -> bool {
    instance_type.offerings.is_empty()
        || instance_type.offerings.iter().any(|offering| {
            offering
                .node_requirements(catalogues.provider())
                .accepts(strict, Undefined::Ignored)
                .is_ok()
        })
}

/// A pod's hard requirements, one set per alternative of its required node affinity.
fn strict_terms(pod: &PodSpec) -> impl Iterator<Item = Requirements> + '_ {
    let without_terms = pod
        .node_required
        .is_empty()
        .then(|| pod.node_selector.clone());
    let with_terms = pod
        .node_required
        .iter()
        .map(|term| pod.node_selector.intersect(&term.requirements));
    without_terms.into_iter().chain(with_terms)
}

/// `true` if a node there is waits for a daemon of a set or has one: by its taints and labels it belongs there.
fn belongs(set: &DaemonSet, taints: &[Taint], labels: &Requirements) -> bool {
    let strict = strict_terms(&set.pod).next().unwrap_or_default();
    first_untolerated(taints, &set.pod.tolerations).is_none()
        && labels.accepts(&strict, Undefined::Refused).is_ok()
        && !set.pod.dynamic_resources
}

/// `true` if the pod of a daemon set is yet to come to an existing node on which these pods are.
pub(crate) fn is_to_come(
    snapshot: &Snapshot,
    node: &StateNode,
    set: &DaemonSet,
    bound: &[usize],
) -> bool {
    let is_there = |row: &usize| {
        let pod = &snapshot.pods[*row];
        let owner = pod.owner.as_ref();
        let is_of_set = owner
            .is_some_and(|owner| owner.kind == OwnerKind::DaemonSet && owner.name == set.name.name);
        is_of_set && pod.name.namespace == set.name.namespace && !pod.is_terminal()
    };
    let labels = Requirements::from_labels(node.certain_labels().as_ref());
    belongs(set, &node.taints(), &labels) && !bound.iter().any(is_there)
}

/// Requests of daemons that an existing node still waits for: those that belong there, less the daemons that run there.
pub(crate) fn remaining_need(
    snapshot: &Snapshot,
    node: &StateNode,
    labels: &Requirements,
    bound: &[usize],
) -> Resources {
    let taints = node.taints();
    let mut need = Resources::new();
    for set in &snapshot.daemon_sets {
        if belongs(set, &taints, labels) {
            need.add(&set.pod.requests);
        }
    }
    let mut running = Resources::new();
    for row in bound {
        let pod = &snapshot.pods[*row];
        if pod.is_owned_by(OwnerKind::DaemonSet) && !pod.is_terminal() {
            running.add(&pod.spec.requests);
        }
    }
    need.minus(&running).map(|_, amount| amount.max(0))
}
