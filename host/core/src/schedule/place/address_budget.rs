//! What pods may spend in zones that an earlier attempt found short of addresses, and who may spend regardless.
//!
//! A zone's budget is for pods alone: of what the zone has left, the share that its pods had of all addresses taken there;
//! the rest is for the nodes. A zone that is short again has it cut once more, then closed, so that attempts come to an end.

use std::collections::{BTreeMap, BTreeSet};

use crate::schedule::batch::compile::Compiled;
use crate::schedule::fleet::draft::Candidate;
use crate::schedule::guards::addresses::{Addresses, is_guarded, of_node};
use crate::snapshot::Guards;

/// Attempts for which a zone that is short again keeps a budget.
const MOST_CUTS: u32 = 2;

/// Bounds on where pods may go.
#[derive(Clone, Debug, Default)]
pub(crate) struct Budget {
    /// By zone that is short.
    zones: BTreeMap<usize, Share>,
    /// Pods, as positions in the batch, that found no place within these bounds.
    exempt: BTreeSet<usize>,
}

#[derive(Clone, Copy, Debug)]
struct Share {
    /// Addresses for pods.
    left: i64,
    cuts: u32,
}

impl Budget {
    /// Zones that are short, with what pods may take there.
    pub(crate) fn zones(&self) -> impl Iterator<Item = (usize, i64)> + '_ {
        self.zones.iter().map(|(zone, share)| (*zone, share.left))
    }

    /// Whether a pod may go anywhere.
    pub(crate) fn exempts(&self, pod: usize) -> bool {
        self.exempt.contains(&pod)
    }

    /// Lets pods go anywhere from now on; whether any of them might not before.
    pub(crate) fn exempt(&mut self, pods: impl Iterator<Item = usize>) -> bool {
        let before = self.exempt.len();
        self.exempt.extend(pods);
        self.exempt.len() > before
    }

    /// Gives pods less where a plan has taken more than there is; whether that is a change.
    pub(crate) fn tighten(
        &mut self,
        compiled: &Compiled<'_>,
        guards: &Guards,
        plan: &Candidate,
    ) -> bool {
        let left = compiled.addresses.left();
        let beyond = Addresses::beyond(compiled, guards, left, &plan.nodes);
        let mut changed = false;
        for (zone, _) in beyond.iter().enumerate().filter(|(_, beyond)| **beyond > 0) {
            let (pods, all) = taken(compiled, zone, plan);
            let before = self.zones.get(&zone).copied();
            let cuts = before.map_or(0, |share| share.cuts) + 1;
            let share = if cuts > MOST_CUTS {
                0
            } else {
                let part = i128::from(left[zone]) * i128::from(pods) / i128::from(all.max(1));
                let part = i64::try_from(part).unwrap_or(i64::MAX);
                before.map_or(part, |before| part.min(before.left / 2))
            };
            changed |= before.is_none_or(|before| before.left != share);
            self.zones.insert(zone, Share { left: share, cuts });
        }
        changed
    }
}

/// Addresses that pods, and that all, take in a zone, as far as the guard speaks of their nodes.
fn taken(compiled: &Compiled<'_>, zone: usize, plan: &Candidate) -> (i64, i64) {
    let here = plan.nodes.iter().filter(|node| {
        compiled.addresses.zone(node.row) == Some(zone) && is_guarded(compiled, node.row)
    });
    here.fold((0, 0), |(pods, all), node| {
        (
            pods + node.addresses,
            all + of_node(compiled, node, node.row),
        )
    })
}
