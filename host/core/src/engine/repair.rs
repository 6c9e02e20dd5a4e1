//! Nodes that are not well, and how many others are.

use super::{Engine, report};
use crate::action::{Action, ObjectKey};
use crate::lifecycle::{Ailment, first_due, most_unwell};
use crate::model::{ConditionStatus, Node, NodeClaim};
use crate::provider::RepairRule;
use crate::time::{Span, Timestamp};

/// How long nobody is told again that a repair is held back.
const TOLD_AGAIN: Span = Span::from_secs(900);

impl Engine {
    /// The ailment of a claim's node; `None` where nothing does, and where nodes are not repaired.
    pub(super) fn ailment(
        &self,
        claim: &NodeClaim,
        node: Option<&Node>,
        now: Timestamp,
    ) -> Option<Ailment> {
        let node = node.filter(|_| self.settings.node_repair)?;
        let rules = &self.market.catalogues().provider().repairs;
        let (due, rule) = first_due(node, rules)?;
        let is_due = now >= due;
        Some(Ailment {
            node: node.name.clone(),
            due,
            words: words(node, rule, now),
            is_widespread: is_due && self.is_widespread(claim, rules),
        })
    }

    /// `true` if too many of the pool's nodes are not well; of all nodes where the claim has no pool.
    fn is_widespread(&self, claim: &NodeClaim, rules: &[RepairRule]) -> bool {
        let nodes = self.cluster.nodes.unordered();
        let is_beside = |node: &&std::sync::Arc<Node>| {
            claim.pool.as_str().is_empty() || node.pool().as_ref() == Some(&claim.pool)
        };
        let (mut all, mut unwell) = (0, 0);
        for node in nodes.filter(is_beside) {
            all += 1;
            unwell += usize::from(first_due(node, rules).is_some());
        }
        unwell > most_unwell(all)
    }

    /// Tells of a repair that is held back, now and then.
    pub(super) fn tell_of_ailment(
        &mut self,
        claim: &NodeClaim,
        ailment: &Ailment,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        if !ailment.is_widespread {
            return;
        }
        let told = &mut self.notes.of(&claim.name).told_of_ailment;
        if told.is_some_and(|at| now < at + TOLD_AGAIN) {
            return;
        }
        *told = Some(now);
        let words = format!(
            "{}, and more than a fifth of the nodes beside it are not well: none is replaced",
            ailment.words
        );
        for object in [
            ObjectKey::Node(ailment.node.clone()),
            ObjectKey::Claim(claim.name.clone()),
            ObjectKey::Pool(claim.pool.clone()),
        ] {
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
