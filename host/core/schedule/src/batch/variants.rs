//! The same batch under other rules: spreads that know of more or fewer domains, rules that nothing heeds.

use std::collections::BTreeSet;

use plimsoll_base::bits::Bits;

use super::alike::Alike;
use super::compile::Compiled;
use super::domains;
use super::pod_group::PodGroup;

impl Compiled<'_> {
    /// How many of its wishes a pod gives up by a step.
    pub(crate) fn given_up(&self, pod: usize, level: usize) -> u32 {
        let group = &self.groups[self.pods[pod].group];
        u32::try_from(group.given_up(level)).unwrap_or(u32::MAX)
    }

    /// The same batch where spreads know of more domains, given by group.
    pub(crate) fn with_domains(&self, more: Vec<(usize, usize)>) -> Self {
        let mut result = self.clone();
        for (group, domain) in more {
            result.model.groups[group].known.insert(domain);
        }
        result
    }

    /// The same batch where spreads compare the domains and hosts of nodes that are there and of a plan's new ones, which may
    /// become these rows, and no others.
    pub(crate) fn among_nodes(&self, new: &[&Bits]) -> Self {
        let mut result = self.clone();
        domains::keep_to(&mut result.model, self.existing.free.len(), new);
        result.alike = Alike::of(&result.groups, &result.model);
        result
    }

    /// The same batch where nothing heeds the rules between pods that only these pods of it have.
    pub(crate) fn without_rules_of(&self, pods: &[usize]) -> Self {
        let groups_of = |pods: &mut dyn Iterator<Item = usize>| -> BTreeSet<usize> {
            pods.map(|pod| self.pods[pod].group).collect()
        };
        let left: BTreeSet<usize> = pods.iter().copied().collect();
        let theirs = groups_of(&mut pods.iter().copied());
        let others = groups_of(&mut (0..self.pods.len()).filter(|pod| !left.contains(pod)));
        let rules_of = |groups: BTreeSet<usize>| -> BTreeSet<usize> {
            let groups = groups.into_iter().map(|number| &self.groups[number]);
            groups.flat_map(PodGroup::rules).collect()
        };
        // A pod that runs may have the same rule against others.
        let mut rules = &rules_of(theirs) - &rules_of(others);
        rules.retain(|rule| !self.model.is_inverse(*rule) || self.counts.is_zero(*rule));
        let groups = self.groups.iter();
        let groups = groups.map(|group| group.without(&rules, &self.model));
        let mut result = self.clone();
        result.groups = groups.collect();
        result
    }
}
