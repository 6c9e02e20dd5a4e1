//! New nodes that are held to the domains of their planned row, so that spreads know where they come.

use std::collections::BTreeSet;

use plimsoll_base::bits::Bits;

use crate::batch::compile::Compiled;
use crate::batch::{domains, minimum};
use crate::place::new_node::NewNode;

/// A node that comes in the domains of its planned row, if that leaves it enough values to choose from.
pub(super) fn in_one_domain(compiled: &Compiled<'_>, node: &NewNode) -> NewNode {
    let model = &compiled.model;
    let spreads = (0..model.groups.len()).filter(|group| model.is_spread(*group));
    let keys: BTreeSet<usize> = spreads
        .map(|group| model.groups[group].identity.key)
        .collect();
    let mut rows = node.rows.clone();
    for domain in keys.into_iter().flat_map(|key| &model.keys[key].rows) {
        if domain.contains(node.row) {
            rows.keep(domain);
        }
    }
    if minimum::is_kept(compiled, &node.minimum, &rows, &node.used) {
        NewNode {
            rows,
            ..node.clone()
        }
    } else {
        node.clone()
    }
}

/// Holds nodes to their planned domains that might come in one which some spread sees and does not know of, where they may be held; the
/// domains of the others, by group.
pub(crate) fn hold(compiled: &Compiled<'_>, nodes: &mut [NewNode]) -> Vec<(usize, usize)> {
    let all = |nodes: &[NewNode]| {
        let mut rows = Bits::none(compiled.rows.len());
        for node in nodes {
            rows.join(&node.rows);
        }
        domains::unknown(compiled, &rows)
    };
    if compiled.model.groups.is_empty() || all(nodes).is_empty() {
        return Vec::new();
    }
    for node in nodes.iter_mut() {
        if !domains::unknown(compiled, &node.rows).is_empty() {
            *node = in_one_domain(compiled, node);
        }
    }
    all(nodes)
}
