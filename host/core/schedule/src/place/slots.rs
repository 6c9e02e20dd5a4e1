//! Attach slots of nodes to buy: the rows of a node that attach the volumes of its pods and of one more.

use std::collections::{BTreeMap, BTreeSet};

use plimsoll_base::bits::Bits;

use super::Placer;
use crate::batch::attach_slots::{AttachSlot, AttachSlots};
use crate::batch::sets::SetId;

/// Rows by the slots that they must have, as they were asked for.
#[derive(Clone, Debug, Default)]
pub(super) struct RowsWithSlots(BTreeMap<Box<[i64]>, Option<SetId>>);

impl Placer<'_, '_> {
    /// Rows of a set that attach the volumes of a pod beside those that are on the node already; `None` when there is none.
    pub(super) fn with_slots(
        &mut self,
        pod: usize,
        beside: Option<usize>,
        set: SetId,
    ) -> Option<SetId> {
        let own = self.compiled.slots.of_pod(pod);
        if own.is_empty() || !self.strategy.slots {
            return Some(set);
        }
        let on_node = beside.map(|bin| &self.bins[bin].claims);
        let is_new = |claim: &&AttachSlot| on_node.is_none_or(|claims| !claims.contains(*claim));
        let new: BTreeSet<AttachSlot> = own.iter().filter(is_new).copied().collect();
        let mut taken = vec![0; self.compiled.slots.drivers];
        for (driver, _) in on_node.into_iter().flatten().chain(&new) {
            taken[*driver] += 1;
        }
        let rows = self.rows_with_slots(taken.into())?;
        self.sets.join(set, rows)
    }

    fn rows_with_slots(&mut self, taken: Box<[i64]>) -> Option<SetId> {
        if let Some(known) = self.rows_with_slots.0.get(&taken) {
            return *known;
        }
        let compiled = self.compiled;
        let guards = &compiled.snapshot.settings.guards;
        let rows = 0..compiled.rows.len();
        let attaching: Bits = rows
            .filter(|row| AttachSlots::has(compiled, guards, *row, &taken))
            .collect();
        let found = self.sets.intern(attaching);
        self.rows_with_slots.0.insert(taken, found);
        found
    }

    /// Takes the volumes of a pod onto a new node.
    pub(super) fn attach(&mut self, pod: usize, bin: usize) {
        let own = self.compiled.slots.of_pod(pod);
        self.bins[bin].claims.extend(own);
    }
}
