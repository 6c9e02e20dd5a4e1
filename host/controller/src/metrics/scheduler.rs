//! Plans and decisions on disruption: how long each took, and those that are being made.

use std::sync::Arc;
use std::time::Duration;

use plimsoll_model::Pod;

use super::exposition::Exposition;
use super::families;
use super::keyed::Histograms;

/// Figures of decisions that were made.
#[derive(Clone, Debug)]
pub(crate) struct SchedulerMeters {
    scheduling: Histograms<1>,
}

/// A decision that is being made.
#[derive(Clone, Debug)]
pub(crate) struct OpenDecision {
    /// Karpenter's controller that would make it.
    pub(crate) controller: &'static str,
    /// Number of the request.
    pub(crate) id: u64,
    /// How long it has been made.
    pub(crate) age: Duration,
    /// Waiting pods that it is about; `None` where it is about nodes.
    pub(crate) pods: Option<usize>,
}

impl Default for SchedulerMeters {
    fn default() -> Self {
        Self {
            scheduling: Histograms::new(&families::SCHEDULING),
        }
    }
}

impl SchedulerMeters {
    /// A decision took so long, in seconds.
    pub(crate) fn decided(&mut self, controller: &'static str, took: f64) {
        self.scheduling.observe([Arc::from(controller)], took);
    }

    pub(crate) fn write(&self, out: &mut Exposition, open: &[OpenDecision]) {
        out.histograms(&families::SCHEDULING, &self.scheduling);
        let mut samples = out.family(&families::QUEUE_DEPTH);
        for decision in open {
            if let Some(pods) = decision.pods {
                let pods = u32::try_from(pods).unwrap_or(u32::MAX);
                let id = decision.id.to_string();
                samples.sample(&[decision.controller, &id], f64::from(pods));
            }
        }
        let mut samples = out.family(&families::UNFINISHED_WORK);
        for decision in open {
            let (id, age) = (decision.id.to_string(), decision.age.as_secs_f64());
            samples.sample(&[decision.controller, &id], age);
        }
    }
}

/// Waiting pods that plans leave out.
pub(crate) fn write_ignored(out: &mut Exposition, pods: &[Arc<Pod>]) {
    let is_ignored =
        |pod: &&Arc<Pod>| pod.node.is_none() && pod.is_active() && pod.spec.problem.is_some();
    let ignored = pods.iter().filter(is_ignored).count();
    let ignored = u32::try_from(ignored).unwrap_or(u32::MAX);
    out.value(&families::IGNORED_PODS, f64::from(ignored));
}
