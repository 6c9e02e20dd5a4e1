//! Names of instances: once a claim's node has joined, the provider is told both names, and the claim says so. Providers that name
//! nothing have no annotation for it.

use std::sync::Arc;

use plimsoll_base::labels::Labels;
use plimsoll_model::ClaimPhase;
use plimsoll_model::action::{ClaimChange, CloudCall, Purpose};

use super::{ClaimView, Step};

pub(super) fn tag(view: &ClaimView<'_>, step: &mut Step) {
    let claim = view.claim;
    let keys = &view.market.catalogues().provider().tagged;
    let is_said = |key: &Arc<str>| {
        let said = claim.annotations.get(key);
        said.is_some_and(|said| said.as_ref() == "true")
    };
    if claim.phase() < ClaimPhase::Registered || keys.iter().all(is_said) {
        return;
    }
    if view.is_tagged {
        let said = keys.iter().map(|key| (Arc::clone(key), Arc::from("true")));
        let change = ClaimChange {
            annotations: said.collect::<Labels>(),
            ..ClaimChange::default()
        };
        step.change_claim(view, Purpose::MarkTagged, change);
    } else if let (Some(instance), Some(node)) = (&claim.provider_id, &claim.node) {
        let call = CloudCall::Tag {
            instance: instance.clone(),
            claim: claim.name.clone(),
            node: node.clone(),
        };
        step.call_cloud(claim, Purpose::Tag, call);
    }
}
