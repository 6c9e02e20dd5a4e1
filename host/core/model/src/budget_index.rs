//! Disruption budgets by the pods that they speak of, for the many look-ups of one decision.
//!
//! A budget that asks for values of a label stands under each of them, so that a pod meets only budgets that speak of one of
//! its labels, however many there are; budgets that ask for no value stand under their namespace.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_base::labels::Labels;

use super::{LabelSelector, Pod, PodDisruptionBudget, SelectorOperator, asks_budgets};

/// Budgets by the labels that they select.
#[derive(Clone, Debug, Default)]
pub struct BudgetIndex<'b> {
    /// By namespace, key and value of a label.
    by_label: BTreeMap<(&'b str, &'b str, &'b str), Vec<&'b PodDisruptionBudget>>,
    /// By namespace: those that name no value of any label.
    others: BTreeMap<&'b str, Vec<&'b PodDisruptionBudget>>,
}

impl<'b> BudgetIndex<'b> {
    /// Reads budgets, in any order.
    pub fn of(budgets: &'b [Arc<PodDisruptionBudget>]) -> Self {
        let mut index = Self::default();
        for budget in budgets {
            let namespace = budget.name.namespace.as_ref();
            let LabelSelector::All(conditions) = &budget.selector else {
                continue;
            };
            let mut conditions = conditions.iter();
            match conditions.find(|condition| condition.operator == SelectorOperator::In) {
                Some(condition) => {
                    for value in &condition.values {
                        let label = (namespace, condition.key.as_ref(), value.as_ref());
                        index.by_label.entry(label).or_default().push(budget);
                    }
                }
                None => index.others.entry(namespace).or_default().push(budget),
            }
        }
        index
    }

    /// The budgets that an eviction of a pod is held against, by name: those that select it, and none for a pod that goes whatever
    /// they say.
    pub fn asked(&self, pod: &Pod) -> Vec<&'b PodDisruptionBudget> {
        if !asks_budgets(pod) {
            return Vec::new();
        }
        self.of_labels(&pod.name.namespace, &pod.labels)
    }

    fn of_labels(&self, namespace: &str, labels: &Labels) -> Vec<&'b PodDisruptionBudget> {
        let of_labels = labels.iter().filter_map(|(key, value)| {
            let label = (namespace, key.as_ref(), value.as_ref());
            self.by_label.get(&label)
        });
        let others = self.others.get(namespace);
        let asked = of_labels.chain(others).flatten().copied();
        let mut selecting: Vec<&PodDisruptionBudget> = asked
            .filter(|budget| budget.selector.matches(labels))
            .collect();
        selecting.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        selecting
    }

    /// `true` if budgets never allow a pod's eviction: one that blocks everything, or two that select it.
    pub fn blocks(&self, pod: &Pod) -> bool {
        match self.asked(pod).as_slice() {
            [] => false,
            [budget] => budget.blocks_all() && !budget.lets_go(pod),
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_base::ids::ObjectName;

    use super::*;
    use crate::{DisruptionLimit, LabelExpression};

    fn conditions() -> Vec<LabelExpression> {
        let operators = [
            SelectorOperator::In,
            SelectorOperator::NotIn,
            SelectorOperator::Exists,
            SelectorOperator::DoesNotExist,
        ];
        let values: [&[&str]; 3] = [&["1"], &["2"], &["1", "2"]];
        let mut all = Vec::new();
        for operator in operators {
            for key in ["app", "tier"] {
                for values in values {
                    all.push(LabelExpression {
                        key: key.into(),
                        operator,
                        values: values.iter().map(|value| Arc::from(*value)).collect(),
                    });
                }
            }
        }
        all
    }

    /// Every selector of at most two conditions, and the one that selects nothing.
    fn selectors() -> Vec<LabelSelector> {
        let all = conditions();
        let mut selectors = vec![LabelSelector::Nothing, LabelSelector::all(Vec::new())];
        for (at, first) in all.iter().enumerate() {
            for second in &all[at..] {
                selectors.push(LabelSelector::all(vec![first.clone(), second.clone()]));
            }
        }
        selectors
    }

    fn budgets() -> Vec<Arc<PodDisruptionBudget>> {
        let selectors = selectors().into_iter().enumerate();
        let budget = |(number, selector): (usize, LabelSelector)| {
            let namespace = if number.is_multiple_of(5) {
                "shop"
            } else {
                "default"
            };
            Arc::new(PodDisruptionBudget {
                name: ObjectName::new(namespace, format!("b{number:04}")),
                selector,
                limit: DisruptionLimit::MaxUnavailable(1),
                always_allow_unhealthy: false,
                disruptions_allowed: 1,
                is_met: false,
            })
        };
        selectors.map(budget).collect()
    }

    #[test]
    fn a_pod_meets_the_budgets_that_select_it_and_no_others() {
        let budgets = budgets();
        let index = BudgetIndex::of(&budgets);
        for namespace in ["default", "shop"] {
            for (app, tier) in [("", ""), ("1", ""), ("2", "1"), ("3", "2"), ("", "3")] {
                let given = [("app", app), ("tier", tier)];
                let given = given.into_iter().filter(|(_, value)| !value.is_empty());
                let labels: Labels = given
                    .map(|(key, value)| (key.into(), value.into()))
                    .collect();
                let selects = |budget: &&Arc<PodDisruptionBudget>| {
                    &*budget.name.namespace == namespace && budget.selector.matches(&labels)
                };
                let expected: Vec<&PodDisruptionBudget> =
                    budgets.iter().filter(selects).map(AsRef::as_ref).collect();
                assert_eq!(index.of_labels(namespace, &labels), expected, "{labels:?}");
            }
        }
    }
}
