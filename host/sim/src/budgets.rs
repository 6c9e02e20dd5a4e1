//! The controller of disruption budgets: how many pods of each may be evicted now, counted as pods come and go.
//!
//! Healthy pods are bound, active and not reported unready; expected are all that have not ended, also those
//! that are deleting: an eviction lowers what is healthy and not what is wanted. What a budget allows is what is healthy
//! beyond what it wants to be.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plimsoll_base::ids::ObjectName;
use plimsoll_model::{DisruptionLimit, Pod, PodDisruptionBudget, PodPhase};

/// All budgets by namespace.
#[derive(Clone, Debug, Default)]
pub(crate) struct Budgets {
    kept: BTreeMap<Arc<str>, Vec<Kept>>,
    stale: BTreeSet<ObjectName>,
}

#[derive(Clone, Debug)]
struct Kept {
    budget: Arc<PodDisruptionBudget>,
    expected: u32,
    healthy: u32,
}

fn is_healthy(pod: &Pod) -> bool {
    pod.is_active() && pod.node.is_some() && pod.ready != Some(false)
}

impl Kept {
    fn count(&mut self, pod: &Pod, there: bool) -> bool {
        if !self.budget.selector.matches(&pod.labels) {
            return false;
        }
        let (expected, healthy) = (u32::from(!pod.is_terminal()), u32::from(is_healthy(pod)));
        if there {
            self.expected += expected;
            self.healthy += healthy;
        } else {
            self.expected -= expected;
            self.healthy -= healthy;
        }
        true
    }

    /// Pods that are to be healthy.
    fn wanted(&self) -> u32 {
        let share = |percent: u32| (self.expected * percent).div_ceil(100);
        match self.budget.limit {
            DisruptionLimit::MaxUnavailable(most) => self.expected.saturating_sub(most),
            DisruptionLimit::MaxUnavailablePercent(most) => {
                self.expected.saturating_sub(share(most))
            }
            DisruptionLimit::MinAvailable(least) => least,
            DisruptionLimit::MinAvailablePercent(least) => share(least),
            DisruptionLimit::Unset => 0,
        }
    }

    fn allowed(&self) -> u32 {
        match self.budget.limit {
            DisruptionLimit::Unset => 0,
            _ => self.healthy.saturating_sub(self.wanted()),
        }
    }

    fn lets_unready_go(&self) -> bool {
        self.budget.always_allow_unhealthy || self.is_met()
    }

    fn is_met(&self) -> bool {
        let wanted = self.wanted();
        wanted > 0 && self.healthy >= wanted
    }
}

