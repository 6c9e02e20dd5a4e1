//! Overlays, buffers and pools that planning does not use, and pools that sell nothing, with the reason.

use std::collections::BTreeSet;

use super::Stock;
use super::templates::Template;
use crate::buffer;
use crate::catalogue::{Catalogues, Overlaid};
use crate::model::{ClassRef, NodePool};
use crate::plan::{Note, NoteKind};
use crate::schedule::batch::minimum;
use crate::snapshot::{MinValuesPolicy, Snapshot};

/// Remarks that hold for any plan: objects that are not used since their setting is off, and those that cannot be.
pub(crate) fn unused_notes(snapshot: &Snapshot, overlaid: &Overlaid) -> Vec<Note> {
    let note = Note::of_plan;
    let settings = &snapshot.settings;
    let off = |is_on: bool, count: usize, what: &str, setting: &str| {
        (!is_on && count > 0).then(|| {
            note(format!(
                "{what}: {count} not applied; setting {setting} is off"
            ))
        })
    };
    let overlays = (settings.node_overlays, snapshot.overlays.len());
    let overlays = off(overlays.0, overlays.1, "NodeOverlays", "nodeOverlays");
    let buffers = (settings.capacity_buffers, snapshot.buffers.len());
    let buffers = off(buffers.0, buffers.1, "CapacityBuffers", "capacityBuffers");
    let foreign = snapshot.pools.iter().filter_map(|pool| {
        let served = snapshot.catalogues.serves(&pool.class);
        (!served).then(|| note(foreign_pool(pool, &snapshot.catalogues)))
    });
    let refused = overlaid.refused().iter();
    let refused = refused.map(|(name, why)| note(format!("overlay {name} not applied: {why}")));
    overlays
        .into_iter()
        .chain(refused)
        .chain(buffers)
        .chain(unready(snapshot).into_iter().map(note))
        .chain(foreign)
        .collect()
}

/// A remark for each pool of which nothing can be launched: no type is left, or too few of them where the pool wants to choose.
pub(crate) fn unsold(snapshot: &Snapshot, offers: &Stock, templates: &[Template]) -> Vec<Note> {
    let strict = snapshot.settings.min_values == MinValuesPolicy::Strict;
    let mut notes = Vec::new();
    for (template, of_pool) in templates.iter().zip(&offers.by_pool) {
        let types: BTreeSet<usize> = of_pool.types().collect();
        let wanted = minimum::of_template(template);
        let text = if types.is_empty() {
            "no available instance type satisfies its requirements and has room for its daemons"
                .to_owned()
        } else if strict && !minimum::is_met_by(&template.catalogue, &wanted, &types) {
            let wanted = wanted
                .iter()
                .map(|(key, least)| format!("{least} values of {key}"));
            let wanted = wanted.collect::<Vec<_>>().join(" and ");
            format!(
                "its requirements want {wanted} to choose from (minValues), and the {} available instance types that satisfy them have fewer",
                types.len()
            )
        } else {
            continue;
        };
        notes.push(Note {
            kind: NoteKind::NoCompatibleInstanceTypes,
            ..Note::of_pool(template.pool.name.clone(), text)
        });
    }
    notes
}

/// Why a pool takes no part, in words.
fn foreign_pool(pool: &NodePool, catalogues: &Catalogues) -> String {
    let ClassRef { group, kind, .. } = &pool.class;
    let provider = catalogues.provider();
    let served = provider.classes.iter();
    let served: Vec<String> = served
        .map(|own| format!("{}/{}", own.group, own.kind))
        .collect();
    format!(
        "NodePool {} is left alone: its nodeClassRef is {group}/{kind}; provider {} serves {}",
        pool.name,
        provider.name,
        served.join(", ")
    )
}

/// Why buffers that are in use ask for nothing, in words.
fn unready(snapshot: &Snapshot) -> Vec<String> {
    if !snapshot.settings.capacity_buffers {
        return Vec::new();
    }
    let (templates, workloads) = (&snapshot.templates, &snapshot.workloads);
    let words = |buffer: &std::sync::Arc<crate::model::CapacityBuffer>| {
        let unready = buffer::resolve(buffer, templates, workloads, snapshot.now).err()?;
        Some(format!("buffer {} not applied: {unready}", buffer.name))
    };
    snapshot.buffers.iter().filter_map(words).collect()
}
