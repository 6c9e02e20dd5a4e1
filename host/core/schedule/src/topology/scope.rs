//! Nodes that a spread constraint sees: those whose pods count, and whose domains its smallest count is taken over.
//!
//! To the kube-scheduler a domain is a value that some node has which passes the constraint's filter: labels and, if taints are
//! honoured, taints allow the pod there, and every key of the pod's constraints is on the node. Nodes that are there count until
//! they are gone, full, cordoned and deleting ones too, and claims on their way as far as their labels are certain. What pods
//! can be given a node in besides joins them once groups of pods are known ([`crate::batch::domains`]).

use plimsoll_base::bits::Bits;
use plimsoll_base::requirement::{Requirements, Undefined};
use plimsoll_model::snapshot::{Snapshot, StateNode};
use plimsoll_model::{Effect, NodeTerm, Taint, Toleration, first_untolerated};

use super::{CountInputs, Identity, NO_DOMAIN, NodeFilter, TopologyGroup, TopologyKey};
use crate::offers::rows::Rows;
use crate::offers::templates::Template;

/// A constraint with the nodes and rows that it sees.
pub(super) fn group(
    identity: &Identity,
    counted: CountInputs<'_, '_>,
    templates: &[Template],
    rows: &mut Rows,
    keys: &[TopologyKey],
) -> TopologyGroup {
    let snapshot = counted.reading.snapshot;
    let filter = &identity.filter;
    let is_filtered = *filter != NodeFilter::default();
    let nodes = is_filtered.then(|| seen_nodes(filter, snapshot, keys));
    let key = &keys[identity.key];
    let mut there = Bits::none(if key.is_host {
        snapshot.nodes.len()
    } else {
        key.values.len()
    });
    for (row, node) in snapshot.nodes.iter().enumerate() {
        let is_seen = nodes.as_ref().is_none_or(|nodes| nodes.contains(row));
        let is_there = node.node.is_some() || !node.is_deleting();
        let leaves = counted.removal.leaving().binary_search(&row).is_ok();
        let domain = key.of_node[row];
        if is_seen && is_there && !leaves && domain != NO_DOMAIN {
            there.insert(domain);
        }
    }
    TopologyGroup {
        identity: identity.clone(),
        known: there.clone(),
        there,
        hosts: None,
        rows: is_filtered.then(|| seen_rows(filter, snapshot, templates, rows, keys)),
        nodes,
        daemons: None,
        target: None,
    }
}

/// Existing nodes that pass a filter, by row.
fn seen_nodes(filter: &NodeFilter, snapshot: &Snapshot, keys: &[TopologyKey]) -> Bits {
    let mut result = Bits::none(snapshot.nodes.len());
    for (row, node) in snapshot.nodes.iter().enumerate() {
        let has = |key: &usize| keys[*key].of_node[row] != NO_DOMAIN;
        let taints = node.node.as_ref().map_or(&[][..], |node| &node.taints);
        let is_tolerated = |tolerations: &Vec<_>| tolerates(taints, tolerations);
        if filter.keys.iter().all(has)
            && filter.tolerations.as_ref().is_none_or(is_tolerated)
            && filter.affinity.as_ref().is_none_or(|own| agrees(own, node))
        {
            result.insert(row);
        }
    }
    result
}

/// `true` if a node satisfies a selector and one of the required terms, if there are any.
fn agrees((selector, terms): &(Requirements, Vec<NodeTerm>), node: &StateNode) -> bool {
    let labels = Requirements::from_labels(node.certain_labels().as_ref());
    let satisfies = |wanted: &Requirements| labels.accepts(wanted, Undefined::Refused).is_ok();
    let mut any = terms.iter();
    satisfies(selector) && (terms.is_empty() || any.any(|term| satisfies(&term.requirements)))
}

/// `true` if no taint keeps the pod away; those that only prefer to do not count.
fn tolerates(taints: &[Taint], tolerations: &[Toleration]) -> bool {
    let hard = taints
        .iter()
        .filter(|taint| taint.effect != Effect::PreferNoSchedule);
    let hard: Vec<Taint> = hard.cloned().collect();
    first_untolerated(&hard, tolerations).is_none()
}

/// Rows whose nodes pass a filter.
fn seen_rows(
    filter: &NodeFilter,
    snapshot: &Snapshot,
    templates: &[Template],
    rows: &mut Rows,
    keys: &[TopologyKey],
) -> Bits {
    let mut result = Bits::all(rows.len());
    for key in &filter.keys {
        let mut having = Bits::none(rows.len());
        keys[*key].rows.iter().for_each(|rows| having.join(rows));
        result.keep(&having);
    }
    if let Some(tolerations) = &filter.tolerations {
        for (number, template) in templates.iter().enumerate() {
            if !tolerates(template.taints(), tolerations) {
                result.drop_all(&rows.of_template[number]);
            }
        }
    }
    if let Some((selector, terms)) = &filter.affinity {
        result.keep(&rows.allowed(snapshot, templates, selector));
        let mut any = Bits::none(rows.len());
        for term in terms {
            any.join(&rows.allowed(snapshot, templates, &term.requirements));
        }
        if !terms.is_empty() {
            result.keep(&any);
        }
    }
    result
}
