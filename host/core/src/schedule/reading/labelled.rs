//! Bound pods by namespace and labels: selectors of pods tell no more of them apart.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::labels::Labels;
use crate::snapshot::Snapshot;

/// Active pods of one namespace and the same labels, with their nodes.
#[derive(Debug)]
pub(crate) struct Labelled {
    /// Namespace of all of them.
    pub(crate) namespace: Arc<str>,
    /// Labels of all of them.
    pub(crate) labels: Arc<Labels>,
    /// Rows of the pods, each with that of its node.
    pub(crate) pods: Vec<(usize, usize)>,
}

impl Labelled {
    /// Sorts the active pods of a snapshot that are bound; `bound` are those of each node. Labels are told apart by where they
    /// are kept, so that some may come in several parts.
    pub(super) fn all(snapshot: &Snapshot, bound: &[Vec<usize>]) -> Vec<Self> {
        let mut numbers: BTreeMap<(&Arc<str>, *const Labels), usize> = BTreeMap::new();
        let mut all: Vec<Self> = Vec::new();
        for (node, pods) in bound.iter().enumerate() {
            for row in pods {
                let pod = &snapshot.pods[*row];
                if !pod.is_active() {
                    continue;
                }
                let key = (&pod.name.namespace, Arc::as_ptr(&pod.labels));
                let number = *numbers.entry(key).or_insert(all.len());
                if number == all.len() {
                    all.push(Self {
                        namespace: Arc::clone(&pod.name.namespace),
                        labels: Arc::clone(&pod.labels),
                        pods: Vec::new(),
                    });
                }
                all[number].pods.push((*row, node));
            }
        }
        all
    }
}
