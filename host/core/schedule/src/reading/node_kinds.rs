//! Kinds of nodes: what taints and labels tell of them, names apart, so that a few kinds stand for many nodes.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_base::labels::{self, LabelKey, Labels};
use plimsoll_model::Taint;
use plimsoll_model::snapshot::Snapshot;

/// Nodes that differ in their names, and in nothing else that pods may ask for besides room.
#[derive(Clone, Debug)]
pub(crate) struct NodeKind {
    /// Taints that keep pods away.
    pub(crate) taints: Vec<Taint>,
    /// Labels as far as they are certain, without the host name.
    pub(crate) labels: Vec<(LabelKey, Arc<str>)>,
}

/// The nodes of a snapshot by kind.
#[derive(Clone, Debug)]
pub(crate) struct NodeKinds {
    /// All kinds, in the order in which nodes show them.
    pub(crate) kinds: Vec<NodeKind>,
    /// By node: position of its kind.
    pub(crate) of_node: Vec<usize>,
}

impl NodeKinds {
    /// Sorts the nodes of a snapshot.
    pub(super) fn of(snapshot: &Snapshot) -> Self {
        let mut numbers: BTreeMap<(Vec<Taint>, Vec<RawLabel>), usize> = BTreeMap::new();
        let of_node = snapshot.nodes.iter().map(|node| {
            let labels = unnamed(&node.certain_labels()).collect();
            let next = numbers.len();
            *numbers.entry((node.taints(), labels)).or_insert(next)
        });
        let of_node = of_node.collect();
        let mut kinds: Vec<_> = numbers.into_iter().collect();
        kinds.sort_unstable_by_key(|(_, number)| *number);
        let kinds = kinds.into_iter().map(|(kind, _)| NodeKind::new(kind));
        Self {
            kinds: kinds.collect(),
            of_node,
        }
    }
}

impl NodeKind {
    fn new((taints, labels): (Vec<Taint>, Vec<RawLabel>)) -> Self {
        let hostname = LabelKey::from(labels::HOSTNAME);
        let labels = labels.into_iter();
        let labels = labels.map(|(key, value)| (LabelKey::from(key.as_ref()), value));
        Self {
            taints,
            labels: labels.filter(|(key, _)| *key != hostname).collect(),
        }
    }
}

/// A label's key and value as they are on the node.
type RawLabel = (Arc<str>, Arc<str>);

/// Labels but for the host name.
fn unnamed(labels: &Labels) -> impl Iterator<Item = RawLabel> {
    let labels = labels.iter();
    labels
        .filter(|(key, _)| key.as_ref() != labels::HOSTNAME)
        .map(|(key, value)| (Arc::clone(key), Arc::clone(value)))
}
