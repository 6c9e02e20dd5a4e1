//! Attach slots as further axes of a packing problem.
//!
//! The packer adds up amounts, so a claim of one pod is an amount on an axis of its own per driver, and claims that several
//! nodes-to-be use are held in reserve on every node: no plan of the packer can then have too many. Where such claims are so many
//! that this would take more than half of the slots, each pod counts them for itself.

use std::collections::{BTreeMap, BTreeSet};

use plimsoll_base::bits::Bits;
use plimsoll_model::snapshot::Guards;

use crate::batch::attach_slots::{AttachSlot, AttachSlots};
use crate::batch::compile::Compiled;
use crate::place::{Bin, Placer};

/// Attach slots as further axes of a packing problem; none where no node could run out of them.
pub(crate) struct SlotAxes {
    axes: Vec<SlotAxis>,
}

struct SlotAxis {
    driver: usize,
    /// Claims for which every node keeps a slot.
    kept: BTreeSet<usize>,
    /// All that nodes-to-be ask for together: more on one node is no use.
    most: i64,
}

impl SlotAxes {
    /// The axes that matter to some bins on the rows that they may use.
    pub(crate) fn of(
        placer: &Placer<'_, '_>,
        bins: &[usize],
        used: &Bits,
        guards: &Guards,
    ) -> Self {
        let compiled = placer.compiled;
        let mut users: BTreeMap<AttachSlot, i64> = BTreeMap::new();
        if compiled.slots.drivers > 0 {
            for bin in bins {
                for slot in compiled.slots.claims(pods(placer, &placer.bins[*bin])) {
                    *users.entry(slot).or_default() += 1;
                }
            }
        }
        let axis = |driver: usize| {
            let limits = used
                .iter()
                .filter_map(|row| Some(AttachSlots::limits_of(compiled, guards, row)?[driver]));
            let least = limits.min()?;
            let own = || users.iter().filter(|((of, _), _)| *of == driver);
            let count = |found: usize| i64::try_from(found).unwrap_or(i64::MAX);
            if count(own().count()) <= least {
                return None;
            }
            let mut kept: BTreeSet<usize> = own()
                .filter(|(_, users)| **users > 1)
                .map(|((_, claim), _)| *claim)
                .collect();
            if count(kept.len()) > least / 2 {
                kept.clear();
            }
            let uses = own().filter(|((_, claim), _)| !kept.contains(claim));
            Some(SlotAxis {
                driver,
                most: uses.map(|(_, users)| users).sum(),
                kept,
            })
        };
        Self {
            axes: (0..compiled.slots.drivers).filter_map(axis).collect(),
        }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.axes.len()
    }

    /// Free slots of a new node of a row, by axis.
    pub(crate) fn room<'a>(
        &'a self,
        compiled: &'a Compiled<'_>,
        guards: &Guards,
        row: usize,
    ) -> impl Iterator<Item = i64> + 'a {
        let limits = AttachSlots::limits_of(compiled, guards, row);
        self.axes.iter().map(move |axis| {
            let kept = i64::try_from(axis.kept.len()).unwrap_or(i64::MAX);
            let free = |limits: &[i64]| limits[axis.driver].saturating_sub(kept).max(0);
            limits.map_or(axis.most, free).min(axis.most)
        })
    }

    /// Slots that a bin asks for, by axis.
    pub(crate) fn asked(&self, placer: &Placer<'_, '_>, bin: &Bin) -> Vec<i64> {
        if self.axes.is_empty() {
            return Vec::new();
        }
        let claims = placer.compiled.slots.claims(pods(placer, bin));
        let of_axis = |axis: &SlotAxis| {
            let counts = |(driver, claim): &&AttachSlot| {
                *driver == axis.driver && !axis.kept.contains(claim)
            };
            i64::try_from(claims.iter().filter(counts).count()).unwrap_or(i64::MAX)
        };
        self.axes.iter().map(of_axis).collect()
    }
}

/// Positions in the batch of a bin's pods.
fn pods<'p>(placer: &'p Placer<'_, '_>, bin: &'p Bin) -> impl Iterator<Item = usize> + 'p {
    bin.steps.iter().map(|step| placer.steps[*step].pod)
}
