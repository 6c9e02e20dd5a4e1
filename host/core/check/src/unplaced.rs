//! Pods that go nowhere: whether the reason is the true one, and whether there was room after all.

use plimsoll_model::Pod;
use plimsoll_model::catalogue::CapacityType;
use plimsoll_model::plan::Refusal;
use plimsoll_model::snapshot::Snapshot;

use super::alone;
use super::entry::Eligibility;
use super::finding::{Breach, Rule};
use super::hosts::Hosts;
use super::market::Shop;
use super::placement::{self, SoftTaints};
use super::topology::{Doubt, Topology};

/// The breach of a reason that the pod's entry refutes by itself; `None` where it may stand.
pub(super) fn reason(
    snapshot: &Snapshot,
    shops: &[Shop],
    entry: &Eligibility,
    pod: &Pod,
    reason: &Refusal,
) -> Option<Breach> {
    let said = match reason {
        Refusal::Invalid(_) => "it is said to be invalid",
        Refusal::DynamicResources => "it is said to ask for devices",
        Refusal::NoPool => "no pool is said to be usable",
        Refusal::Reserved => "it is said to wait for a reservation",
        Refusal::Unused(_) => "nodes for it are said to stand unused",
        Refusal::Unschedulable(_) => "it is said to fit nowhere",
    };
    let expected = match (entry, reason) {
        (Eligibility::Elsewhere(why), _) => {
            let value = format!("it is listed, but {why}");
            return Some(Breach::new(Rule::Entry, value, "pods that wait"));
        }
        (Eligibility::Free, _)
        | (Eligibility::Invalid(_), Refusal::Invalid(_))
        | (Eligibility::DynamicResources, Refusal::DynamicResources)
        | (Eligibility::Waits, Refusal::Unschedulable(_)) => return None,
        (Eligibility::Waits, Refusal::NoPool) if shops.iter().all(|shop| shop.sold.is_empty()) => {
            return None;
        }
        (Eligibility::Waits, Refusal::Unused(nodes))
            if snapshot.unused_nodes.get(&pod.uid) == Some(nodes) =>
        {
            return None;
        }
        (Eligibility::Waits, Refusal::Reserved) if sells_reserved(snapshot, shops) => return None,
        (Eligibility::Invalid(why), _) => format!("invalid: {why}"),
        (Eligibility::DynamicResources, _) => "devices that are not served".to_owned(),
        (Eligibility::Waits, _) => "the first rule that refused".to_owned(),
    };
    Some(Breach::new(Rule::Reason, said, expected))
}

fn sells_reserved(snapshot: &Snapshot, shops: &[Shop]) -> bool {
    let is_reserved = |shop: &Shop| {
        let mut sold = shop.sold.iter();
        sold.any(|sold| sold.offering().capacity_type == CapacityType::Reserved)
    };
    snapshot.settings.reserved_capacity && shops.iter().any(is_reserved)
}

/// For a pod said to fit nowhere: a node that has room for it after all placements, or a pool that could buy one.
pub(super) fn room_left(
    snapshot: &Snapshot,
    shops: &[Shop],
    hosts: &Hosts,
    topology: &mut Topology<'_>,
    pod: &Pod,
) -> Option<Breach> {
    for row in hosts.existing() {
        let host = hosts.get(row);
        let is_there = snapshot.nodes[row].node.is_some();
        if is_there
            && placement::breaches(snapshot, pod, host, SoftTaints::Hold).is_empty()
            && alone::first_met(host, pod).is_some()
            && topology.breaches(pod, row, host, Doubt::Excuses).is_empty()
        {
            let value = format!("{} could take it", host.place);
            return Some(Breach::new(Rule::RoomLeft, value, "a place for it"));
        }
    }
    if topology.concerns(pod) {
        return None;
    }
    let shop = shops
        .iter()
        .find(|shop| shop.pool.limits.is_none() && alone::serves(snapshot, shop, pod))?;
    let value = format!("pool {} could buy a node for it alone", shop.pool.name);
    Some(Breach::new(Rule::CouldBuy, value, "a place for it"))
}
