//! NodePools: what may be bought, and under which requirements.

use std::collections::BTreeSet;
use std::sync::Arc;

use plimsoll_base::ids::{PoolName, Uid};
use plimsoll_base::labels::{self, LabelKey, Labels};
use plimsoll_base::requirement::{Requirement, Requirements};
use plimsoll_base::resources::Resources;
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_base::units::PricePerHour;
use serde::{Deserialize, Serialize};

use super::claim::ClassRef;
use super::disruption::PoolDisruption;
use super::status::Status;
use super::taint::Taint;
use super::template::WrittenTemplate;
use super::unread::Unread;

/// How pods are packed onto a pool's new nodes.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum PackingMode {
    /// The cheapest feasible fleet.
    #[default]
    Price,
    /// First fit in Karpenter's order, then the cheapest type that holds each result.
    Compatible,
}

/// The most that may be bought, of a pool where it says so; what is absent is unlimited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Ceilings {
    /// Most nodes asked for and not yet ready for pods.
    pub nodes_in_flight: Option<u32>,
    /// Most nodes asked for within any minute.
    pub nodes_per_minute: Option<u32>,
    /// Most that all nodes cost together at list prices.
    pub dollars_per_hour: Option<PricePerHour>,
}

impl Ceilings {
    /// The annotation of a NodePool for [`Ceilings::nodes_in_flight`].
    pub const NODES_IN_FLIGHT: &str = "plimsoll.dev/nodes-in-flight";
    /// The annotation of a NodePool for [`Ceilings::nodes_per_minute`].
    pub const NODES_PER_MINUTE: &str = "plimsoll.dev/nodes-per-minute";
    /// The annotation of a NodePool for [`Ceilings::dollars_per_hour`].
    pub const DOLLARS_PER_HOUR: &str = "plimsoll.dev/dollars-per-hour";
}

/// Policies that a pool asks for by their names, instead of those that select it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NamedPolicies {
    /// The one that ranks.
    pub rank: Option<Arc<str>>,
    /// The one that values consolidation moves.
    pub consolidate: Option<Arc<str>>,
    /// The only one that says how many nodes may be removed.
    pub budget: Option<Arc<str>>,
}

impl NamedPolicies {
    /// The annotation of a NodePool for [`NamedPolicies::rank`].
    pub const RANK: &str = "plimsoll.dev/rank-policy";
    /// The annotation of a NodePool for [`NamedPolicies::consolidate`].
    pub const CONSOLIDATE: &str = "plimsoll.dev/consolidate-policy";
    /// The annotation of a NodePool for [`NamedPolicies::budget`].
    pub const BUDGET: &str = "plimsoll.dev/budget-policy";

    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// One NodePool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NodePool {
    /// Name of the NodePool.
    pub name: PoolName,
    /// Uid of the NodePool.
    pub uid: Uid,
    /// 0 to 100; pools of greater weight are used first. 0 when absent.
    pub weight: u32,
    /// The provider's class.
    pub class: ClassRef,
    /// Labels of its nodes.
    pub labels: Labels,
    /// Annotations of its claims.
    pub annotations: Labels,
    /// Requirements of its nodes as written, with minimum values.
    pub requirements: Vec<Requirement>,
    /// Taints of its nodes.
    pub taints: Vec<Taint>,
    /// Taints its nodes start with and lose.
    pub startup_taints: Vec<Taint>,
    /// The most that its nodes may have in all; a resource that is absent is unlimited.
    pub limits: Option<Resources>,
    /// After what age its nodes must go, if ever.
    pub expire_after: Option<Span>,
    /// How long a drain may take, if bounded.
    pub termination_grace: Option<Span>,
    /// A fixed number of nodes, for a static pool; such a pool is never used for waiting pods.
    pub replicas: Option<u32>,
    /// `true` if its conditions allow its use.
    pub ready: bool,
    /// When it was asked to go.
    pub deleting: Option<Timestamp>,
    /// Rules of disruption.
    pub disruption: PoolDisruption,
    /// How pods are packed onto its new nodes.
    pub packing: PackingMode,
    /// The most that may be bought for it, beside the cluster's own ceilings.
    #[serde(default)]
    pub ceilings: Ceilings,
    /// Labels of the object itself, by which policies select the pools that they serve.
    #[serde(default, skip_serializing_if = "Labels::is_empty")]
    pub own_labels: Labels,
    /// Policies that it asks for by name.
    #[serde(default, skip_serializing_if = "NamedPolicies::is_empty")]
    pub policies: NamedPolicies,
    /// Text of its template, as far as the fields above do not say it.
    #[serde(default, skip_serializing_if = "WrittenTemplate::is_plain")]
    pub written: WrittenTemplate,
    /// Parts of the object that could not be read. With a problem among them it is not [`ready`](Self::ready).
    #[serde(default, skip_serializing_if = "Unread::is_empty")]
    pub unread: Unread,
    /// Status of the object, which decisions do not read.
    #[serde(default, skip_serializing_if = "Status::is_silent")]
    pub status: Status,
}

impl NodePool {
    /// `true` if both may serve the same pods while nothing says which comes first: weights and taints are equal, and a node
    /// might satisfy both.
    pub fn competes_with(&self, other: &Self) -> bool {
        let serves = |pool: &Self| pool.replicas.is_none() && pool.deleting.is_none();
        let taints = |pool: &Self| -> BTreeSet<Taint> { pool.taints.iter().cloned().collect() };
        let needs = |pool: &Self| -> Requirements {
            let mut result: Requirements = pool.requirements.iter().cloned().collect();
            result.add_all(&Requirements::from_labels(&pool.labels));
            result
        };
        let (own, others) = (needs(self), needs(other));
        let agrees = |requirement: &Requirement| {
            let other = others.get(requirement.key().as_str());
            other.is_none_or(|other| requirement.agrees_with(other))
        };
        serves(self)
            && serves(other)
            && self.weight == other.weight
            && taints(self) == taints(other)
            && own.iter().all(agrees)
    }

    /// Requirements of its nodes before any pod narrows them: those written, labels, its own name, its class, and the two
    /// labels that every node gets in the end (`registered`, `initialized`), so that daemons that ask for them count.
    pub fn node_requirements(&self) -> Requirements {
        let one = |key: &str, value: Arc<str>| Requirement::one_of(LabelKey::from(key), [value]);
        let mut result: Requirements = self.requirements.iter().cloned().collect();
        result.add_all(&Requirements::from_labels(&self.labels));
        result.add(one(labels::NODEPOOL, self.name.clone().into()));
        result.add(one(&self.class.label_key(), Arc::clone(&self.class.name)));
        result.add(one(labels::REGISTERED, Arc::from("true")));
        result.add(one(labels::INITIALIZED, Arc::from("true")));
        result
    }
}
