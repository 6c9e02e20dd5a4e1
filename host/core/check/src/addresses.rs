//! Free addresses of subnets: what the new nodes of a zone take together, counted from placements and daemons.
//!
//! A node takes one address, and one for each pod and daemon on it that is not on its host's network; claims whose nodes are
//! not there yet take theirs first. A rule of pools whose guards hold, where the plan does not say that this one yields.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plimsoll_base::ids::PoolName;
use plimsoll_base::labels::ZONE;
use plimsoll_base::resources::ResourceName;
use plimsoll_model::PackingMode;
use plimsoll_model::plan::{Plan, PlannedClaim, Target};
use plimsoll_model::snapshot::{Guard, Snapshot, StateNode};

use super::daemons;
use super::finding::{Breach, Finding, Rule, Subject};
use super::hosts::Hosts;

/// Pools that buy in a zone which has fewer addresses than all that the plan buys there takes.
pub(super) fn breaches(snapshot: &Snapshot, hosts: &Hosts, plan: &Plan) -> Vec<Finding> {
    let guards = &snapshot.settings.guards;
    if !guards.enabled || !guards.free_addresses || snapshot.catalogues.subnets().is_empty() {
        return Vec::new();
    }
    let mut pods = vec![0i64; plan.claims.len()];
    for placement in &plan.placements {
        let pod = snapshot.pods.get(placement.pod);
        if let (Target::New(row), Some(pod)) = (placement.target, pod)
            && let Some(count) = pods.get_mut(row)
        {
            *count += i64::from(!pod.spec.host_network);
        }
    }
    let mut taken: BTreeMap<&Arc<str>, i64> = BTreeMap::new();
    let mut buyers: BTreeMap<&Arc<str>, BTreeSet<&PoolName>> = BTreeMap::new();
    for (row, claim) in plan.claims.iter().enumerate() {
        let Some(zone) = claim.chosen().map(|option| &option.zone) else {
            continue;
        };
        *taken.entry(zone).or_default() += 1 + pods[row] + of_daemons(snapshot, hosts, row);
        if holds(snapshot, claim) && !yields(plan, &claim.pool) {
            buyers.entry(zone).or_default().insert(&claim.pool);
        }
    }
    let left = left(snapshot);
    let over = taken.into_iter().filter_map(|(zone, taken)| {
        let left = *left.get(zone)?;
        (taken > left).then_some((zone, taken, left))
    });
    over.flat_map(|(zone, taken, left)| {
        let buyers = buyers.get(zone).cloned().unwrap_or_default();
        buyers.into_iter().map(move |pool| {
            let value = format!("new nodes in {zone} take {taken} addresses");
            let breach = Breach::new(Rule::FreeAddresses, value, format!("at most {left}"));
            breach.about(Subject::Pool(pool.clone()))
        })
    })
    .collect()
}

/// Addresses by zone, less those of instances on their way.
fn left(snapshot: &Snapshot) -> BTreeMap<Arc<str>, i64> {
    let mut left: BTreeMap<Arc<str>, i64> = BTreeMap::new();
    for subnet in snapshot.catalogues.subnets() {
        *left.entry(Arc::clone(&subnet.zone)).or_default() += i64::from(subnet.free);
    }
    let is_coming = |node: &&StateNode| !node.is_registered() && !node.is_deleting();
    for node in snapshot.nodes.iter().filter(is_coming) {
        let labels = node.certain_labels();
        let zone = labels.get(ZONE).and_then(|zone| left.get_mut(zone));
        if let (Some(zone), Some(claim)) = (zone, &node.claim) {
            let pods = claim.requests.get(&ResourceName::Pods);
            *zone = zone.saturating_sub(pods).saturating_sub(1).max(0);
        }
    }
    left
}

/// Addresses of the daemons that will run on the instance of a claim.
fn of_daemons(snapshot: &Snapshot, hosts: &Hosts, claim: usize) -> i64 {
    let host = hosts.row(Target::New(claim)).map(|row| hosts.get(row));
    let way = host.and_then(|host| Some((host, host.named().next()?)));
    way.map_or(0, |(host, way)| daemons::addresses(snapshot, host, way))
}

fn holds(snapshot: &Snapshot, claim: &PlannedClaim) -> bool {
    let of_pool = snapshot.pool(claim.pool.as_str()).map(|pool| pool.packing);
    snapshot.settings.packing.or(of_pool) == Some(PackingMode::Price)
}

fn yields(plan: &Plan, pool: &PoolName) -> bool {
    let said = format!("guard on {} yields", Guard::FreeAddresses.as_str());
    let mut notes = plan.notes.iter();
    notes.any(|note| note.pool.as_ref() == Some(pool) && note.text.starts_with(&said))
}
