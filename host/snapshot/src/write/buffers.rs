//! Capacity buffers, and the templates that give them their shape.

use plimsoll_api::write::{amounts, map};
use plimsoll_api::{Kind, duration, keys};
use plimsoll_core::model::{BufferSource, CapacityBuffer, PodShape, PodTemplate};
use plimsoll_core::time::Timestamp;
use serde_json::{Map, Value, json};

use super::objects::{framed, namespaced, put};
use super::pod::{problem, spec};

/// A template as it stands in workloads and by itself.
pub(super) fn shape(shape: &PodShape) -> Value {
    let mut meta = Map::new();
    put(&mut meta, "labels", map(&shape.labels));
    put(
        &mut meta,
        "annotations",
        Value::Object(problem(&shape.spec)),
    );
    json!({ "metadata": meta, "spec": spec(&shape.spec) })
}

pub(super) fn pod_template(template: &PodTemplate) -> Value {
    let meta = namespaced(&template.name, None, Timestamp::default());
    let fields = json!({ "template": shape(&template.shape) });
    framed(Kind::PodTemplate, Value::Object(meta), fields)
}

pub(super) fn capacity_buffer(buffer: &CapacityBuffer) -> Value {
    let mut meta = namespaced(&buffer.name, Some(&buffer.uid), buffer.created);
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
        spec.insert("limits".to_owned(), amounts(limits));
    }
    if let Some(strategy) = &buffer.strategy {
        let strategy = strategy.as_ref().into();
        spec.insert("provisioningStrategy".to_owned(), strategy);
    }
    framed(
        Kind::CapacityBuffer,
        Value::Object(meta),
        json!({ "spec": spec }),
    )
}
