//! From what a file says to a snapshot: defaults, the instant, the catalogue, and the join of it all.

mod catalogue;
pub(crate) mod class;
mod pool;
mod region;
mod subnets;
mod types;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub(crate) use types::NOT_OF_TYPES;

use plimsoll_api::convert::with_live_pods;
pub(crate) use plimsoll_api::write::instant as written_instant;
use plimsoll_core::ids::ObjectName;
use plimsoll_core::model::NodePool;
use plimsoll_core::snapshot::{Settings, Snapshot};
use plimsoll_core::time::Timestamp;
use plimsoll_core::words::shortened;
use plimsoll_ec2_facts::AllocatableSettings;
use serde_json::{Map, Value};

use crate::error::SnapshotError;
use crate::gather::{EC2_CLASS, Gatherer};
use crate::input::Loaded;
use crate::note::Note;
use crate::recording::{self, TimedChange};
use crate::section::{At, Change, Section, closest_field, renamed};
use crate::write::CatalogueText;

/// Joins what was gathered.
pub(crate) fn resolve(mut gathered: Gatherer) -> Result<Loaded, SnapshotError> {
    if gathered.items() == 0 && gathered.section.is_none() {
        return Err(SnapshotError::NoObjects);
    }
    let mut notes = gathered.notes();
    let mut section = section(gathered.section.take(), &mut notes)?;
    let now = now(section.time.as_deref(), gathered.newest, &mut notes)?;
    let settings = settings(&section)?;
    let mut objects = gathered.objects;
    with_live_pods(
        &mut objects.daemon_sets,
        &objects.pods,
        &mut gathered.interner,
    );
    if objects.pools.is_empty() {
        objects.pools.push(Arc::new(pool::default_pool()));
        notes.push(Note::DefaultPool);
    }
    objects.volumes = Arc::new(gathered.volumes);
    let entry = section
        .catalogue
        .take()
        .unwrap_or_else(|| region::assumed(&objects.nodes, &mut notes));
    let class = of_pools(&objects.pools, &gathered.classes, &mut notes);
    let catalogue = catalogue::catalogue(&entry, &section.prices, &class, &mut gathered.interner)
        .map_err(SnapshotError::Section)?;
    let subnets = subnets::subnets(&section.subnets, &catalogue).map_err(SnapshotError::Section)?;
    let catalogue = catalogue.with_subnets(subnets);
    let changes = timed(gathered.changes, now)?;
    let seed = section.seed.unwrap_or(0);
    let snapshot = Snapshot::new(now, seed, Arc::new(settings), Arc::new(catalogue), objects);
    Ok(Loaded {
        snapshot,
        changes,
        notes,
        // The text of a snapshot has no classes: what they change is written out.
        catalogue: if class == AllocatableSettings::default() {
            CatalogueText::Entry(entry, section.prices)
        } else {
            CatalogueText::Inline
        },
    })
}

/// Changes that the class named by the pools makes to the allocatable resources of their nodes.
fn of_pools(
    pools: &[Arc<NodePool>],
    classes: &BTreeMap<String, AllocatableSettings>,
    notes: &mut Vec<Note>,
) -> AllocatableSettings {
    let on_ec2 = pools
        .iter()
        .filter(|pool| pool.class.kind.as_ref() == EC2_CLASS);
    let named: Vec<String> = on_ec2.map(|pool| pool.class.name.to_string()).collect();
    let chosen = class::chosen(classes, &named);
    if !chosen.others.is_empty() {
        notes.push(Note::OneClass {
            taken: chosen.name,
            others: shortened(&chosen.others),
        });
    }
    chosen.settings
}

fn section(
    fields: Option<Map<String, Value>>,
    notes: &mut Vec<Note>,
) -> Result<Section, SnapshotError> {
    let fields = Value::Object(fields.unwrap_or_default());
    let mut unknown = Vec::new();
    let section = plimsoll_api::from_value(&fields, &mut |path| unknown.push(path.to_owned()));
    let section = section.map_err(|error| SnapshotError::Section(error.to_string()))?;
    if let Some((path, new)) = unknown.iter().find_map(|path| Some((path, renamed(path)?))) {
        return Err(SnapshotError::Section(format!(
            "{path} is an old name; expected {new}"
        )));
    }
    notes.extend(unknown.into_iter().map(|path| Note::UnknownSectionField {
        meant: closest_field(&path),
        path,
    }));
    Ok(section)
}

fn settings(section: &Section) -> Result<Settings, SnapshotError> {
    let settings = section
        .settings
        .as_ref()
        .map(crate::section::SettingsEntry::to_settings);
    settings
        .transpose()
        .map(Option::unwrap_or_default)
        .map_err(|sentence| SnapshotError::Section(format!("settings.{sentence}")))
}

/// An instant from RFC 3339.
pub(crate) fn instant(text: &str) -> Option<Timestamp> {
    let parsed: jiff::Timestamp = text.parse().ok()?;
    Some(Timestamp::from_millis(parsed.as_millisecond()))
}

fn now(
    written: Option<&str>,
    newest: Timestamp,
    notes: &mut Vec<Note>,
) -> Result<Timestamp, SnapshotError> {
    let Some(text) = written else {
        notes.push(Note::AssumedTime {
            time: written_instant(newest),
        });
        return Ok(newest);
    };
    instant(text).ok_or_else(|| {
        let expected = "expected a time such as 2026-11-21T09:30:00Z";
        SnapshotError::Section(format!("time is \"{text}\"; {expected}"))
    })
}

/// Changes in order of time; of changes at one instant the order written is kept.
fn timed(changes: Vec<Change>, now: Timestamp) -> Result<Vec<TimedChange>, SnapshotError> {
    let mut result: Vec<(usize, TimedChange)> = Vec::with_capacity(changes.len());
    for (index, Change { at, change }) in changes.into_iter().enumerate() {
        let at = match at {
            At::After(span) => now + span,
            At::Instant(at) => at,
        };
        if at < now {
            return Err(SnapshotError::Section(format!(
                "changes[{index}].at is \"{}\"; expected no time before the snapshot's, {}",
                written_instant(at),
                written_instant(now),
            )));
        }
        result.push((index, TimedChange { at, change }));
    }
    result.sort_by_key(|(_, change)| change.at);
    deployed_before(&result)?;
    Ok(result.into_iter().map(|(_, change)| change).collect())
}

/// Refuses a change of a deployment that no earlier change brings; `changes` are in order of time, with the places they were
/// written at.
fn deployed_before(changes: &[(usize, TimedChange)]) -> Result<(), SnapshotError> {
    let mut deployed: BTreeSet<&ObjectName> = BTreeSet::new();
    for (index, timed) in changes {
        let (word, name) = match &timed.change {
            recording::Change::Deploy(deployment) => {
                deployed.insert(&deployment.name);
                continue;
            }
            recording::Change::Scale(name, _) => ("scale", name),
            recording::Change::Load(name, _) => ("load", name),
            recording::Change::Uses(name, _) => ("uses", name),
            _ => continue,
        };
        if !deployed.contains(name) {
            return Err(SnapshotError::Section(format!(
                "changes[{index}].{word} names {name}; expected a deployment that an earlier change deploys"
            )));
        }
    }
    Ok(())
}
