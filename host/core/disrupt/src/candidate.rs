//! Candidates: nodes that may be disrupted voluntarily, and what exactly forbids it for the others.
//!
//! Rules, their order and what each reads are Karpenter's, but for budgets, which are read as the API server reads them when it is
//! asked for an eviction; the first that refuses is the one that is told. A policy can
//! only make candidates fewer. Asked when a move is looked for and again before it is carried out.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use plimsoll_base::ids::{ClaimName, ObjectName, PoolName};
use plimsoll_base::labels;
use plimsoll_base::time::Timestamp;
use plimsoll_base::units::PricePerHour;
use plimsoll_model::catalogue::{CapacityType, Catalogue, InstanceType, Overlaid};
use plimsoll_model::snapshot::{Snapshot, StateNode};
use plimsoll_model::{DisruptionLimit, MoveCost, NodePool, Pod, is_reschedulable};
use plimsoll_schedule::Quoted;
use plimsoll_schedule::reading::Reading;

/// Annotation of nodes that ask to be left alone; only the value `true` counts on a node.
pub const DO_NOT_DISRUPT: &str = "karpenter.sh/do-not-disrupt";

/// How strictly pods that cannot be evicted now keep their node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DisruptionClass {
    /// Always: emptiness and consolidation.
    Graceful,
    /// Unless the claim bounds its drain: drift.
    Eventual,
}

/// A node that may be removed.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Row of the node in the snapshot.
    pub row: usize,
    /// Name of the NodeClaim behind the node.
    pub claim: ClaimName,
    /// The NodePool of the node.
    pub pool: Arc<NodePool>,
    /// Its type, as its pool sells it; `None` when it is no longer sold.
    pub instance_type: Option<Arc<InstanceType>>,
    /// Its capacity type, by its label.
    pub capacity_type: Option<CapacityType>,
    /// Its zone, by its label.
    pub zone: Option<Arc<str>>,
    /// List price per hour, whether or not the offering could be had again; zero where it is not known.
    pub price: PricePerHour,
    /// Worth per hour at the prices that decide; its list price where no ranking policy speaks of it.
    pub worth: PricePerHour,
    /// Rows of the pods that must run elsewhere when it goes.
    pub pods: Vec<usize>,
    /// Cost of evicting its pods.
    pub cost: MoveCost,
}

/// Why a node may not be removed now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Blocked {
    /// It is being moved already.
    UnderWay,
    /// No claim of ours stands behind it.
    NotOurs,
    /// Its claim has no node yet.
    NoNode,
    /// Its node is not complete.
    NotInitialized,
    /// It is deleting.
    Deleting,
    /// Pods on their way have been promised room there.
    Promised,
    /// The node carries the annotation.
    NodeAsksToStay,
    /// It belongs to no pool.
    NoPool,
    /// A part of its claim could not be read.
    ClaimNotUnderstood(Arc<str>),
    /// A part of its pool could not be read.
    PoolNotUnderstood(PoolName, Arc<str>),
    /// Its pool is gone, or sells nothing.
    PoolUnusable(PoolName),
    /// A pod carries the annotation.
    PodAsksToStay {
        /// The pod.
        pod: ObjectName,
        /// Until when, where it names a time and has started.
        until: Option<Timestamp>,
    },
    /// Several disruption budgets speak of one pod, which the eviction API refuses.
    SeveralBudgets {
        /// The pod.
        pod: ObjectName,
        /// The budgets.
        budgets: Vec<ObjectName>,
    },
    /// A disruption budget has neither limit, with which it never allows an eviction.
    BudgetUnset {
        /// The pod.
        pod: ObjectName,
        /// The budget.
        budget: ObjectName,
    },
    /// A disruption budget allows no eviction now.
    BudgetExhausted {
        /// The pod.
        pod: ObjectName,
        /// The budget.
        budget: ObjectName,
    },
}

impl Blocked {
    /// `true` if people are told: not of nodes that are being moved, nor of those that are none of ours.
    pub fn is_told(&self) -> bool {
        !matches!(self, Self::UnderWay | Self::NotOurs)
    }

    /// `true` if pods are what forbids it: waived for drift where the claim bounds its drain.
    pub fn is_by_pods(&self) -> bool {
        matches!(
            self,
            Self::PodAsksToStay { .. }
                | Self::SeveralBudgets { .. }
                | Self::BudgetUnset { .. }
                | Self::BudgetExhausted { .. }
        )
    }

    /// When it ends by itself, as far as that is known.
    pub fn until(&self) -> Option<Timestamp> {
        match self {
            Self::PodAsksToStay { until, .. } => *until,
            _ => None,
        }
    }
}

