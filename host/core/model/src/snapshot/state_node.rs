//! A node as scheduling sees it: a Node, a NodeClaim, or both joined by their provider id.
//!
//! Until a claim's node has registered, the claim speaks for it; afterwards the node does.

use std::borrow::Cow;
use std::sync::Arc;

use plimsoll_base::ids::PoolName;
use plimsoll_base::labels::{self, Labels};
use plimsoll_base::resources::{ResourceName, Resources};
use serde::Serialize;

use crate::{ClaimPhase, Effect, Node, NodeClaim, Taint};

/// Taints that come and go while a node settles; hidden on our own nodes until they have initialised.
const EPHEMERAL: [(&str, Effect); 5] = [
    ("node.kubernetes.io/not-ready", Effect::NoSchedule),
    ("node.kubernetes.io/not-ready", Effect::NoExecute),
    ("node.kubernetes.io/unreachable", Effect::NoSchedule),
    (
        "node.cloudprovider.kubernetes.io/uninitialized",
        Effect::NoSchedule,
    ),
    ("karpenter.sh/unregistered", Effect::NoExecute),
];
/// Keys with this prefix are ephemeral whatever their effect.
const READINESS_PREFIX: &str = "readiness.k8s.io/";

/// One node, one claim, or both.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StateNode {
    /// The Node object, once there is one.
    pub node: Option<Arc<Node>>,
    /// Our claim; `None` for nodes of others.
    pub claim: Option<Arc<NodeClaim>>,
}

impl StateNode {
    pub(super) fn is_labelled_initialized(node: &Node, _claim: &NodeClaim) -> bool {
        node.label(labels::INITIALIZED)
            .is_some_and(|value| value.as_ref() == "true")
    }

    /// `true` if the node is ours.
    pub fn is_managed(&self) -> bool {
        self.claim.is_some()
    }

    fn has_true_label(&self, key: &str) -> bool {
        self.node.as_ref().is_some_and(|node| {
            node.label(key)
                .is_some_and(|value| value.as_ref() == "true")
        })
    }

    /// `true` if the node has joined: always, for nodes of others.
    pub fn is_registered(&self) -> bool {
        !self.is_managed() || self.has_true_label(labels::REGISTERED)
    }

    /// `true` if the node is complete: always, for nodes of others.
    pub fn is_initialized(&self) -> bool {
        !self.is_managed() || self.has_true_label(labels::INITIALIZED)
    }

    /// `true` if the cloud has given an instance.
    pub fn is_launched(&self) -> bool {
        self.node.is_some()
            || self
                .claim
                .as_ref()
                .is_some_and(|claim| claim.phase() >= ClaimPhase::Launched)
    }

    /// `true` if it has a claim whose node has not come up.
    pub fn is_on_its_way(&self) -> bool {
        let claim = self.claim.as_ref();
        claim.is_some_and(|claim| claim.phase() < ClaimPhase::Initialized)
    }

    /// `true` if it is deleting.
    pub fn is_deleting(&self) -> bool {
        match (&self.claim, &self.node) {
            (Some(claim), _) => claim.deleting.is_some() || claim.is_instance_terminating(),
            (None, Some(node)) => node.deleting.is_some(),
            (None, None) => false,
        }
    }

    /// Name: of the claim until registered, then of the node.
    pub fn name(&self) -> &str {
        match (&self.node, &self.claim) {
            (Some(node), _) if self.is_registered() => node.name.as_str(),
            (_, Some(claim)) => claim.name.as_str(),
            (Some(node), None) => node.name.as_str(),
            (None, None) => "",
        }
    }

    /// Host name: the label, else the name.
    pub fn hostname(&self) -> &str {
        self.labels()
            .get(labels::HOSTNAME)
            .map_or(self.name(), AsRef::as_ref)
    }

    /// Labels: of the claim until registered, then of the node.
    pub fn labels(&self) -> &Labels {
        static NONE: Labels = Labels::new();
        match (&self.node, &self.claim) {
            (Some(node), _) if self.is_registered() => &node.labels,
            (_, Some(claim)) => &claim.labels,
            (Some(node), None) => &node.labels,
            (None, None) => &NONE,
        }
    }

    /// Labels as far as they are certain: those it has and, until an instance is launched, the values that its claim requires
    /// alone for their key.
    pub fn certain_labels(&self) -> Cow<'_, Labels> {
        let own = self.labels();
        let Some(claim) = self.claim.as_ref().filter(|_| !self.is_launched()) else {
            return Cow::Borrowed(own);
        };
        let required = claim.requirements.iter().filter_map(|requirement| {
            let value = requirement.single()?;
            Some((Arc::from(requirement.key().as_str()), Arc::clone(value)))
        });
        let mut labels = own.clone();
        for (key, value) in required {
            labels.entry(key).or_insert(value);
        }
        Cow::Owned(labels)
    }

    /// The pool it belongs to; `None` for a claim that stands alone, and for a node of others without a pool's label.
    pub fn pool(&self) -> Option<PoolName> {
        match &self.claim {
            Some(claim) => Some(claim.pool.clone()).filter(|pool| !pool.as_str().is_empty()),
            None => self.node.as_ref().and_then(|node| node.pool()),
        }
    }

    /// Taints that keep pods away: those that will pass are hidden while our node has not initialised.
    pub fn taints(&self) -> Vec<Taint> {
        let Some(claim) = &self.claim else {
            return self
                .node
                .as_ref()
                .map(|node| node.taints.clone())
                .unwrap_or_default();
        };
        let shown = match &self.node {
            Some(node) if self.is_registered() => &node.taints,
            _ => &claim.taints,
        };
        if self.is_initialized() {
            return shown.clone();
        }
        let at_start = |taint: &Taint| {
            claim
                .startup_taints
                .iter()
                .any(|t| t.key == taint.key && t.effect == taint.effect)
        };
        shown
            .iter()
            .filter(|taint| !is_ephemeral(taint) && !at_start(taint))
            .cloned()
            .collect()
    }

    /// All it has, with `nodes: 1`.
    pub fn capacity(&self) -> Resources {
        self.settled(|node| &node.capacity, |claim| &claim.capacity)
            .with(ResourceName::Nodes, 1)
    }

    /// Resources for pods and daemons: the node's word once it has initialised, until then filled up from the claim.
    pub fn allocatable(&self) -> Resources {
        self.settled(|node| &node.allocatable, |claim| &claim.allocatable)
    }

    /// The node's word once it has initialised; until then the claim fills what the node does not report, or reports as zero.
    fn settled(
        &self,
        of_node: impl Fn(&Node) -> &Resources,
        of_claim: impl Fn(&NodeClaim) -> &Resources,
    ) -> Resources {
        match (&self.node, &self.claim) {
            (Some(node), Some(claim)) if !self.is_initialized() => {
                let mut result = of_node(node).clone();
                for (name, amount) in of_claim(claim).iter() {
                    if result.get(name) == 0 {
                        result.set(name.clone(), amount);
                    }
                }
                result
            }
            (Some(node), _) => of_node(node).clone(),
            (None, Some(claim)) => of_claim(claim).clone(),
            (None, None) => Resources::new(),
        }
    }
}

/// `true` if a taint passes by itself while a node settles.
pub fn is_ephemeral(taint: &Taint) -> bool {
    taint.key.starts_with(READINESS_PREFIX)
        || EPHEMERAL
            .iter()
            .any(|(key, effect)| taint.key.as_ref() == *key && taint.effect == *effect)
}
