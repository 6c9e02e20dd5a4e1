//! Free addresses of subnets: all new nodes of a zone, with their pods, against what the zone has left.
//!
//! A new node takes one address for itself and one for every pod planned on it, daemons included, that is not on its host's
//! network: what the network plugin of EC2 hands out. (The incumbent's provider expects the most pods that any of the types
//! could hold, of each node by itself, section 13.4 of its contract; a plan knows its pods.) Plugins that hold addresses in
//! stock take more for a while. Claims whose nodes are not there yet take theirs first. Where nothing is known of a zone,
//! nothing is counted.
//!
//! Counting is exact on a finished plan ([`Addresses::beyond`]) and costs nothing while there is enough. Where a plan takes
//! too many, nodes become others elsewhere first ([`shift`]), then pods are placed again with less to spend in the zones
//! that were short ([`rounds`]). Like every guard this one yields rather than leave a pod waiting.

mod shift;

use std::sync::Arc;

pub(crate) use shift::shift;

use crate::bits::Bits;
use crate::labels::ZONE;
use crate::resources::{ResourceName, Resources};
use crate::schedule::batch::compile::Compiled;
use crate::schedule::claims::named::Node;
use crate::schedule::offers::rows::Rows;
use crate::schedule::offers::templates::Template;
use crate::schedule::place::Placer;
use crate::snapshot::{Guards, Snapshot, StateNode};

/// What zones have left.
#[derive(Clone, Debug, Default)]
pub(crate) struct Addresses {
    pub(crate) zones: Vec<Arc<str>>,
    /// Addresses for new nodes, by zone.
    left: Vec<i64>,
    /// By row: its zone. Empty where nothing is known at all.
    of_row: Vec<Option<usize>>,
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
        let zone_of = |row: &crate::schedule::offers::table::Row| {
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

    /// By zone, how many addresses new nodes take beyond those that are left, as far as the guard speaks of those nodes.
    /// Empty where the guard does not hold.
    pub(crate) fn beyond(
        compiled: &Compiled<'_>,
        guards: &Guards,
        left: &[i64],
        nodes: &[Node],
    ) -> Vec<i64> {
        if !holds(compiled, guards) {
            return Vec::new();
        }
        let mut taken = vec![(0i64, 0i64); left.len()];
        for node in nodes {
            if let Some(zone) = compiled.addresses.zone(node.row) {
                let own = of_node(compiled, node, node.row);
                taken[zone].0 += own;
                taken[zone].1 += if is_guarded(compiled, node.row) {
                    own
                } else {
                    0
                };
            }
        }
        let beyond = taken.into_iter().zip(left);
        beyond
            .map(|((all, guarded), left)| (all - left).clamp(0, guarded))
            .collect()
    }

    /// Addresses that the nodes of a plan take beyond those that are left, in all zones together.
    pub(crate) fn overdrawn(compiled: &Compiled<'_>, guards: &Guards, nodes: &[Node]) -> i64 {
        let left = &compiled.addresses.left;
        Self::beyond(compiled, guards, left, nodes).iter().sum()
    }

    /// Of a template: addresses beyond those left in the zones in which it has nodes.
    pub(crate) fn beyond_of(
        compiled: &Compiled<'_>,
        guards: &Guards,
        template: usize,
        nodes: &[Node],
    ) -> usize {
        let beyond = Self::beyond(compiled, guards, &compiled.addresses.left, nodes);
        let own = |zone: usize| {
            let mut nodes = nodes.iter().map(|node| node.row);
            nodes.any(|row| {
                compiled.rows.rows[row].template == template
                    && compiled.addresses.zone(row) == Some(zone)
            })
        };
        let zones = beyond.iter().enumerate().filter(|(zone, _)| own(*zone));
        let sum: i64 = zones.map(|(_, beyond)| beyond).sum();
        usize::try_from(sum).unwrap_or(usize::MAX)
    }
}

/// Whether the guard holds at all.
pub(crate) fn holds(compiled: &Compiled<'_>, guards: &Guards) -> bool {
    guards.enabled && guards.free_addresses && !compiled.addresses.zones.is_empty()
}

/// Whether the guard speaks of nodes of a row.
pub(crate) fn is_guarded(compiled: &Compiled<'_>, row: usize) -> bool {
    !compiled.templates[compiled.rows.rows[row].template].is_compatible()
}

/// What a node takes as one of a row.
pub(crate) fn of_node(compiled: &Compiled<'_>, node: &Node, row: usize) -> i64 {
    1 + compiled.rows.rows[row].overhead.addresses + node.addresses
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

/// Addresses that the pods of some steps take; not counted where nothing is known of any zone.
pub(crate) fn of_steps(placer: &Placer<'_, '_>, steps: &[usize]) -> i64 {
    let compiled = placer.compiled;
    if compiled.addresses.zones.is_empty() {
        return 0;
    }
    let pods = steps.iter().map(|step| placer.steps[*step].pod);
    pods.map(|pod| of_pod(compiled, pod)).sum()
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
