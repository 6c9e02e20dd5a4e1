//! kube-scheduler's part: one pod at a time, to the best of the nodes that can take it.
//!
//! Order: priority, then age. A nominated pod is tried on its node first, and nodes keep room for pods nominated to them.
//! A pod that fits nowhere is marked unschedulable and loses its nomination, as the real scheduler does after an attempt in
//! which preemption finds nobody to displace. Pods that failed are tried again when a node changes or a pod goes.

mod filter;
mod score;
mod topology;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plimsoll_core::ids::{NodeName, ObjectName};
use plimsoll_core::model::{Node, Pod};
use plimsoll_core::requirement::Requirements;
use plimsoll_core::state::Version;

use crate::api::Api;
use crate::random::Random;
pub(crate) use filter::daemon_fits;
use topology::Topology;

/// What is to be tried, and what is known about nodes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scheduler {
    fresh: BTreeSet<ObjectName>,
    all: bool,
    labels: BTreeMap<NodeName, (Option<Version>, Arc<Requirements>)>,
}

/// How an attempt ended.
#[derive(Clone, Debug)]
pub(crate) enum Attempt {
    Bind(NodeName),
    /// Nowhere.
    Fail,
}

impl Scheduler {
    /// A pod is new, or may be placed now.
    pub(crate) fn try_pod(&mut self, pod: &ObjectName) {
        self.fresh.insert(pod.clone());
    }

    /// Something changed that may help any waiting pod.
    pub(crate) fn try_all(&mut self) {
        self.all = true;
    }

    pub(crate) fn forget_node(&mut self, node: &NodeName) {
        self.labels.remove(node);
    }

    /// The pods to be tried now, in order.
    pub(crate) fn take_queue(&mut self, api: &Api) -> Vec<ObjectName> {
        let fresh = std::mem::take(&mut self.fresh);
        let all = std::mem::take(&mut self.all);
        if fresh.is_empty() && (!all || api.waiting_count() == 0) {
            return Vec::new();
        }
        let mut pods: Vec<&Arc<Pod>> = if all {
            api.waiting().collect()
        } else {
            fresh.iter().filter_map(|name| api.pods.get(name)).collect()
        };
        pods.retain(|pod| pod.node.is_none() && pod.is_active());
        pods.sort_by_key(|pod| (Reverse(pod.spec.priority), pod.created, &pod.name));
        pods.into_iter().map(|pod| pod.name.clone()).collect()
    }

    /// Looks for a node for one pod.
    pub(crate) fn attempt(
        &mut self,
        pod: &Pod,
        api: &Api,
        honours: bool,
        random: Random,
    ) -> Attempt {
        let topology = Topology::of(pod, api, |node| self.labels_of(node, api));
        let mut candidates: Vec<&Arc<Node>> = Vec::new();
        if honours
            && let Some(node) = pod.nominated.as_ref().and_then(|name| api.nodes.get(name))
            && self.is_feasible(pod, node, api, &topology)
        {
            return Attempt::Bind(node.name.clone());
        }
        for node in api.nodes.values() {
            if self.is_feasible(pod, node, api, &topology) {
                candidates.push(node);
            }
        }
        match score::best(pod, &candidates, api, random) {
            Some(node) => Attempt::Bind(node.clone()),
            None => Attempt::Fail,
        }
    }

    fn is_feasible(&mut self, pod: &Pod, node: &Node, api: &Api, topology: &Topology) -> bool {
        filter::fits(pod, node, api).is_ok()
            && (!filter::asks_for_labels(pod)
                || filter::labels_fit(pod, &self.labels_of(node, api)).is_ok())
            && topology.allows(node)
    }

    fn labels_of(&mut self, node: &Node, api: &Api) -> Arc<Requirements> {
        let version = api.version_of_node(&node.name);
        if let Some((have, labels)) = self.labels.get(&node.name)
            && *have == version
        {
            return Arc::clone(labels);
        }
        let labels = Arc::new(filter::requirements_of(node));
        let row = (version, Arc::clone(&labels));
        self.labels.insert(node.name.clone(), row);
        labels
    }
}