impl fmt::Display for Blocked {
    /// In words, to follow "not disrupted now: ".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnderWay => f.write_str("it is being replaced already"),
            Self::NotOurs => f.write_str("it is not managed: no NodeClaim stands behind it"),
            Self::NoNode => f.write_str("its claim has no node yet"),
            Self::NotInitialized => f.write_str("it is not initialized"),
            Self::Deleting => f.write_str("it is deleting"),
            Self::Promised => f.write_str("pods are nominated to it"),
            Self::NodeAsksToStay => write!(f, "it is annotated {DO_NOT_DISRUPT}: true"),
            Self::NoPool => write!(f, "it has no label {}", labels::NODEPOOL),
            Self::ClaimNotUnderstood(problem) => {
                write!(f, "its NodeClaim is invalid: {problem}")
            }
            Self::PoolNotUnderstood(pool, problem) => {
                write!(f, "NodePool {pool} is invalid: {problem}")
            }
            Self::PoolUnusable(pool) => write!(f, "pool {pool} is not there or sells nothing"),
            Self::PodAsksToStay { pod, .. } => {
                write!(f, "pod {pod} is annotated {DO_NOT_DISRUPT}")
            }
            Self::SeveralBudgets { pod, budgets } => {
                let names = budgets.iter().map(ToString::to_string);
                let names = plimsoll_base::words::shortened(names);
                write!(f, "pod {pod} has several disruption budgets: {names}")
            }
            Self::BudgetUnset { pod, budget } => write!(
                f,
                "PodDisruptionBudget {budget} has neither minAvailable nor maxUnavailable and allows no eviction of pod {pod}"
            ),
            Self::BudgetExhausted { pod, budget } => {
                write!(
                    f,
                    "PodDisruptionBudget {budget} allows no eviction of pod {pod}"
                )
            }
        }
    }
}

/// A snapshot read for disruption.
pub struct Fleet<'s> {
    /// The snapshot that was read.
    pub snapshot: &'s Snapshot,
    /// The same for decisions on where pods go.
    pub(super) reading: Reading<'s>,
    overlaid: Overlaid,
    nominated: BTreeSet<&'s str>,
    /// Prices that a ranking policy gave for the offers of the pools; `None` where list prices decide.
    pub(super) quoted: Option<Quoted>,
}

impl<'s> Fleet<'s> {
    /// Reads a snapshot.
    pub fn of(snapshot: &'s Snapshot) -> Self {
        let promised = snapshot.pods.iter().filter(|pod| pod.node.is_none());
        let nominated = promised.filter_map(|pod| pod.nominated.as_ref());
        Self {
            snapshot,
            reading: Reading::of(snapshot),
            overlaid: snapshot.overlaid(),
            nominated: nominated.map(AsRef::as_ref).collect(),
            quoted: None,
        }
    }

    /// All nodes that may be removed, in order of rows, and why the others may not.
    pub fn candidates(&self, class: DisruptionClass) -> (Vec<Candidate>, Vec<(usize, Blocked)>) {
        let (mut may, mut may_not) = (Vec::new(), Vec::new());
        for row in 0..self.snapshot.nodes.len() {
            match self.candidate(row, class) {
                Ok(candidate) => may.push(candidate),
                Err(blocked) => may_not.push((row, blocked)),
            }
        }
        (may, may_not)
    }

    /// The node as a candidate for disruption; the first rule that forbids it as the error.
    pub fn candidate(&self, row: usize, class: DisruptionClass) -> Result<Candidate, Blocked> {
        let node = &self.snapshot.nodes[row];
        let pool = self.pool_of(node)?;
        let pods = || self.pods_on(row);
        let bounded = node
            .claim
            .as_ref()
            .is_some_and(|claim| claim.termination_grace.is_some());
        match self.blocking_pod(row) {
            Some(blocked) if class == DisruptionClass::Graceful || !bounded => return Err(blocked),
            _ => {}
        }
        let moved = pods().filter(|(_, pod)| is_reschedulable(pod));
        let catalogue = self.overlaid.of(&pool.name);
        let label = |key| node.labels().get(key);
        let instance_type = label(labels::INSTANCE_TYPE).and_then(|name| catalogue.get(name));
        let claim = node.claim.as_ref().ok_or(Blocked::NotOurs)?;
        Ok(Candidate {
            row,
            claim: claim.name.clone(),
            instance_type: instance_type.cloned(),
            capacity_type: label(labels::CAPACITY_TYPE).and_then(|text| CapacityType::parse(text)),
            zone: label(labels::ZONE).cloned(),
            price: self.price(node, &pool.name),
            worth: self.worth(node, &pool.name),
            cost: MoveCost::of_node(moved.clone().map(|(_, pod)| pod)),
            pods: moved.map(|(row, _)| row).collect(),
            pool,
        })
    }

