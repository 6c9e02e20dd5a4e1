//! Unhealthy nodes, and how many nodes beside them are unhealthy, too.

use plimsoll_base::event_reason::EventReason;
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_disrupt::budget::declared_for_repair;
use plimsoll_lifecycle::{HeldRepair, UnhealthyNode, first_due, most_unhealthy};
use plimsoll_model::action::{Action, ObjectKey, Purpose};
use plimsoll_model::provider::RepairRule;
use plimsoll_model::{ClaimPhase, ConditionStatus, Node, NodeClaim};

use super::{Engine, report};

/// How long it is not reported again that a repair is held back.
const TOLD_AGAIN: Span = Span::from_secs(900);

impl Engine {
    /// A claim's node, if a rule finds it unhealthy; `None` otherwise, and where nodes are not repaired.
    pub(super) fn unhealthy(
        &self,
        claim: &NodeClaim,
        node: &Node,
        now: Timestamp,
    ) -> Option<UnhealthyNode> {
        if !self.settings.node_repair {
            return None;
        }
        let rules = &self.market.catalogues().provider().repairs;
        let (due, rule) = first_due(node, rules)?;
        let is_due = now >= due;
        Some(UnhealthyNode {
            node: node.name.clone(),
            due,
            words: words(node, rule, now),
            held: is_due
                .then(|| self.held_repair(claim, rules, now))
                .flatten(),
        })
    }

    /// What holds the repair of a claim's node back, where it is due.
    fn held_repair(
        &self,
        claim: &NodeClaim,
        rules: &[RepairRule],
        now: Timestamp,
    ) -> Option<HeldRepair> {
        if self.is_widespread(claim, rules) {
            return Some(HeldRepair::Widespread);
        }
        let pool = self.cluster.pools.get(claim.pool.as_str())?;
        let budgets = &pool.disruption.budgets;
        let is_limited = budgets.iter().any(|own| own.reasons.limit_repair());
        if !is_limited || self.is_going(claim) {
            return None;
        }
        let (mut counted, mut going) = (0, 0);
        let claims = self.cluster.claims.unordered();
        for own in claims.filter(|own| own.pool == claim.pool) {
            counted += u32::from(own.phase() == ClaimPhase::Initialized);
            going += u32::from(self.is_going(own));
        }
        let most = declared_for_repair(budgets, counted, now).nodes;
        (going >= most).then_some(HeldRepair::OverBudget(most))
    }

    /// `true` for a claim that is deleting, or that a repair has asked to go or is about to.
    fn is_going(&self, claim: &NodeClaim) -> bool {
        let object = ObjectKey::Claim(claim.name.clone());
        let is_asked = |purpose| self.orders.is_busy(&object, Some(&claim.uid), purpose);
        claim.deleting.is_some()
            || claim.drained_by.is_some()
            || is_asked(Purpose::MarkDeadline)
            || is_asked(Purpose::DeleteClaim)
    }

    /// `true` if too many of the pool's nodes are unhealthy; of all nodes where the claim has no pool.
    fn is_widespread(&self, claim: &NodeClaim, rules: &[RepairRule]) -> bool {
        let nodes = self.cluster.nodes.unordered();
        let is_beside = |node: &&std::sync::Arc<Node>| {
            claim.pool.as_str().is_empty() || node.pool().as_ref() == Some(&claim.pool)
        };
        let (mut all, mut unhealthy) = (0, 0);
        for node in nodes.filter(is_beside) {
            all += 1;
            unhealthy += usize::from(first_due(node, rules).is_some());
        }
        unhealthy > most_unhealthy(all)
    }

    /// Tells of a repair that is held back, now and then.
    pub(super) fn tell_of_unhealthy(
        &mut self,
        claim: &NodeClaim,
        unhealthy: &UnhealthyNode,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        let Some(held) = unhealthy.held else {
            return;
        };
        let told = &mut self.notes.of(&claim.name).told_of_unhealthy;
        if told.is_some_and(|at| now < at + TOLD_AGAIN) {
            return;
        }
        *told = Some(now);
        let words = format!("{}, and {held}", unhealthy.words);
        let mut objects = vec![
            ObjectKey::Node(unhealthy.node.clone()),
            ObjectKey::Claim(claim.name.clone()),
        ];
        if !claim.pool.as_str().is_empty() {
            objects.push(ObjectKey::Pool(claim.pool.clone()));
        }
        for object in objects {
            actions.push(report(
                object,
                EventReason::NodeRepairBlocked,
                words.clone(),
                now,
            ));
        }
    }
}

fn words(node: &Node, rule: &RepairRule, now: Timestamp) -> String {
    let status = match rule.status {
        ConditionStatus::True => "True",
        ConditionStatus::False => "False",
        ConditionStatus::Unknown => "Unknown",
    };
    let condition = &rule.condition;
    let since = node.conditions.get(condition).map(|said| said.since);
    let span = since.map_or(Span::ZERO, |since| now.since(since));
    format!("node {}: {condition} is {status} for {span}", node.name)
}
