//! Claims and volumes as they are written and as the core knows them.

use plimsoll_api::{Interner, Kind, Object, read};
use plimsoll_core::model::{PersistentVolume, VolumeClaim, VolumePart};
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
