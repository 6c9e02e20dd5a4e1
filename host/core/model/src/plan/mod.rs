//! A plan for a snapshot: where each pod goes, which instances to ask for, and why the rest wait.
//!
//! A plan is complete: nothing is left to choose while carrying it out. Placements are ordered, since spread constraints
//! depend on the order in which pods are bound; replayed in that order, every one of them is feasible.

mod launch_options;

use std::fmt;
use std::sync::Arc;

pub use launch_options::{
    MAX_CLAIM_TYPES, MAX_LAUNCH_OPTIONS, MAX_LAUNCH_TYPES, launch_order_text, ordered_by,
};
pub use launch_options::{launch_option, of_one_launch, option, sold};

use plimsoll_base::event_reason::EventReason;
use plimsoll_base::ids::{ClaimName, ObjectName, PoolName, ReservationId, TypeName, Uid};
use plimsoll_base::labels::Labels;
use plimsoll_base::requirement::Requirements;
use plimsoll_base::resources::Resources;
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_base::units::PricePerHour;
use serde::{Deserialize, Serialize};

use crate::catalogue::{
    CapacityType, InstanceType, LAUNCH_ORDER_ANNOTATION, LAUNCH_ORDER_BY_ANNOTATION, OfferingKey,
};
use crate::{ClassRef, Conditions, NodeClaim, Taint, Unread, UnusedNodes};

/// A decision about waiting pods.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Where pods go, in the order in which they may be bound.
    pub placements: Vec<Placement>,
    /// Instances to ask for.
    pub claims: Vec<PlannedClaim>,
    /// Pods that go nowhere, with the reason.
    pub unplaced: Vec<Unplaced>,
    /// Cost of the plan per hour.
    pub cost: PlanCost,
    /// Remarks for the pool's owner: a guard that yielded, a pool without a matching type, a pool left out.
    pub notes: Vec<Note>,
}

impl Plan {
    /// The pods of each claim, as rows of the snapshot, in the order in which they may be bound.
    pub fn pods_by_claim(&self) -> Vec<Vec<usize>> {
        let mut pods = vec![Vec::new(); self.claims.len()];
        for placement in &self.placements {
            if let Target::New(claim) = placement.target
                && let Some(own) = pods.get_mut(claim)
            {
                own.push(placement.pod);
            }
        }
        pods
    }

    /// Remarks about the plan as a whole, and those about a pool.
    pub fn notes_for(&self, pool: &PoolName) -> impl Iterator<Item = &Note> {
        let notes = self.notes.iter();
        notes.filter(move |note| note.pool.as_ref().is_none_or(|own| own == pool))
    }
}

/// Where one pod goes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Placement {
    /// Row of the pod in the snapshot.
    pub pod: usize,
    /// Where to.
    pub target: Target,
    /// How many relaxation steps its preferences went through.
    pub relaxed: u32,
}

/// Where a pod goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Target {
    /// Row of a node, or of a claim still on its way, in the snapshot.
    Existing(usize),
    /// Row of a claim in the plan.
    New(usize),
}

/// An instance to ask for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlannedClaim {
    /// The pool it is for.
    pub pool: PoolName,
    /// The provider's class.
    pub class: ClassRef,
    /// Labels of the claim: the pool's, and one value for each custom label required.
    pub labels: Labels,
    /// Annotations of the claim.
    pub annotations: Labels,
    /// Taints of its node.
    pub taints: Vec<Taint>,
    /// Taints its node starts with.
    pub startup_taints: Vec<Taint>,
    /// After what age its node must go.
    pub expire_after: Option<Span>,
    /// How long a drain may take.
    pub termination_grace: Option<Span>,
    /// Requirements of its node, instance types and capacity types included.
    pub requirements: Requirements,
    /// Requests of its pods and daemons.
    pub requests: Resources,
    /// The ways to buy it, best first: the first is the one the plan counts on. At most [`MAX_CLAIM_TYPES`] types.
    pub options: Vec<LaunchOption>,
}

/// One way to buy a planned claim.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LaunchOption {
    /// The instance type.
    pub instance_type: TypeName,
    /// The zone.
    pub zone: Arc<str>,
    /// On demand, spot, or out of a reservation.
    pub capacity_type: CapacityType,
    /// The reservation it draws on.
    pub reservation: Option<ReservationId>,
    /// The ranking policy's price, with the node's own cost.
    pub price: PricePerHour,
    /// The provider's price.
    pub list_price: PricePerHour,
}

