//! Volumes: claims, volumes and classes. In-tree drivers appear under the names of their CSI successors.

use std::sync::Arc;

use k8s_openapi::api::core::v1 as k8s;
use k8s_openapi::api::storage::v1 as storage;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use plimsoll_base::ids::ObjectName;
use plimsoll_base::labels::{LabelKey, REGION, ZONE};
use plimsoll_base::quantity;
use plimsoll_base::requirement::{Requirement, Requirements};
use plimsoll_base::time::Timestamp;
use plimsoll_model::{
    BindingMode, PersistentVolume, StorageClass, VolumeClaim, VolumeKind, VolumePart,
};
use serde_json::{Map, Value, json};

use super::label::label_key;
use super::{each, metadata, requirement};
use crate::error::{FieldError, Within};
use crate::intern::Interner;
use crate::object::Kind;
use crate::{keys, write};

/// In-tree provisioners and the CSI drivers that took over from them.
const MIGRATED: [(&str, &str); 7] = [
    ("kubernetes.io/aws-ebs", "ebs.csi.aws.com"),
    ("kubernetes.io/azure-disk", "disk.csi.azure.com"),
    ("kubernetes.io/azure-file", "file.csi.azure.com"),
    ("kubernetes.io/cinder", "cinder.csi.openstack.org"),
    ("kubernetes.io/gce-pd", "pd.csi.storage.gke.io"),
    ("kubernetes.io/portworx-volume", "pxd.portworx.com"),
    ("kubernetes.io/vsphere-volume", "csi.vsphere.vmware.com"),
];

/// Separator of the zones of a volume that is in several, in its label.
const ZONE_SEPARATOR: &str = "__";

/// The access mode of a claim that one pod at a time may use.
const ONE_POD: &str = "ReadWriteOncePod";

fn driver(provisioner: &str) -> &str {
    MIGRATED
        .iter()
        .find(|(in_tree, _)| *in_tree == provisioner)
        .map_or(provisioner, |(_, csi)| csi)
}

/// A volume claim, by its name.
pub(crate) fn volume_claim(
    written: &k8s::PersistentVolumeClaim,
    interner: &mut Interner,
) -> Result<VolumePart, FieldError> {
    let metadata = &written.metadata;
    let spec = written.spec.as_ref();
    let class = spec
        .and_then(|spec| spec.storage_class_name.as_deref())
        .or_else(|| metadata::annotation(metadata, keys::CLAIM_CLASS_BETA));
    let volume = spec
        .and_then(|spec| spec.volume_name.as_deref())
        .filter(|name| !name.is_empty());
    let phase = written
        .status
        .as_ref()
        .and_then(|status| status.phase.as_deref());
    let claim = VolumeClaim {
        class: class.map(|name| interner.text(name)),
        volume: volume.map(|name| interner.text(name)),
        bound: metadata::annotation(metadata, keys::BIND_COMPLETED).is_some(),
        lost: phase == Some("Lost"),
        deleting: metadata.deletion_timestamp.is_some(),
        size: asked_size(spec)?,
        single_pod: spec
            .and_then(|spec| spec.access_modes.as_ref())
            .is_some_and(|modes| modes.iter().any(|mode| mode == ONE_POD)),
    };
    let name = metadata::object_name(metadata, interner)?;
    Ok(VolumePart::Claim(name, claim))
}

/// Bytes that a claim asks for, up to the next whole one.
fn asked_size(spec: Option<&k8s::PersistentVolumeClaimSpec>) -> Result<Option<i64>, FieldError> {
    let requests = spec.and_then(|spec| spec.resources.as_ref()?.requests.as_ref());
    let asked = requests.and_then(|requests| requests.get("storage"));
    let size = asked
        .map(|asked| quantity::parse_units(&asked.0))
        .transpose();
    let size = size.map_err(FieldError::from);
    size.within("spec.resources.requests.storage")
}

