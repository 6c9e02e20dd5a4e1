//! Nodes joined with their claims: which objects share a row, and in which order rows stand.
//!
//! A row is found again by its [`NodeJoin`], so that a snapshot can be brought up to date join by join as well as made at once.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_base::ids::{ClaimName, NodeName, ProviderId};
use plimsoll_base::labels;

use super::StateNode;
use crate::{Node, NodeClaim};

/// Key of the nodes and claims that are read together.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NodeJoin {
    /// Those of one instance.
    Instance(ProviderId),
    /// A node that names no instance.
    Node(NodeName),
    /// A claim that names no instance.
    Claim(ClaimName),
}

impl NodeJoin {
    /// The join of a node.
    pub fn of_node(node: &Node) -> Self {
        match &node.provider_id {
            Some(id) => Self::Instance(id.clone()),
            None => Self::Node(node.name.clone()),
        }
    }

    /// The join of a claim.
    pub fn of_claim(claim: &NodeClaim) -> Self {
        match &claim.provider_id {
            Some(id) => Self::Instance(id.clone()),
            None => Self::Claim(claim.name.clone()),
        }
    }

    /// Rows of a join, made of all its nodes and claims, both by name. Of several claims of one instance the last counts, and
    /// the first of several nodes has it. A node with a pool's label but without a provider id is left out, as is one of a
    /// claim that has not initialised and lacks its instance-type label.
    pub fn rows(
        &self,
        nodes: impl IntoIterator<Item = Arc<Node>>,
        claims: impl IntoIterator<Item = Arc<NodeClaim>>,
    ) -> Vec<(NodeOrder, StateNode)> {
        let mut claims = claims.into_iter();
        let mut rows = Vec::new();
        let mut own = match self {
            Self::Instance(_) => claims.by_ref().last(),
            Self::Node(_) | Self::Claim(_) => None,
        };
        for node in nodes {
            let origin = Origin::Node(node.name.clone());
            let claim = own.take();
            let row = if is_complete(&node, claim.as_deref()) {
                let node = Some(node);
                StateNode { node, claim }
            } else if claim.is_some() {
                StateNode { node: None, claim }
            } else {
                continue;
            };
            rows.push((NodeOrder::of(&row, origin), row));
        }
        for claim in own.into_iter().chain(claims) {
            let origin = match &claim.provider_id {
                Some(id) => Origin::Instance(id.clone()),
                None => Origin::Claim(claim.name.clone()),
            };
            let claim = Some(claim);
            let row = StateNode { node: None, claim };
            rows.push((NodeOrder::of(&row, origin), row));
        }
        rows
    }
}

fn is_complete(node: &Node, claim: Option<&NodeClaim>) -> bool {
    match claim {
        Some(claim) => {
            node.label(labels::INSTANCE_TYPE).is_some()
                || StateNode::is_labelled_initialized(node, claim)
        }
        None => node.provider_id.is_some() || node.label(labels::NODEPOOL).is_none(),
    }
}

/// Place of a row among all: initialised ones first, then by name; rows of one name by where they come from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeOrder {
    is_pending: bool,
    name: Arc<str>,
    origin: Origin,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Origin {
    Node(NodeName),
    /// A claim that has no node.
    Instance(ProviderId),
    /// A claim that has no instance.
    Claim(ClaimName),
}

impl NodeOrder {
    fn of(row: &StateNode, origin: Origin) -> Self {
        Self {
            is_pending: !row.is_initialized(),
            name: Arc::from(row.name()),
            origin,
        }
    }
}

/// All nodes and claims, both by name, in the order in which they are offered to pods.
pub(super) fn join(nodes: Vec<Arc<Node>>, claims: Vec<Arc<NodeClaim>>) -> Vec<StateNode> {
    type Members = (Vec<Arc<Node>>, Vec<Arc<NodeClaim>>);
    let mut members: BTreeMap<NodeJoin, Members> = BTreeMap::new();
    for node in nodes {
        let (nodes, _) = members.entry(NodeJoin::of_node(&node)).or_default();
        nodes.push(node);
    }
    for claim in claims {
        let (_, claims) = members.entry(NodeJoin::of_claim(&claim)).or_default();
        claims.push(claim);
    }
    let joined = members.into_iter();
    let mut rows: Vec<(NodeOrder, StateNode)> = joined
        .flat_map(|(join, (nodes, claims))| join.rows(nodes, claims))
        .collect();
    rows.sort_by(|(a, _), (b, _)| a.cmp(b));
    rows.into_iter().map(|(_, row)| row).collect()
}
