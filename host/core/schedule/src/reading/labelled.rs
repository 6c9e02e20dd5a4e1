//! Bound pods by namespace and labels: selectors of pods tell no more of them apart, and whether they were asked to go, since
//! those count for affinity and anti-affinity until they are gone, and not for spread.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_base::labels::Labels;
use plimsoll_model::snapshot::Snapshot;

/// Pods of one namespace and the same labels that have not ended, with their nodes.
#[derive(Debug)]
pub(crate) struct Labelled {
    /// Namespace of all of them.
    pub(crate) namespace: Arc<str>,
    /// Labels of all of them.
    pub(crate) labels: Arc<Labels>,
    /// `true` if all of them were asked to go.
    pub(crate) is_leaving: bool,
    /// Rows of the pods, each with that of its node.
    pub(crate) pods: Vec<(usize, usize)>,
}

impl Labelled {
    /// Sorts the pods of a snapshot that are bound and have not ended; `bound` are those of each node. Labels are told apart by
    /// where they are kept, so that some may come in several parts.
    pub(super) fn all(snapshot: &Snapshot, bound: &[Vec<usize>]) -> Vec<Self> {
        let mut numbers: BTreeMap<(&Arc<str>, *const Labels, bool), usize> = BTreeMap::new();
        let mut all: Vec<Self> = Vec::new();
        for (node, pods) in bound.iter().enumerate() {
            for row in pods {
                let pod = &snapshot.pods[*row];
                if pod.is_terminal() {
                    continue;
                }
                let is_leaving = pod.deleting.is_some();
                let key = (&pod.name.namespace, Arc::as_ptr(&pod.labels), is_leaving);
                let number = *numbers.entry(key).or_insert(all.len());
                if number == all.len() {
                    all.push(Self {
                        namespace: Arc::clone(&pod.name.namespace),
                        labels: Arc::clone(&pod.labels),
                        is_leaving,
                        pods: Vec::new(),
                    });
                }
                all[number].pods.push((*row, node));
            }
        }
        all
    }
}
