//! Names, times and owners, which every object has.

use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference, Time};
use k8s_openapi::jiff;
use plimsoll_base::ids::{ObjectName, Uid};
use plimsoll_base::labels::Labels;
use plimsoll_base::time::Timestamp;
use plimsoll_model::{Owner, OwnerKind};

use crate::error::FieldError;
use crate::intern::Interner;
use crate::keys;

/// Namespace of namespaced objects that name none.
const DEFAULT_NAMESPACE: &str = "default";

/// The name of a cluster-wide object.
pub(super) fn name(metadata: &ObjectMeta) -> Result<&str, FieldError> {
    metadata
        .name
        .as_deref()
        .filter(|name| !name.is_empty())
        .ok_or_else(|| FieldError::missing("metadata.name", "the name of the object"))
}

/// Namespace and name of a namespaced object.
pub(super) fn object_name(
    metadata: &ObjectMeta,
    interner: &mut Interner,
) -> Result<ObjectName, FieldError> {
    let namespace = metadata.namespace.as_deref().unwrap_or(DEFAULT_NAMESPACE);
    Ok(ObjectName::new(
        interner.text(namespace),
        Arc::from(name(metadata)?),
    ))
}

/// The uid; objects written by hand often have none, and then their name stands in for it.
pub(super) fn uid(metadata: &ObjectMeta) -> Uid {
    match metadata.uid.as_deref() {
        Some(uid) => Uid::from(uid),
        None => Uid::from(format!(
            "{}/{}",
            metadata.namespace.as_deref().unwrap_or_default(),
            metadata.name.as_deref().unwrap_or_default()
        )),
    }
}

/// An instant.
pub(super) fn instant(time: &Time) -> Timestamp {
    Timestamp::from_millis(time.0.as_millisecond())
}

/// An instant that somebody wrote as text; `None` where it is none, which then counts as not said.
pub(super) fn written_instant(text: &str) -> Option<Timestamp> {
    let read: jiff::Timestamp = text.parse().ok()?;
    Some(Timestamp::from_millis(read.as_millisecond()))
}

/// When the object was created; the epoch when nothing is said.
pub(super) fn created(metadata: &ObjectMeta) -> Timestamp {
    metadata
        .creation_timestamp
        .as_ref()
        .map_or_else(Timestamp::default, instant)
}

/// The object's generation; 0 where it does not say.
pub(super) fn generation(metadata: &ObjectMeta) -> i64 {
    metadata.generation.unwrap_or_default()
}

/// When the object was asked to go.
pub(super) fn deleting(metadata: &ObjectMeta) -> Option<Timestamp> {
    metadata.deletion_timestamp.as_ref().map(instant)
}

/// `true` if the object carries our finalizer.
pub(super) fn held(metadata: &ObjectMeta) -> bool {
    let mut finalizers = metadata.finalizers.iter().flatten();
    finalizers.any(|finalizer| finalizer == keys::FINALIZER)
}

/// An annotation's value.
pub(super) fn annotation<'a>(metadata: &'a ObjectMeta, key: &str) -> Option<&'a str> {
    metadata
        .annotations
        .as_ref()
        .and_then(|annotations| annotations.get(key))
        .map(String::as_str)
}

/// The object's labels.
pub(super) fn labels(metadata: &ObjectMeta, interner: &mut Interner) -> Labels {
    interner.map(metadata.labels.iter().flatten())
}

/// The annotations that decisions may read, for kinds of which there are many.
pub(super) fn annotations(metadata: &ObjectMeta, interner: &mut Interner) -> Labels {
    let read = metadata
        .annotations
        .iter()
        .flatten()
        .filter(|(key, _)| keys::is_read_annotation(key));
    interner.map(read)
}

/// The object that controls this one. A daemon set or node among the owners counts without being marked as the
/// controller, since it keeps a pod out of planning either way.
pub(super) fn owner(metadata: &ObjectMeta, interner: &mut Interner) -> Option<Owner> {
    let owners = metadata.owner_references.as_deref().unwrap_or_default();
    let controls = |owner: &&OwnerReference| owner.controller == Some(true);
    let rules_out = |owner: &&OwnerReference| {
        matches!(owner_kind(owner), OwnerKind::DaemonSet | OwnerKind::Node)
    };
    let owner = owners
        .iter()
        .find(rules_out)
        .or_else(|| owners.iter().find(controls))?;
    Some(Owner {
        kind: owner_kind(owner),
        name: interner.text(&owner.name),
        uid: Uid::from(interner.text(&owner.uid)),
    })
}

fn owner_kind(owner: &OwnerReference) -> OwnerKind {
    let group = owner
        .api_version
        .split_once('/')
        .map_or("", |(group, _)| group);
    match (group, owner.kind.as_str()) {
        ("apps", "ReplicaSet") => OwnerKind::ReplicaSet,
        ("", "ReplicationController") => OwnerKind::ReplicationController,
        ("apps", "StatefulSet") => OwnerKind::StatefulSet,
        ("apps", "DaemonSet") => OwnerKind::DaemonSet,
        ("batch", "Job") => OwnerKind::Job,
        ("", "Node") => OwnerKind::Node,
        _ => OwnerKind::Other,
    }
}
