//! Resources that daemons take of a node before any pod comes.
//!
//! On a new node a daemon counts when it tolerates the pool's taints and its selector agrees with the pool, the type and the
//! offering: a daemon of zone a takes nothing of a node in zone b. On a node there is, a daemon counts less what of it runs there
//! already.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_base::labels::LabelKey;
use plimsoll_base::requirement::{Requirements, Undefined};
use plimsoll_base::resources::Resources;
use plimsoll_model::catalogue::{Catalogues, InstanceType};
use plimsoll_model::snapshot::{Snapshot, StateNode};
use plimsoll_model::{DaemonSet, Effect, HostPort, OwnerKind, PodSpec, Taint, first_untolerated};

use super::templates::Template;

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

/// Daemons that pool and type let run on a node: positions among those that tolerate the pool's taints, each with the alternatives of
/// which its offering has to meet one; none where any offering will do.
pub(crate) struct DaemonsOfType(Vec<(usize, Vec<Requirements>)>);

impl<'a> Daemons<'a> {
    /// The daemons that tolerate a template's taints.
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

    /// Positions of the sets in the snapshot.
    pub(crate) fn positions(&self) -> Vec<usize> {
        self.tolerating.iter().map(|(at, _)| *at).collect()
    }

    /// The daemons that may run on nodes of a type, as far as pool and type decide.
    pub(crate) fn of_type(
        &self,
        template: &Template,
        instance_type: &InstanceType,
    ) -> DaemonsOfType {
        let well_known = |key: &LabelKey| self.catalogues.is_well_known(key);
        let agrees = |strict: &Requirements| {
            let pool = &template.requirements;
            let of_type = &instance_type.requirements;
            pool.accepts(strict, Undefined::Allowed(&well_known))
                .is_ok()
                && of_type.accepts(strict, Undefined::Ignored).is_ok()
        };
        let of_offering = |strict: Requirements| -> Requirements {
            let asked = strict.iter();
            asked
                .filter(|asked| self.catalogues.is_of_offerings(asked.key()))
                .cloned()
                .collect()
        };
        let sets = self.tolerating.iter().enumerate();
        let running = sets.filter_map(|(at, (_, set))| {
            let terms: Vec<Requirements> = strict_terms(&set.pod)
                .filter(agrees)
                .map(of_offering)
                .collect();
            let anywhere = terms.iter().any(Requirements::is_empty);
            match terms {
                none if none.is_empty() => None,
                _ if anywhere => Some((at, Vec::new())),
                some => Some((at, some)),
            }
        });
        DaemonsOfType(running.collect())
    }

    /// Room and ports that daemons take of a new node of an offering with these labels; equal answers are shared.
    pub(crate) fn overhead(
        &mut self,
        of_type: &DaemonsOfType,
        offering: &Requirements,
    ) -> Arc<Overhead> {
        let meets = |term: &Requirements| offering.accepts(term, Undefined::Ignored).is_ok();
        let running: Vec<usize> = of_type
            .0
            .iter()
            .filter(|(_, terms)| terms.is_empty() || terms.iter().any(meets))
            .map(|(at, _)| *at)
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
    let meets = |strict: Requirements| labels.accepts(&strict, Undefined::Refused).is_ok();
    first_untolerated(taints, &set.pod.tolerations).is_none()
        && strict_terms(&set.pod).any(meets)
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
