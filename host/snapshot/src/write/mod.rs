//! A snapshot back to text, so that reading it gives the same snapshot.
//!
//! Objects are written one at a time. JSON is one list; YAML is one document per object,
//! our section first.

mod catalogue;
mod objects;

pub use catalogue::{amounts, instance_type};

use std::io::{self, Read, Write};

use plimsoll_api::write::{pod_template, quantity};
use plimsoll_base::ids::ObjectName;
use plimsoll_base::resources::ResourceName;
use plimsoll_model::catalogue::Subnet;
use plimsoll_model::snapshot::Snapshot;
use plimsoll_sim::{Deployment, Usage};
use serde_json::Value;

use crate::error::SnapshotError;
use crate::gather::{API_VERSION, SNAPSHOT};
use crate::recording::{Change, TimedChange};
use crate::resolve::written_instant;
use crate::section::{
    Amount, AmountEntry, AvailabilityEntry, CatalogueEntry, ChangeEntry, DeploymentEntry, Duration,
    FollowsEntry, NodeClassEntry, PriceChangeEntry, PriceEntry, Reference, Section, SettingsEntry,
    SubnetEntry, UsageEntry, UsesEntry,
};

/// How text is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// One list.
    Json,
    /// One document per object.
    Yaml,
}

/// Where the catalogue of the text comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum CatalogueText {
    /// Every type is written out.
    Inline,
    /// The entry and the quotes with which the snapshot was read.
    Entry(CatalogueEntry, Vec<PriceEntry>),
}

/// Writes a snapshot, what follows it, and what node classes say of themselves.
pub fn write(
    snapshot: &Snapshot,
    (changes, node_classes): (&[TimedChange], &[NodeClassEntry]),
    catalogue: &CatalogueText,
    format: Format,
    out: &mut dyn Write,
) -> io::Result<()> {
    let section = Section {
        node_classes: node_classes.to_vec(),
        ..section(snapshot, changes, catalogue)
    };
    let mut section = serde_json::to_value(&section)?;
    match format {
        Format::Json => {
            out.write_all(b"{\"apiVersion\":\"v1\",\"kind\":\"List\",\n\"plimsoll\":")?;
            serde_json::to_writer(&mut *out, &section)?;
            out.write_all(b",\n\"items\":[")?;
            let mut is_first = true;
            objects::each(snapshot, &mut |object| {
                out.write_all(if is_first { b"\n" } else { b",\n" })?;
                is_first = false;
                Ok(serde_json::to_writer(&mut *out, object)?)
            })?;
            out.write_all(b"\n]}\n")
        }
        Format::Yaml => {
            if let Value::Object(fields) = &mut section {
                fields.insert("apiVersion".to_owned(), API_VERSION.into());
                fields.insert("kind".to_owned(), SNAPSHOT.into());
            }
            document(&section, out)?;
            objects::each(snapshot, &mut |object| {
                out.write_all(b"---\n")?;
                document(object, out)
            })
        }
    }
}

/// A snapshot by itself as JSON text, with every type that it knows.
pub fn json(snapshot: &Snapshot) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    write(
        snapshot,
        (&[], &[]),
        &CatalogueText::Inline,
        Format::Json,
        &mut text,
    )?;
    Ok(text)
}

fn document(value: &Value, out: &mut dyn Write) -> io::Result<()> {
    let text = serde_saphyr::to_string(value).map_err(io::Error::other)?;
    out.write_all(text.trim_end().as_bytes())?;
    out.write_all(b"\n")
}

/// Compresses a text with zstd.
pub fn compress(text: impl Read, mut out: impl Write) -> Result<(), SnapshotError> {
    let level = ruzstd::encoding::CompressionLevel::Fastest;
    let compressed = ruzstd::encoding::compress_to_vec(text, level);
    Ok(out.write_all(&compressed)?)
}

fn section(snapshot: &Snapshot, changes: &[TimedChange], catalogue: &CatalogueText) -> Section {
    let (entry, prices) = match catalogue {
        CatalogueText::Inline => (catalogue::entry(&snapshot.catalogues), Vec::new()),
        CatalogueText::Entry(entry, prices) => (entry.clone(), prices.clone()),
    };
    Section {
        time: Some(written_instant(snapshot.now)),
        seed: Some(snapshot.seed),
        settings: Some(SettingsEntry::from_settings(&snapshot.settings)),
        catalogue: Some(entry),
        prices,
        subnets: snapshot.catalogues.subnets().iter().map(subnet).collect(),
        changes: changes.iter().map(change).collect(),
        ..Section::default()
    }
}

fn subnet(subnet: &Subnet) -> SubnetEntry {
    SubnetEntry {
        id: subnet.id.to_string(),
        zone: subnet.zone.to_string(),
        free_addresses: Some(subnet.free.into()),
    }
}

fn change(timed: &TimedChange) -> ChangeEntry {
    let mut entry = ChangeEntry {
        at: written_instant(timed.at),
        ..ChangeEntry::default()
    };
    match &timed.change {
        Change::Upsert { object, runs_for } => {
            entry.upsert = Some(object.to_value());
            entry.runs_for = runs_for.map(Duration);
        }
        Change::Delete(key) => {
            entry.delete = Some(Reference {
                api_version: None,
                kind: key.kind.as_str().to_owned(),
                namespace: (!key.namespace.is_empty()).then(|| key.namespace.to_string()),
                name: key.name.to_string(),
            });
        }
        Change::Price(which, price) => {
            entry.price = Some(PriceChangeEntry {
                instance_type: which.instance_type.to_string(),
                zone: which.zone.as_ref().map(ToString::to_string),
                capacity_type: Some(which.capacity_type.to_string()),
                price: Some(price.dollars()),
            });
        }
        Change::Availability(which, available) => {
            entry.availability = Some(AvailabilityEntry {
                instance_type: which.instance_type.to_string(),
                zone: which.zone.as_ref().map(ToString::to_string),
                capacity_type: Some(which.capacity_type.to_string()),
                available: *available,
            });
        }
        Change::Interrupt(node) => entry.interrupt = Some(node.to_string()),
        Change::Deploy(deployment) => entry.deploy = Some(deployed(deployment)),
        Change::Scale(name, replicas) => entry.scale = Some(amount(name, (*replicas).into())),
        Change::Load(name, load) => entry.load = Some(amount(name, *load)),
        Change::Uses(name, usage) => {
            let UsageEntry { cpu, memory } = used(*usage);
            entry.uses = Some(UsesEntry {
                namespace: Some(name.namespace.to_string()),
                name: name.name.to_string(),
                cpu,
                memory,
            });
        }
    }
    entry
}

fn deployed(deployment: &Deployment) -> DeploymentEntry {
    DeploymentEntry {
        namespace: Some(deployment.name.namespace.to_string()),
        name: deployment.name.name.to_string(),
        replicas: deployment.replicas,
        template: pod_template(&deployment.labels, &deployment.spec),
        follows: deployment.follows.map(|rule| FollowsEntry {
            target: rule.target,
            least: Some(rule.least),
            most: rule.most,
        }),
        uses: deployment.uses.map(used),
    }
}

fn used(usage: Usage) -> UsageEntry {
    let written = |name: &ResourceName, amount| Amount::Text(quantity(name, amount));
    UsageEntry {
        cpu: written(&ResourceName::Cpu, usage.cpu_milli),
        memory: written(&ResourceName::Memory, usage.memory_bytes),
    }
}

fn amount(name: &ObjectName, amount: u64) -> AmountEntry {
    AmountEntry {
        namespace: Some(name.namespace.to_string()),
        name: name.name.to_string(),
        amount,
    }
}
