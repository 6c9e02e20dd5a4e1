//! Devices that pods ask for by the name of an extended resource and that dynamic resource allocation meets.
//!
//! A DeviceClass that offers the resource does so on nodes whose allocatable lacks it. Where some node or some type for sale has
//! it, by a device plugin or by an overlay, it is planned as any other; where none has, no node that can be bought meets it, and
//! the pod is told so.

use plimsoll_base::resources::ResourceName;
use plimsoll_model::PodSpec;
use plimsoll_model::snapshot::Snapshot;

/// `true` if a pod asks for a resource that dynamic resource allocation alone meets.
pub(super) fn asks_for_claims(snapshot: &Snapshot, spec: &PodSpec) -> bool {
    if snapshot.device_classes.is_empty() {
        return false;
    }
    let asked = spec.requests.iter().filter(|(_, amount)| *amount > 0);
    let mut asked = asked.map(|(name, _)| name);
    asked.any(|name| {
        let mut classes = snapshot.device_classes.iter();
        classes.any(|class| class.offers(name)) && !is_had(snapshot, name)
    })
}

/// `true` if a node there is or a type for sale has some of a resource.
fn is_had(snapshot: &Snapshot, name: &ResourceName) -> bool {
    let mut nodes = snapshot.nodes.iter();
    let mut overlays = snapshot.overlays.iter();
    let types = snapshot.catalogues.distinct().iter();
    let mut types = types.flat_map(|catalogue| catalogue.types());
    nodes.any(|node| node.allocatable().get(name) > 0)
        || overlays.any(|overlay| overlay.capacity.get(name) > 0)
        || types.any(|sold| sold.capacity.get(name) > 0)
}
