//! Inputs: snapshots, recordings and traces, from files to what commands work on.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use plimsoll_api::{Kind, Object};
use plimsoll_base::ids::{ObjectName, PoolName};
use plimsoll_base::time::Timestamp;
use plimsoll_engine::Engine;
use plimsoll_model::catalogue::PriceSource;
use plimsoll_model::snapshot::{Settings, Snapshot};
use plimsoll_model::{NamedPolicies, NodePool, PackingMode};
use plimsoll_sim::{Change, Recording, TimedChange};
use plimsoll_snapshot::{Limits, LoadError, Loaded, SnapshotError};

use crate::digest::Digesting;
use crate::flags::{Deciding, Packing};
use crate::types_by_class;

/// Reads a file as it is, telling on stderr what was assumed; `-` is standard input.
pub(crate) fn file(path: &Path) -> Result<Loaded> {
    Ok(file_and_digest(path)?.0)
}

/// The same, with the SHA-256 of the bytes read, as `sha256sum` prints it.
fn file_and_digest(path: &Path) -> Result<(Loaded, String)> {
    let (mut loaded, digest) = if is_standard_input(path) {
        read(std::io::stdin().lock(), path)?
    } else {
        let file = File::open(path).map_err(|error| LoadError {
            path: path.to_owned(),
            error: SnapshotError::Io(error),
        })?;
        read(file, path)?
    };
    let assumed = types_by_class::assume(&mut loaded).with_context(|| name(path))?;
    if let Some(words) = assumed {
        eprintln!("warning: {}: {words}", name(path));
    }
    for note in loaded.notes.iter().filter(|note| !note.is_advice()) {
        eprintln!("warning: {}: {note}", name(path));
    }
    Ok((loaded, digest))
}

/// A snapshot or recording, or a trace where the name says so.
fn read(source: impl Read, path: &Path) -> Result<(Loaded, String)> {
    let mut digesting = Digesting::new(source);
    let is_trace = path.extension().is_some_and(|extension| extension == "csv");
    let loaded = if is_trace {
        trace(&mut digesting)
    } else {
        plimsoll_snapshot::read(&mut digesting, &Limits::default())
    };
    let loaded = loaded.with_context(|| name(path))?;
    let digest = digesting.finish().with_context(|| name(path))?;
    Ok((loaded, digest))
}

fn is_standard_input(path: &Path) -> bool {
    path == Path::new("-")
}

/// Name of an input in messages.
pub(crate) fn name(path: &Path) -> String {
    if is_standard_input(path) {
        "standard input".to_owned()
    } else {
        path.display().to_string()
    }
}

/// Reads a snapshot or recording to decide on it, with the settings and policies that flags give.
pub(crate) fn snapshot(path: &Path, deciding: &Deciding) -> Result<Loaded> {
    Ok(snapshot_and_digest(path, deciding)?.0)
}

/// The same, with the digest of the input.
pub(crate) fn snapshot_and_digest(path: &Path, deciding: &Deciding) -> Result<(Loaded, String)> {
    let (mut loaded, digest) = file_and_digest(path)?;
    for words in without_named_policies(&mut loaded) {
        eprintln!("warning: {}: {words}", name(path));
    }
    Ok((with_settings(loaded, deciding), digest))
}

/// Sets the policies aside that NodePools ask for by name: the Policies of a cluster are not in its file, so that none of them would serve. A
/// sentence for each NodePool that asks.
fn without_named_policies(loaded: &mut Loaded) -> Vec<String> {
    let mut asking: BTreeMap<PoolName, String> = BTreeMap::new();
    let mut set_aside = |pool: &mut Arc<NodePool>| {
        if pool.policies == NamedPolicies::default() {
            return;
        }
        let own = Arc::make_mut(pool);
        let asked = asked_policies(&std::mem::take(&mut own.policies));
        asking.entry(own.name.clone()).or_insert_with(|| {
            format!(
                "NodePool {} asks for {asked}; --policy decides here",
                own.name
            )
        });
    };
    // Rows of the snapshot are others than the objects that it was made of.
    loaded.objects.pools.iter_mut().for_each(&mut set_aside);
    loaded.snapshot.pools.iter_mut().for_each(&mut set_aside);
    for timed in &mut loaded.changes {
        if let plimsoll_snapshot::Change::Upsert { object, .. } = &mut timed.change
            && let Object::Whole(plimsoll_model::Object::Pool(pool)) = object
        {
            set_aside(pool);
        }
    }
    asking.into_values().collect()
}

/// Policies by hook and name.
fn asked_policies(policies: &NamedPolicies) -> String {
    let NamedPolicies {
        rank,
        consolidate,
        budget,
    } = policies;
    let hooks = [
        ("rank", rank),
        ("consolidate", consolidate),
        ("budget", budget),
    ];
    let named = hooks.into_iter().filter_map(|(hook, name)| {
        let name = name.as_ref()?;
        Some(format!("{hook} policy {name}"))
    });
    named.collect::<Vec<_>>().join(" and ")
}

/// A snapshot that was read, with the settings that flags give.
pub(crate) fn with_settings(mut loaded: Loaded, deciding: &Deciding) -> Loaded {
    let settings = settings(&loaded.snapshot.settings, deciding);
    loaded.snapshot.settings = Arc::new(settings);
    loaded
}

