//! The planner of a run: the seam between the simulator and whoever carries the core's questions to policies.

use plimsoll_core::action::ConsiderRequest;
use plimsoll_core::command::Decision;
use plimsoll_core::disrupt;
use plimsoll_core::plan::Plan;
use plimsoll_core::snapshot::Snapshot;
use plimsoll_core::units::PricePerHour;

/// A plan, and what went wrong with policies while it was made.
#[derive(Clone, Debug, Default)]
pub struct Planned {
    /// The plan.
    pub plan: Plan,
    /// Faults of modules, each a sentence for people.
    pub faults: Vec<String>,
}

/// A decision about nodes, and what went wrong with policies while it was made.
#[derive(Clone, Debug, Default)]
pub struct Considered {
    /// The decision.
    pub decision: Decision,
    /// Faults of modules, each a sentence for people.
    pub faults: Vec<String>,
}

/// Plans for snapshots.
pub trait Planner {
    /// Plans a snapshot. Equal snapshots must give equal plans.
    fn plan(&mut self, snapshot: &Snapshot) -> Planned;

    /// Decides about nodes that might be disrupted. Equal requests must give equal decisions.
    fn consider(&mut self, request: &ConsiderRequest) -> Considered {
        Considered {
            decision: disrupt::consider(&request.snapshot, &request.question),
            faults: Vec::new(),
        }
    }

    /// For several amounts of work, each so many copies of each pod of a snapshot: what no fleet for it, bought from
    /// nothing, can cost less than per hour at list price. `None` where nobody computes it.
    fn bounds(&mut self, _snapshot: &Snapshot, _work: &[Vec<u32>]) -> Option<Vec<PricePerHour>> {
        None
    }
}

impl<F: FnMut(&Snapshot) -> Plan> Planner for F {
    fn plan(&mut self, snapshot: &Snapshot) -> Planned {
        Planned {
            plan: self(snapshot),
            faults: Vec::new(),
        }
    }
}
