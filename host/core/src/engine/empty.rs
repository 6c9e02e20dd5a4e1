//! Empty nodes on their way out: proposed, validated, tainted, deleted.

use std::collections::BTreeMap;

use super::Engine;
use crate::action::Action;
use crate::disrupt::budget::{Allowance, Headcount};
use crate::disrupt::emptiness::{POLL, VALIDATION, Verdict, verdict};
use crate::ids::{ClaimName, PoolName};
use crate::lifecycle::{Step, is_disrupted};
use crate::model::{DisruptionReason, Node};
use crate::snapshot::StateNode;
use crate::state::Target;
use crate::time::Timestamp;

impl Engine {
    /// Whether and from when the claim's node may go for being empty.
    fn emptiness(&self, name: &ClaimName, now: Timestamp) -> Verdict {
        let Some(claim) = self.cluster.claims.get(name) else {
            return Verdict::No;
        };
        let pool = self.cluster.pools.get(claim.pool.as_str());
        let nodes = self.cluster.nodes_of(claim);
        let (Some(pool), Some(node)) = (pool, nodes.first()) else {
            return Verdict::No;
        };
        if self.promises.has_any(&Target::Claim(name.clone())) {
            return Verdict::No;
        }
        let pods: Vec<_> = self
            .cluster
            .pods_on(&node.name)
            .map(AsRef::as_ref)
            .collect();
        let noted = self.notes.get(name).and_then(|notes| notes.last_pod_event);
        // What happened before we were there is not known; to be safe it happened as late as it can have.
        let last = noted.or(self.synced);
        verdict(pool, claim, node, &pods, last, now)
    }

    /// Follows a claim's emptiness: cancels, waits, or makes it ripe.
    pub(super) fn watch_emptiness(&mut self, name: &ClaimName, now: Timestamp) {
        match self.emptiness(name, now) {
            Verdict::No => self.proposals.cancel(name),
            Verdict::From(at) if at > now => {
                self.proposals.cancel(name);
                self.set_timer(name, at);
            }
            Verdict::From(_) => self.proposals.ripen(name),
        }
    }

    /// Whether a chosen node carries the taint of leaving: from then on no pod can land there.
    pub(super) fn is_empty_and_tainted(&self, name: &ClaimName) -> bool {
        let tainted = |node: &Node| node.taints.iter().any(is_disrupted);
        self.proposals.chosen.contains(name)
            && self.cluster.claims.get(name).is_some_and(|claim| {
                self.cluster
                    .nodes_of(claim)
                    .iter()
                    .any(|node| tainted(node))
            })
    }

    pub(super) fn step_emptiness(&mut self, now: Timestamp, actions: &mut Vec<Action>) {
        if !self.proposals.is_idle() {
            let mut left = self.allowances(now);
            self.validate(&mut left, now);
            self.propose(&mut left, now);
        }
        let chosen: Vec<ClaimName> = self.proposals.chosen.iter().cloned().collect();
        for name in chosen {
            self.taint_chosen(&name, now, actions);
        }
    }

    /// Per pool with proposals, how many nodes may go.
    fn allowances(&self, now: Timestamp) -> BTreeMap<PoolName, u32> {
        let names = self
            .proposals
            .ripe
            .iter()
            .chain(self.proposals.proposed.keys());
        let mut left = BTreeMap::new();
        for name in names {
            let Some(claim) = self.cluster.claims.get(name) else {
                continue;
            };
            if left.contains_key(&claim.pool) {
                continue;
            }
            let Some(pool) = self.cluster.pools.get(claim.pool.as_str()) else {
                continue;
            };
            let of_pool = self
                .cluster
                .claims
                .iter()
                .filter(|(_, c)| c.pool == claim.pool);
            let mut heads = Headcount::default();
            for (_, claim) in of_pool {
                heads.add(&StateNode {
                    node: self
                        .cluster
                        .nodes_of(claim)
                        .first()
                        .map(|node| (*node).clone()),
                    claim: Some(claim.clone()),
                });
            }
            let chosen = self.proposals.chosen.iter().filter(|name| {
                self.cluster
                    .claims
                    .get(*name)
                    .is_some_and(|c| c.pool == claim.pool && c.deleting.is_none())
            });
            let taken = u32::try_from(chosen.count()).unwrap_or(u32::MAX);
            let allowance = Allowance::of(pool, DisruptionReason::Empty, heads, now);
            let allowed = allowance.remaining(None);
            left.insert(claim.pool.clone(), allowed.saturating_sub(taken));
        }
        left
    }

    fn take_one(&self, left: &mut BTreeMap<PoolName, u32>, name: &ClaimName) -> bool {
        let pool = self.cluster.claims.get(name).map(|claim| &claim.pool);
        match pool.and_then(|pool| left.get_mut(pool)) {
            Some(count) if *count > 0 => {
                *count -= 1;
                true
            }
            _ => false,
        }
    }

    fn validate(&mut self, left: &mut BTreeMap<PoolName, u32>, now: Timestamp) {
        let proposed = std::mem::take(&mut self.proposals.proposed);
        for (name, at) in proposed {
            let taken = self.take_one(left, &name);
            if at > now {
                self.set_timer(&name, at);
                self.proposals.proposed.insert(name, at);
            } else if taken
                && matches!(self.emptiness(&name, now), Verdict::From(from) if from <= now)
            {
                self.proposals.chosen.insert(name);
            } else {
                self.set_timer(&name, now + POLL);
            }
        }
    }

    fn propose(&mut self, left: &mut BTreeMap<PoolName, u32>, now: Timestamp) {
        let ripe = std::mem::take(&mut self.proposals.ripe);
        for name in ripe {
            let at = if self.take_one(left, &name) {
                self.proposals
                    .proposed
                    .insert(name.clone(), now + VALIDATION);
                now + VALIDATION
            } else {
                now + POLL
            };
            self.set_timer(&name, at);
        }
    }

    /// Taints a chosen node; once that is seen, its claim's own step deletes the claim.
    fn taint_chosen(&mut self, name: &ClaimName, now: Timestamp, actions: &mut Vec<Action>) {
        let Some(claim) = self.cluster.claims.get(name) else {
            return;
        };
        if claim.deleting.is_some() {
            self.proposals.cancel(name);
            return;
        }
        let nodes = self.cluster.nodes_of(claim);
        let Some(seen) = nodes
            .first()
            .and_then(|node| self.cluster.nodes.seen(&node.name))
            .cloned()
        else {
            return;
        };
        let mut step = Step::default();
        step.taint(&seen.object, seen.version);
        for want in step.wants {
            if let Some(at) = self.order(want, now, actions) {
                self.set_timer(name, at);
            }
        }
    }
}
