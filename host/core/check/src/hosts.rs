//! The places of a plan before any pod is put on them: the nodes of the snapshot, then the claims of the plan.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_base::labels::{HOSTNAME, INSTANCE_TYPE, LabelKey};
use plimsoll_base::requirement::{Requirement, Requirements};
use plimsoll_base::resources::Resources;
use plimsoll_model::NodeClaim;
use plimsoll_model::plan::{PlannedClaim, Target};
use plimsoll_model::snapshot::{Snapshot, StateNode};

use super::daemons;
use super::finding::Place;
use super::host::{Host, Sold, Way};
use super::labels_of;
use super::listings::Listings;
use super::market;
use super::volumes::{self, AttachedClaims};

/// All places, nodes first.
pub(super) struct Hosts {
    all: Vec<Host>,
    nodes: usize,
}

impl Hosts {
    pub(super) fn new(
        snapshot: &Snapshot,
        listings: &Listings<'_>,
        claims: &[PlannedClaim],
    ) -> Self {
        let bound = snapshot.pods_by_node();
        let nodes = snapshot.nodes.iter().zip(&bound).enumerate();
        let mut all: Vec<Host> = nodes
            .map(|(row, (node, bound))| Host {
                row: Some(row),
                ..existing(snapshot, listings, node, bound)
            })
            .collect();
        let planned = claims.iter().enumerate();
        all.extend(planned.map(|(row, claim)| planned_host(snapshot, listings, row, claim)));
        Self {
            all,
            nodes: snapshot.nodes.len(),
        }
    }

    /// Row of a target among all places; `None` when there is no such place.
    pub(super) fn row(&self, target: Target) -> Option<usize> {
        match target {
            Target::Existing(row) => (row < self.nodes).then_some(row),
            Target::New(row) => {
                let row = self.nodes.checked_add(row)?;
                (row < self.all.len()).then_some(row)
            }
        }
    }

    pub(super) fn get(&self, row: usize) -> &Host {
        &self.all[row]
    }

    pub(super) fn get_mut(&mut self, row: usize) -> &mut Host {
        &mut self.all[row]
    }

    /// Claims of the plan.
    pub(super) fn planned(&self) -> &[Host] {
        &self.all[self.nodes..]
    }

    /// Rows of nodes and claims of the snapshot.
    pub(super) fn existing(&self) -> std::ops::Range<usize> {
        0..self.nodes
    }
}

/// A node, or a claim on its way, of the snapshot.
fn existing(
    snapshot: &Snapshot,
    listings: &Listings<'_>,
    node: &StateNode,
    bound: &[usize],
) -> Host {
    let pods = || bound.iter().map(|row| &snapshot.pods[*row]);
    let running = || pods().filter(|pod| !pod.is_terminal());
    let mut attached = AttachedClaims::new();
    let mut used = Resources::new();
    for pod in running() {
        volumes::attach(snapshot, pod, &mut attached);
        used.add(&pod.spec.requests);
    }
    let mut host = Host {
        place: Place::Node(node.name().to_owned()),
        row: None,
        is_deleting: node.is_deleting(),
        taints: node.taints(),
        node: labels_of(node),
        ways: Vec::new(),
        ports: running()
            .flat_map(|pod| pod.spec.host_ports.clone())
            .collect(),
        asked: Resources::new(),
        attached,
        lingering: volumes::lingering(snapshot, node),
        attach_limits: volumes::attach_limits(snapshot, node),
    };
    match &node.claim {
        Some(claim) if !node.is_launched() => {
            host.node.add_all(&claim.requirements);
            host.ways = ways_to_come(snapshot, listings, &host, claim);
        }
        _ => {
            let to_come = daemons::still_to_come(snapshot, node, bound);
            host.ways.push(Way {
                sold: None,
                named: true,
                room: node.allocatable().minus(&used).minus(&to_come),
                daemon_ports: Vec::new(),
            });
        }
    }
    host
}

