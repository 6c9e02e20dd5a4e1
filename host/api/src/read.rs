//! One object from a JSON value, of any kind that is read.

use std::sync::Arc;

use k8s_openapi::api::storage::v1 as storage;
use k8s_openapi::api::{apps::v1 as apps, core::v1 as core_v1, policy::v1 as policy};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde_json::Value;
use thiserror::Error;

use crate::error::FieldError;
use crate::intern::Interner;
use crate::object::{Kind, Object, ObjectKey};
use crate::value::{from_value, text};
use crate::{convert, kinds};

/// Why an object could not be read: `shop/api-5c: spec.replicas is "two"; expected i32`.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{}{field}", name.as_ref().map(|name| format!("{name}: ")).unwrap_or_default())]
pub struct ReadError {
    /// Namespace and name, when these could be read.
    pub name: Option<String>,
    /// The field at fault.
    pub field: FieldError,
}

/// Reads one object. Paths of fields that the kind does not have are passed to `unknown`.
pub fn read(
    kind: Kind,
    value: &Value,
    interner: &mut Interner,
    unknown: &mut dyn FnMut(&str),
) -> Result<(ObjectKey, Object), ReadError> {
    macro_rules! object {
        ($written:ty, $convert:path, $wrap:expr) => {{
            let written: $written = from_value(value, unknown).map_err(|field| ReadError {
                name: name_of(value),
                field,
            })?;
            let key = key(kind, &written.metadata, interner);
            let converted = $convert(&written, interner).map_err(|field| ReadError {
                name: Some(path(&key)).filter(|name| !name.is_empty()),
                field,
            })?;
            (key, $wrap(converted))
        }};
    }
    macro_rules! shared {
        ($written:ty, $convert:path, $variant:path) => {
            object!($written, $convert, |converted| $variant(Arc::new(
                converted
            )))
        };
    }
    macro_rules! named {
        ($written:ty, $convert:path, $variant:path) => {
            object!($written, $convert, |(name, converted)| $variant(
                name, converted
            ))
        };
    }
    Ok(match kind {
        Kind::Pod => shared!(core_v1::Pod, convert::pod, Object::Pod),
        Kind::Node => shared!(core_v1::Node, convert::node, Object::Node),
        Kind::Namespace => shared!(core_v1::Namespace, convert::namespace, Object::Namespace),
        Kind::Service => shared!(core_v1::Service, convert::service, Object::Service),
        Kind::ReplicationController => shared!(
            core_v1::ReplicationController,
            convert::replication_controller,
            Object::Workload
        ),
        Kind::PersistentVolumeClaim => named!(
            core_v1::PersistentVolumeClaim,
            convert::volume_claim,
            Object::VolumeClaim
        ),
        Kind::PersistentVolume => named!(
            core_v1::PersistentVolume,
            convert::persistent_volume,
            Object::PersistentVolume
        ),
        Kind::DaemonSet => shared!(apps::DaemonSet, convert::daemon_set, Object::DaemonSet),
        Kind::Deployment => shared!(apps::Deployment, convert::deployment, Object::Workload),
        Kind::ReplicaSet => shared!(apps::ReplicaSet, convert::replica_set, Object::Workload),
        Kind::StatefulSet => shared!(apps::StatefulSet, convert::stateful_set, Object::Workload),
        Kind::PodDisruptionBudget => shared!(
            policy::PodDisruptionBudget,
            convert::disruption_budget,
            Object::DisruptionBudget
        ),
        Kind::StorageClass => named!(
            storage::StorageClass,
            convert::storage_class,
            Object::StorageClass
        ),
        Kind::CsiNode => named!(storage::CSINode, convert::csi_node, Object::CsiNode),
        Kind::NodePool => shared!(kinds::NodePool, convert::node_pool, Object::NodePool),
        Kind::NodeClaim => shared!(kinds::NodeClaim, convert::node_claim, Object::NodeClaim),
        Kind::PodTemplate => shared!(
            core_v1::PodTemplate,
            convert::pod_template,
            Object::PodTemplate
        ),
        Kind::CapacityBuffer => shared!(
            kinds::CapacityBuffer,
            convert::capacity_buffer,
            Object::CapacityBuffer
        ),
        Kind::NodeOverlay => {
            shared!(
                kinds::NodeOverlay,
                convert::node_overlay,
                Object::NodeOverlay
            )
        }
    })
}

fn key(kind: Kind, metadata: &ObjectMeta, interner: &mut Interner) -> ObjectKey {
    let namespace = match metadata.namespace.as_deref() {
        _ if !kind.is_namespaced() => "",
        Some(namespace) => namespace,
        None => "default",
    };
    ObjectKey {
        kind,
        namespace: interner.text(namespace),
        name: Arc::from(metadata.name.as_deref().unwrap_or_default()),
    }
}

fn path(key: &ObjectKey) -> String {
    if key.name.is_empty() {
        String::new()
    } else if key.namespace.is_empty() {
        key.name.to_string()
    } else {
        format!("{}/{}", key.namespace, key.name)
    }
}

/// Namespace and name of an object that could not be read as its kind.
fn name_of(value: &Value) -> Option<String> {
    let metadata = value.as_object()?.get("metadata")?.as_object()?;
    let name = text(metadata, "name")?;
    Some(match text(metadata, "namespace") {
        Some(namespace) => format!("{namespace}/{name}"),
        None => name.to_owned(),
    })
}
