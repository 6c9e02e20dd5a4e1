//! Who plans: the core, at the prices of a ranking module, or at list prices where there is none or it fails.

use plimsoll_core::plan::Plan;
use plimsoll_core::schedule;
use plimsoll_core::snapshot::Snapshot;
use plimsoll_policy::{Module, decide};

/// Carries the core's question to a module, and its answer back.
pub struct Planner {
    module: Option<Module>,
}

impl Planner {
    /// A planner that asks a module; list prices without one.
    pub fn new(module: Option<Module>) -> Self {
        Self { module }
    }

    /// What to do about a snapshot. Faults of the module are logged; what the core makes of them is in the plan.
    pub fn plan(&self, snapshot: &Snapshot) -> Plan {
        let Some(module) = &self.module else {
            return schedule::plan(snapshot);
        };
        let decision = decide(module, snapshot);
        for fault in &decision.faults {
            let policy = module.manifest().name.as_str();
            tracing::warn!(policy, %fault, "policy failed");
        }
        decision.plan
    }
}
