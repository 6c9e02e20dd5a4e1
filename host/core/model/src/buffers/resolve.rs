//! From a buffer to room: the shape of one unit and how many are asked for now, or why that cannot be said.
//!
//! Nothing here fails: a buffer that cannot be understood asks for nothing and says why.

use std::sync::Arc;

use plimsoll_base::cron::{Schedule, ScheduleError};
use plimsoll_base::ids::ObjectName;
use plimsoll_base::resources::Resources;
use plimsoll_base::time::Timestamp;
use thiserror::Error;

use crate::{
    BufferSource, BufferWindow, CapacityBuffer, PodShape, PodTemplate, Replicated, WorkloadKind,
};

/// The most units that one buffer gets: one that asks for more is more likely a slip than a wish.
pub const MOST_UNITS: u32 = 5_000;

/// Units that a buffer asks for at an instant, and the shape of each.
#[derive(Clone, Debug, PartialEq)]
pub struct BufferRoom {
    /// The shape of one unit.
    pub shape: PodShape,
    /// How many units; 0 outside its windows.
    pub units: u32,
}

/// Why a buffer asks for nothing that can be planned.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Unready {
    /// It names neither a template nor a workload.
    #[error("names neither spec.podTemplateRef nor spec.scalableRef; expected one of the two")]
    NothingNamed,
    /// The template is not there.
    #[error("spec.podTemplateRef names PodTemplate {0}, which does not exist")]
    TemplateNotFound(ObjectName),
    /// The workload is not there.
    #[error("spec.scalableRef names {kind} {name}, which does not exist")]
    WorkloadNotFound {
        /// Kind of the workload, as the buffer names it.
        kind: Arc<str>,
        /// Namespace and name of the workload.
        name: ObjectName,
    },
    /// The kind named is no workload that can be scaled.
    #[error(
        "spec.scalableRef names a {group}/{kind}; expected an apps/Deployment, apps/StatefulSet or apps/ReplicaSet"
    )]
    WorkloadKind {
        /// API group as written.
        group: Arc<str>,
        /// Kind as written.
        kind: Arc<str>,
    },
    /// The workload does not say what its pods look like.
    #[error("spec.scalableRef names {0}, which has no pod template of its own")]
    NoShape(ObjectName),
    /// Nothing says how many.
    #[error(
        "has neither spec.replicas nor spec.percentage, and spec.limits names no resource that a unit requests; expected one that does"
    )]
    NoCount,
    /// It asks for more than [`MOST_UNITS`].
    #[error("asks for {0} units; expected at most {MOST_UNITS}")]
    TooMany(u64),
    /// Another strategy is asked for.
    #[error(
        "spec.provisioningStrategy is \"{0}\"; expected buffer.x-k8s.io/active-capacity, the only one there is"
    )]
    Strategy(Arc<str>),
    /// Its times cannot be understood.
    #[error(transparent)]
    Schedule(#[from] ScheduleError),
}

/// The units that a buffer asks for at an instant, or the reason why it asks for none.
pub fn resolve(
    buffer: &CapacityBuffer,
    templates: &[Arc<PodTemplate>],
    workloads: &[Arc<Replicated>],
    now: Timestamp,
) -> Result<BufferRoom, Unready> {
    if let Some(strategy) = &buffer.strategy {
        return Err(Unready::Strategy(Arc::clone(strategy)));
    }
    let (shape, size) = shape(buffer, templates, workloads)?;
    let units = units(buffer, &shape.spec.requests, size).ok_or(Unready::NoCount)?;
    let within = u32::try_from(units)
        .ok()
        .filter(|units| *units <= MOST_UNITS);
    let units = within.ok_or(Unready::TooMany(units))?;
    let open = match &buffer.window {
        None => true,
        Some(window) => is_open(window, now)?,
    };
    Ok(BufferRoom {
        shape,
        units: if open { units } else { 0 },
    })
}

/// The shape of a unit, and the replicas that a percentage is of.
fn shape(
    buffer: &CapacityBuffer,
    templates: &[Arc<PodTemplate>],
    workloads: &[Arc<Replicated>],
) -> Result<(PodShape, Option<u32>), Unready> {
    let named =
        |name: &Arc<str>| ObjectName::new(Arc::clone(&buffer.name.namespace), Arc::clone(name));
    match &buffer.source {
        BufferSource::Nothing => Err(Unready::NothingNamed),
        BufferSource::Template(name) => {
            let name = named(name);
            let found = templates.iter().find(|template| template.name == name);
            let found = found.ok_or(Unready::TemplateNotFound(name))?;
            Ok((found.shape.clone(), None))
        }
        BufferSource::Workload { group, kind, name } => {
            let known = match (group.as_ref(), kind.as_ref()) {
                ("" | "apps", "Deployment") => WorkloadKind::Deployment,
                ("" | "apps", "StatefulSet") => WorkloadKind::StatefulSet,
                ("" | "apps", "ReplicaSet") => WorkloadKind::ReplicaSet,
                _ => {
                    return Err(Unready::WorkloadKind {
                        group: Arc::clone(group),
                        kind: Arc::clone(kind),
                    });
                }
            };
            let name = named(name);
            let mut own = workloads.iter().filter(|workload| workload.kind == known);
            let Some(found) = own.find(|workload| workload.name == name) else {
                let kind = Arc::clone(kind);
                return Err(Unready::WorkloadNotFound { kind, name });
            };
            let shape = found.shape.clone().ok_or(Unready::NoShape(name))?;
            Ok((shape, Some(found.replicas)))
        }
    }
}

/// How many units: the larger of replicas and percentage, capped by limits; limits alone where neither is given. A
/// percentage counts only of a workload, and of one that runs it is never less than one unit.
fn units(buffer: &CapacityBuffer, unit: &Resources, size: Option<u32>) -> Option<u64> {
    let share = buffer
        .percentage
        .zip(size)
        .map(|(percentage, size)| (u64::from(percentage) * u64::from(size)).div_ceil(100));
    let fixed = buffer.replicas.map(u64::from);
    let wanted = share.into_iter().chain(fixed).max();
    let limits = buffer.limits.iter().flat_map(Resources::iter);
    let most = limits.filter_map(|(name, limit)| {
        let asked = unit.get(name);
        let fitting = (asked > 0).then(|| limit.max(0) / asked)?;
        u64::try_from(fitting).ok()
    });
    wanted.into_iter().chain(most.min()).min()
}

/// `true` if a window is open. Unlike a budget's, one whose schedule never comes is never open.
fn is_open(window: &BufferWindow, now: Timestamp) -> Result<bool, ScheduleError> {
    let schedule = Schedule::parse(&window.schedule)?;
    let last = schedule.next_after(now - window.duration);
    Ok(last.is_some_and(|hit| hit <= now))
}

/// When what buffers ask for may next change by itself; `None` where none has a window.
pub fn next_change<'a>(
    buffers: impl IntoIterator<Item = &'a Arc<CapacityBuffer>>,
    now: Timestamp,
) -> Option<Timestamp> {
    let edge = |buffer: &Arc<CapacityBuffer>| {
        let window = buffer.window.as_ref()?;
        let schedule = Schedule::parse(&window.schedule).ok()?;
        schedule.settled_until(window.duration, now)
    };
    buffers.into_iter().filter_map(edge).min()
}
