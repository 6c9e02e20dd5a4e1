//! The planner of a run: the seam between the simulator and the code that carries the core's questions to policies.

use plimsoll_base::units::PricePerHour;
use plimsoll_disrupt::keep_reason::KeepReason;
use plimsoll_model::action::ConsiderRequest;
use plimsoll_model::command::{Decision, Settled};
use plimsoll_model::plan::Plan;
use plimsoll_model::snapshot::Snapshot;
use plimsoll_schedule::FreshFleet;

/// A plan, and what went wrong with policies while it was made.
#[derive(Clone, Debug, Default)]
pub struct Planned {
    /// The plan.
    pub plan: Plan,
    /// Faults of modules, each a sentence for people.
    pub faults: Vec<String>,
}

/// A plan that nothing went wrong with.
impl From<Plan> for Planned {
    fn from(plan: Plan) -> Self {
        let faults = Vec::new();
        Self { plan, faults }
    }
}

/// A decision about nodes, and what went wrong with policies while it was made.
#[derive(Clone, Debug, Default)]
pub struct Considered {
    /// The decision.
    pub decision: Decision,
    /// Faults of modules, each a sentence for people.
    pub faults: Vec<String>,
}

/// A decision that nothing went wrong with.
impl From<Decision> for Considered {
    fn from(decision: Decision) -> Self {
        let faults = Vec::new();
        Self { decision, faults }
    }
}

/// A moment of a run: what a fleet bought from nothing would cost, and why nodes are kept.
#[derive(Clone, Debug, Default)]
pub struct Appraisal {
    /// The fleet that would be bought for the pods.
    pub fresh: FreshFleet,
    /// Why each of the nodes that were asked about is still there, in their order.
    pub kept: Vec<KeepReason>,
}

/// Plans for snapshots.
pub trait Planner {
    /// Plans a snapshot. Equal snapshots must give equal plans.
    fn plan(&mut self, snapshot: &Snapshot) -> Planned;

    /// Decides about nodes that might be disrupted. Equal requests must give equal decisions.
    fn consider(&mut self, request: &ConsiderRequest) -> Considered {
        plimsoll_disrupt::consider(&request.snapshot, &request.question).into()
    }

    /// A command came to its end, or to the end of the hour after it.
    fn settled(&mut self, _settled: &Settled) {}

    /// What the pods of a snapshot would cost bought from nothing, and why the nodes in these rows are kept. `None` where it is not
    /// computed; then it is not asked for again.
    fn appraise(&mut self, _snapshot: &Snapshot, _rows: &[usize]) -> Option<Appraisal> {
        None
    }

    /// For several amounts of work, each so many copies of each pod of a snapshot: what no fleet for it, bought from
    /// nothing, can cost less than per hour at list price. `None` where it is not computed.
    fn bounds(&mut self, _snapshot: &Snapshot, _work: &[Vec<u32>]) -> Option<Vec<PricePerHour>> {
        None
    }
}

impl<F: FnMut(&Snapshot) -> Plan> Planner for F {
    fn plan(&mut self, snapshot: &Snapshot) -> Planned {
        self(snapshot).into()
    }
}
