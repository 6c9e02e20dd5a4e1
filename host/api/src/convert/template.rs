//! A pool's template: what of its text counts beside its values, and the template as it is written.

use std::collections::BTreeMap;

use plimsoll_model::{NodePool, Taint, TemplateField, WrittenTemplate};
use serde_json::{Map, Value, json};

use super::metadata;
use crate::kinds::{NodePoolTemplate, TaintEntry};
use crate::{duration, write};

/// Lists and maps that are written and empty, and times of taints.
pub(super) fn text(template: &NodePoolTemplate) -> WrittenTemplate {
    let (metadata, spec) = (&template.metadata, &template.spec);
    let taints = [
        (TemplateField::Taints, &spec.taints),
        (TemplateField::StartupTaints, &spec.startup_taints),
    ];
    let mut result = WrittenTemplate::default();
    let maps = [
        (TemplateField::Labels, &metadata.labels),
        (TemplateField::Annotations, &metadata.annotations),
    ];
    for (field, map) in maps {
        if map.as_ref().is_some_and(BTreeMap::is_empty) {
            result.empty.insert(field);
        }
    }
    for (field, list) in taints {
        let Some(list) = list else { continue };
        if list.is_empty() {
            result.empty.insert(field);
        }
        let time = |(place, taint): (usize, &TaintEntry)| {
            let added = taint.time_added.as_ref()?;
            Some((field, place, metadata::instant(added)))
        };
        let times = list.iter().enumerate().filter_map(time);
        result.added.extend(times);
    }
    result
}

/// The template of a pool as it is written.
pub(super) fn to_value(pool: &NodePool) -> Value {
    let mut metadata = Map::new();
    let mut spec = Map::new();
    let put = |fields: &mut Map<String, Value>, name: &str, field, value: Value| {
        if pool.written.empty.contains(&field) {
            fields.insert(name.to_owned(), value);
        } else {
            write::put(fields, name, value);
        }
    };
    let labels = write::map(&pool.labels);
    put(&mut metadata, "labels", TemplateField::Labels, labels);
    let annotations = write::map(&pool.annotations);
    let field = TemplateField::Annotations;
    put(&mut metadata, "annotations", field, annotations);
    let own = taints(pool, TemplateField::Taints, &pool.taints);
    put(&mut spec, "taints", TemplateField::Taints, own);
    let field = TemplateField::StartupTaints;
    let own = taints(pool, field, &pool.startup_taints);
    put(&mut spec, "startupTaints", field, own);
    spec.insert("nodeClassRef".to_owned(), write::class(&pool.class));
    let requirements = write::all_expressions(&pool.requirements);
    spec.insert("requirements".to_owned(), requirements);
    let expiry = write::or_never(pool.expire_after);
    spec.insert("expireAfter".to_owned(), expiry.into());
    if let Some(grace) = pool.termination_grace {
        let grace = duration::write(grace).into();
        spec.insert("terminationGracePeriod".to_owned(), grace);
    }
    json!({"metadata": metadata, "spec": spec})
}

/// Taints with the times that they have.
fn taints(pool: &NodePool, field: TemplateField, own: &[Taint]) -> Value {
    let mut all = write::taints(own);
    for (of, place, at) in &pool.written.added {
        if *of == field
            && let Some(taint) = all.get_mut(*place)
        {
            taint["timeAdded"] = write::instant(*at).into();
        }
    }
    all
}
