//! Daemon sets and their live pods.
//!
//! Admission may change a daemon's pod (default requests, a webhook), so the newest live pod tells what the next one
//! will need. Its required node affinity is the template's: its controller pins each pod to one node, which says nothing
//! about the next.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_base::ids::Uid;
use plimsoll_model::{DaemonSet, OwnerKind, Pod, PodSpec};

use crate::intern::Interner;

/// Gives each daemon set the specification of its newest live pod, with the template's own required node affinity.
/// Of pods created at the same moment the last by name counts.
pub fn with_live_pods(sets: &mut [Arc<DaemonSet>], pods: &[Arc<Pod>], interner: &mut Interner) {
    let mut newest: BTreeMap<&Uid, &Arc<Pod>> = BTreeMap::new();
    for pod in pods.iter().filter(|pod| pod.is_active()) {
        let Some(owner) = pod.owner.as_ref() else {
            continue;
        };
        if owner.kind == OwnerKind::DaemonSet {
            let known = newest.entry(&owner.uid).or_insert(pod);
            if (known.created, &known.name) < (pod.created, &pod.name) {
                *known = pod;
            }
        }
    }
    for set in sets {
        if let Some(pod) = newest.get(&set.uid) {
            let spec = PodSpec {
                node_required: set.pod.node_required.clone(),
                problem: set.pod.problem.clone(),
                ..pod.spec.as_ref().clone()
            };
            Arc::make_mut(set).pod = interner.spec(spec);
        }
    }
}
