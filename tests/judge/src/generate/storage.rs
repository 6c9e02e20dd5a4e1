//! Storage classes, drivers and what they have left; claims and volumes are drawn with the pods that use them.

use plimsoll_oracles::generate::Draw;
use serde_json::{Value, json};

use super::{CREATED, Sketch, ZONE, ZONES};
use crate::feature::Feature;

/// Drivers: one whose volumes any zone has room for, one that tells how much it has.
pub(super) const DRIVERS: [&str; 2] = ["disk.example.com", "pond.example.com"];

pub(super) fn draw(sketch: &mut Sketch) {
    let mut draw = sketch.draw("storage", 0);
    let counted = sketch.has(Feature::StorageCapacity, &mut draw, 100);
    let narrow = draw.percent(30);
    for (at, driver) in DRIVERS.iter().enumerate() {
        let tells = at == 1 && counted;
        sketch.objects.push(json!({
            "apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver",
            "metadata": {"name": driver, "uid": format!("uid-{driver}")},
            "spec": {"attachRequired": true, "storageCapacity": tells},
        }));
        let mut class = json!({
            "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass",
            "metadata": {"name": class(at), "uid": format!("uid-{}", class(at))},
            "provisioner": driver, "volumeBindingMode": "WaitForFirstConsumer",
        });
        if at == 0 && narrow {
            class["allowedTopologies"] =
                json!([{"matchLabelExpressions": [{"key": ZONE, "values": [ZONES[0]]}]}]);
        }
        sketch.objects.push(class);
    }
    if counted {
        for at in 0..sketch.zones {
            if draw.percent(70) {
                let room = capacity(&mut draw, at);
                sketch.objects.push(room);
            }
        }
    }
}

/// Name of the class of a driver.
fn class(driver: usize) -> &'static str {
    ["disk", "pond"][driver]
}

fn capacity(draw: &mut Draw, zone: usize) -> Value {
    json!({
        "apiVersion": "storage.k8s.io/v1", "kind": "CSIStorageCapacity",
        "metadata": {"name": format!("pond-{zone}"), "namespace": "kube-system", "uid": format!("uid-pond-{zone}")},
        "nodeTopology": {"matchLabels": {ZONE: ZONES[zone]}},
        "storageClassName": class(1),
        "capacity": draw.one_of(&["1Gi", "5Gi", "50Gi"]),
    })
}

/// A claim for a pod, of that name; its volume where it has one.
pub(super) fn claim(
    sketch: &mut Sketch,
    draw: &mut Draw,
    namespace: &str,
    name: &str,
    feature: Feature,
) {
    let driver = usize::from(sketch.wanted.has(Feature::StorageCapacity) && draw.percent(50));
    let mode = if feature == Feature::ExclusiveVolumes {
        "ReadWriteOncePod"
    } else {
        "ReadWriteOnce"
    };
    let size = draw.one_of(&["1Gi", "4Gi"]);
    let mut made = json!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": namespace, "uid": format!("pvc-{namespace}-{name}"), "creationTimestamp": CREATED},
        "spec": {"accessModes": [mode], "storageClassName": class(driver), "volumeMode": "Filesystem", "resources": {"requests": {"storage": size}}},
        "status": {"phase": "Pending"},
    });
    let bound = feature == Feature::BoundVolumes
        || feature == Feature::ExclusiveVolumes && draw.percent(50);
    if bound {
        let volume = format!("pv-{namespace}-{name}");
        made["metadata"]["annotations"] = json!({"pv.kubernetes.io/bind-completed": "yes"});
        made["spec"]["volumeName"] = json!(volume);
        made["status"]["phase"] = json!("Bound");
        let made = volume_of(sketch, draw, &volume, &made, driver);
        sketch.objects.push(made);
    }
    sketch.objects.push(made);
}

fn volume_of(
    sketch: &mut Sketch,
    draw: &mut Draw,
    name: &str,
    claim: &Value,
    driver: usize,
) -> Value {
    let zone = ZONES[draw.below(sketch.zones)];
    let mut volume = json!({
        "apiVersion": "v1", "kind": "PersistentVolume",
        "metadata": {"name": name, "uid": format!("uid-{name}"), "creationTimestamp": CREATED},
        "spec": {
            "accessModes": claim["spec"]["accessModes"], "storageClassName": class(driver), "volumeMode": "Filesystem",
            "capacity": {"storage": "4Gi"}, "persistentVolumeReclaimPolicy": "Delete",
            "csi": {"driver": DRIVERS[driver], "volumeHandle": name},
            "claimRef": {"kind": "PersistentVolumeClaim", "namespace": claim["metadata"]["namespace"],
                "name": claim["metadata"]["name"], "uid": claim["metadata"]["uid"]},
        },
        "status": {"phase": "Bound"},
    });
    if sketch.has(Feature::ZoneLabels, draw, 25) {
        volume["metadata"]["labels"] = json!({ZONE: zone});
    } else {
        let term = json!({"matchExpressions": [{"key": ZONE, "operator": "In", "values": [zone]}]});
        volume["spec"]["nodeAffinity"] = json!({"required": {"nodeSelectorTerms": [term]}});
    }
    volume
}
