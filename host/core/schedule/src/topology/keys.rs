//! Domains of a topology key: its values, and where each row to buy and each existing node lies.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plimsoll_base::bits::Bits;
use plimsoll_base::labels::{self, LabelKey};
use plimsoll_base::requirement::Requirement;
use plimsoll_model::snapshot::Snapshot;

use crate::offers::rows::Rows;
use crate::offers::templates::Template;

/// No domain: the label is absent or undecided.
pub(crate) const NO_DOMAIN: usize = usize::MAX;

/// One topology key.
///
/// Domains of the host-name key are hosts: existing nodes by row, then new nodes in the order of their making.
#[derive(Clone, Debug)]
pub(crate) struct TopologyKey {
    /// The label.
    pub(crate) name: LabelKey,
    /// `true` if domains are hosts.
    pub(crate) is_host: bool,
    /// Values by domain; empty for hosts.
    pub(crate) values: Vec<Arc<str>>,
    /// Domain by existing node.
    pub(crate) of_node: Vec<usize>,
    /// Rows by domain.
    pub(crate) rows: Vec<Bits>,
    /// `true` if some node or row is in no domain.
    pub(crate) leaves_out: bool,
}

impl TopologyKey {
    /// The key of host names.
    pub(crate) fn hosts(name: LabelKey, nodes: usize) -> Self {
        Self {
            name,
            is_host: true,
            values: Vec::new(),
            of_node: (0..nodes).collect(),
            rows: Vec::new(),
            leaves_out: false,
        }
    }

    /// Collects the domains of a label from rows and nodes.
    pub(crate) fn new(
        name: &LabelKey,
        snapshot: &Snapshot,
        templates: &[Template],
        rows: &Rows,
    ) -> Self {
        let row_values = row_values(snapshot, templates, rows, name);
        let node_values: Vec<Option<Arc<str>>> = snapshot
            .nodes
            .iter()
            .map(|node| value_of(&node.certain_labels(), name))
            .collect();
        let values = row_values.iter().chain(&node_values).flatten();
        let values: BTreeSet<Arc<str>> = values.cloned().collect();
        let values: Vec<Arc<str>> = values.into_iter().collect();
        let domain = |value: &Arc<str>| values.binary_search(value).unwrap_or(NO_DOMAIN);
        let mut bits = vec![Bits::none(rows.len()); values.len()];
        for (row, value) in row_values.iter().enumerate() {
            if let Some(value) = value {
                bits[domain(value)].insert(row);
            }
        }
        Self {
            name: name.clone(),
            leaves_out: row_values.iter().chain(&node_values).any(Option::is_none),
            is_host: false,
            of_node: node_values
                .iter()
                .map(|value| value.as_ref().map_or(NO_DOMAIN, domain))
                .collect(),
            rows: bits,
            values,
        }
    }

    /// The domain of a new node that may become any of some rows, all of which lie in one.
    pub(crate) fn of_rows(&self, rows: &Bits) -> usize {
        let some = rows.first();
        let mut domains = self.rows.iter();
        let domain = domains.position(|of| some.is_some_and(|row| of.contains(row)));
        domain.unwrap_or(NO_DOMAIN)
    }

    /// The domains that a requirement allows.
    pub(crate) fn allowed(&self, requirement: &Requirement) -> Bits {
        let mut result = Bits::none(self.values.len());
        for (domain, value) in self.values.iter().enumerate() {
            if requirement.allows(value) {
                result.insert(domain);
            }
        }
        result
    }
}

/// The value of a label, under its current name or an alias.
fn value_of(own: &labels::Labels, key: &LabelKey) -> Option<Arc<str>> {
    own.get(key.as_str())
        .or_else(|| {
            own.iter()
                .find(|(have, _)| LabelKey::from(have.as_ref()) == *key)
                .map(|(_, value)| value)
        })
        .cloned()
}

/// The one value of each row, where it is decided.
fn row_values(
    snapshot: &Snapshot,
    templates: &[Template],
    rows: &Rows,
    key: &LabelKey,
) -> Vec<Option<Arc<str>>> {
    type Place = (usize, usize, usize, Option<usize>);
    let mut known: BTreeMap<Place, Option<Arc<str>>> = BTreeMap::new();
    let by_offering = snapshot.catalogues.is_of_offerings(key);
    let value = |row: &crate::offers::table::Row| {
        rows.requirement(templates, row, key.as_str())
            .and_then(|found| found.single().cloned())
    };
    rows.rows
        .iter()
        .map(|row| {
            if key.as_str() == labels::ZONE {
                let types = templates[row.template].catalogue.types();
                let offering = &types[row.instance_type].offerings[row.offering];
                return Some(Arc::clone(&offering.zone));
            }
            let place = (
                row.template,
                row.state,
                row.instance_type,
                by_offering.then_some(row.offering),
            );
            known.entry(place).or_insert_with(|| value(row)).clone()
        })
        .collect()
}
