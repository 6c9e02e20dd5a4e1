//! Room for volumes that are still to be made, where their CSI driver tells of it (`storageCapacity`): a claim that waits for its
//! first pod is served on nodes with the labels of a CSIStorageCapacity of its class that is large enough, and nowhere else.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plimsoll_base::labels::LabelKey;
use plimsoll_base::requirement::{Operator, Requirement, Requirements};
use plimsoll_model::{VolumeClaim, Volumes};

/// Labels of nodes that reach room for a claim of the class named: alternatives, none of which is left where all are too small.
/// `None` for a claim that asks for no such room: bound, of no size, or of a driver that tells nothing.
pub(super) fn nodes_with_room(
    claim: &VolumeClaim,
    class: &Arc<str>,
    volumes: &Volumes,
) -> Option<Vec<Requirements>> {
    let size = claim.size.filter(|_| claim.volume.is_none())?;
    let driver = &volumes.classes.get(class)?.driver;
    let tells = volumes.drivers.get(driver)?.tells_capacity;
    tells.then(|| {
        let rooms = volumes.capacities.values();
        let rooms = rooms.filter(|room| room.class == *class && room.largest >= Some(size));
        merged(rooms.filter_map(|room| room.topology.as_ref()))
    })
}

/// The same alternatives, those that ask for values of one and the same label as one: drivers of local disks have one for each
/// node.
fn merged<'a>(alternatives: impl Iterator<Item = &'a Requirements>) -> Vec<Requirements> {
    let mut values: BTreeMap<&LabelKey, BTreeSet<Arc<str>>> = BTreeMap::new();
    let mut others = BTreeSet::new();
    for alternative in alternatives {
        let only = alternative.iter().next().filter(|_| alternative.len() == 1);
        match only.filter(|only| only.operator() == Operator::In) {
            Some(only) => {
                let own = values.entry(only.key()).or_default();
                own.extend(only.named().iter().cloned());
            }
            None => drop(others.insert(alternative.clone())),
        }
    }
    let by_label = values.into_iter().map(|(key, values)| {
        let one = Requirement::one_of(key.clone(), values);
        std::iter::once(one).collect()
    });
    by_label.chain(others).collect()
}
