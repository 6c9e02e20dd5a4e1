//! `autoscaling.x-k8s.io/v1beta1 CapacityBuffer` and the `v1 PodTemplate` that shapes it.
//!
//! What a buffer refers to need not exist; that is judged where the whole cluster is known. Its window is ours, by two
//! annotations, and is refused here where it could never be meant.

use std::sync::Arc;

use k8s_openapi::api::core::v1 as core_v1;
use plimsoll_base::cron::Schedule;
use plimsoll_base::resources::{ResourceName, Resources};
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_model::{
    BufferSource, BufferWindow, CapacityBuffer, PodShape, PodSpec, PodTemplate, Status,
    UsedTemplate,
};
use serde_json::{Map, Value, json};

use super::amounts::amounts;
use super::pod::{Template, pod_spec, write_problem, write_spec};
use super::{condition, metadata};
use crate::error::{FieldError, FieldProblem, Within};
use crate::intern::Interner;
use crate::object::Kind;
use crate::{duration, keys, kinds, write};

/// The strategy that exists, and the default.
const ACTIVE: &str = "buffer.x-k8s.io/active-capacity";

/// A buffer.
pub(crate) fn capacity_buffer(
    written: &kinds::CapacityBuffer,
    interner: &mut Interner,
) -> Result<CapacityBuffer, FieldError> {
    let spec = &written.spec;
    let source = match (&spec.pod_template_ref, &spec.scalable_ref) {
        (Some(_), Some(_)) => {
            let expected = "nothing beside spec.podTemplateRef";
            return Err(FieldError::unexpected(
                "spec.scalableRef",
                "set, too",
                expected,
            ));
        }
        (Some(template), None) => BufferSource::Template(interner.text(&template.name)),
        (None, Some(workload)) => BufferSource::Workload {
            group: interner.text(workload.api_group.as_deref().unwrap_or_default()),
            kind: interner.text(&workload.kind),
            name: interner.text(&workload.name),
        },
        (None, None) => BufferSource::Nothing,
    };
    let strategy = spec.provisioning_strategy.as_deref();
    let limits = spec.limits.as_ref().map(|limits| amounts(limits, interner));
    Ok(CapacityBuffer {
        name: metadata::object_name(&written.metadata, interner)?,
        uid: metadata::uid(&written.metadata),
        created: metadata::created(&written.metadata),
        source,
        replicas: count("spec.replicas", spec.replicas)?,
        percentage: count("spec.percentage", spec.percentage)?,
        limits: limits.transpose().within("spec.limits")?,
        strategy: strategy
            .filter(|strategy| !["", ACTIVE].contains(strategy))
            .map(Arc::from),
        window: window(written)?,
        status: status(written, interner),
    })
}

fn status(written: &kinds::CapacityBuffer, interner: &mut Interner) -> Status {
    let metadata = &written.metadata;
    let generation = metadata::generation(metadata);
    let Some(status) = &written.status else {
        return Status {
            generation,
            ..Status::default()
        };
    };
    let template = status.pod_template_ref.as_ref();
    Status {
        generation,
        conditions: condition::conditions_without_ready(
            &status.conditions,
            metadata::created(metadata),
            interner,
        ),
        units: status.replicas.map(i64::from),
        template: template.map(|template| UsedTemplate {
            name: interner.text(&template.name),
            generation: status.pod_template_generation.unwrap_or(0),
        }),
        ..Status::default()
    }
}

fn count(path: &str, written: Option<i32>) -> Result<Option<u32>, FieldError> {
    let one = |number: i32| {
        u32::try_from(number)
            .map_err(|_| FieldError::unexpected(path, number, "a number of at least 0"))
    };
    written.map(one).transpose()
}

/// When the buffer asks for its room: schedule and duration together, or neither.
fn window(written: &kinds::CapacityBuffer) -> Result<Option<BufferWindow>, FieldError> {
    let annotation = |key| metadata::annotation(&written.metadata, key);
    let path = |key: &str| format!("metadata.annotations[{key}]");
    let (schedule, length) = match (
        annotation(keys::SPARE_SCHEDULE),
        annotation(keys::SPARE_DURATION),
    ) {
        (None, None) => return Ok(None),
        (Some(schedule), Some(length)) => (schedule, length),
        (Some(_), None) => {
            let expected = "a duration beside the schedule";
            return Err(FieldError::missing(&path(keys::SPARE_DURATION), expected));
        }
        (None, Some(_)) => {
            let expected = "a schedule beside the duration";
            return Err(FieldError::missing(&path(keys::SPARE_SCHEDULE), expected));
        }
    };
    let at = path(keys::SPARE_SCHEDULE);
    let parsed = Schedule::parse(schedule).map_err(|error| FieldError {
        path: at.clone(),
        problem: FieldProblem::Type(format!(
            "is \"{schedule}\", of which {} is \"{}\"; expected {}",
            error.field, error.found, error.expected
        )),
    })?;
    if parsed.next_after(Timestamp::from_millis(0)).is_none() {
        let expected = "a schedule that comes at least once in five years";
        return Err(FieldError::unexpected(&at, schedule, expected));
    }
    let span = duration::parse(length).filter(|span| *span > Span::ZERO);
    let span = span.ok_or_else(|| {
        FieldError::unexpected(&path(keys::SPARE_DURATION), length, duration::EXPECTED)
    })?;
    Ok(Some(BufferWindow {
        schedule: Arc::from(schedule),
        duration: span,
    }))
}

