//! Addresses left for pods in zones that are short of them, while pods are placed one by one.
//!
//! A pod looks at zones that are not short first, then at those that have an address left for it, the one with the most
//! first. Where it goes to a node that can only be in such a zone, it pays there.

use std::cmp::Reverse;

use plimsoll_base::bits::Bits;
use plimsoll_model::snapshot::Guards;

use super::address_budget::AddressBudget;
use crate::batch::compile::Compiled;
use crate::batch::sets::{SetId, Sets};

/// Addresses left of a budget while pods are placed.
pub(crate) struct FreeAddresses {
    zones: Vec<Zone>,
    /// Rows in any of them.
    all: Bits,
}

struct Zone {
    left: i64,
    /// Rows of which the guard speaks.
    rows: Bits,
}

impl FreeAddresses {
    /// Nothing spent yet.
    pub(crate) fn new(compiled: &Compiled<'_>, budget: &AddressBudget) -> Self {
        let zone = |(zone, left): (usize, i64)| Zone {
            left,
            rows: rows_in(compiled, zone),
        };
        let zones: Vec<Zone> = budget.zones().map(zone).collect();
        let mut all = Bits::none(if zones.is_empty() {
            0
        } else {
            compiled.rows.len()
        });
        for zone in &zones {
            all.join(&zone.rows);
        }
        Self { zones, all }
    }

    /// `true` if no zone is short.
    pub(crate) fn is_unbounded(&self) -> bool {
        self.zones.is_empty()
    }

    /// The parts of a set in which a pod may look for a new node, in the order in which it does.
    pub(crate) fn parts(
        &self,
        compiled: &Compiled<'_>,
        budget: &AddressBudget,
        sets: &mut Sets,
        pod: usize,
        set: SetId,
    ) -> Vec<SetId> {
        if budget.exempts(pod) || !sets.bits(set).meets(&self.all) {
            return vec![set];
        }
        let bits = sets.bits(set).clone();
        let mut plain = bits.clone();
        plain.drop_all(&self.all);
        let need = of_pod(compiled, pod);
        let mut zones: Vec<&Zone> = self.zones.iter().filter(|zone| zone.left >= need).collect();
        zones.sort_by_key(|zone| Reverse(zone.left));
        let short = zones.into_iter().map(|zone| bits.and(&zone.rows));
        let parts = std::iter::once(plain).chain(short);
        parts.filter_map(|part| sets.intern(part)).collect()
    }

    /// `true` if a pod may join a node that may become these rows.
    pub(crate) fn allows(
        &self,
        compiled: &Compiled<'_>,
        budget: &AddressBudget,
        pod: usize,
        rows: &Bits,
    ) -> bool {
        let zone = self.zones.iter().find(|zone| rows.is_within(&zone.rows));
        zone.is_none_or(|zone| zone.left >= of_pod(compiled, pod) || budget.exempts(pod))
    }

    /// A pod pays for its place on a node that may become these rows.
    pub(crate) fn pay(&mut self, compiled: &Compiled<'_>, pod: usize, rows: &Bits) {
        let mut zones = self.zones.iter_mut();
        if let Some(zone) = zones.find(|zone| rows.is_within(&zone.rows)) {
            zone.left -= of_pod(compiled, pod);
        }
    }
}

/// `true` if the guard holds at all.
pub(crate) fn holds(compiled: &Compiled<'_>, guards: &Guards) -> bool {
    guards.enabled && guards.free_addresses && !compiled.addresses.zones.is_empty()
}

/// `true` if the guard speaks of nodes of a row.
pub(crate) fn is_guarded(compiled: &Compiled<'_>, row: usize) -> bool {
    !compiled.templates[compiled.rows.rows[row].template].is_compatible()
}

/// Rows in a zone of which the guard speaks.
pub(crate) fn rows_in(compiled: &Compiled<'_>, zone: usize) -> Bits {
    let mut result = Bits::none(compiled.rows.len());
    for (row, of_row) in compiled.addresses.of_row.iter().enumerate() {
        if *of_row == Some(zone) && is_guarded(compiled, row) {
            result.insert(row);
        }
    }
    result
}

/// Addresses that a pod of the batch takes.
pub(crate) fn of_pod(compiled: &Compiled<'_>, pod: usize) -> i64 {
    compiled.groups[compiled.pods[pod].group].spec.addresses()
}
