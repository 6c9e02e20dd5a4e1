//! Overlays, buffers and pools that planning does not use, with the reason.

use plimsoll_model::buffers;
use plimsoll_model::catalogue::Overlaid;
use plimsoll_model::plan::Note;
use plimsoll_model::snapshot::Snapshot;

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
        let other = snapshot.catalogues.not_served(&pool.class)?;
        let name = &pool.name;
        Some(note(format!("NodePool {name} is left alone: its {other}")))
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

/// Why buffers that are in use ask for nothing, in words.
fn unready(snapshot: &Snapshot) -> Vec<String> {
    if !snapshot.settings.capacity_buffers {
        return Vec::new();
    }
    let (templates, workloads) = (&snapshot.templates, &snapshot.workloads);
    let words = |buffer: &std::sync::Arc<plimsoll_model::CapacityBuffer>| {
        let unready = buffers::resolve(buffer, templates, workloads, snapshot.now).err()?;
        Some(format!("buffer {} not applied: {unready}", buffer.name))
    };
    snapshot.buffers.iter().filter_map(words).collect()
}