/// A claim that has not launched is capacity to come: any type it names may turn up.
fn ways_to_come(
    snapshot: &Snapshot,
    listings: &Listings<'_>,
    host: &Host,
    claim: &NodeClaim,
) -> Vec<Way> {
    let sold = market::offerings(snapshot, listings.of_claim(claim), &claim.requirements);
    let mut ways: Vec<Way> = sold
        .into_iter()
        .map(|sold| way(snapshot, host, sold, true))
        .collect();
    if ways.is_empty() {
        ways.push(Way {
            sold: None,
            named: true,
            room: claim.allocatable.clone(),
            daemon_ports: Vec::new(),
        });
    }
    ways
}

/// A claim of the plan: the ways it names, then those that its requirements allow beside them.
fn planned_host(
    snapshot: &Snapshot,
    listings: &Listings<'_>,
    row: usize,
    claim: &PlannedClaim,
) -> Host {
    let mut node = claim.requirements.clone();
    node.add_all(&Requirements::from_labels(&claim.labels));
    node.replace(Requirement::one_of(
        LabelKey::from(HOSTNAME),
        [format!("the-node-of-claim-{row}")],
    ));
    let mut host = Host {
        place: Place::Claim {
            row,
            pool: claim.pool.clone(),
        },
        row: None,
        is_deleting: false,
        taints: claim.taints.clone(),
        node,
        ways: Vec::new(),
        ports: Vec::new(),
        asked: Resources::new(),
        attached: AttachedClaims::new(),
        lingering: BTreeMap::new(),
        attach_limits: BTreeMap::new(),
    };
    let mut ways = Vec::new();
    let named: Vec<Sold> = claim
        .options
        .iter()
        .filter_map(|option| super::options::find(listings, claim, option))
        .collect();
    let beside = reach(snapshot, listings, claim).into_iter().filter(|sold| {
        !named
            .iter()
            .any(|named| named.at == sold.at && named.instance_type.name == sold.instance_type.name)
    });
    let beside: Vec<Sold> = beside.collect();
    ways.extend(
        named
            .into_iter()
            .map(|sold| way(snapshot, &host, sold, true)),
    );
    ways.extend(
        beside
            .into_iter()
            .map(|sold| way(snapshot, &host, sold, false)),
    );
    host.ways = ways;
    host
}

/// Offerings that a launch may pick by the claim's requirements alone: every available one of the types named.
fn reach(snapshot: &Snapshot, listings: &Listings<'_>, claim: &PlannedClaim) -> Vec<Sold> {
    let names = claim
        .requirements
        .get(INSTANCE_TYPE)
        .and_then(Requirement::listed);
    let types = names
        .into_iter()
        .flatten()
        .filter_map(|name| listings.find(&claim.pool, name));
    types
        .filter(|named| {
            let node = &claim.requirements;
            let ignored = plimsoll_base::requirement::Undefined::Ignored;
            named.requirements.accepts(node, ignored).is_ok()
        })
        .flat_map(|named: &Arc<_>| market::offerings_of(snapshot, &claim.requirements, named))
        .collect()
}

fn way(snapshot: &Snapshot, host: &Host, sold: Sold, named: bool) -> Way {
    let allocatable = sold.instance_type.allocatable(sold.offering());
    let mut way = Way {
        sold: Some(sold),
        named,
        room: Resources::new(),
        daemon_ports: Vec::new(),
    };
    let (daemons, ports) = daemons::on_new(snapshot, host, &way);
    way.room = keep_all(&allocatable, &daemons);
    way.daemon_ports = ports;
    way
}

/// `room` less `taken`; a resource that daemons ask for and that is not there goes below zero.
fn keep_all(room: &Resources, taken: &Resources) -> Resources {
    let mut wide = room.clone();
    for (name, amount) in taken.iter() {
        if amount > 0 && !wide.contains(name) {
            wide.set(name.clone(), 0);
        }
    }
    wide.minus(taken)
}
