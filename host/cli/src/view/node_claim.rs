//! Explanations of NodeClaims of a cluster: how far each has come, what it waits for, and whether its node goes.

use std::collections::BTreeMap;

use plimsoll_base::words::shortened;
use plimsoll_disrupt::outlook::Outlook;
use plimsoll_engine::replaced_by;
use plimsoll_lifecycle::next_condition;
use plimsoll_model::snapshot::Snapshot;
use plimsoll_model::{ClaimPhase, Condition, ConditionType, Conditions};
use schemars::JsonSchema;
use serde::Serialize;

use super::node::{Machine, NodeDisruption, drifted};
use super::{Document, Instant, instant, quantities};
use crate::priced::Priced;

/// Output of `plimsoll explain nodeclaim` for a NodeClaim of the cluster: how far it has come, and what it waits for.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NodeClaimProgress {
    /// Its name.
    name: String,
    /// Its NodePool; absent where it stands alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    node_pool: Option<String>,
    /// `Created`, `Launched`, `Registered` or `Initialized`: the last step that it has reached.
    phase: &'static str,
    /// When it reached that.
    since: Instant,
    /// When it was created.
    created: Instant,
    /// The condition that it waits for; absent where it has reached all, and once it is deleting.
    #[serde(skip_serializing_if = "Option::is_none")]
    waits_for: Option<Awaited>,
    /// Its deletion; absent where it is not asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    deletion: Option<Deletion>,
    /// Its node; absent until that has registered.
    #[serde(skip_serializing_if = "Option::is_none")]
    node: Option<String>,
    #[serde(flatten)]
    machine: Machine,
    /// Requests of the pods that it was created for and of DaemonSets: quantities by resource.
    requests: BTreeMap<String, String>,
    /// The same in words.
    #[serde(skip)]
    requested: String,
    /// NodeClaims that it replaces.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    replaces: Vec<String>,
    /// The difference from its NodePool or node class, as the condition `Drifted` names it; absent where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    drifted: Option<String>,
    /// Conditions in its status.
    conditions: Vec<StatusCondition>,
    /// The outlook of its node's disruption; absent until its node is ready for pods, and once it is deleting.
    #[serde(skip_serializing_if = "Option::is_none")]
    disruption: Option<NodeDisruption>,
    /// Findings beside: node classes of which not all is well, and launches that failed, in sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) findings: Vec<String>,
}

impl Document for NodeClaimProgress {}

/// A condition that a NodeClaim has not reached.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Awaited {
    /// Its type.
    #[serde(rename = "type")]
    kind: &'static str,
    /// The cause, one word.
    reason: String,
    /// The cause in words; may be empty.
    message: String,
}

/// The deletion of a NodeClaim.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Deletion {
    /// When it was asked for.
    since: Instant,
    /// When its drain must be over; absent where nothing bounds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    drained_by: Option<Instant>,
}

/// A condition in the status of an object.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct StatusCondition {
    /// Its type.
    #[serde(rename = "type")]
    kind: &'static str,
    /// `True`, `False` or `Unknown`.
    status: &'static str,
    /// The cause, one word.
    reason: String,
    /// The cause in words; may be empty.
    message: String,
    /// When its status last changed.
    since: Instant,
}

impl NodeClaimProgress {
    /// The explanation of the NodeClaim of a row of the snapshot; `None` where that has none.
    pub(crate) fn of(
        snapshot: &Snapshot,
        outlook: &Outlook,
        priced: &Priced,
        row: usize,
    ) -> Option<Self> {
        let node = &snapshot.nodes[row];
        let claim = node.claim.as_deref()?;
        let is_deleting = claim.deleting.is_some();
        let next = next_condition(claim, node.node.as_deref()).filter(|_| !is_deleting);
        let phase = claim.phase();
        Some(Self {
            name: claim.name.to_string(),
            node_pool: node.pool().map(|pool| pool.to_string()),
            phase: named(phase),
            since: instant(claim.phase_since()),
            created: instant(claim.created),
            waits_for: next.map(|next| Awaited {
                kind: next.kind.as_str(),
                reason: next.reason.to_string(),
                message: next.message.to_string(),
            }),
            deletion: claim.deleting.map(|since| Deletion {
                since: instant(since),
                drained_by: claim.drain_deadline().map(instant),
            }),
            node: claim.node.as_ref().map(ToString::to_string),
            machine: Machine::of(snapshot, node, priced),
            requests: quantities(&claim.requests),
            requested: claim.requests.to_string(),
            replaces: replaced_by(claim).iter().map(ToString::to_string).collect(),
            drifted: drifted(snapshot, claim),
            conditions: StatusCondition::all(&claim.conditions),
            disruption: (phase == ClaimPhase::Initialized && !is_deleting)
                .then(|| NodeDisruption::of(outlook)),
            findings: Vec::new(),
        })
    }

    /// The explanation for people.
    pub(crate) fn text(&self) -> String {
        let pool = self.node_pool.as_ref();
        let of = pool.map_or_else(String::new, |pool| format!(" of NodePool {pool}"));
        let mut text = format!(
            "NodeClaim {}{of}: {} since {}\n",
            self.name, self.phase, self.since
        );
        if let Some(next) = &self.waits_for {
            let words = if next.message.is_empty() {
                &next.reason
            } else {
                &next.message
            };
            text += &format!("waits for {}: {words}\n", next.kind);
        }
        if let Some(deletion) = &self.deletion {
            let by = deletion.drained_by.as_ref();
            let by = by.map_or_else(String::new, |by| format!(", its drain ends by {by}"));
            text += &format!("deleting since {}{by}\n", deletion.since);
        }
        if let Some(node) = &self.node {
            text += &format!("  node {node}\n");
        }
        text += &self.machine.text(&self.created);
        text += &format!("  requests {}\n", self.requested);
        if !self.replaces.is_empty() {
            text += &format!("  replaces {}\n", shortened(&self.replaces));
        }
        for condition in &self.conditions {
            text += &format!("  {}\n", condition.text());
        }
        if let Some(drifted) = &self.drifted {
            text += &format!("drifted: {drifted}\n");
        }
        if let Some(disruption) = &self.disruption {
            text += &disruption.text();
        }
        text
    }
}

impl StatusCondition {
    /// All conditions of an object.
    pub(super) fn all(conditions: &Conditions) -> Vec<Self> {
        let said = conditions.iter();
        said.map(|(kind, condition)| Self::of(kind, condition))
            .collect()
    }

    fn of(kind: ConditionType, condition: &Condition) -> Self {
        Self {
            kind: kind.as_str(),
            status: condition.status.as_str(),
            reason: condition.reason.to_string(),
            message: condition.message.to_string(),
            since: instant(condition.since),
        }
    }

    /// `Registered Unknown since 2026-01-31T09:00:00Z: NodeNotFound, Node not registered with cluster`
    pub(super) fn text(&self) -> String {
        let (kind, status, since) = (self.kind, self.status, &self.since);
        let mut text = format!("{kind} {status} since {since}");
        if !self.reason.is_empty() && self.reason != self.kind {
            text += &format!(": {}", self.reason);
        }
        if !self.message.is_empty() && self.message != self.reason {
            text += &format!(", {}", self.message);
        }
        text
    }
}

fn named(phase: ClaimPhase) -> &'static str {
    match phase {
        ClaimPhase::Created => "Created",
        ClaimPhase::Launched => "Launched",
        ClaimPhase::Registered => "Registered",
        ClaimPhase::Initialized => "Initialized",
    }
}
