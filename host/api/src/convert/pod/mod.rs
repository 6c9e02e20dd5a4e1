//! `v1 Pod`: where it is, who owns it, and what it needs.
//!
//! A name, a time or an amount that cannot be read is an error of the object. What can be read but not planned for (an
//! unknown operator, `matchFields`) is kept as the specification's problem: such a pod waits, and says why.

mod affinity;
mod requests;
mod spec;
mod spread;
mod written;

pub(super) use spec::{Template, pod_spec};
pub(super) use written::write_problem;
pub(crate) use written::{to_value, write_spec};

use std::sync::Arc;

use k8s_openapi::api::core::v1 as k8s;
use plimsoll_base::ids::NodeName;
use plimsoll_base::time::Span;
use plimsoll_model::{DoNotDisrupt, OwnerKind, Pod, PodPhase};

use super::metadata;
use crate::error::{FieldError, Within};
use crate::intern::Interner;
use crate::{duration, keys};

/// Seconds that Kubernetes gives a pod to end where it names none.
const DEFAULT_GRACE: i64 = 30;
/// Seconds beyond which more make no difference: a hundred years.
const MOST_GRACE: i64 = 3_155_760_000;
/// Bytes of the scheduler's message that are kept: it lists every reason with the number of nodes, and each waiting pod has its own.
const MOST_MESSAGE: usize = 500;

/// A pod. One without any status, as in a manifest, counts as seen by the scheduler and found unschedulable; a server
/// never shows such a pod.
pub(crate) fn pod(written: &k8s::Pod, interner: &mut Interner) -> Result<Pod, FieldError> {
    let metadata = &written.metadata;
    let Some(spec) = &written.spec else {
        return Err(FieldError::missing("spec", "the specification of the pod"));
    };
    let status = written.status.as_ref();
    let owner = metadata::owner(metadata, interner);
    let is_daemon = owner
        .as_ref()
        .is_some_and(|owner| owner.kind == OwnerKind::DaemonSet);
    let template = Template {
        spec,
        status,
        is_daemon,
        problem: metadata::annotation(metadata, keys::PROBLEM),
    };
    let mut named = |name: Option<&String>| {
        let name = name.filter(|name| !name.is_empty());
        name.map(|name| NodeName::from(interner.text(name)))
    };
    let node = named(spec.node_name.as_ref());
    let nominated = named(status.and_then(|status| status.nominated_node_name.as_ref()));
    Ok(Pod {
        uid: metadata::uid(metadata),
        name: metadata::object_name(metadata, interner)?,
        created: metadata::created(metadata),
        labels: interner.labels(metadata.labels.iter().flatten()),
        spec: {
            let spec = pod_spec(&template, interner).within("spec")?;
            interner.spec(spec)
        },
        owner,
        phase: phase(status, node.is_some())?,
        unschedulable: is_unschedulable(status, node.is_some() || is_gated(spec)),
        untried: is_untried(status, node.is_some() || is_gated(spec)),
        scheduler_message: scheduler_message(status),
        node,
        nominated,
        ready: condition(status, "Ready").map(|condition| condition.status == "True"),
        deleting: metadata::deleting(metadata),
        grace: grace(spec),
        started: status
            .and_then(|status| status.start_time.as_ref())
            .map(metadata::instant),
        do_not_disrupt: do_not_disrupt(metadata::annotation(metadata, keys::DO_NOT_DISRUPT)),
        deletion_cost: metadata::annotation(metadata, keys::POD_DELETION_COST)
            .and_then(|text| text.parse().ok())
            .unwrap_or(0),
    })
}

/// What Kubernetes gives anyway is not told apart from nothing said.
fn grace(spec: &k8s::PodSpec) -> Option<Span> {
    let seconds = spec.termination_grace_period_seconds;
    let seconds = seconds.filter(|seconds| *seconds != DEFAULT_GRACE);
    seconds.map(|seconds| Span::from_secs(seconds.clamp(0, MOST_GRACE)))
}

fn condition<'a>(status: Option<&'a k8s::PodStatus>, kind: &str) -> Option<&'a k8s::PodCondition> {
    let conditions = status.and_then(|status| status.conditions.as_deref());
    conditions
        .unwrap_or_default()
        .iter()
        .find(|condition| condition.type_ == kind)
}

fn says_nothing(status: Option<&k8s::PodStatus>) -> bool {
    status.is_none_or(|status| status.phase.is_none() && status.conditions.is_none())
}

/// `true` if a gate holds a pod back from the scheduler.
fn is_gated(spec: &k8s::PodSpec) -> bool {
    let gates = spec.scheduling_gates.as_ref();
    gates.is_some_and(|gates| !gates.is_empty())
}

/// `true` if the scheduler has not looked at a pod yet; `is_settled` if it never will, since a node has the pod or a gate holds
/// it back.
fn is_untried(status: Option<&k8s::PodStatus>, is_settled: bool) -> bool {
    !is_settled && !says_nothing(status) && condition(status, "PodScheduled").is_none()
}

fn is_unschedulable(status: Option<&k8s::PodStatus>, is_settled: bool) -> bool {
    if says_nothing(status) {
        return !is_settled;
    }
    let conditions = status.and_then(|status| status.conditions.as_deref());
    conditions.unwrap_or_default().iter().any(|condition| {
        condition.type_ == "PodScheduled" && condition.reason.as_deref() == Some("Unschedulable")
    })
}

/// The scheduler's reason, if it finds the pod unschedulable.
fn scheduler_message(status: Option<&k8s::PodStatus>) -> Option<Arc<str>> {
    let condition = condition(status, "PodScheduled")?;
    let is_refused = condition.reason.as_deref() == Some("Unschedulable");
    let message = condition.message.as_deref().filter(|_| is_refused)?;
    let message = message.trim_ascii();
    let end = message.floor_char_boundary(MOST_MESSAGE);
    (end > 0).then(|| Arc::from(&message[..end]))
}

fn phase(status: Option<&k8s::PodStatus>, is_bound: bool) -> Result<PodPhase, FieldError> {
    Ok(match status.and_then(|status| status.phase.as_deref()) {
        None | Some("") if is_bound => PodPhase::Running,
        None | Some("" | "Pending") => PodPhase::Pending,
        Some("Running") => PodPhase::Running,
        Some("Succeeded") => PodPhase::Succeeded,
        Some("Failed") => PodPhase::Failed,
        Some("Unknown") => PodPhase::Unknown,
        Some(other) => {
            let expected = "Pending, Running, Succeeded, Failed or Unknown";
            return Err(FieldError::unexpected("status.phase", other, expected));
        }
    })
}

fn do_not_disrupt(annotation: Option<&str>) -> DoNotDisrupt {
    match annotation {
        None | Some("" | "false") => DoNotDisrupt::No,
        Some("true") => DoNotDisrupt::Always,
        Some(text) => match duration::parse(text) {
            Some(span) if span.millis() > 0 => DoNotDisrupt::For(span),
            _ => DoNotDisrupt::Malformed(text.into()),
        },
    }
}