impl LaunchOption {
    /// The offering that it speaks of.
    pub fn offering(&self) -> OfferingKey {
        OfferingKey {
            instance_type: self.instance_type.clone(),
            zone: Arc::clone(&self.zone),
            capacity_type: self.capacity_type,
            reservation: self.reservation.clone(),
        }
    }

    /// Where that offering stands among those of its type; `None` where the type is not sold so.
    pub fn position_in(&self, sold: &InstanceType) -> Option<usize> {
        let reservation = self.reservation.as_ref().map(ReservationId::as_str);
        sold.position_of(&self.zone, self.capacity_type, reservation)
    }
}

impl PlannedClaim {
    /// The option the plan counts on.
    pub fn chosen(&self) -> Option<&LaunchOption> {
        self.options.first()
    }

    /// The NodeClaim of that name that asks for it, as it is created at `now`, with the order in which its options are launched.
    /// Its uid is empty: the API server gives it one.
    pub fn to_claim(&self, name: ClaimName, now: Timestamp) -> NodeClaim {
        let mut annotations = self.annotations.clone();
        let order = Arc::from(launch_order_text(&self.options));
        annotations.insert(Arc::from(LAUNCH_ORDER_ANNOTATION), order);
        let by = Arc::from(ordered_by(&self.options).as_str());
        annotations.insert(Arc::from(LAUNCH_ORDER_BY_ANNOTATION), by);
        NodeClaim {
            name,
            uid: Uid::from(""),
            pool: self.pool.clone(),
            class: self.class.clone(),
            provider_id: None,
            node: None,
            labels: self.labels.clone(),
            annotations,
            requirements: self.requirements.clone(),
            requests: self.requests.clone(),
            taints: self.taints.clone(),
            startup_taints: self.startup_taints.clone(),
            capacity: Resources::new(),
            allocatable: Resources::new(),
            created: now,
            conditions: Conditions::default(),
            expire_after: self.expire_after,
            termination_grace: self.termination_grace,
            deleting: None,
            drained_by: None,
            last_pod_event: None,
            held: true,
            unread: Unread::default(),
        }
    }
}

/// Cost of a plan per hour, at several prices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanCost {
    /// The chosen options at the ranking policy's prices, with the nodes' own cost.
    pub planned: PricePerHour,
    /// The chosen options at the provider's prices, with the nodes' own cost.
    pub list: PricePerHour,
    /// The dearest named option of every claim, at the provider's prices: what it may come to.
    pub dearest: PricePerHour,
    /// No fleet for these pods can cost less, at the provider's prices.
    pub bound: PricePerHour,
    /// Cost of first fit in Karpenter's order on the same snapshot, at the provider's prices.
    pub first_fit: PricePerHour,
}

/// A pod that goes nowhere.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Unplaced {
    /// Row of the pod in the snapshot.
    pub pod: usize,
    /// The rules that refused it.
    pub reason: Refusal,
}

/// Why a pod goes nowhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Refusal {
    /// The pod itself cannot be planned: what in it is wrong.
    Invalid(String),
    /// It asks for devices through dynamic resource allocation, which is not served.
    DynamicResources,
    /// No pool can be used.
    NoPool,
    /// It waits for a capacity reservation that others hold; not an error, it is tried again.
    Reserved,
    /// Nodes were bought for it and the scheduler did not use them: no other is bought until something about it changes.
    Unused(Arc<UnusedNodes>),
    /// No node there is can take it and no pool may buy one that could: the first rule that refused, per pool, pools that exclude the pod last.
    Unschedulable(Vec<PoolRefusal>),
}

/// Why one pool could not help a pod.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PoolRefusal {
    /// The pool.
    pub pool: PoolName,
    /// In words: the first rule that refused, where one refused the whole pool; else empty.
    pub reason: String,
    /// How many of the pool's offerings each rule refused; every offering is counted once. Where one rule alone refuses all, it is the
    /// only one.
    pub offerings: Vec<RefusedOfferings>,
    /// In words: the nearest offering that would hold the pod, and the rules of the pool to lift for it. `None` where no trial has
    /// shown one to; decisions make none, `tell_nearest` of the schedule does.
    pub nearest: Option<String>,
    /// `true` if the pool's taints or labels exclude the pod: it is for other pods.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub excludes: bool,
}

/// Reasons of pools that exclude a pod are given where no more pools than this are to be told of.
pub const MOST_EXCLUDING: usize = 4;

/// The refusals to tell people in full, and the number of others: pools that exclude the pod, where there are many.
pub fn refusals_in_full(pools: &[PoolRefusal]) -> (&[PoolRefusal], usize) {
    let own = pools.partition_point(|pool| !pool.excludes);
    let shown = own.max(MOST_EXCLUDING.min(pools.len()));
    (&pools[..shown], pools.len() - shown)
}

