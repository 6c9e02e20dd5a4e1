//! Pods that may be nominated to one node at the same time.
//!
//! The kube-scheduler tries a pod on a node as if every other pod nominated to that node were bound, and as if those of other nodes were
//! not (`addGENominatedPods`). Under a hard spread, more of them than the skew allows refuse one another: none binds, all lose their
//! nominations, and each takes whatever room it finds. They are nominated in turn instead: the next once one before it is bound.

use plimsoll_model::{LabelSelector, Pod, SpreadConstraint, WhenUnsatisfiable};

/// `true` if the kube-scheduler can bind a pod and the others that are nominated to its node, all hard spreads among them, in some order.
pub fn may_be_nominated<'p>(pod: &'p Pod, beside: impl Iterator<Item = &'p Pod>) -> bool {
    if hard_spreads(pod).next().is_none() {
        return true;
    }
    let mut left: Vec<&Pod> = beside
        .filter(|one| hard_spreads(one).next().is_some())
        .collect();
    left.push(pod);
    let skews = left.iter().flat_map(|one| hard_spreads(one));
    let least = skews.map(|constraint| constraint.max_skew as usize).min();
    // So few never refuse one another.
    while left.len() > least.unwrap_or_default() {
        let free = left.iter().position(|one| !is_refused(one, &left));
        let Some(free) = free else { return false };
        left.remove(free);
    }
    true
}

/// `true` if pods nominated to its node keep a pod from it, where its domain has no fewer pods than others.
fn is_refused(pod: &Pod, nominated: &[&Pod]) -> bool {
    hard_spreads(pod).any(|constraint| {
        // One without conditions counts no pod that is there, but every one that is nominated (`updateWithPod`).
        let selector = constraint.selector_for(&pod.labels);
        let counted = nominated
            .iter()
            .filter(|one| is_counted(&selector, pod, one));
        counted.count() > constraint.max_skew as usize
            && nominated
                .iter()
                .any(|one| one.uid != pod.uid && is_counted(&selector, pod, one))
    })
}

fn hard_spreads(pod: &Pod) -> impl Iterator<Item = &SpreadConstraint> {
    let spread = pod.spec.spread.iter();
    spread.filter(|one| one.when_unsatisfiable == WhenUnsatisfiable::DoNotSchedule)
}

fn is_counted(selector: &LabelSelector, owner: &Pod, pod: &Pod) -> bool {
    pod.name.namespace == owner.name.namespace && selector.matches(&pod.labels)
}
