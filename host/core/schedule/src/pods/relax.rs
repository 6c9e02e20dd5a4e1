//! Preferences and alternatives of a pod, and the order in which they are given up.
//!
//! A pod is tried whole at each step: preferences hold at first, then one thing is dropped at a time. The order is the
//! contract's: required alternatives before any preference, then pod affinity, pod anti-affinity, node affinity, soft
//! spread, and last the taints that only prefer to keep pods away. With every preference that is given up all required alternatives
//! come back, where Karpenter keeps the last: the kube-scheduler takes a node that any of them allows.

use plimsoll_base::labels::LabelKey;
use plimsoll_base::requirement::Requirements;
use plimsoll_model::snapshot::PreferencePolicy;
use plimsoll_model::{
    AffinityTerm, Effect, NodeTerm, PodSpec, Preferred, SpreadConstraint, Toleration,
    TolerationOperator, WhenUnsatisfiable,
};

/// Wishes of a pod that are left at one step of relaxation.
#[derive(Clone, Debug)]
pub(crate) struct Wishes<'a> {
    spec: &'a PodSpec,
    required: &'a [NodeTerm],
    node: Vec<&'a Preferred<NodeTerm>>,
    affinity: Vec<&'a Preferred<AffinityTerm>>,
    anti_affinity: Vec<&'a Preferred<AffinityTerm>>,
    spread: Vec<&'a SpreadConstraint>,
    tolerates_soft_taints: bool,
}

/// A pod's wishes at every step, the first being all of them. `spread` is the pod's own or its cluster-wide default;
/// `soft_taints` tells whether any usable pool has a taint that only prefers to keep pods away.
pub(crate) fn steps<'a>(
    spec: &'a PodSpec,
    spread: &'a [SpreadConstraint],
    policy: PreferencePolicy,
    soft_taints: bool,
) -> Vec<Wishes<'a>> {
    let mut wishes = Wishes::all(spec, spread, policy);
    let mut result = vec![wishes.clone()];
    while wishes.give_up_one(soft_taints) {
        result.push(wishes.clone());
    }
    result
}

impl<'a> Wishes<'a> {
    fn all(spec: &'a PodSpec, spread: &'a [SpreadConstraint], policy: PreferencePolicy) -> Self {
        let respect = policy == PreferencePolicy::Respect;
        let hard = |constraint: &&SpreadConstraint| {
            constraint.when_unsatisfiable == WhenUnsatisfiable::DoNotSchedule
        };
        Self {
            spec,
            required: &spec.node_required,
            node: by_weight(&spec.node_preferred, respect),
            affinity: by_weight(&spec.affinity_preferred, respect),
            anti_affinity: by_weight(&spec.anti_affinity_preferred, respect),
            spread: spread
                .iter()
                .filter(|constraint| respect || hard(constraint))
                .collect(),
            tolerates_soft_taints: false,
        }
    }

    /// Drops the next thing to drop; `false` when nothing is left.
    fn give_up_one(&mut self, soft_taints: bool) -> bool {
        if self.required.len() > 1 {
            self.required = &self.required[1..];
            return true;
        }
        if !self.affinity.is_empty() {
            self.affinity.remove(0);
        } else if !self.anti_affinity.is_empty() {
            self.anti_affinity.remove(0);
        } else if !self.node.is_empty() {
            self.node.remove(0);
        } else if let Some(soft) = self.first_soft_spread() {
            self.spread.swap_remove(soft);
        } else if soft_taints && !self.tolerates_soft_taints {
            self.tolerates_soft_taints = true;
        } else {
            return false;
        }
        self.required = &self.spec.node_required;
        true
    }

    fn first_soft_spread(&self) -> Option<usize> {
        self.spread.iter().position(|constraint| {
            constraint.when_unsatisfiable == WhenUnsatisfiable::ScheduleAnyway
        })
    }

    /// Requirements on the node: selector, the first required alternative, and the heaviest preference left.
    pub(crate) fn requirements(&self) -> Requirements {
        let mut result = self.strict_requirements();
        if let Some(preferred) = self.node.first() {
            result.add_all(&preferred.term.requirements);
        }
        result
    }

    /// The same without the preference; a pod goes to domains that these allow.
    pub(crate) fn strict_requirements(&self) -> Requirements {
        let mut result = self.spec.node_selector.clone();
        if let Some(term) = self.required.first() {
            result.add_all(&term.requirements);
        }
        result
    }

    /// Spread constraints that hold.
    pub(crate) fn spread(&self) -> &[&'a SpreadConstraint] {
        &self.spread
    }

    /// Required affinity terms, which are met together.
    pub(crate) fn required_affinity(&self) -> &'a [AffinityTerm] {
        &self.spec.affinity
    }

    /// Preferred affinity terms that hold, each met by itself.
    pub(crate) fn preferred_affinity(&self) -> impl Iterator<Item = &'a AffinityTerm> + '_ {
        self.affinity.iter().map(|preferred| &preferred.term)
    }

    /// Anti-affinity terms that hold: required, then preferred.
    pub(crate) fn anti_affinity(&self) -> impl Iterator<Item = &'a AffinityTerm> + '_ {
        self.spec
            .anti_affinity
            .iter()
            .chain(self.anti_affinity.iter().map(|preferred| &preferred.term))
    }

    /// Tolerations of the pod, with those that its step of relaxation adds.
    pub(crate) fn tolerations(&self) -> Vec<Toleration> {
        let mut result = self.spec.tolerations.clone();
        if self.tolerates_soft_taints {
            result.push(Toleration {
                key: "".into(),
                operator: TolerationOperator::Exists,
                value: "".into(),
                effect: Some(Effect::PreferNoSchedule),
            });
        }
        result
    }

    /// Keys of node labels that the pod requires or prefers values of; what topology is about is not among them.
    pub(crate) fn required_keys(&self) -> Vec<LabelKey> {
        let own = self.requirements();
        own.iter()
            .map(|requirement| requirement.key().clone())
            .collect()
    }
}

/// Preferences, heaviest first; equal weights keep their order.
fn by_weight<T>(preferences: &[Preferred<T>], respect: bool) -> Vec<&Preferred<T>> {
    let mut result: Vec<&Preferred<T>> = preferences.iter().filter(|_| respect).collect();
    result.sort_by_key(|preferred| std::cmp::Reverse(preferred.weight));
    result
}
