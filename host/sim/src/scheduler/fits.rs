//! The scheduler's word on every waiting pod and every node that is there, for those who hold it against the real one.

use plimsoll_base::ids::{NodeName, ObjectName};
use plimsoll_base::labels::{self, Labels};
use plimsoll_model::snapshot::Objects;
use plimsoll_model::{BindingMode, LabelSelector, NamespaceScope, Node, Object, Pod};

use super::volumes::{claims_of, class_of};
use super::{Refused, Scheduler};
use crate::api::Api;

/// Driver of classes whose volumes are made by people.
const NO_PROVISIONER: &str = "kubernetes.io/no-provisioner";

/// A waiting pod and a node that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fit {
    /// The pod.
    pub pod: ObjectName,
    /// The node.
    pub node: NodeName,
    /// The answer of the node at this moment.
    pub answer: Answer,
}

/// Answer of a node to a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The node takes the pod.
    Taken,
    /// The node does not, by the first rule that refuses.
    Refused(Refused),
    /// The answer depends on a rule that is not simulated.
    NotPlayed(NotPlayed),
}

/// A rule that the scheduler of a cluster goes by and the one here does not, on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NotPlayed {
    /// A part of the pod that was not understood.
    Problem,
    /// Devices by dynamic resource allocation: what ResourceSlices offer is not read.
    DynamicResources,
    /// Features that kubelets declare: nodes that are made here declare none.
    Features,
    /// A claim that is not there: a controller makes it, and there is none here.
    MissingClaim,
    /// Volumes that are there and wait for a claim: their size and class are not read.
    MadeBeforehand,
    /// A driver that must run: nodes that are made here have none.
    DriverMustRun,
    /// Rules of other pods that are nominated to the node; room is kept for them, and nothing else.
    Nominated,
    /// Selectors of namespaces that do no more than exclude labels, in terms of the pod itself: to the scheduler of Kubernetes 1.36
    /// they select every namespace, since it holds them against no labels at all. Here they mean what they say.
    ExcludedNamespaces,
    /// A node without a label of its host name, as people write it, is taken for one that has its own name there.
    HostName,
}

impl NotPlayed {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Problem,
        Self::DynamicResources,
        Self::Features,
        Self::MissingClaim,
        Self::MadeBeforehand,
        Self::DriverMustRun,
        Self::Nominated,
        Self::ExcludedNamespaces,
        Self::HostName,
    ];

    fn concerns(self, pod: &Pod, node: &Node, api: &Api) -> bool {
        let volumes = api.volumes();
        let claims = || claims_of(pod).map(|name| volumes.claims.get(&name));
        match self {
            Self::Problem => pod.spec.problem.is_some(),
            Self::DynamicResources => pod.spec.dynamic_resources,
            Self::Features => !pod.spec.features.is_empty(),
            Self::MissingClaim => claims().any(|claim| claim.is_none()),
            Self::MadeBeforehand => claims().flatten().any(|claim| {
                let waits = class_of(claim, volumes).filter(|(_, class)| {
                    class.binding == BindingMode::WaitForFirstConsumer && claim.volume.is_none()
                });
                let is_free = |volume| {
                    let mut claims = volumes.claims.values();
                    !claims.any(|claim| claim.volume.as_ref() == Some(volume))
                };
                waits.is_some_and(|(_, class)| {
                    *class.driver == *NO_PROVISIONER || volumes.volumes.keys().any(is_free)
                })
            }),
            Self::DriverMustRun => {
                !pod.spec.volumes.is_empty() && volumes.drivers.values().any(|one| one.must_run)
            }
            Self::Nominated => api
                .nominated_to(&node.name)
                .any(|other| other.name != pod.name),
            Self::ExcludedNamespaces => {
                let spec = &pod.spec;
                let mut terms = spec.affinity.iter().chain(&spec.anti_affinity);
                terms.any(|term| only_excludes(&term.namespaces))
            }
            Self::HostName => node.label(labels::HOSTNAME).is_none(),
        }
    }
}

/// `true` if a selector of namespaces has conditions, and a namespace without labels meets them.
fn only_excludes(scope: &NamespaceScope) -> bool {
    match scope {
        NamespaceScope::Named { selector, .. } => {
            *selector != LabelSelector::All(Vec::new()) && selector.matches(&Labels::new())
        }
        NamespaceScope::Own => false,
    }
}

/// Every pod that waits among the objects, on each of the nodes among them, by the same code that decides in a run.
pub fn fits(objects: &Objects) -> Vec<Fit> {
    let mut api = Api::default();
    for object in objects.iter() {
        match object {
            Object::Node(node) => drop(api.put_node(Node::clone(&node))),
            Object::Pod(pod) if pod.is_terminal() || pod.is_spare() => {}
            Object::Pod(pod) => drop(api.put_pod(Pod::clone(&pod))),
            Object::Claim(_) => {}
            other => api.put_other(other),
        }
    }
    let mut scheduler = Scheduler::default();
    let mut result = Vec::new();
    for pod in api.waiting() {
        let rules = scheduler.rules_of(pod, &api);
        for node in api.nodes.values() {
            let mut left_out = NotPlayed::ALL.into_iter();
            let answer = match left_out.find(|rule| rule.concerns(pod, node, &api)) {
                Some(rule) => Answer::NotPlayed(rule),
                None => match scheduler.admits(pod, node, &api, &rules) {
                    Ok(()) => Answer::Taken,
                    Err(refused) => Answer::Refused(refused),
                },
            };
            result.push(Fit {
                pod: pod.name.clone(),
                node: node.name.clone(),
                answer,
            });
        }
    }
    result
}