/// A pod template.
pub(crate) fn pod_template(
    written: &core_v1::PodTemplate,
    interner: &mut Interner,
) -> Result<PodTemplate, FieldError> {
    let template = written.template.as_ref();
    let shape = template.and_then(|template| shape(template, interner));
    Ok(PodTemplate {
        name: metadata::object_name(&written.metadata, interner)?,
        generation: metadata::generation(&written.metadata),
        shape: shape
            .ok_or_else(|| FieldError::missing("template.spec", "the specification of the pods"))?,
    })
}

/// The pods that a template makes; `None` where it has no specification. One that cannot be read is a shape of which
/// no pod can be planned, with the reason: what runs already does not depend on it.
pub(super) fn shape(
    template: &core_v1::PodTemplateSpec,
    interner: &mut Interner,
) -> Option<PodShape> {
    let metadata = template.metadata.as_ref();
    let written = Template {
        spec: template.spec.as_ref()?,
        status: None,
        is_daemon: false,
        problem: metadata.and_then(|meta| metadata::annotation(meta, keys::PROBLEM)),
    };
    let spec = pod_spec(&written, interner).within("spec");
    let spec = spec.unwrap_or_else(|error| PodSpec {
        requests: Resources::new().with(ResourceName::Pods, 1),
        problem: Some(Arc::from(error.to_string())),
        ..PodSpec::default()
    });
    let labels = metadata.and_then(|metadata| metadata.labels.as_ref());
    Some(PodShape {
        labels: interner.labels(labels.into_iter().flatten()),
        spec: interner.spec(spec),
    })
}

/// A template as it stands in workloads and by itself.
pub(super) fn write_shape(shape: &PodShape) -> Value {
    let mut meta = Map::new();
    write::put(&mut meta, "labels", write::map(&shape.labels));
    write::put(
        &mut meta,
        "annotations",
        Value::Object(write_problem(&shape.spec)),
    );
    json!({ "metadata": meta, "spec": write_spec(&shape.spec) })
}

/// A pod template as it is written.
pub(crate) fn template_to_value(template: &PodTemplate) -> Value {
    let mut meta = write::namespaced(&template.name, None, Timestamp::default());
    write::generation(&mut meta, template.generation);
    let fields = json!({ "template": write_shape(&template.shape) });
    write::framed(Kind::PodTemplate, Value::Object(meta), fields)
}

/// A buffer as it is written.
pub(crate) fn to_value(buffer: &CapacityBuffer) -> Value {
    let mut meta = write::namespaced(&buffer.name, Some(&buffer.uid), buffer.created);
    write::generation(&mut meta, buffer.status.generation);
    if let Some(window) = &buffer.window {
        let annotations = json!({
            keys::SPARE_SCHEDULE: window.schedule,
            keys::SPARE_DURATION: duration::write(window.duration),
        });
        meta.insert("annotations".to_owned(), annotations);
    }
    let mut spec = Map::new();
    match &buffer.source {
        BufferSource::Nothing => {}
        BufferSource::Template(name) => {
            spec.insert("podTemplateRef".to_owned(), json!({ "name": name }));
        }
        BufferSource::Workload { group, kind, name } => {
            let mut reference = json!({ "kind": kind, "name": name });
            if !group.is_empty() {
                reference["apiGroup"] = group.as_ref().into();
            }
            spec.insert("scalableRef".to_owned(), reference);
        }
    }
    let numbers = [
        ("replicas", buffer.replicas),
        ("percentage", buffer.percentage),
    ];
    for (name, number) in numbers {
        if let Some(number) = number {
            spec.insert(name.to_owned(), number.into());
        }
    }
    if let Some(limits) = &buffer.limits {
        spec.insert("limits".to_owned(), write::amounts(limits));
    }
    if let Some(strategy) = &buffer.strategy {
        let strategy = strategy.as_ref().into();
        spec.insert("provisioningStrategy".to_owned(), strategy);
    }
    let mut fields = json!({ "spec": spec });
    let mut status = Map::new();
    let conditions = condition::conditions_value(&buffer.status.conditions);
    write::put(&mut status, "conditions", conditions.into());
    write::put(&mut status, "replicas", buffer.status.units.into());
    if let Some(template) = &buffer.status.template {
        let name = json!({ "name": template.name });
        status.insert("podTemplateRef".to_owned(), name);
        let generation = template.generation.into();
        status.insert("podTemplateGeneration".to_owned(), generation);
    }
    if !status.is_empty() {
        fields["status"] = Value::Object(status);
    }
    write::framed(Kind::CapacityBuffer, Value::Object(meta), fields)
}
