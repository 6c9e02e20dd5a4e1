//! Volumes attached to nodes, as they are written and as the core knows them.

use plimsoll_api::{Interner, Kind, Object, read};
use plimsoll_model::VolumeAttachment;
use serde_json::{Value, json};

fn known(object: &Value) -> Object {
    let mut interner = Interner::default();
    let kind = Kind::VolumeAttachment;
    let (key, object) = read(kind, object, &mut interner, &mut |_| {}).expect("it can be read");
    assert_eq!(key.to_string(), "VolumeAttachment csi-1");
    object
}

fn written(source: &Value) -> Value {
    json!({
        "apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttachment", "metadata": {"name": "csi-1"},
        "spec": {"attacher": "ebs.csi.aws.com", "nodeName": "n1", "source": source},
        "status": {"attached": true},
    })
}

#[test]
fn an_attachment_is_known_by_its_driver_node_and_volume_and_reads_back_the_same() {
    let expected = VolumeAttachment {
        name: "csi-1".into(),
        attacher: "ebs.csi.aws.com".into(),
        node: "n1".into(),
        volume: Some("pv-1".into()),
    };
    let object = known(&written(&json!({"persistentVolumeName": "pv-1"})));
    assert_eq!(
        object,
        Object::Whole(plimsoll_model::Object::from(expected))
    );
    assert_eq!(known(&object.to_value()), object);
}

#[test]
fn a_volume_that_is_described_in_place_has_no_name() {
    let inline = json!({"inlineVolumeSpec": {"hostPath": {"path": "/"}}});
    let Object::Whole(plimsoll_model::Object::Attachment(own)) = known(&written(&inline)) else {
        unreachable!("an attachment");
    };
    assert_eq!(own.volume, None);
}
