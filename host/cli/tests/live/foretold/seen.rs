//! Sight of a cluster at a moment: its pods, nodes and NodeClaims, and events of the program.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::core::v1::{Node, Pod};
use k8s_openapi::api::events::v1::Event;
use kube::ResourceExt;
use kube::api::{Api, DynamicObject, ListParams};
use plimsoll_api::Kind;

use super::super::served::Served;

const DISRUPTED: &str = "karpenter.sh/disrupted";

/// A cluster at a moment.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) pods: BTreeMap<String, Pod>,
    pub(super) nodes: BTreeMap<String, Node>,
    pub(super) claims: BTreeMap<String, DynamicObject>,
}

/// Instance type, zone and capacity type.
pub(super) type Sold = [String; 3];

impl Seen {
    pub(super) async fn of(served: &Served) -> Result<Self, kube::Error> {
        let (all, client) = (ListParams::default(), &served.client);
        let nodes: Api<Node> = Api::all(client.clone());
        let claims: Api<DynamicObject> = plimsoll_kube::api(client, Kind::NodeClaim);
        Ok(Self {
            pods: named(served.pods().list(&all).await?.items),
            nodes: named(nodes.list(&all).await?.items),
            claims: named(claims.list(&all).await?.items),
        })
    }

    /// The node that a pod is bound to.
    pub(super) fn node_of(&self, pod: &str) -> Option<&str> {
        self.pods.get(pod)?.spec.as_ref()?.node_name.as_deref()
    }

    /// NodeClaims that leave, or that are not there any more of those that `before` has; by their command or by a person's hand.
    pub(super) fn leaving(&self, before: &Self) -> BTreeSet<String> {
        let leaves = |name: &&String| self.leaves(name);
        before.claims.keys().filter(leaves).cloned().collect()
    }

    fn leaves(&self, claim: &str) -> bool {
        let Some(claim) = self.claims.get(claim) else {
            return true;
        };
        let node = claim.data["status"]["nodeName"].as_str();
        let node = node.and_then(|node| self.nodes.get(node)?.spec.as_ref());
        let mut taints = node
            .into_iter()
            .flat_map(|node| node.taints.iter().flatten());
        claim.metadata.deletion_timestamp.is_some() || taints.any(|taint| taint.key == DISRUPTED)
    }

    /// NodeClaims that `before` lacks, that replace none and that are launched: NodePool, and what was launched.
    pub(super) fn bought(&self, before: &Self, team: &str) -> BTreeSet<(String, Sold)> {
        let pool = |claim: &DynamicObject| claim.labels().get("karpenter.sh/nodepool").cloned();
        let is_new = |(name, claim): &(&String, &DynamicObject)| {
            !before.claims.contains_key(*name)
                && !claim.annotations().contains_key("plimsoll.dev/replaces")
        };
        let new = self.claims.iter().filter(is_new);
        let new = new.filter_map(|(_, claim)| Some((pool(claim)?, sold(claim)?)));
        let prefix = format!("{team}-");
        new.filter(|(pool, _)| pool.starts_with(&prefix)).collect()
    }
}

fn sold(claim: &DynamicObject) -> Option<Sold> {
    let keys = [
        "node.kubernetes.io/instance-type",
        "topology.kubernetes.io/zone",
        "karpenter.sh/capacity-type",
    ];
    let [kind, zone, capacity] = keys.map(|key| claim.labels().get(key).cloned());
    Some([kind?, zone?, capacity?])
}

fn named<T: ResourceExt>(items: Vec<T>) -> BTreeMap<String, T> {
    items
        .into_iter()
        .map(|item| (item.name_any(), item))
        .collect()
}

/// Notes of the program's events of a reason, by object.
pub(super) async fn notes(
    served: &Served,
    reason: &str,
) -> Result<BTreeMap<String, Vec<String>>, kube::Error> {
    let events: Api<Event> = Api::namespaced(served.client.clone(), "default");
    let mut notes: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for event in events.list(&ListParams::default()).await?.items {
        let is_own = event.reporting_controller.as_deref() == Some("plimsoll");
        if is_own && event.reason.as_deref() == Some(reason) {
            let about = event
                .regarding
                .and_then(|about| about.name)
                .unwrap_or_default();
            notes.entry(about).or_default().extend(event.note);
        }
    }
    Ok(notes)
}