/// Offerings that one rule refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedOfferings {
    /// How many.
    pub count: usize,
    /// The rule, in words that follow the count: `too little memory (requests ...)`.
    pub rule: String,
}

impl PoolRefusal {
    /// A refusal of the whole pool, whatever it may buy.
    pub fn whole(pool: PoolName, reason: String) -> Self {
        Self {
            pool,
            reason,
            offerings: Vec::new(),
            nearest: None,
            excludes: false,
        }
    }

    /// All offerings that were looked at.
    pub fn looked_at(&self) -> usize {
        self.offerings.iter().map(|refused| refused.count).sum()
    }
}

impl fmt::Display for PoolRefusal {
    /// One line: `3120 offerings: 816 not in zone a; 2304 too little memory (...); nearest: ...`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)?;
        if self.reason.is_empty() {
            write!(f, "{} offerings", self.looked_at())?;
            for (at, RefusedOfferings { count, rule }) in self.offerings.iter().enumerate() {
                let mark = if at == 0 { ":" } else { ";" };
                write!(f, "{mark} {count} {rule}")?;
            }
        }
        match &self.nearest {
            Some(nearest) => write!(f, "; nearest: {nearest}"),
            None => Ok(()),
        }
    }
}

impl Refusal {
    /// The reason in one word, as documents give it.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Invalid(_) => "InvalidPod",
            Self::DynamicResources => "DynamicResources",
            Self::NoPool => "NoNodePool",
            Self::Reserved => "ReservedCapacity",
            Self::Unused(_) => "NodesUnused",
            Self::Unschedulable(_) => "NoOffering",
        }
    }
}

/// Pools that are not told of one by one, in words.
pub fn excluding(others: usize) -> String {
    let pools = if others == 1 { "NodePool" } else { "NodePools" };
    format!("{others} other {pools} with taints or labels that exclude the pod")
}

impl fmt::Display for Refusal {
    /// One line, to follow the pod's name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(problem) => write!(f, "cannot be planned: {problem}"),
            Self::DynamicResources => f.write_str(
                "asks for devices that dynamic resource allocation meets, which is not planned",
            ),
            Self::NoPool => f.write_str("is unschedulable: no NodePool may launch a node"),
            Self::Reserved => f.write_str("waits for a capacity reservation that others hold"),
            Self::Unused(nodes) => write!(f, "gets no other node for now: {nodes}"),
            Self::Unschedulable(pools) => {
                f.write_str("is unschedulable: no offering of its NodePools can hold it")?;
                let (shown, others) = refusals_in_full(pools);
                for pool in shown {
                    write!(f, "; pool {}: {pool}", pool.pool)?;
                }
                match others {
                    0 => Ok(()),
                    others => write!(f, "; {}", excluding(others)),
                }
            }
        }
    }
}

/// A remark about a plan.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Note {
    /// The pool it speaks of.
    pub pool: Option<PoolName>,
    /// The pod it speaks of.
    pub pod: Option<ObjectName>,
    /// The note in words.
    pub text: String,
    /// As what it is told to people.
    #[serde(default)]
    pub kind: NoteKind,
}

/// Remarks by the Event that tells them.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum NoteKind {
    /// A remark: `SchedulingNote`.
    #[default]
    Remark,
    /// A pool's requirements leave no instance type, or fewer than it wants to choose from: `NoCompatibleInstanceTypes`.
    NoCompatibleInstanceTypes,
}

impl Note {
    /// A remark about the plan as a whole.
    pub fn of_plan(text: String) -> Self {
        Self {
            pool: None,
            pod: None,
            text,
            kind: NoteKind::Remark,
        }
    }

    /// A remark about what a pool adds to the plan.
    pub fn of_pool(pool: PoolName, text: String) -> Self {
        Self {
            pool: Some(pool),
            ..Self::of_plan(text)
        }
    }
}

impl fmt::Display for Note {
    /// Its words, behind the object that it speaks of.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.pod, &self.pool) {
            (Some(pod), _) => write!(f, "Pod {pod}: {}", self.text),
            (None, Some(pool)) => write!(f, "NodePool {pool}: {}", self.text),
            (None, None) => f.write_str(&self.text),
        }
    }
}

impl NoteKind {
    /// The reason of its Event.
    pub const fn reason(self) -> EventReason {
        match self {
            Self::Remark => EventReason::SchedulingNote,
            Self::NoCompatibleInstanceTypes => EventReason::NoCompatibleInstanceTypes,
        }
    }
}