    /// Catalogue of a pool, overlays applied.
    pub fn catalogue(&self, pool: &PoolName) -> &Catalogue {
        self.overlaid.of(pool)
    }

    /// List price of a node: that of its type's offering in its zone and of its capacity type, available or not.
    pub fn price(&self, node: &StateNode, pool: &PoolName) -> PricePerHour {
        let sold = self.overlaid.of(pool).of_labels(node.labels());
        sold.map_or(PricePerHour::ZERO, |sold| sold.offering.price)
    }

    /// Worth of a node: the price of one more like it at the ranking policy's price, or its list price.
    pub fn worth(&self, node: &StateNode, pool: &PoolName) -> PricePerHour {
        let quoted = self.quoted.as_ref();
        let worth = quoted.and_then(|quoted| quoted.worth(pool, node.labels()));
        worth.unwrap_or_else(|| self.price(node, pool))
    }

    /// The pods on a node, with their rows.
    pub fn pods_on(&self, row: usize) -> impl Iterator<Item = (usize, &'s Pod)> + Clone {
        let snapshot = self.snapshot;
        let rows = self.reading.pods_on(row).iter();
        rows.map(move |row| (*row, snapshot.pods[*row].as_ref()))
    }

    /// The pool of a node that may go as far as the node itself is concerned.
    fn pool_of(&self, node: &StateNode) -> Result<Arc<NodePool>, Blocked> {
        let claim = node.claim.as_ref().ok_or(Blocked::NotOurs)?;
        let activity = &self.snapshot.activity;
        if activity.under_way.contains(&claim.name) {
            return Err(Blocked::UnderWay);
        }
        let object = node.node.as_ref().ok_or(Blocked::NoNode)?;
        if !node.is_initialized() {
            return Err(Blocked::NotInitialized);
        }
        if node.is_deleting() || object.deleting.is_some() {
            return Err(Blocked::Deleting);
        }
        if activity.promised.contains(&claim.name) || self.nominated.contains(object.name.as_str())
        {
            return Err(Blocked::Promised);
        }
        let asks = object.annotations.get(DO_NOT_DISRUPT);
        if asks.is_some_and(|value| value.as_ref() == "true") {
            return Err(Blocked::NodeAsksToStay);
        }
        if let Some(problem) = &claim.unread.problem {
            return Err(Blocked::ClaimNotUnderstood(Arc::clone(problem)));
        }
        let name = object.pool().ok_or(Blocked::NoPool)?;
        let pool = self.snapshot.pool(name.as_str());
        if let Some(problem) = pool.and_then(|pool| pool.unread.problem.as_ref()) {
            return Err(Blocked::PoolNotUnderstood(name, Arc::clone(problem)));
        }
        match pool.filter(|_| !self.overlaid.of(&name).types().is_empty()) {
            Some(pool) => Ok(Arc::clone(pool)),
            None => Err(Blocked::PoolUnusable(name)),
        }
    }

    /// The first pod that forbids it: annotations of all pods before budgets of all pods.
    fn blocking_pod(&self, row: usize) -> Option<Blocked> {
        let now = self.snapshot.now;
        let annotated = self
            .pods_on(row)
            .find(|(_, pod)| pod.is_protected(now))
            .map(|(_, pod)| Blocked::PodAsksToStay {
                pod: pod.name.clone(),
                until: pod.protected_until(),
            });
        annotated.or_else(|| {
            let mut pods = self.pods_on(row).map(|(_, pod)| pod);
            pods.find_map(|pod| self.budget_against(pod, now))
        })
    }

    fn budget_against(&self, pod: &Pod, now: Timestamp) -> Option<Blocked> {
        if !plimsoll_model::is_evictable(pod, now) {
            return None;
        }
        match self.reading.budgets().asked(pod).as_slice() {
            [] => None,
            [budget] if budget.lets_go(pod) || budget.disruptions_allowed > 0 => None,
            [budget] if budget.limit == DisruptionLimit::Unset => Some(Blocked::BudgetUnset {
                pod: pod.name.clone(),
                budget: budget.name.clone(),
            }),
            [budget] => Some(Blocked::BudgetExhausted {
                pod: pod.name.clone(),
                budget: budget.name.clone(),
            }),
            several => Some(Blocked::SeveralBudgets {
                pod: pod.name.clone(),
                budgets: several.iter().map(|budget| budget.name.clone()).collect(),
            }),
        }
    }
}
