//! Free addresses of subnets: what each zone has left for new nodes and their pods, and where each row lies.
//!
//! Claims whose nodes are not there yet take theirs first. Where nothing is known of a zone, nothing is counted.

use std::sync::Arc;

use crate::labels::ZONE;
use crate::resources::{ResourceName, Resources};
use crate::schedule::offers::rows::Rows;
use crate::schedule::offers::table::Row;
use crate::schedule::offers::templates::Template;
use crate::snapshot::{Snapshot, StateNode};

/// What zones have left.
#[derive(Clone, Debug, Default)]
pub(crate) struct Addresses {
    pub(crate) zones: Vec<Arc<str>>,
    /// Addresses for new nodes, by zone.
    left: Vec<i64>,
    /// By row: its zone. Empty where nothing is known at all.
    pub(crate) of_row: Vec<Option<usize>>,
}

impl Addresses {
    /// Reads what zones have, less what is on its way.
    pub(crate) fn of(snapshot: &Snapshot, templates: &[Template], rows: &Rows) -> Self {
        let free = snapshot.catalogue.free_addresses();
        if free.is_empty() {
            return Self::default();
        }
        let zones: Vec<Arc<str>> = free.keys().cloned().collect();
        let mut left: Vec<i64> = free.into_values().collect();
        for (zone, taken) in snapshot.nodes.iter().filter_map(on_its_way) {
            if let Ok(at) = zones.binary_search(&zone) {
                left[at] = left[at].saturating_sub(taken).max(0);
            }
        }
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

/// The zone of a claim whose node is not there yet, and what that node and the pods it was made for will take. A machine
/// that is not launched counts where its claim leaves it one zone.
fn on_its_way(node: &StateNode) -> Option<(Arc<str>, i64)> {
    let claim = node.claim.as_ref()?;
    if node.is_registered() || node.is_deleting() {
        return None;
    }
    let zone = Arc::clone(node.certain_labels().get(ZONE)?);
    Some((zone, of_claim(&claim.requests)))
}

/// What the node of a claim and the pods it is made for will take.
pub(crate) fn of_claim(requests: &Resources) -> i64 {
    requests.get(&ResourceName::Pods).saturating_add(1)
}