/// A volume, by its name.
pub(crate) fn persistent_volume(
    written: &k8s::PersistentVolume,
    interner: &mut Interner,
) -> Result<VolumePart, FieldError> {
    let name = interner.text(metadata::name(&written.metadata)?);
    let nothing = k8s::PersistentVolumeSpec::default();
    let spec = written.spec.as_ref().unwrap_or(&nothing);
    let required = spec
        .node_affinity
        .as_ref()
        .and_then(|a| a.required.as_ref());
    let terms = required.map_or(&[][..], |required| &required.node_selector_terms);
    let affinity = each(terms, |term| requirement::of_term(term, interner));
    let volume = PersistentVolume {
        affinity: affinity.within("spec.nodeAffinity.required.nodeSelectorTerms")?,
        kind: volume_kind(spec, interner),
        zone_labels: zone_labels(&written.metadata, interner),
        deleting: written.metadata.deletion_timestamp.is_some(),
    };
    Ok(VolumePart::Volume(name, volume))
}

/// Labels of a volume that say where it is; one with an empty value between its separators says nothing.
fn zone_labels(metadata: &ObjectMeta, interner: &mut Interner) -> Requirements {
    let mut result = Requirements::new();
    for (key, value) in metadata.labels.iter().flatten() {
        let key = LabelKey::from(key.as_str());
        let values: Vec<&str> = value.split(ZONE_SEPARATOR).map(str::trim).collect();
        if [ZONE, REGION].contains(&key.as_str()) && !values.contains(&"") {
            let values = values.into_iter().map(|value| interner.text(value));
            result.add(Requirement::one_of(key, values));
        }
    }
    result
}

fn volume_kind(spec: &k8s::PersistentVolumeSpec, interner: &mut Interner) -> VolumeKind {
    if let Some(csi) = &spec.csi {
        return VolumeKind::Csi(interner.text(&csi.driver));
    }
    if spec.local.is_some() || spec.host_path.is_some() {
        return VolumeKind::Host;
    }
    let in_tree = [
        (
            spec.aws_elastic_block_store.is_some(),
            "kubernetes.io/aws-ebs",
        ),
        (spec.azure_disk.is_some(), "kubernetes.io/azure-disk"),
        (spec.azure_file.is_some(), "kubernetes.io/azure-file"),
        (spec.cinder.is_some(), "kubernetes.io/cinder"),
        (spec.gce_persistent_disk.is_some(), "kubernetes.io/gce-pd"),
        (
            spec.portworx_volume.is_some(),
            "kubernetes.io/portworx-volume",
        ),
        (
            spec.vsphere_volume.is_some(),
            "kubernetes.io/vsphere-volume",
        ),
    ];
    in_tree
        .iter()
        .find(|(is_used, _)| *is_used)
        .map_or(VolumeKind::Other, |(_, name)| {
            VolumeKind::Csi(interner.text(driver(name)))
        })
}

/// A storage class, by its name.
pub(crate) fn storage_class(
    written: &storage::StorageClass,
    interner: &mut Interner,
) -> Result<VolumePart, FieldError> {
    let metadata = &written.metadata;
    let is_default = [keys::DEFAULT_CLASS, keys::DEFAULT_CLASS_BETA]
        .iter()
        .any(|key| metadata::annotation(metadata, key) == Some("true"));
    let binding = match written.volume_binding_mode.as_deref() {
        None | Some("Immediate") => BindingMode::Immediate,
        Some("WaitForFirstConsumer") => BindingMode::WaitForFirstConsumer,
        Some(other) => {
            let expected = "Immediate or WaitForFirstConsumer";
            return Err(FieldError::unexpected("volumeBindingMode", other, expected));
        }
    };
    let topologies = written.allowed_topologies.iter().flatten();
    let class = StorageClass {
        driver: interner.text(driver(&written.provisioner)),
        binding,
        allowed_topologies: topologies.map(|term| topology(term, interner)).collect(),
        default_since: is_default.then(|| metadata::created(metadata).millis()),
    };
    let name = interner.text(metadata::name(metadata)?);
    Ok(VolumePart::Class(name, class))
}

