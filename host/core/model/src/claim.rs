//! NodeClaims: instances asked for, and how far each has come.

use std::sync::Arc;

use plimsoll_base::ids::{ClaimName, NodeName, PoolName, ProviderId, Uid};
use plimsoll_base::labels::Labels;
use plimsoll_base::requirement::Requirements;
use plimsoll_base::resources::Resources;
use plimsoll_base::time::{Span, Timestamp};
use serde::{Deserialize, Serialize};

use super::condition::{Condition, ConditionStatus, Conditions};
use super::condition_type::ConditionType;
use super::taint::Taint;
use super::unread::Unread;

/// Reference to the provider's class of a pool or claim.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ClassRef {
    /// API group of the provider's kinds.
    pub group: Arc<str>,
    /// Kind, one of that group's.
    pub kind: Arc<str>,
    /// Name.
    pub name: Arc<str>,
}

impl ClassRef {
    /// The label that nodes of this class carry: the group and, in small letters, the kind.
    pub fn label_key(&self) -> String {
        class_label(&self.group, &self.kind)
    }
}

/// The label that nodes of a kind of classes carry: the group and, in small letters, the kind.
pub fn class_label(group: &str, kind: &str) -> String {
    format!("{group}/{}", kind.to_lowercase())
}

/// How far a claim has come. Each phase includes those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ClaimPhase {
    /// Asked for.
    Created,
    /// The cloud has given an instance.
    Launched,
    /// Its node has joined.
    Registered,
    /// Its node is ready, free of start-up taints, and has all its resources.
    Initialized,
}

/// One NodeClaim.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NodeClaim {
    /// Name of the NodeClaim, unique in the cluster.
    pub name: ClaimName,
    /// Uid of the NodeClaim.
    pub uid: Uid,
    /// The pool it was made for; empty for a claim that stands alone.
    pub pool: PoolName,
    /// The provider's class.
    pub class: ClassRef,
    /// The instance, once launched.
    pub provider_id: Option<ProviderId>,
    /// The node, once registered.
    pub node: Option<NodeName>,
    /// Labels of the NodeClaim, which its node gets.
    pub labels: Labels,
    /// Its annotations, of whatever domain: its node gets them when it joins.
    pub annotations: Labels,
    /// Requirements that its node must satisfy.
    pub requirements: Requirements,
    /// Requests of the pods it was made for, and of daemons.
    pub requests: Resources,
    /// Taints its node will have.
    pub taints: Vec<Taint>,
    /// Taints its node starts with and loses.
    pub startup_taints: Vec<Taint>,
    /// All its instance has, once launched.
    pub capacity: Resources,
    /// Resources for pods and daemons, once launched; empty before.
    pub allocatable: Resources,
    /// When it was created.
    pub created: Timestamp,
    /// Conditions of its status: how far it has come, and what it waits for.
    pub conditions: Conditions,
    /// After what age its node must go, if ever.
    pub expire_after: Option<Span>,
    /// How long a drain may take, if bounded.
    pub termination_grace: Option<Span>,
    /// When it was asked to go.
    pub deleting: Option<Timestamp>,
    /// When its drain must be over, as its annotation says; it takes precedence over the time that the drain may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drained_by: Option<Timestamp>,
    /// When a pod last came to its node or left it, as its status says: up to ten seconds behind what has happened, in whole seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_pod_event: Option<Timestamp>,
    /// `true` if it carries our finalizer: it does not go without us.
    #[serde(default)]
    pub held: bool,
    /// Parts of the object that could not be read.
    #[serde(default, skip_serializing_if = "Unread::is_empty")]
    pub unread: Unread,
}

impl ClaimPhase {
    /// Phases after the first, each with the condition that says it.
    pub const STEPS: [(Self, ConditionType); 3] = [
        (Self::Launched, ConditionType::Launched),
        (Self::Registered, ConditionType::Registered),
        (Self::Initialized, ConditionType::Initialized),
    ];
}

impl NodeClaim {
    /// How far it has come. A phase counts only when those before it do.
    pub fn phase(&self) -> ClaimPhase {
        self.last_step()
            .map_or(ClaimPhase::Created, |(phase, _)| phase)
    }

    /// When it reached its phase.
    pub fn phase_since(&self) -> Timestamp {
        let reached = self.last_step();
        let condition = reached.and_then(|(_, kind)| self.conditions.get(kind));
        condition.map_or(self.created, |condition| condition.since)
    }

    fn last_step(&self) -> Option<(ClaimPhase, ConditionType)> {
        let steps = ClaimPhase::STEPS.into_iter();
        steps
            .take_while(|(_, kind)| self.conditions.is_true(*kind))
            .last()
    }

    /// When its drain must be over, once it was asked to go; `None` where nothing bounds it.
    pub fn drain_deadline(&self) -> Option<Timestamp> {
        let bounded = self.deleting.zip(self.termination_grace);
        self.drained_by
            .or_else(|| bounded.map(|(asked, grace)| asked + grace))
    }

    /// `true` if decisions cannot tell the two apart: they differ at most in the words of conditions, and in when a pod last came or
    /// left, which they are told otherwise.
    pub fn is_alike(&self, other: &Self) -> bool {
        let drifted = |claim: &Self| {
            let said = claim.drifted()?;
            Some((Arc::clone(&said.reason), said.since))
        };
        let facts = |claim: &Self| {
            let terminating = claim.is_instance_terminating();
            (claim.phase_since(), terminating, drifted(claim))
        };
        let silent = |claim: &Self| Self {
            conditions: Conditions::reached(claim.phase(), claim.created),
            last_pod_event: None,
            ..claim.clone()
        };
        facts(self) == facts(other) && silent(self) == silent(other)
    }

    /// The condition `Drifted`, where it holds.
    pub fn drifted(&self) -> Option<&Condition> {
        let said = self.conditions.get(ConditionType::Drifted)?;
        (said.status == ConditionStatus::True).then_some(said)
    }

    /// `true` if its instance is being ended.
    pub fn is_instance_terminating(&self) -> bool {
        self.conditions.is_true(ConditionType::InstanceTerminating)
    }
}
