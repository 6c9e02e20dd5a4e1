//! Labels that claims and nodes of older releases lack: `<group>/<kind>` of the node class with its name, by which selectors and the
//! controllers find them. Rules are Karpenter's.

use std::sync::Arc;

use plimsoll_base::labels::Labels;
use plimsoll_model::action::{ClaimChange, NodeChange, Purpose};

use super::{ClaimView, Step};

/// Asks for the label of the class where the claim, or the node that is its only one, has none. A value that is there stays.
pub(super) fn hydrate(view: &ClaimView<'_>, step: &mut Step) {
    let claim = view.claim;
    let key = claim.class.label_key();
    let label = || -> Labels { [(Arc::from(key.as_str()), Arc::from(&*claim.class.name))].into() };
    if claim.deleting.is_none() && !claim.labels.contains_key(key.as_str()) && !step.changes_claim()
    {
        let change = ClaimChange {
            labels: label(),
            ..ClaimChange::default()
        };
        step.change_claim(view, Purpose::Hydrate, change);
    }
    let node = view.node.filter(|_| !view.ambiguous);
    if let Some((node, _)) = node.filter(|(node, _)| claim.node.as_ref() == Some(&node.name))
        && node.label(&key).is_none()
        && node.deleting.is_none()
    {
        let change = NodeChange {
            labels: label(),
            ..NodeChange::default()
        };
        step.change_node(node, Purpose::HydrateNode, None, change);
    }
}