/// The engine that finds what was read, and in place of the snapshot the one on which it would plan: with what nodes taught of
/// their types, and pods where they are expected.
pub(crate) fn found(loaded: &mut Loaded) -> Engine {
    let snapshot = &loaded.snapshot;
    let engine = Engine::finding(
        &loaded.objects,
        Arc::clone(&snapshot.catalogues),
        Arc::clone(&snapshot.settings),
        snapshot.seed,
        snapshot.now,
    );
    loaded.snapshot = engine.snapshot(snapshot.now);
    engine
}

/// Settings of a file, changed by flags.
fn settings(own: &Settings, deciding: &Deciding) -> Settings {
    let mut settings = own.clone();
    settings.guards.enabled &= !deciding.no_guards;
    if deciding.quick {
        settings.effort = 0;
    }
    settings.packing = match deciding.packing {
        Some(Packing::Price) => Some(PackingMode::Price),
        Some(Packing::Compatible) => Some(PackingMode::Compatible),
        None => settings.packing,
    };
    settings
}

/// `true` if any spot price comes from a model, which every output must say.
pub(crate) fn has_modelled_prices(snapshot: &Snapshot) -> bool {
    let catalogues = snapshot.catalogues.distinct().iter();
    let types = catalogues.flat_map(|catalogue| catalogue.types());
    let mut offerings = types.flat_map(|instance_type| &instance_type.offerings);
    offerings.any(|offering| offering.price_source == PriceSource::Model)
}

/// Recording of a simulation, with the digest of its bytes.
pub(crate) struct Input {
    /// The recording to play.
    pub(crate) recording: Recording,
    /// `true` if any spot price comes from a model.
    pub(crate) modelled: bool,
    /// SHA-256 of the bytes that were read.
    pub(crate) digest: String,
}

/// Reads what a simulation is about.
pub(crate) fn input(path: &Path, deciding: &Deciding) -> Result<Input> {
    let (loaded, digest) = snapshot_and_digest(path, deciding)?;
    let snapshot = loaded.snapshot;
    let changes = loaded.changes.into_iter().map(timed);
    let changes = changes.collect::<Result<Vec<_>>>();
    Ok(Input {
        recording: Recording::from_snapshot(&snapshot, changes.with_context(|| name(path))?),
        modelled: has_modelled_prices(&snapshot),
        digest,
    })
}

/// A trace on an empty cluster with the default pool and the default region's instances.
fn trace(table: impl Read) -> Result<Loaded, SnapshotError> {
    let rows = plimsoll_snapshot::trace::rows(BufReader::new(table));
    let start = Timestamp::from_millis(0);
    let changes = plimsoll_snapshot::trace::recording(rows, start)?;
    let empty = r#"{"apiVersion":"v1","kind":"List","items":[],"plimsoll":{"time":"1970-01-01T00:00:00Z","catalogue":{"region":"us-east-1"}}}"#;
    let empty = plimsoll_snapshot::read(empty.as_bytes(), &Limits::default())?;
    Ok(Loaded { changes, ..empty })
}

/// A recorded change as something that happens to the simulated world.
fn timed(change: plimsoll_snapshot::TimedChange) -> Result<TimedChange> {
    use plimsoll_snapshot::Change as Recorded;
    let at = change.at;
    let change = match change.change {
        Recorded::Upsert {
            object: Object::Whole(plimsoll_model::Object::Pod(pod)),
            runs_for,
        } => Change::Arrive(pod, runs_for),
        Recorded::Upsert {
            object,
            runs_for: None,
        } => Change::Apply(applied(object)?),
        Recorded::Upsert { .. } => {
            bail!("a simulation cannot play how long something other than a pod runs")
        }
        Recorded::Delete(key) if key.kind == Kind::Pod => Change::DeletePod(ObjectName {
            namespace: key.namespace,
            name: key.name,
        }),
        Recorded::Delete(key) if key.kind == Kind::VolumeAttachment => Change::Detach(key.name),
        Recorded::Delete(key) => {
            bail!(
                "a simulation cannot play the deletion of {key}; expected a pod or a VolumeAttachment"
            )
        }
        Recorded::Price(which, price) => Change::Price(which, price),
        Recorded::Availability(which, available) => Change::Stock(which, (!available).then_some(0)),
        Recorded::Interrupt(node) => Change::Interrupt(node),
        Recorded::Deploy(deployment) => Change::Deploy(deployment),
        Recorded::Scale(name, replicas) => Change::Scale(name, replicas),
        Recorded::Load(name, load) => Change::Load(name, load),
        Recorded::Uses(name, usage) => Change::Uses(name, usage),
    };
    Ok(TimedChange { at, change })
}

/// An object that appears in the simulated world. Nodes appear there by being bought.
fn applied(object: Object) -> Result<plimsoll_model::Object> {
    let machine = match object {
        Object::Whole(plimsoll_model::Object::Node(node)) => format!("node {}", node.name),
        Object::Whole(plimsoll_model::Object::Claim(claim)) => format!("claim {}", claim.name),
        Object::Whole(object) => return Ok(object),
        Object::Part(_) => bail!(
            "a simulation cannot play a change of volumes; expected them in the snapshot that it begins with"
        ),
        Object::Defaults(_) => bail!(
            "a simulation cannot play a change of a LimitRange; expected it in the snapshot that it begins with"
        ),
    };
    bail!(
        "a simulation cannot play the appearance of {machine}; expected it in the snapshot that it begins with"
    )
}
