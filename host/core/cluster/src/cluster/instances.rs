//! Nodes and claims of each instance, joined by provider id.

use std::sync::Arc;

use plimsoll_base::ids::ProviderId;
use plimsoll_model::{Keyed, Node, NodeClaim};

use crate::NameIndex;

/// Nodes and claims by the instance that they name.
#[derive(Clone, Debug, Default)]
pub(super) struct Instances {
    joined: NameIndex<ProviderId, Joined>,
}

/// Objects of one instance, each kind by name. More than one of a kind is an error of the world.
#[derive(Clone, Debug, Default)]
struct Joined {
    nodes: Vec<Arc<Node>>,
    claims: Vec<Arc<NodeClaim>>,
}

impl Instances {
    /// The nodes of an instance, by name.
    pub(super) fn nodes_of(&self, id: &ProviderId) -> &[Arc<Node>] {
        self.joined.get(id).map_or(&[], |joined| &joined.nodes)
    }

    /// The claims of an instance, by name.
    pub(super) fn claims_of(&self, id: &ProviderId) -> &[Arc<NodeClaim>] {
        self.joined.get(id).map_or(&[], |joined| &joined.claims)
    }

    /// The claim of an instance; of several the last by name, `None` where there is none.
    pub(super) fn claim_of(&self, id: &ProviderId) -> Option<&Arc<NodeClaim>> {
        self.joined.get(id)?.claims.last()
    }

    /// A node came or changed.
    pub(super) fn apply_node(&mut self, before: Option<&Node>, node: &Arc<Node>) {
        if let Some(before) = before.filter(|before| before.provider_id != node.provider_id) {
            self.remove_node(before);
        }
        if let Some(id) = &node.provider_id {
            put(&mut self.joined.get_or_default(id).nodes, node);
        }
    }

    /// A claim came or changed.
    pub(super) fn apply_claim(&mut self, before: Option<&NodeClaim>, claim: &Arc<NodeClaim>) {
        if let Some(before) = before.filter(|before| before.provider_id != claim.provider_id) {
            self.remove_claim(before);
        }
        if let Some(id) = &claim.provider_id {
            put(&mut self.joined.get_or_default(id).claims, claim);
        }
    }

    /// A node is no more, or names another instance.
    pub(super) fn remove_node(&mut self, node: &Node) {
        self.change(node.provider_id.as_ref(), |joined| {
            joined.nodes.retain(|have| have.name != node.name);
        });
    }

    /// A claim is no more, or names another instance.
    pub(super) fn remove_claim(&mut self, claim: &NodeClaim) {
        self.change(claim.provider_id.as_ref(), |joined| {
            joined.claims.retain(|have| have.name != claim.name);
        });
    }

    /// Takes something from what is joined; what is left without objects is forgotten.
    fn change(&mut self, id: Option<&ProviderId>, take: impl FnOnce(&mut Joined)) {
        let Some(id) = id else { return };
        let Some(joined) = self.joined.get_mut(id) else {
            return;
        };
        take(joined);
        if joined.nodes.is_empty() && joined.claims.is_empty() {
            self.joined.remove(id);
        }
    }
}

/// Puts an object where its name belongs, in the place of what it was before.
fn put<T: Keyed>(objects: &mut Vec<Arc<T>>, object: &Arc<T>) {
    match objects.binary_search_by_key(&object.key(), |have| have.key()) {
        Ok(at) => objects[at] = Arc::clone(object),
        Err(at) => objects.insert(at, Arc::clone(object)),
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_base::ids::{NodeName, Uid};
    use plimsoll_base::labels::Labels;
    use plimsoll_base::resources::Resources;
    use plimsoll_base::time::Timestamp;
    use plimsoll_model::NodeConditions;

    use super::*;

    fn node(name: &str, id: &str) -> Arc<Node> {
        Arc::new(Node {
            name: NodeName::from(name),
            uid: Uid::from(name),
            provider_id: Some(ProviderId::from(id)),
            labels: Labels::new(),
            annotations: Labels::new(),
            taints: Vec::new(),
            capacity: Resources::new(),
            allocatable: Resources::new(),
            features: Vec::new(),
            conditions: NodeConditions::default(),
            created: Timestamp::default(),
            deleting: None,
            held: false,
        })
    }

    #[test]
    fn instances_that_nothing_names_are_forgotten() {
        let (one, other, moved) = (node("a", "i-1"), node("b", "i-1"), node("a", "i-2"));
        let mut instances = Instances::default();
        instances.apply_node(None, &other);
        instances.apply_node(None, &one);
        let id = ProviderId::from("i-1");
        assert_eq!(
            instances.nodes_of(&id),
            [Arc::clone(&one), Arc::clone(&other)]
        );
        instances.apply_node(Some(&one), &moved);
        assert_eq!(instances.nodes_of(&id), [Arc::clone(&other)]);
        instances.remove_node(&other);
        instances.remove_node(&moved);
        assert!(instances.joined.is_empty());
    }
}
