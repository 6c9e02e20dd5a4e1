//! Claims of access mode `ReadWriteOncePod`: a pod that waits gets none that another live pod has, whatever node that one is on,
//! and of several that wait for one claim a single one is placed.

use std::collections::{BTreeMap, BTreeSet};

use plimsoll_base::ids::{NodeName, ObjectName};
use plimsoll_model::snapshot::Snapshot;
use plimsoll_model::{Pod, PodVolume};

use super::entry::Eligibility;
use super::finding::{Breach, Rule};

/// Claims that a pod names and that no other may use beside it.
fn own(snapshot: &Snapshot, pod: &Pod) -> Vec<ObjectName> {
    let mut result = Vec::new();
    for volume in &pod.spec.volumes {
        let PodVolume::Claim(name) = volume else {
            continue;
        };
        let name = ObjectName::new(pod.name.namespace.clone(), name.clone());
        if let Some(claim) = snapshot.volumes.claims.get(&name)
            && claim.single_pod
        {
            result.push(name);
        }
    }
    result
}

/// Corrects the entries of pods that wait: one whose claim is in use cannot be planned, and those that wait for one claim may be
/// left out. `going` says of each Node whether it is being deleted: nothing is promised there.
pub(super) fn correct(
    snapshot: &Snapshot,
    going: &BTreeMap<&NodeName, bool>,
    entries: &mut [Eligibility],
) {
    let is_promised =
        |pod: &Pod| matches!(&pod.nominated, Some(node) if going.get(node) == Some(&false));
    let mut users: BTreeMap<ObjectName, Vec<usize>> = BTreeMap::new();
    for (row, pod) in snapshot.pods.iter().enumerate() {
        if !pod.is_terminal() {
            for claim in own(snapshot, pod) {
                users.entry(claim).or_default().push(row);
            }
        }
    }
    for (claim, rows) in users {
        let sits = |row: &usize| {
            let pod = &snapshot.pods[*row];
            pod.node.is_some() || is_promised(pod)
        };
        let in_use = rows.iter().any(&sits);
        let waits = |row: &usize| matches!(entries[*row], Eligibility::Waits | Eligibility::Free);
        let waiting: Vec<usize> = rows
            .iter()
            .copied()
            .filter(|row| !sits(row) && waits(row))
            .collect();
        for row in &waiting {
            if in_use {
                entries[*row] = Eligibility::Invalid(format!("volume claim {claim} is in use"));
            } else if waiting.len() > 1 {
                entries[*row] = Eligibility::Free;
            }
        }
    }
}

/// Claims that pods placed so far have taken.
#[derive(Default)]
pub(super) struct Taken(BTreeSet<ObjectName>);

impl Taken {
    /// Takes the claims of a pod that is placed; the breach if one that waited before it has one of them already.
    pub(super) fn take(&mut self, snapshot: &Snapshot, pod: &Pod) -> Option<Breach> {
        if pod.node.is_some() {
            return None;
        }
        let claims = own(snapshot, pod).into_iter();
        let twice: Vec<ObjectName> = claims
            .filter(|claim| !self.0.insert(claim.clone()))
            .collect();
        let claim = twice.first()?;
        Some(Breach::new(
            Rule::OnePodVolume,
            format!("volume claim {claim} is used by two pods"),
            "one pod",
        ))
    }
}
