//! Free addresses of subnets: what each zone has left for new nodes and their pods, and where each row lies.
//!
//! Claims whose nodes are not there yet have taken theirs. Where nothing is known of a zone, nothing is counted.

use std::sync::Arc;

use plimsoll_model::supply::Supply;

use crate::offers::rows::Rows;
use crate::offers::table::Row;
use crate::offers::templates::Template;

/// Addresses that zones have left for new nodes and their pods; empty where no subnet is known.
#[derive(Clone, Debug, Default)]
pub(crate) struct Addresses {
    pub(crate) zones: Vec<Arc<str>>,
    /// Addresses for new nodes, by zone.
    left: Vec<i64>,
    /// By row: its zone. Empty where nothing is known at all.
    pub(crate) of_row: Vec<Option<usize>>,
}

impl Addresses {
    /// Reads what zones have left.
    pub(crate) fn of(supply: &Supply, templates: &[Template], rows: &Rows) -> Self {
        let free = supply.addresses_left();
        if free.is_empty() {
            return Self::default();
        }
        let zones: Vec<Arc<str>> = free.keys().cloned().collect();
        let left: Vec<i64> = free.values().copied().collect();
        let zone_of = |row: &Row| {
            let sold = &templates[row.template].catalogue.types()[row.instance_type];
            zones.binary_search(&sold.offerings[row.offering].zone).ok()
        };
        let of_row = rows.rows.iter().map(zone_of).collect();
        Self {
            zones,
            left,
            of_row,
        }
    }

    /// The zone of a row, if anything is known of it.
    pub(crate) fn zone(&self, row: usize) -> Option<usize> {
        self.of_row.get(row).copied().flatten()
    }

    /// A zone by name.
    pub(crate) fn zone_called(&self, name: &str) -> Option<usize> {
        self.zones
            .binary_search_by(|zone| zone.as_ref().cmp(name))
            .ok()
    }

    /// Addresses for new nodes, by zone.
    pub(crate) fn left(&self) -> &[i64] {
        &self.left
    }
}
