//! kube-scheduler's part: one pod at a time, to the best of the nodes that can take it.
//!
//! Order: priority, then age. A nominated pod is tried on its node first, and nodes keep room for pods nominated to them.
//! A pod that fits nowhere is marked unschedulable and loses its nomination, as the real scheduler does after an attempt in
//! which preemption finds no pod to displace.
//!
//! Pods that failed are tried again when something may help them, as the real scheduler's hints have it: when a pod left a
//! node, all of them; when a node became freer in another way, those that it could take now. What failed everywhere a moment
//! ago can only succeed on the nodes that changed since, unless rules between pods are involved.

mod filter;
mod fits;
mod score;
#[cfg(test)]
mod tests;
mod topology;
mod volumes;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plimsoll_base::ids::{NodeName, ObjectName};
use plimsoll_base::requirement::Requirements;
use plimsoll_model::{Node, Pod, Version};

use crate::api::Api;
use crate::random::Random;
pub use filter::Refused;
pub(crate) use filter::daemon_fits;
pub use fits::{Answer, Fit, NotPlayed, fits};
use topology::Topology;
use volumes::VolumeRules;

/// Queue of pods to be tried, and the state of nodes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scheduler {
    fresh: BTreeSet<ObjectName>,
    all: bool,
    /// Nodes that a pod left.
    left: BTreeSet<NodeName>,
    /// Nodes that became usable, or freer in another way.
    freer: BTreeSet<NodeName>,
    labels: BTreeMap<NodeName, (Option<Version>, Arc<Requirements>)>,
    /// The most pods of workloads that a plugin lets be bound.
    admitted: BTreeMap<ObjectName, usize>,
}

/// How an attempt ended.
#[derive(Clone, Debug)]
pub(crate) enum Attempt {
    Bind(NodeName),
    /// Nowhere.
    Fail,
}

/// Where a pod is tried.
#[derive(Clone, Debug)]
pub(crate) enum Scope {
    Everywhere,
    /// Nowhere else can anything have changed for it.
    Among(Arc<[NodeName]>),
}

/// Rules of a pod that go by more than one node, as they stand at one attempt.
#[derive(Clone, Debug)]
struct Rules {
    topology: Topology,
    volumes: VolumeRules,
}

/// `true` if a pod's fate on a node depends on that node alone.
fn is_alone(pod: &Pod, api: &Api) -> bool {
    let spec = &pod.spec;
    spec.spread.is_empty()
        && spec.affinity.is_empty()
        && spec.anti_affinity.is_empty()
        && !volumes::may_wait_for_others(pod, api)
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

    /// A pod left a node. One that kept others away may have done so on many.
    pub(crate) fn left(&mut self, pod: &Pod) {
        if !pod.spec.anti_affinity.is_empty() {
            self.all = true;
        }
        self.left.extend(pod.node.clone());
    }

    /// A node became usable, or no longer keeps room for a pod.
    pub(crate) fn try_node(&mut self, node: &NodeName) {
        self.freer.insert(node.clone());
    }

    pub(crate) fn forget_node(&mut self, node: &NodeName) {
        self.labels.remove(node);
    }

    /// A plugin lets so many pods of a workload be bound; any number when `None`.
    pub(crate) fn admit(&mut self, workload: ObjectName, most: Option<usize>) {
        match most {
            Some(most) => self.admitted.insert(workload, most),
            None => self.admitted.remove(&workload),
        };
        self.all = true;
    }

    /// `true` if a plugin keeps a pod from every node.
    pub(crate) fn refuses(&self, pod: &Pod, api: &Api) -> bool {
        let Some(owner) = pod.owner.as_ref().filter(|_| !self.admitted.is_empty()) else {
            return false;
        };
        let workload = ObjectName::new(Arc::clone(&pod.name.namespace), Arc::clone(&owner.name));
        let most = self.admitted.get(&workload);
        most.is_some_and(|most| {
            let own = api.pods.values().filter(|other| other.owner == pod.owner);
            own.filter(|other| other.node.is_some()).count() >= *most
        })
    }

    /// The pods to be tried now, in order, and where.
    pub(crate) fn take_queue(&mut self, api: &Api) -> Vec<(ObjectName, Scope)> {
        let fresh = std::mem::take(&mut self.fresh);
        let all = std::mem::take(&mut self.all);
        let left = std::mem::take(&mut self.left);
        let mut changed = std::mem::take(&mut self.freer);
        let any_left = !left.is_empty();
        changed.extend(left);
        changed.retain(|name| api.nodes.contains_key(name));
        if (fresh.is_empty() && !all && changed.is_empty() && !any_left) || api.waiting_count() == 0
        {
            return Vec::new();
        }
        let changed: Arc<[NodeName]> = changed.into_iter().collect();
        let scope = |pod: &Arc<Pod>| {
            if all || fresh.contains(&pod.name) {
                return Some(Scope::Everywhere);
            }
            if !any_left && changed.is_empty() {
                return None;
            }
            if !is_alone(pod, api) {
                return Some(Scope::Everywhere);
            }
            let nodes = changed.iter().filter_map(|name| api.nodes.get(name));
            let mut takers = nodes.filter(|node| filter::fits(pod, node, api).is_ok());
            let helped = takers.next().is_some();
            let tried = helped || (any_left && pod.nominated.is_some());
            tried.then(|| Scope::Among(Arc::clone(&changed)))
        };
        let tried = api
            .waiting()
            .filter_map(|pod| Some((pod.name.clone(), scope(pod)?)));
        tried.collect()
    }

    /// Looks for a node for one pod.
    pub(crate) fn attempt(
        &mut self,
        pod: &Pod,
        scope: &Scope,
        api: &Api,
        honours: bool,
        random: Random,
    ) -> Attempt {
        let rules = self.rules_of(pod, api);
        if honours
            && let Some(node) = pod.nominated.as_ref().and_then(|name| api.nodes.get(name))
            && self.admits(pod, node, api, &rules).is_ok()
        {
            return Attempt::Bind(node.name.clone());
        }
        let mut candidates: Vec<&Arc<Node>> = match scope {
            Scope::Everywhere => api.nodes.values().collect(),
            Scope::Among(names) => names
                .iter()
                .filter_map(|name| api.nodes.get(name))
                .collect(),
        };
        candidates.retain(|node| self.admits(pod, node, api, &rules).is_ok());
        match score::best(pod, &candidates, api, random) {
            Some(node) => Attempt::Bind(node.clone()),
            None => Attempt::Fail,
        }
    }

    fn rules_of(&mut self, pod: &Pod, api: &Api) -> Rules {
        Rules {
            topology: Topology::of(pod, api, |node| self.labels_of(node, api)),
            volumes: VolumeRules::of(pod, api),
        }
    }

    /// Whether a node takes a pod at this moment.
    fn admits(&mut self, pod: &Pod, node: &Node, api: &Api, rules: &Rules) -> Result<(), Refused> {
        filter::fits(pod, node, api)?;
        if filter::asks_for_labels(pod) {
            filter::labels_fit(pod, &self.labels_of(node, api))?;
        }
        rules.topology.allows(node)?;
        if rules.volumes.is_empty() {
            return Ok(());
        }
        let labels = self.labels_of(node, api);
        rules.volumes.allow(node, &labels, api)
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
