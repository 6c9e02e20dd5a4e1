//! Bounds of plans, as metrics have them: worked out on a thread of their own once a plan is made, so that no decision waits for them.
//!
//! One plan is measured at a time, and those that are made meanwhile are not: cost and bounds that stand beside each other are of the same plan.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use plimsoll_model::plan::Plan;
use plimsoll_model::snapshot::Snapshot;
use plimsoll_schedule::{Session, bounds_of_plan};
use tokio::task::spawn_blocking;

use crate::telemetry::Telemetry;

/// Measures plans against their bounds.
#[derive(Clone)]
pub(crate) struct BoundMeter {
    telemetry: Telemetry,
    is_busy: Arc<AtomicBool>,
    session: Session,
}

/// Ends a measurement, also one that panics.
struct Busy(Arc<AtomicBool>);

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

impl BoundMeter {
    pub(crate) fn new(telemetry: Telemetry) -> Self {
        Self {
            telemetry,
            is_busy: Arc::default(),
            session: Session::default(),
        }
    }

    /// Measures a plan that buys something, unless another is being measured.
    pub(crate) fn measure(&self, snapshot: &Arc<Snapshot>, plan: &Plan) {
        if plan.claims.is_empty() || self.is_busy.swap(true, Ordering::Acquire) {
            return;
        }
        let busy = Busy(Arc::clone(&self.is_busy));
        let (own, snapshot, plan) = (self.clone(), Arc::clone(snapshot), plan.clone());
        spawn_blocking(move || {
            let bounds = bounds_of_plan(&own.session.prepare(&snapshot), &plan);
            own.telemetry.packed(plan.cost.list, &bounds);
            drop(busy);
        });
    }
}
