//! Beginnings that tests of runs share: recordings of a world, deployments like a pod, instances that are up after a while, runs
//! at list prices.

use std::sync::Arc;

use plimsoll_base::time::{Span, Timestamp};
use plimsoll_model::catalogue::Catalogues;
use plimsoll_model::snapshot::{Objects, Settings, Snapshot};
use plimsoll_oracles::fixture::PodFixture;
use plimsoll_sim::{Behaviour, Delay, Deployment, Planner, Recording, Run, Shortfall, TimedChange};

/// A world as fixtures make it (`ClusterFixture::parts`), and all that happens to it until `end`; to the last change and its
/// consequences when `None`.
pub fn recording(
    (objects, catalogues, settings): (Objects, Catalogues, Settings),
    start: Timestamp,
    end: Option<Timestamp>,
    changes: Vec<TimedChange>,
) -> Recording {
    Recording {
        start,
        end,
        objects,
        running: Vec::new(),
        catalogues: Arc::new(catalogues),
        settings: Arc::new(settings),
        changes,
    }
}

/// A deployment of the pod's name, whose pods are like it.
pub fn deployment(template: &PodFixture, replicas: u32) -> Deployment {
    Deployment {
        name: template.name().clone(),
        labels: Arc::new(template.labels().clone()),
        spec: Arc::new(template.spec().clone()),
        replicas,
        follows: None,
        uses: None,
    }
}

/// A run whose plans are the core's own, at list prices.
pub fn run(recording: Recording, behaviour: Behaviour) -> Run<impl Planner> {
    Run::new(recording, behaviour, |snapshot: &Snapshot| {
        plimsoll_schedule::plan(snapshot)
    })
}

/// [`uninterrupted`] instances that lack some thousandths of the memory that was computed for them.
pub fn lacking(thousandths: u32) -> Behaviour {
    Behaviour {
        shortfall: Shortfall::always(thousandths),
        ..uninterrupted()
    }
}

/// Instances are up after 40 seconds, and no spot capacity is taken back.
pub fn uninterrupted() -> Behaviour {
    Behaviour {
        boot: Delay::always(Span::from_secs(40)),
        interruptions: false,
        ..Behaviour::default()
    }
}