fn topology(term: &k8s::TopologySelectorTerm, interner: &mut Interner) -> Requirements {
    let expressions = term.match_label_expressions.iter().flatten();
    expressions
        .map(|expression| {
            let values = expression.values.iter().map(|value| interner.text(value));
            Requirement::one_of(label_key(&expression.key), values)
        })
        .collect()
}

/// A class as it is written.
pub(crate) fn class_to_value(name: &Arc<str>, class: &StorageClass) -> Value {
    let since = class
        .default_since
        .map_or_else(Timestamp::default, Timestamp::from_millis);
    let mut meta = write::metadata(name, None, since);
    if class.default_since.is_some() {
        meta.insert(
            "annotations".to_owned(),
            json!({keys::DEFAULT_CLASS: "true"}),
        );
    }
    let binding = match class.binding {
        BindingMode::Immediate => "Immediate",
        BindingMode::WaitForFirstConsumer => "WaitForFirstConsumer",
    };
    let term = |term: &Requirements| {
        let one = |requirement: &Requirement| json!({"key": requirement.key().as_str(), "values": requirement.named()});
        json!({"matchLabelExpressions": term.iter().map(one).collect::<Vec<_>>()})
    };
    let terms: Vec<Value> = class.allowed_topologies.iter().map(term).collect();
    let fields = json!({
        "provisioner": class.driver, "volumeBindingMode": binding, "allowedTopologies": terms,
    });
    write::framed(Kind::StorageClass, Value::Object(meta), fields)
}

/// A volume as it is written.
pub(crate) fn volume_to_value(name: &Arc<str>, volume: &PersistentVolume) -> Value {
    let mut meta = write::metadata(name, None, Timestamp::default());
    gone(&mut meta, volume.deleting);
    let labels = volume.zone_labels.iter().map(|label| {
        let zones: Vec<&str> = label.named().iter().map(AsRef::as_ref).collect();
        (label.key().to_string(), zones.join(ZONE_SEPARATOR).into())
    });
    write::put(&mut meta, "labels", Value::Object(labels.collect()));
    let mut spec = Map::new();
    match &volume.kind {
        VolumeKind::Csi(driver) => {
            spec.insert(
                "csi".to_owned(),
                json!({"driver": driver, "volumeHandle": ""}),
            );
        }
        VolumeKind::Host => {
            spec.insert("hostPath".to_owned(), json!({"path": "/"}));
        }
        VolumeKind::Other => {}
    }
    if !volume.affinity.is_empty() {
        let terms: Vec<Value> = volume
            .affinity
            .iter()
            .map(requirement::term_to_value)
            .collect();
        let required = json!({"required": {"nodeSelectorTerms": terms}});
        spec.insert("nodeAffinity".to_owned(), required);
    }
    write::framed(
        Kind::PersistentVolume,
        Value::Object(meta),
        json!({"spec": spec}),
    )
}

/// A volume claim as it is written.
pub(crate) fn claim_to_value(name: &ObjectName, claim: &VolumeClaim) -> Value {
    let mut meta = write::namespaced(name, None, Timestamp::default());
    gone(&mut meta, claim.deleting);
    if claim.bound {
        meta.insert(
            "annotations".to_owned(),
            json!({keys::BIND_COMPLETED: "yes"}),
        );
    }
    let mut spec = Map::new();
    spec.insert("storageClassName".to_owned(), json!(claim.class));
    spec.insert("volumeName".to_owned(), json!(claim.volume));
    if let Some(size) = claim.size {
        let requests = json!({"storage": size.to_string()});
        spec.insert("resources".to_owned(), json!({"requests": requests}));
    }
    if claim.single_pod {
        spec.insert("accessModes".to_owned(), json!([ONE_POD]));
    }
    let phase = if claim.lost { "Lost" } else { "Bound" };
    let fields = json!({"spec": spec, "status": {"phase": phase}});
    write::framed(Kind::PersistentVolumeClaim, Value::Object(meta), fields)
}

/// Marks what was asked to go; when is not kept.
fn gone(metadata: &mut Map<String, Value>, is_deleting: bool) {
    if is_deleting {
        metadata.insert(
            "deletionTimestamp".to_owned(),
            "1970-01-01T00:00:00Z".into(),
        );
    }
}
