//! Changes since the last freeze: the pods and the joins of nodes and claims that the next one has to look at.

use std::collections::BTreeSet;
use std::sync::Arc;

use plimsoll_base::ids::{NodeName, ObjectName};
use plimsoll_model::snapshot::NodeJoin;
use plimsoll_model::{Node, NodeClaim, Pod};

use super::Cluster;

/// Changes beyond the number of all pods, nodes and claims by so many are not told apart any more.
const SLACK: usize = 1024;

/// Pods and joins that came, changed or went, some more than once.
#[derive(Clone, Debug, Default)]
pub(super) struct Changes {
    pub(super) pods: Vec<ObjectName>,
    pub(super) joins: Vec<NodeJoin>,
}

/// Pods and joins, each once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changed {
    /// Pods that changed, and those nominated to nodes that did.
    pub pods: BTreeSet<ObjectName>,
    /// Joins of which a node or a claim changed.
    pub joins: BTreeSet<NodeJoin>,
}

impl Cluster {
    /// Everything that changed since the last call; `None` where that may be anything.
    pub fn take_changed(&mut self) -> Option<Changed> {
        let changes = self.changes.replace(Changes::default())?;
        let mut changed = Changed {
            pods: changes.pods.into_iter().collect(),
            joins: changes.joins.into_iter().collect(),
        };
        for join in &changed.joins {
            let nodes = match join {
                NodeJoin::Node(name) => vec![name],
                NodeJoin::Instance(id) => {
                    let nodes = self.instances.nodes_of(id).iter();
                    nodes.map(|node| &node.name).collect()
                }
                NodeJoin::Claim(_) => Vec::new(),
            };
            let nominated = nodes
                .into_iter()
                .filter_map(|name| self.nominated.get(name));
            changed.pods.extend(nominated.flatten().cloned());
        }
        Some(changed)
    }

    /// All that there is, as if it had just come.
    pub fn all_changed(&self) -> Changed {
        let nodes = self.nodes.unordered().map(|node| NodeJoin::of_node(node));
        let claims = self.claims.unordered();
        let claims = claims.map(|claim| NodeJoin::of_claim(claim));
        Changed {
            pods: self.pods.unordered().map(|pod| pod.name.clone()).collect(),
            joins: nodes.chain(claims).collect(),
        }
    }

    /// The nodes and claims that are shown together, each by name.
    pub(crate) fn joined(&self, join: &NodeJoin) -> (Vec<Arc<Node>>, Vec<Arc<NodeClaim>>) {
        match join {
            NodeJoin::Instance(id) => {
                let nodes = self.instances.nodes_of(id).to_vec();
                let claim = self.instances.claim_of(id).cloned();
                (nodes, claim.into_iter().collect())
            }
            NodeJoin::Node(name) => {
                let node = self.nodes.get(name);
                let own = node.filter(|node| node.provider_id.is_none());
                (own.cloned().into_iter().collect(), Vec::new())
            }
            NodeJoin::Claim(name) => {
                let claim = self.claims.get(name);
                let own = claim.filter(|claim| claim.provider_id.is_none());
                (Vec::new(), own.cloned().into_iter().collect())
            }
        }
    }

    /// A pod came, changed or went.
    pub(super) fn note_pod(&mut self, before: Option<&Pod>, after: Option<&Pod>) {
        let nominated = before.and_then(|pod| pod.nominated.as_ref());
        let nominated_now = after.and_then(|pod| pod.nominated.as_ref());
        let Some(pod) = after.or(before) else { return };
        if nominated != nominated_now {
            if let Some(node) = nominated {
                self.unindex_nominated(node, &pod.name);
            }
            if let Some(node) = nominated_now {
                let names = self.nominated.entry(node.clone()).or_default();
                names.insert(pod.name.clone());
            }
        }
        if let Some(changes) = self.open_changes() {
            changes.pods.push(pod.name.clone());
        }
    }

    fn unindex_nominated(&mut self, node: &NodeName, pod: &ObjectName) {
        if let Some(names) = self.nominated.get_mut(node) {
            names.remove(pod);
            if names.is_empty() {
                self.nominated.remove(node);
            }
        }
    }

    /// A node came, changed or went. It is noted by name, too: pods may be nominated to it.
    pub(super) fn note_node(&mut self, node: &Node) {
        if let Some(changes) = self.open_changes() {
            changes.joins.push(NodeJoin::Node(node.name.clone()));
            if node.provider_id.is_some() {
                changes.joins.push(NodeJoin::of_node(node));
            }
        }
    }

    /// A claim came, changed or went.
    pub(super) fn note_claim(&mut self, claim: &NodeClaim) {
        if let Some(changes) = self.open_changes() {
            changes.joins.push(NodeJoin::of_claim(claim));
        }
    }

    /// Changes as far as they are told apart.
    fn open_changes(&mut self) -> Option<&mut Changes> {
        let most = self.pods.len() + self.nodes.len() + self.claims.len() + SLACK;
        let is_over = |changes: &Changes| changes.pods.len() + changes.joins.len() > most;
        if self.changes.as_ref().is_some_and(is_over) {
            self.changes = None;
        }
        self.changes.as_mut()
    }
}
