//! Unhealthy nodes, and how many nodes beside them are unhealthy, too.

use super::{Engine, report};
use crate::action::{Action, ObjectKey};
use crate::lifecycle::{UnhealthyNode, first_due, most_unhealthy};
use crate::model::{ConditionStatus, Node, NodeClaim};
use crate::provider::RepairRule;
use crate::time::{Span, Timestamp};

/// How long nobody is told again that a repair is held back.
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
            is_widespread: is_due && self.is_widespread(claim, rules),
        })
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
        if !unhealthy.is_widespread {
            return;
        }
        let told = &mut self.notes.of(&claim.name).told_of_unhealthy;
        if told.is_some_and(|at| now < at + TOLD_AGAIN) {
            return;
        }
        *told = Some(now);
        let words = format!(
            "{}, and more than a fifth of the nodes beside it are unhealthy: none is replaced",
            unhealthy.words
        );
        let mut objects = vec![
            ObjectKey::Node(unhealthy.node.clone()),
            ObjectKey::Claim(claim.name.clone()),
        ];
        if !claim.pool.as_str().is_empty() {
            objects.push(ObjectKey::Pool(claim.pool.clone()));
        }
        for object in objects {
            actions.push(report(object, "NodeRepairBlocked", words.clone(), now));
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
