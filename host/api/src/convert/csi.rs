//! CSI drivers: what each asks of the scheduler, where it runs, what it attaches, and where it has room for new volumes.

use std::sync::Arc;

use k8s_openapi::api::storage::v1 as storage;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use plimsoll_base::ids::{NodeName, ObjectName};
use plimsoll_base::quantity;
use plimsoll_base::requirement::Requirements;
use plimsoll_base::time::Timestamp;
use plimsoll_model::{CsiDriver, CsiNode, StorageCapacity, VolumeAttachment, VolumePart};
use serde_json::{Map, Value, json};

use super::{metadata, requirement};
use crate::error::{FieldError, Within};
use crate::intern::Interner;
use crate::object::Kind;
use crate::write;

/// A driver, by its name.
pub(crate) fn csi_driver(
    written: &storage::CSIDriver,
    interner: &mut Interner,
) -> Result<VolumePart, FieldError> {
    let driver = CsiDriver {
        tells_capacity: written.spec.storage_capacity == Some(true),
        must_run: written.spec.prevent_pod_scheduling_if_missing == Some(true),
    };
    let name = interner.text(metadata::name(&written.metadata)?);
    Ok(VolumePart::Driver(name, driver))
}

/// Room for new volumes of a class, by its name.
pub(crate) fn storage_capacity(
    written: &storage::CSIStorageCapacity,
    interner: &mut Interner,
) -> Result<VolumePart, FieldError> {
    let topology = written.node_topology.as_ref();
    let topology = topology.map(|selector| node_labels(selector, interner));
    let (field, largest) = match &written.maximum_volume_size {
        Some(largest) => ("maximumVolumeSize", Some(largest)),
        None => ("capacity", written.capacity.as_ref()),
    };
    let largest = largest
        .map(|largest| quantity::parse_units(&largest.0))
        .transpose();
    let room = StorageCapacity {
        class: interner.text(&written.storage_class_name),
        topology: topology.transpose().within("nodeTopology")?,
        largest: largest.map_err(FieldError::from).within(field)?,
    };
    let name = metadata::object_name(&written.metadata, interner)?;
    Ok(VolumePart::Capacity(name, room))
}

/// Labels of nodes that a selector asks for.
fn node_labels(
    selector: &LabelSelector,
    interner: &mut Interner,
) -> Result<Requirements, FieldError> {
    let mut result = Requirements::new();
    for (key, value) in selector.match_labels.iter().flatten() {
        let values = std::slice::from_ref(value);
        result.add(requirement::requirement(key, "In", values, interner)?);
    }
    for (at, entry) in selector.match_expressions.iter().flatten().enumerate() {
        let values = entry.values.as_deref().unwrap_or_default();
        let asked = requirement::requirement(&entry.key, &entry.operator, values, interner);
        result.add(asked.within(format_args!("matchExpressions[{at}]"))?);
    }
    Ok(result)
}

/// Drivers of a node, by its name.
pub(crate) fn csi_node(
    written: &storage::CSINode,
    interner: &mut Interner,
) -> Result<VolumePart, FieldError> {
    let mut result = CsiNode::default();
    for (at, driver) in written.spec.drivers.iter().enumerate() {
        let name = interner.text(&driver.name);
        let Some(count) = driver.allocatable.as_ref().and_then(|room| room.count) else {
            result.unlimited.insert(name);
            continue;
        };
        let limit = u32::try_from(count).map_err(|_| {
            FieldError::unexpected("count", count, "a number of at least 0")
                .within(format_args!("spec.drivers[{at}].allocatable"))
        })?;
        result.limits.insert(name, limit);
    }
    let name = NodeName::from(interner.text(metadata::name(&written.metadata)?));
    Ok(VolumePart::Node(name, result))
}

/// A volume that is attached to a node, or about to be.
pub(crate) fn attachment(
    written: &storage::VolumeAttachment,
    interner: &mut Interner,
) -> Result<VolumeAttachment, FieldError> {
    let spec = &written.spec;
    let volume = spec.source.persistent_volume_name.as_ref();
    Ok(VolumeAttachment {
        name: interner.text(metadata::name(&written.metadata)?),
        attacher: interner.text(&spec.attacher),
        node: NodeName::from(interner.text(&spec.node_name)),
        volume: volume.map(|name| interner.text(name)),
    })
}

/// A driver as it is written.
pub(crate) fn csi_driver_to_value(name: &Arc<str>, driver: CsiDriver) -> Value {
    let meta = write::metadata(name, None, Timestamp::default());
    let mut spec = Map::new();
    let fields = [
        ("storageCapacity", driver.tells_capacity),
        ("preventPodSchedulingIfMissing", driver.must_run),
    ];
    for (field, _) in fields.into_iter().filter(|(_, holds)| *holds) {
        spec.insert(field.to_owned(), true.into());
    }
    write::framed(Kind::CsiDriver, Value::Object(meta), json!({"spec": spec}))
}

/// Room for new volumes as it is written.
pub(crate) fn storage_capacity_to_value(name: &ObjectName, room: &StorageCapacity) -> Value {
    let meta = write::namespaced(name, None, Timestamp::default());
    let mut fields = Map::new();
    fields.insert("storageClassName".to_owned(), json!(room.class));
    if let Some(topology) = &room.topology {
        let labels: Vec<Value> = topology.iter().flat_map(write::expressions).collect();
        fields.insert(
            "nodeTopology".to_owned(),
            json!({"matchExpressions": labels}),
        );
    }
    if let Some(largest) = room.largest {
        fields.insert("maximumVolumeSize".to_owned(), largest.to_string().into());
    }
    write::framed(
        Kind::StorageCapacity,
        Value::Object(meta),
        Value::Object(fields),
    )
}

/// Drivers of a node as they are written.
pub(crate) fn csi_node_to_value(name: &NodeName, node: &CsiNode) -> Value {
    let meta = write::metadata(name.as_str(), None, Timestamp::default());
    let driver = |(name, count): (&Arc<str>, &u32)| json!({"name": name, "nodeID": "", "allocatable": {"count": count}});
    let unlimited = |name: &Arc<str>| json!({"name": name, "nodeID": ""});
    let limited = node.limits.iter().map(driver);
    let drivers: Vec<Value> = limited
        .chain(node.unlimited.iter().map(unlimited))
        .collect();
    write::framed(
        Kind::CsiNode,
        Value::Object(meta),
        json!({"spec": {"drivers": drivers}}),
    )
}

/// An attachment as it is written.
pub(crate) fn attachment_to_value(attached: &VolumeAttachment) -> Value {
    let meta = write::metadata(&attached.name, None, Timestamp::default());
    let source = json!({"persistentVolumeName": attached.volume});
    let spec = json!({
        "attacher": attached.attacher, "nodeName": attached.node.as_str(), "source": source,
    });
    write::framed(
        Kind::VolumeAttachment,
        Value::Object(meta),
        json!({"spec": spec}),
    )
}
