//! Label selectors: which pods or namespaces an affinity term, a spread constraint or a budget speaks of.

use std::sync::Arc;

use plimsoll_base::labels::Labels;
use serde::{Deserialize, Serialize};

/// How a selector's expression relates a label to values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum SelectorOperator {
    /// The label has one of the values.
    In,
    /// The label has none of the values, or is absent.
    NotIn,
    /// The label is there.
    Exists,
    /// The label is absent.
    DoesNotExist,
}

/// One condition on one label.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct LabelExpression {
    /// The label's key.
    pub key: Arc<str>,
    /// The relation.
    pub operator: SelectorOperator,
    /// The values, sorted.
    pub values: Vec<Arc<str>>,
}

/// All of some conditions. Built sorted and free of repetitions, so that equal selectors compare equal.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum LabelSelector {
    /// Selects nothing: the selector is missing, or cannot be understood.
    Nothing,
    /// Selects what meets every condition; with none, everything.
    All(Vec<LabelExpression>),
}

impl LabelExpression {
    /// `true` if labels meet this condition.
    pub fn matches(&self, labels: &Labels) -> bool {
        let has_one = || {
            labels
                .get(&self.key)
                .is_some_and(|value| self.values.contains(value))
        };
        match self.operator {
            SelectorOperator::In => has_one(),
            SelectorOperator::NotIn => !has_one(),
            SelectorOperator::Exists => labels.contains_key(&self.key),
            SelectorOperator::DoesNotExist => !labels.contains_key(&self.key),
        }
    }
}

impl LabelSelector {
    /// From conditions in any order.
    pub fn all(mut conditions: Vec<LabelExpression>) -> Self {
        for condition in &mut conditions {
            condition.values.sort_unstable();
            condition.values.dedup();
        }
        conditions.sort_unstable();
        conditions.dedup();
        Self::All(conditions)
    }

    /// Equality with each of the labels given.
    pub fn match_labels<'a>(
        labels: impl IntoIterator<Item = (&'a Arc<str>, &'a Arc<str>)>,
    ) -> Self {
        let equal = |(key, value): (&Arc<str>, &Arc<str>)| LabelExpression {
            key: Arc::clone(key),
            operator: SelectorOperator::In,
            values: vec![Arc::clone(value)],
        };
        Self::all(labels.into_iter().map(equal).collect())
    }

    /// With further conditions. Adding one that is there already changes nothing.
    #[must_use]
    pub fn and(&self, more: impl IntoIterator<Item = LabelExpression>) -> Self {
        match self {
            Self::Nothing => Self::Nothing,
            Self::All(conditions) => Self::all(conditions.iter().cloned().chain(more).collect()),
        }
    }

    /// `true` if labels are selected.
    pub fn matches(&self, labels: &Labels) -> bool {
        match self {
            Self::Nothing => false,
            Self::All(conditions) => conditions.iter().all(|condition| condition.matches(labels)),
        }
    }
}
