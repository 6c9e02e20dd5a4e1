//! Claims that one pod at a time may use (`ReadWriteOncePod`): who has each, and who is told so.
//!
//! A claim is had by the pod that is bound with it or has a promised place, on whatever node, until it has ended: one that is on
//! its way out still has it. Of several pods that wait for one claim the first in queue order is planned. Claims made for one
//! pod are not looked at, as the scheduler does not.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_base::ids::ObjectName;
use plimsoll_model::plan::{Refusal, Unplaced};
use plimsoll_model::snapshot::Snapshot;
use plimsoll_model::{Pod, PodVolume, Volumes};

use super::eligible::queue_order;

/// Takes out of `pods`, which wait, those whose claims another pod has or gets first, and returns them. `has_place` tells of a
/// pod that does not wait whether it is bound or promised a place.
pub(crate) fn refuse_users(
    snapshot: &Snapshot,
    pods: &mut Vec<usize>,
    has_place: impl Fn(&Pod) -> bool,
) -> Vec<Unplaced> {
    let volumes = &snapshot.volumes;
    if !volumes.claims.values().any(|claim| claim.single_pod) {
        return Vec::new();
    }
    let asks = |row: &usize| claims(&snapshot.pods[*row], volumes).next().is_some();
    let mut asking: Vec<usize> = pods.iter().copied().filter(asks).collect();
    if asking.is_empty() {
        return Vec::new();
    }
    let mut had: BTreeMap<ObjectName, String> = BTreeMap::new();
    let users = snapshot.pods.iter().filter(|pod| !pod.is_terminal());
    for user in users.filter(|pod| !pod.spec.volumes.is_empty() && has_place(pod)) {
        for claim in claims(user, volumes) {
            had.insert(claim, words_for(user));
        }
    }
    queue_order(snapshot, &mut asking);
    let mut refused = Vec::new();
    for row in asking {
        let pod = &snapshot.pods[row];
        let held = claims(pod, volumes).find_map(|claim| Some((had.get(&claim)?, claim)));
        if let Some((holder, claim)) = held {
            let words = format!(
                "volume claim {claim} is for one pod at a time (ReadWriteOncePod): {holder}"
            );
            let reason = Refusal::Invalid(words);
            refused.push(Unplaced { pod: row, reason });
            continue;
        }
        for claim in claims(pod, volumes) {
            had.insert(
                claim,
                format!("{}, which waits for it too, comes first", pod.name),
            );
        }
    }
    pods.retain(|row| refused.iter().all(|unplaced| unplaced.pod != *row));
    refused
}

/// Claims of a pod that no other pod may use beside it.
fn claims<'a>(pod: &'a Pod, volumes: &'a Volumes) -> impl Iterator<Item = ObjectName> + 'a {
    let named = pod.spec.volumes.iter().filter_map(|volume| match volume {
        PodVolume::Claim(name) => Some(name),
        PodVolume::Ephemeral(_) => None,
    });
    let names =
        named.map(|name| ObjectName::new(Arc::clone(&pod.name.namespace), Arc::clone(name)));
    names.filter(|name| {
        volumes
            .claims
            .get(name)
            .is_some_and(|claim| claim.single_pod)
    })
}

/// Where the pod that has a claim is.
fn words_for(user: &Pod) -> String {
    let ends = if user.deleting.is_some() {
        " until it has ended"
    } else {
        ""
    };
    match user.node.as_ref().or(user.nominated.as_ref()) {
        Some(node) => format!("{} has it on {node}{ends}", user.name),
        None => format!("{} has it{ends}", user.name),
    }
}
