//! Groups of pods that no rule tells apart, and the steps by which their wishes are given up.

use std::collections::BTreeSet;
use std::sync::Arc;

use plimsoll_base::bits::Bits;
use plimsoll_base::requirement::Requirements;
use plimsoll_model::{PodSpec, Toleration};

use crate::pods::needs::NodeNeeds;
use crate::topology::{CountedBy, GroupView, HeededDaemons, TopologyModel};

/// Pods that no rule tells apart.
#[derive(Clone)]
pub(crate) struct PodGroup {
    /// Specification that all of its pods share.
    pub(crate) spec: Arc<PodSpec>,
    /// The same as amounts per axis.
    pub(crate) request: Box<[i64]>,
    /// Steps of relaxation, the first with all wishes. Where hard spreads of other pods of the batch count its pods, all steps stand
    /// twice: first such that those pods may be bound last as well, then without regard to them.
    pub(crate) levels: Vec<Level>,
    /// Topology groups that select them.
    pub(crate) selected: Vec<usize>,
    /// Inverse groups that they own.
    pub(crate) inverse: Vec<usize>,
    /// Hard spreads that they own and that count other pods of the batch, too.
    pub(crate) heeded_by_others: Vec<usize>,
    /// Alternatives that their volumes allow, of which a node satisfies at least one; empty where volumes ask for nothing.
    pub(crate) alternatives: Vec<Requirements>,
    /// Needs that they have of a node beside these.
    pub(crate) needs: NodeNeeds,
}

/// Has groups heed hard spreads of others that count them, as long as they can: the kube-scheduler may bind the owners last.
pub(super) fn heed_others(groups: &mut [PodGroup], model: &TopologyModel) {
    let hard = |group: &PodGroup| -> BTreeSet<usize> {
        let owned = group.last_levels().iter().flat_map(|level| &level.owned);
        owned
            .copied()
            .filter(|owned| model.is_spread(*owned))
            .collect()
    };
    let own: Vec<BTreeSet<usize>> = groups.iter().map(hard).collect();
    let all: BTreeSet<usize> = own.iter().flatten().copied().collect();
    let mut heeded = BTreeSet::new();
    for (group, own) in groups.iter_mut().zip(&own) {
        let counting = group.selected.iter().copied();
        let others: Vec<usize> = counting
            .filter(|it| all.contains(it) && !own.contains(it))
            .collect();
        if others.is_empty() {
            continue;
        }
        let heeding = group.levels.iter().map(|level| Level {
            heeded: others.clone(),
            ..level.clone()
        });
        let heeding: Vec<Level> = heeding.collect();
        group.levels.splice(0..0, heeding);
        heeded.extend(others);
    }
    for (group, own) in groups.iter_mut().zip(&own) {
        group.heeded_by_others = own.intersection(&heeded).copied().collect();
    }
}

/// Wishes and rules of a group at one step of relaxation.
#[derive(Clone)]
pub(crate) struct Level {
    /// Requirements on the node's labels.
    pub(crate) requirements: Requirements,
    /// Tolerations of the pods, with those that relaxation adds.
    pub(crate) tolerations: Vec<Toleration>,
    /// Topology groups they own.
    pub(crate) owned: Vec<usize>,
    /// Hard spreads of other pods of the batch that count them and are kept within their skew.
    pub(crate) heeded: Vec<usize>,
    /// Groups that close new nodes to them, or open them, for daemons that come with the node.
    pub(crate) daemons: HeededDaemons,
    /// Keys that matter to them, host names apart.
    pub(crate) keys: Vec<usize>,
    /// Domains that their strict requirements allow, per key.
    pub(crate) domains: Vec<Bits>,
    /// Rows that labels, taints and ports open to them, per alternative of their volumes; room is another matter.
    pub(crate) rows: Vec<Bits>,
}

impl PodGroup {
    /// The topology groups that count its pods.
    pub(crate) fn counted_by(&self) -> CountedBy<'_> {
        CountedBy {
            selected: &self.selected,
            inverse: &self.inverse,
            heeded_by_others: &self.heeded_by_others,
        }
    }

    /// How many wishes are given up at a step.
    pub(crate) fn given_up(&self, level: usize) -> usize {
        let steps = self.levels.len();
        if self.levels[0].heeded.is_empty() {
            level
        } else {
            level % (steps / 2)
        }
    }

    /// The topology groups that its pods own, inverse ones among them.
    pub(crate) fn rules(&self) -> impl Iterator<Item = usize> + '_ {
        let owned = self.levels.iter().flat_map(|level| &level.owned);
        owned.chain(&self.inverse).copied()
    }

    /// The same group where no pod has these rules.
    pub(super) fn without(&self, rules: &BTreeSet<usize>, model: &TopologyModel) -> Self {
        let stays = |rule: &usize| !rules.contains(rule);
        let mut selected = self.selected.clone();
        selected.retain(stays);
        let mut result = self.clone();
        result.heeded_by_others.retain(stays);
        if result.levels[0].heeded.iter().all(|rule| !stays(rule)) {
            let given_up = result
                .levels
                .iter()
                .position(|level| level.heeded.is_empty());
            result.levels.drain(..given_up.unwrap_or_default());
        }
        for level in &mut result.levels {
            level.heeded.retain(stays);
            let groups = level.owned.iter().chain(&selected).chain(&self.inverse);
            let keys = model.keys_of(groups);
            let domains = |key: &usize| level.keys.iter().position(|have| have == key);
            let domains = keys.iter().filter_map(domains);
            let domains = domains.map(|at| level.domains[at].clone()).collect();
            (level.keys, level.domains) = (keys, domains);
        }
        result.selected = selected;
        result
    }

    /// Ways to buy, out of so many, that are open to its pods once they have given up what they can; room is another matter.
    pub(crate) fn open(&self, of: usize) -> Bits {
        let mut open = Bits::none(of);
        for rows in self.last_levels().iter().flat_map(|level| &level.rows) {
            open.join(rows);
        }
        open
    }

    /// The steps at which nothing but what its pods require is left: one for each alternative of their node affinity.
    pub(crate) fn last_levels(&self) -> &[Level] {
        let alternatives = self.spec.node_required.len().max(1);
        &self.levels[self.levels.len().saturating_sub(alternatives)..]
    }

    /// The part of the group that topology reads at a step.
    pub(crate) fn view(&self, level: usize) -> GroupView<'_> {
        let level = &self.levels[level];
        GroupView {
            owned: &level.owned,
            heeded: &level.heeded,
            by_daemons: &level.daemons.met,
            selected: &self.selected,
            keys: &level.keys,
            domains: &level.domains,
        }
    }
}
