//! Every object of a snapshot, as Kubernetes writes them.

use std::io;

use plimsoll_api::Object;
use plimsoll_model::snapshot::Snapshot;
use serde_json::Value;

/// Every object of a snapshot, in an order that depends on nothing else: nodes behind their claims, then kind by kind, parts of
/// volumes last. Pods that stand for spare room are left out: they are made anew from the buffers.
pub(super) fn each(
    snapshot: &Snapshot,
    sink: &mut dyn FnMut(&Value) -> io::Result<()>,
) -> io::Result<()> {
    let mut whole = |object: plimsoll_model::Object| sink(&Object::Whole(object).to_value());
    for row in &snapshot.nodes {
        let claim = row.claim.clone().map(plimsoll_model::Object::Claim);
        let node = row.node.clone().map(plimsoll_model::Object::Node);
        claim.into_iter().chain(node).try_for_each(&mut whole)?;
    }
    for object in snapshot.objects().iter() {
        match &object {
            plimsoll_model::Object::Node(_)
            | plimsoll_model::Object::Claim(_)
            | plimsoll_model::Object::Volumes(_) => {}
            plimsoll_model::Object::Pod(pod) if pod.is_spare() => {}
            _ => whole(object)?,
        }
    }
    let mut parts = snapshot.volumes.parts();
    parts.try_for_each(|part| sink(&Object::Part(part).to_value()))
}