impl Budgets {
    /// A budget appears or changes; all pods there are.
    pub(crate) fn put<'a>(
        &mut self,
        budget: &Arc<PodDisruptionBudget>,
        pods: impl Iterator<Item = &'a Arc<Pod>>,
    ) {
        let mut kept = Kept {
            budget: Arc::clone(budget),
            expected: 0,
            healthy: 0,
        };
        let namespace = Arc::clone(&budget.name.namespace);
        for pod in pods.filter(|pod| pod.name.namespace == namespace) {
            kept.count(pod, true);
        }
        let own = self.kept.entry(namespace).or_default();
        own.retain(|have| have.budget.name != budget.name);
        own.push(kept);
        self.stale.insert(budget.name.clone());
    }

    /// A pod was so and is now so.
    pub(crate) fn follow(&mut self, before: Option<&Pod>, after: Option<&Pod>) {
        for (pod, there) in [(before, false), (after, true)] {
            let Some(pod) = pod else { continue };
            for kept in self.kept.get_mut(&pod.name.namespace).into_iter().flatten() {
                if kept.count(pod, there) {
                    self.stale.insert(kept.budget.name.clone());
                }
            }
        }
    }

    /// Budgets whose status is another than was last shown, as they are now.
    pub(crate) fn take_changed(&mut self) -> Vec<Arc<PodDisruptionBudget>> {
        let mut changed = Vec::new();
        for name in std::mem::take(&mut self.stale) {
            let own = self.kept.get_mut(&name.namespace).into_iter().flatten();
            for kept in own.filter(|kept| kept.budget.name == name) {
                let status = (kept.allowed(), kept.is_met());
                if (kept.budget.disruptions_allowed, kept.budget.is_met) != status {
                    let budget = Arc::make_mut(&mut kept.budget);
                    (budget.disruptions_allowed, budget.is_met) = status;
                    changed.push(Arc::clone(&kept.budget));
                }
            }
        }
        changed
    }

    /// Succeeds if budgets allow an eviction now, as the API server asks them: not at all for a pod that has not begun to run, has ended
    /// or is deleting. Fails with the budget that refuses it.
    pub(crate) fn allow(&self, pod: &Pod) -> Result<(), String> {
        if pod.phase == PodPhase::Pending || !pod.is_active() {
            return Ok(());
        }
        let own = self.kept.get(&pod.name.namespace).into_iter().flatten();
        let speaks = |kept: &&Kept| kept.budget.selector.matches(&pod.labels);
        let matching: Vec<&Kept> = own.filter(speaks).collect();
        match matching.as_slice() {
            [] => Ok(()),
            [kept] if pod.ready == Some(false) && kept.lets_unready_go() => Ok(()),
            [kept] if kept.allowed() > 0 => Ok(()),
            [kept] => Err(format!(
                "PodDisruptionBudget {} allows no eviction of pod {}",
                kept.budget.name, pod.name
            )),
            _ => Err(format!("pod {} has several disruption budgets", pod.name)),
        }
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_base::ids::{NodeName, Uid};
    use plimsoll_base::time::Timestamp;
    use plimsoll_model::LabelSelector;

    use super::*;

    fn kept(limit: DisruptionLimit, expected: u32, healthy: u32) -> Kept {
        let budget = PodDisruptionBudget {
            name: ObjectName::new("default", "web"),
            selector: LabelSelector::all(Vec::new()),
            limit,
            always_allow_unhealthy: false,
            disruptions_allowed: 0,
            is_met: false,
        };
        Kept {
            budget: Arc::new(budget),
            expected,
            healthy,
        }
    }

    fn allowed(limit: DisruptionLimit, expected: u32, healthy: u32) -> u32 {
        kept(limit, expected, healthy).allowed()
    }

    fn running() -> Pod {
        Pod {
            node: Some(NodeName::from("n1")),
            phase: PodPhase::Running,
            unschedulable: false,
            ready: Some(true),
            ..Pod::pending(
                Uid::from("u1"),
                ObjectName::new("default", "web-1"),
                Timestamp::default(),
            )
        }
    }

    #[test]
    fn a_pod_on_its_way_out_uses_up_what_may_be_unavailable() {
        let mut kept = kept(DisruptionLimit::MaxUnavailable(1), 3, 3);
        let mut pod = running();
        kept.count(&pod, false);
        pod.deleting = Some(Timestamp::default());
        kept.count(&pod, true);
        assert_eq!(kept.allowed(), 0);
    }

    #[test]
    fn what_is_healthy_beyond_what_is_wanted_may_go() {
        use DisruptionLimit::{
            MaxUnavailable, MaxUnavailablePercent, MinAvailable, MinAvailablePercent,
        };
        assert_eq!(allowed(MaxUnavailable(1), 5, 5), 1);
        assert_eq!(allowed(MaxUnavailable(1), 5, 4), 0);
        assert_eq!(
            allowed(MaxUnavailablePercent(30), 5, 5),
            2,
            "shares round up"
        );
        assert_eq!(allowed(MinAvailable(2), 5, 5), 3);
        assert_eq!(allowed(MinAvailable(7), 5, 5), 0);
        assert_eq!(allowed(MinAvailablePercent(50), 5, 5), 2);
        assert_eq!(allowed(DisruptionLimit::Unset, 5, 5), 0);
    }

    #[test]
    fn pods_that_have_not_begun_to_run_go_and_unready_ones_while_the_budget_is_met() {
        let evicts = |limit: DisruptionLimit, healthy: u32, pod: &Pod| {
            let kept = kept(limit, 3, healthy);
            let namespace = Arc::clone(&kept.budget.name.namespace);
            let budgets = Budgets {
                kept: [(namespace, vec![kept])].into(),
                ..Budgets::default()
            };
            budgets.allow(pod).is_ok()
        };
        let unready = Pod {
            ready: Some(false),
            ..running()
        };
        let pending = Pod {
            phase: PodPhase::Pending,
            ..unready.clone()
        };
        let two = DisruptionLimit::MinAvailable(2);
        assert!(!evicts(two, 2, &running()) && evicts(two, 2, &unready));
        assert!(!evicts(two, 1, &unready) && evicts(two, 1, &pending));
        let unset = DisruptionLimit::Unset;
        assert!(
            !evicts(unset, 2, &unready),
            "it wants none, so it is never met"
        );
        assert!(evicts(unset, 2, &pending));
    }
}
