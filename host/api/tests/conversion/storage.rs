//! Claims and volumes as they are written and as the core knows them.

use plimsoll_api::{Interner, Kind, Object, read};
use plimsoll_model::{PersistentVolume, VolumeClaim, VolumePart};
use serde_json::{Value, json};

/// What is known of an object, which reads back the same from what is written of it.
fn known(kind: Kind, object: &Value) -> VolumePart {
    let mut interner = Interner::default();
    let mut once = |object: &Value| {
        let (_, object) = read(kind, object, &mut interner, &mut |_| {}).expect("it can be read");
        object
    };
    let object = once(object);
    assert_eq!(once(&object.to_value()), object);
    let Object::Part(part) = object else {
        unreachable!("a part of what is known of volumes");
    };
    part
}

fn claim(spec: &Value) -> VolumeClaim {
    let claim = json!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": {"name": "only", "namespace": "shop"}, "spec": spec,
    });
    let VolumePart::Claim(name, claim) = known(Kind::PersistentVolumeClaim, &claim) else {
        unreachable!("a claim");
    };
    assert_eq!(name.to_string(), "shop/only");
    claim
}

fn volume(labels: &Value) -> PersistentVolume {
    let volume = json!({
        "apiVersion": "v1", "kind": "PersistentVolume",
        "metadata": {"name": "pv-1", "labels": labels},
        "spec": {"csi": {"driver": "ebs.csi.aws.com", "volumeHandle": ""}},
    });
    let VolumePart::Volume(_, volume) = known(Kind::PersistentVolume, &volume) else {
        unreachable!("a volume");
    };
    volume
}

#[test]
fn a_claim_is_for_one_pod_by_its_access_mode() {
    let of = |modes: &[&str]| claim(&json!({"accessModes": modes})).single_pod;
    assert!(of(&["ReadWriteOncePod"]));
    assert!(!of(&["ReadWriteOnce"]) && !of(&[]));
}

#[test]
fn a_claim_asks_for_whole_bytes() {
    let of = |size: &str| claim(&json!({"resources": {"requests": {"storage": size}}})).size;
    assert_eq!(of("10Gi"), Some(10 << 30));
    assert_eq!(claim(&json!({})).size, None);
}

#[test]
fn a_driver_tells_capacity_and_must_run_where_it_says_so() {
    let of = |spec: Value| {
        let driver = json!({
            "apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver",
            "metadata": {"name": "d.example"}, "spec": spec,
        });
        let VolumePart::Driver(_, driver) = known(Kind::CsiDriver, &driver) else {
            unreachable!("a driver");
        };
        (driver.tells_capacity, driver.must_run)
    };
    assert_eq!(of(json!({})), (false, false));
    assert_eq!(of(json!({"storageCapacity": true})), (true, false));
    assert_eq!(
        of(json!({"preventPodSchedulingIfMissing": true})),
        (false, true)
    );
}

#[test]
fn a_capacity_is_as_large_as_its_largest_volume() {
    let of = |fields: Value| {
        let mut written = json!({
            "apiVersion": "storage.k8s.io/v1", "kind": "CSIStorageCapacity",
            "metadata": {"name": "c1", "namespace": "kube-system"}, "storageClassName": "fast",
        });
        let fields = fields.as_object().expect("fields").clone();
        written.as_object_mut().expect("an object").extend(fields);
        let VolumePart::Capacity(_, room) = known(Kind::StorageCapacity, &written) else {
            unreachable!("a capacity");
        };
        room
    };
    let topology = json!({"matchLabels": {"topology.kubernetes.io/zone": "a"}});
    let room = of(json!({"capacity": "5Gi", "maximumVolumeSize": "2Gi", "nodeTopology": topology}));
    assert_eq!((&*room.class, room.largest), ("fast", Some(2 << 30)));
    assert_eq!(room.topology.map(|labels| labels.len()), Some(1));
    assert_eq!(of(json!({"capacity": "5Gi"})).largest, Some(5 << 30));
    let unreachable = of(json!({}));
    assert_eq!((unreachable.topology, unreachable.largest), (None, None));
    let anywhere = of(json!({"nodeTopology": {}}));
    assert_eq!(anywhere.topology.map(|labels| labels.len()), Some(0));
}

#[test]
fn drivers_of_a_node_are_known_with_and_without_a_limit() {
    let written = json!({
        "apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": {"name": "n1"},
        "spec": {"drivers": [
            {"name": "ebs.csi.aws.com", "nodeID": "i-1", "allocatable": {"count": 25}},
            {"name": "efs.csi.aws.com", "nodeID": "i-1"},
        ]},
    });
    let VolumePart::Node(_, node) = known(Kind::CsiNode, &written) else {
        unreachable!("drivers of a node");
    };
    assert_eq!(node.limits.get("ebs.csi.aws.com"), Some(&25));
    assert!(node.has("efs.csi.aws.com") && !node.has("other"));
}

#[test]
fn labels_of_a_volume_name_one_zone_or_several() {
    let of = |labels: &Value| {
        let labels = volume(labels).zone_labels;
        labels.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let zone = "topology.kubernetes.io/zone";
    let written = of(&json!({zone: "b__a", "team": "shop"}));
    assert_eq!(written, ["topology.kubernetes.io/zone In [a, b]"]);
    let beta = of(&json!({"failure-domain.beta.kubernetes.io/region": "east"}));
    assert_eq!(beta, ["topology.kubernetes.io/region In [east]"]);
    assert!(of(&json!({zone: "a__"})).is_empty());
}
