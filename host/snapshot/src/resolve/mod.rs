//! From what a file says to a snapshot: defaults, the instant, the catalogue, and the join of it all.

mod catalogue;
mod class;
mod pool;
mod region;
mod subnets;
mod types;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plimsoll_api::convert::with_live_pods;
pub(crate) use plimsoll_api::write::instant as written_instant;
use plimsoll_base::ids::ObjectName;
use plimsoll_base::time::Timestamp;
use plimsoll_base::words::shortened;
use plimsoll_ec2_facts::ClassSettings;
use plimsoll_ec2_facts::provider::CLASS;
use plimsoll_model::catalogue::Catalogues;
use plimsoll_model::provider::{ClassKind, ProviderFacts};
use plimsoll_model::snapshot::{Settings, Snapshot};
use plimsoll_model::{ClassRef, NodePool};
use serde_json::{Map, Value};

use crate::error::SnapshotError;
use crate::gather::{Gatherer, KWOK_CLASS};
use crate::input::Loaded;
use crate::limits::Limits;
use crate::note::{Named, Note};
use crate::recording::{self, TimedChange};
use crate::replicas;
use crate::section::{At, Change, NodeClassEntry, Section, closest_field, renamed};
use crate::write::CatalogueText;

/// Joins what was gathered.
pub(crate) fn resolve(mut gathered: Gatherer, limits: &Limits) -> Result<Loaded, SnapshotError> {
    if gathered.items() == 0 && gathered.section.is_none() {
        return Err(SnapshotError::NoObjects);
    }
    let planned = replicas::plan(&mut gathered, limits.replicas)?;
    let mut notes = gathered.notes();
    notes.extend(planned);
    let mut section = section(gathered.section.take(), &mut notes)?;
    let now = now(section.time.as_deref(), gathered.newest, &mut notes)?;
    let settings = settings(&section)?;
    let mut objects = gathered.objects;
    with_live_pods(
        &mut objects.daemon_sets,
        &objects.pods,
        &mut gathered.interner,
    );
    if objects.pools.is_empty() && !gathered.is_served {
        // Of an only class the pool's nodes are meant to be.
        let only = gathered.classes.keys().next();
        let only = only.filter(|_| gathered.classes.len() == 1);
        let class = only.map_or("default", String::as_str);
        objects.pools.push(Arc::new(pool::default_pool(class)));
        notes.push(Note::DefaultPool);
    }
    objects.volumes = Arc::new(gathered.volumes);
    let entry = section
        .catalogue
        .take()
        .unwrap_or_else(|| region::assumed(&objects.nodes, &mut notes));
    let classes = settings_of_classes(&objects.pools, gathered.classes, &mut notes);
    let catalogues =
        catalogue::catalogues(&entry, &section.prices, &classes, &mut gathered.interner)
            .map_err(SnapshotError::Section)?;
    let subnets =
        subnets::subnets(&section.subnets, &catalogues).map_err(SnapshotError::Section)?;
    let catalogues = served(&catalogues.with_subnets(subnets));
    let changes = timed(gathered.changes, now)?;
    let seed = section.seed.unwrap_or(0);
    let settings = Arc::new(settings);
    let snapshot = Snapshot::new(now, seed, settings, catalogues, objects.clone());
    Ok(Loaded {
        snapshot,
        objects,
        node_classes: node_classes(section.node_classes, gathered.node_classes),
        changes,
        notes,
        // The text of a snapshot has no classes: what they change is written out.
        catalogue: if is_default(&classes) {
            CatalogueText::Entry(entry, section.prices)
        } else {
            CatalogueText::Inline
        },
    })
}

/// Node classes of a file, each once: an object says more than the section does.
fn node_classes(section: Vec<NodeClassEntry>, objects: Vec<NodeClassEntry>) -> Vec<NodeClassEntry> {
    let all = section.into_iter().chain(objects);
    let by_name = all.map(|own| ((own.kind.clone(), own.name.clone()), own));
    let by_name: BTreeMap<_, _> = by_name.collect();
    by_name.into_values().collect()
}

/// The catalogues of a provider that serves every kind of class that this program has a provider for: a file does not say whose it is.
fn served(catalogues: &Catalogues) -> Arc<Catalogues> {
    let mut facts = ProviderFacts::clone(catalogues.provider());
    facts.classes.insert(ClassKind {
        group: "karpenter.kwok.sh".into(),
        kind: KWOK_CLASS.into(),
    });
    let facts = Arc::new(facts);
    Arc::new(catalogues.revised(|_, own| Arc::new(own.with_provider(Arc::clone(&facts)))))
}

/// Settings of the classes on EC2 of a file. A pool's class that is not among them is told, where there are any: its nodes are
/// taken to be as settings are by default.
fn settings_of_classes(
    pools: &[Arc<NodePool>],
    known: BTreeMap<String, ClassSettings>,
    notes: &mut Vec<Note>,
) -> BTreeMap<ClassRef, ClassSettings> {
    let mut missing: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for pool in pools {
        let name = &*pool.class.name;
        if *pool.class.kind == *CLASS && !known.contains_key(name) {
            missing.entry(name).or_default().push(pool.name.as_str());
        }
    }
    if !known.is_empty() && !missing.is_empty() {
        let class = |(name, pools): (&str, Vec<&str>)| {
            let pools = shortened(pools);
            format!("{name} (NodePool {pools})")
        };
        let classes: Named = missing.into_iter().map(class).collect();
        notes.push(Note::MissingClasses { classes });
    }
    let known = known.into_iter();
    known
        .map(|(name, settings)| (class::class_on_ec2(&name), settings))
        .collect()
}

/// `true` if classes change nothing.
fn is_default(classes: &BTreeMap<ClassRef, ClassSettings>) -> bool {
    let default = ClassSettings::default();
    classes.values().all(|settings| *settings == default)
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
