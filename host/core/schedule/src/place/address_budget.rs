//! Addresses that pods may spend in zones that an earlier attempt found short of them, and the pods that may spend regardless.
//!
//! A zone's budget is for pods alone: of what the zone has left, the share that its pods had of all addresses taken there;
//! the rest is for the nodes. A zone that is short again has it cut once more, then closed, so that attempts come to an end.

use std::collections::{BTreeMap, BTreeSet};

/// Bounds on where pods may go.
#[derive(Clone, Debug, Default)]
pub(crate) struct AddressBudget {
    /// By zone that is short.
    zones: BTreeMap<usize, ZoneBudget>,
    /// Pods, as positions in the batch, that found no place within these bounds.
    exempt: BTreeSet<usize>,
}

/// Bound on the addresses that pods take in one zone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ZoneBudget {
    /// Addresses for pods.
    pub(crate) left: i64,
    /// How often it was cut.
    pub(crate) cuts: u32,
}

impl AddressBudget {
    /// Zones that are short, with what pods may take there.
    pub(crate) fn zones(&self) -> impl Iterator<Item = (usize, i64)> + '_ {
        self.zones.iter().map(|(zone, share)| (*zone, share.left))
    }

    /// `true` if a pod may go anywhere.
    pub(crate) fn exempts(&self, pod: usize) -> bool {
        self.exempt.contains(&pod)
    }

    /// Lets pods go anywhere from now on; whether any of them might not before.
    pub(crate) fn exempt(&mut self, pods: impl Iterator<Item = usize>) -> bool {
        let before = self.exempt.len();
        self.exempt.extend(pods);
        self.exempt.len() > before
    }

    /// The bound of a zone that is short; `None` for any other zone.
    pub(crate) fn share(&self, zone: usize) -> Option<ZoneBudget> {
        self.zones.get(&zone).copied()
    }

    /// Lets pods take so much in a zone from now on.
    pub(crate) fn bound(&mut self, zone: usize, share: ZoneBudget) {
        self.zones.insert(zone, share);
    }
}
