//! Metrics: what the process serves to Prometheus, under Karpenter's names where it has them.
//!
//! Counts are taken where something happens, by place or by values that are there, so that it costs next to nothing. What follows from
//! the state (gauges of nodes, pods and pools) is worked out when somebody asks: the loop hands out a [`Cut`], a reference to each
//! object, and the text is made of it on another thread. A series is there as long as its object is.
//!
//! Families stand in one table, [`families`]; each group of them has a file.

mod claims;
mod cloud;
pub(crate) mod disruption;
mod exposition;
pub(crate) mod families;
mod family;
mod histogram;
mod keyed;
mod nodes;
mod observe;
mod pods;
mod policies;
mod pools;
pub(crate) mod reconciles;
pub(crate) mod scheduler;
mod summary;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use plimsoll_base::resources::ResourceName;
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_disrupt::budget::PoolAllowance;
use plimsoll_engine::{Engine, EngineCounts};
use plimsoll_model::catalogue::Catalogues;
use plimsoll_model::command::Settled;
use plimsoll_model::{DisruptionReason, Node, NodeClaim, Pod};

pub(crate) use exposition::Exposition;
pub(crate) use family::Family;
pub(crate) use histogram::Histogram;
pub(crate) use observe::SpokenOf;
pub(crate) use policies::PolicyMeters;

use crate::decision::Made;
use crate::fidelity::{Fidelity, LandingCounts};
use claims::ClaimMeters;
use cloud::CloudMeters;
use disruption::DisruptionMeters;
use exposition::whole;
use nodes::NodeMeters;
use pods::PodMeters;
use pools::UsedPool;
use reconciles::{Controller, Ending, ReconcileMeters};
use scheduler::{OpenDecision, SchedulerMeters};

/// Figures of what has happened in the loop.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meters {
    claims: ClaimMeters,
    cloud: CloudMeters,
    disruption: DisruptionMeters,
    nodes: NodeMeters,
    pods: PodMeters,
    reconciles: ReconcileMeters,
    scheduler: SchedulerMeters,
}

/// All that figures are made of, at one instant.
#[derive(Debug)]
pub(crate) struct Cut {
    now: Timestamp,
    meters: Meters,
    counts: EngineCounts,
    eligible: [(DisruptionReason, usize); DisruptionReason::ALL.len()],
    allowances: Vec<PoolAllowance>,
    pools: Vec<UsedPool>,
    nodes: Vec<Arc<Node>>,
    claims: Vec<Arc<NodeClaim>>,
    pods: Vec<Arc<Pod>>,
    catalogues: Arc<Catalogues>,
    fidelity: [(&'static str, LandingCounts); 2],
    open: Vec<OpenDecision>,
    /// Orders that wait for their turn, by controller.
    waiting: Vec<(&'static str, usize)>,
}

/// Gauges of pods, nodes and pools, and whether they are served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StateMetrics {
    /// They are.
    #[default]
    Served,
    /// They are not: in a large cluster they are most of all series.
    Disabled,
}

impl Meters {
    /// A decision was made.
    pub(crate) fn decided(&mut self, made: &Made, now: Timestamp) {
        let took = made.took.as_secs_f64();
        let (controller, labels) = (made.controller(), made.evaluated);
        let name = controller.name();
        self.reconciles.ended(controller, Ending::Success, took);
        self.scheduler.decided(name, took);
        if let Some(labels) = labels {
            self.disruption.evaluated(labels, took);
        }
        self.pods.decided(&made.pods, now);
    }

    /// A decision could not be made.
    pub(crate) fn undecided(&mut self, controller: Controller) {
        self.reconciles.failed(controller);
    }

    /// The engine has taken an input in.
    pub(crate) fn handled(&mut self, controller: Option<Controller>, took: Duration) {
        if let Some(controller) = controller {
            let took = took.as_secs_f64();
            self.reconciles.ended(controller, Ending::Success, took);
        }
    }

    /// A command has come to its end.
    pub(crate) fn settled(&mut self, settled: &Settled) {
        self.disruption.settled(settled);
    }

    /// Everything as it is at an instant.
    pub(crate) fn cut(
        &self,
        engine: &Engine,
        fidelity: &Fidelity,
        (open, waiting): (Vec<OpenDecision>, Vec<(&'static str, usize)>),
        now: Timestamp,
    ) -> Cut {
        let cluster = engine.cluster();
        let pools = cluster.pools.sorted().into_iter();
        let pools = pools.map(|pool| (Arc::clone(pool), cluster.capacity(&pool.name)));
        Cut {
            now,
            meters: self.clone(),
            counts: engine.counts().clone(),
            eligible: engine.eligible(),
            allowances: engine.allowances(now),
            pools: pools.collect(),
            nodes: cluster.nodes.unordered().cloned().collect(),
            claims: cluster.claims.unordered().cloned().collect(),
            pods: cluster.pods.unordered().cloned().collect(),
            catalogues: Arc::clone(engine.market().catalogues()),
            fidelity: [("pending", fidelity.pending), ("evicted", fidelity.evicted)],
            open,
            waiting,
        }
    }
}

impl Cut {
    /// Writes all families that are made of it.
    pub(crate) fn write(&self, out: &mut Exposition, state: StateMetrics) {
        let Self { meters, now, .. } = self;
        meters.claims.write(out, &self.counts);
        meters.nodes.write(out, *now);
        meters.pods.write(out, *now);
        meters.disruption.write(out, &self.counts, &self.eligible);
        pools::write_allowances(out, &self.allowances);
        meters.scheduler.write(out, &self.open);
        scheduler::write_ignored(out, &self.pods);
        meters.cloud.write(out);
        cloud::write(out, &self.catalogues);
        meters.reconciles.write(out);
        self.write_waiting(out);
        self.write_fidelity(out);
        if state == StateMetrics::Served {
            let objects = (&*self.nodes, &*self.pods, &*self.claims);
            nodes::write(out, objects, &self.catalogues, *now);
            pools::write(out, &self.pools, &self.claims, &self.catalogues);
            meters.pods.write_waiting(out, *now);
            pods::write(out, &self.pods, &self.nodes);
        }
    }

    fn write_waiting(&self, out: &mut Exposition) {
        let mut samples = out.family(&families::WORKQUEUE_DEPTH);
        for (controller, orders) in &self.waiting {
            let orders = u32::try_from(*orders).unwrap_or(u32::MAX);
            samples.sample(&[controller, controller, ""], f64::from(orders));
        }
    }

    fn write_fidelity(&self, out: &mut Exposition) {
        let mut samples = out.family(&families::FIDELITY);
        for (pods, counts) in &self.fidelity {
            for (bound, count) in [
                ("as_planned", counts.as_planned),
                ("sooner", counts.sooner),
                ("elsewhere", counts.elsewhere),
            ] {
                samples.sample(&[pods, bound], whole(count));
            }
        }
    }
}

/// Seconds of a span.
pub(crate) fn seconds(span: Span) -> f64 {
    span.millis() as f64 / 1000.0
}

/// An amount in the unit of its resource: cores for cpu.
fn amount(name: &ResourceName, amount: i64) -> f64 {
    match name {
        ResourceName::Cpu => amount as f64 / 1000.0,
        _ => amount as f64,
    }
}

/// A resource's name as a value of a label.
fn resource_type(name: &ResourceName) -> String {
    name.as_str().to_lowercase().replace('-', "_")
}
