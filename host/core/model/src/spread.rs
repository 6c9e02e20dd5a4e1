//! Topology spread constraints.

use std::sync::Arc;

use plimsoll_base::labels::{LabelKey, Labels};
use serde::{Deserialize, Serialize};

use super::selector::{LabelExpression, LabelSelector, SelectorOperator};

/// Rule for a constraint that cannot be met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum WhenUnsatisfiable {
    /// The pod waits.
    DoNotSchedule,
    /// A preference: hard at first, given up by relaxation.
    ScheduleAnyway,
}

/// Effect of a node policy of a spread constraint on the nodes that count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum NodeInclusion {
    /// Only nodes that the pod could use count.
    Honor,
    /// All nodes count.
    Ignore,
}

/// Keep the numbers of selected pods in the domains of a key within `max_skew` of the smallest.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SpreadConstraint {
    /// Largest difference to the domain with the fewest; at least 1.
    pub max_skew: u32,
    /// The node label whose values are the domains.
    pub topology_key: LabelKey,
    /// Hard or soft.
    pub when_unsatisfiable: WhenUnsatisfiable,
    /// The pods counted, within the pod's namespace; values of `matchLabelKeys` are merged per pod.
    pub selector: LabelSelector,
    /// Label keys whose values on the pod itself narrow the selector.
    pub match_label_keys: Vec<Arc<str>>,
    /// With fewer domains than this the smallest count is taken as 0.
    pub min_domains: Option<u32>,
    /// Filter by the pod's node selector and required affinity on the nodes that count (default `Honor`).
    pub node_affinity: NodeInclusion,
    /// Filter by taints that the pod does not tolerate on the nodes that count (default `Ignore`).
    pub node_taints: NodeInclusion,
}

impl SpreadConstraint {
    /// Selector for a pod of these labels, with its own values of `matchLabelKeys`.
    pub fn selector_for(&self, labels: &Labels) -> LabelSelector {
        let own_value = |key: &Arc<str>| {
            let value = labels.get(key)?;
            Some(LabelExpression {
                key: Arc::clone(key),
                operator: SelectorOperator::In,
                values: vec![Arc::clone(value)],
            })
        };
        let keys = self.match_label_keys.iter();
        self.selector.and(keys.filter_map(own_value))
    }

    /// Selector of the pods that are counted for a pod of these labels. The kube-scheduler counts nothing for one without conditions
    /// (`countPodsMatchSelector`), where an affinity term selects every pod.
    pub fn counted_for(&self, labels: &Labels) -> LabelSelector {
        match self.selector_for(labels) {
            LabelSelector::All(conditions) if conditions.is_empty() => LabelSelector::Nothing,
            selector => selector,
        }
    }
}

/// A cluster-wide spread constraint for pods that have none of their own; its selector is deduced from services and owners.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct DefaultSpread {
    /// Largest difference to the domain with the fewest; at least 1.
    pub max_skew: u32,
    /// The node label whose values are the domains.
    pub topology_key: LabelKey,
    /// Hard or soft.
    pub when_unsatisfiable: WhenUnsatisfiable,
    /// With fewer domains than this the smallest count is taken as 0.
    pub min_domains: Option<u32>,
}
