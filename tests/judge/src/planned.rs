//! A case as the product plans it, by the way of any file: read, put before the engine, decided; told in names alone.

use plimsoll_api::Object;
use plimsoll_base::ids::ClaimName;
use plimsoll_engine::Engine;
use plimsoll_model::plan::{LaunchOption, Plan, Refusal, Target};
use plimsoll_model::snapshot::Snapshot;
use plimsoll_snapshot::{Limits, SnapshotError};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::case::Case;
use crate::market::Purchase;

/// A plan without rows: everything by its name in the manifests.
#[derive(Clone, Debug)]
pub struct Planned {
    /// Pods and the node that each goes to, in the order in which they may be bound.
    pub placements: Vec<(String, Place)>,
    /// NodeClaims to make, in the plan's order.
    pub claims: Vec<PlannedNode>,
    /// Pods that go nowhere.
    pub refused: Vec<RefusedPod>,
    /// Pods that a note of the plan names.
    pub noted: Vec<String>,
    /// Placed pods as the product reads them, which is how it sees whom to nominate.
    pub pods: BTreeMap<String, Arc<plimsoll_model::Pod>>,
}

/// Where a pod goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A node that has joined.
    Node(String),
    /// A NodeClaim that is there and whose node has not joined.
    Claim(String),
    /// A planned NodeClaim by its place in the plan.
    New(usize),
}

/// A planned NodeClaim.
#[derive(Clone, Debug)]
pub struct PlannedNode {
    /// The pool's name.
    pub pool: String,
    /// Labels of the claim.
    pub labels: Vec<(String, String)>,
    /// Taints of its node, as Kubernetes writes them.
    pub taints: Value,
    /// Offerings that may be launched for it: type, zone, capacity type, reservation.
    pub options: Vec<Launch>,
    /// The object as it would be created.
    pub object: Value,
}

/// One way to launch a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// The instance type.
    pub instance_type: String,
    /// The zone.
    pub zone: String,
    /// `on-demand`, `spot` or `reserved`.
    pub capacity_type: String,
    /// The reservation that it draws on.
    pub reservation: Option<String>,
}

impl Launch {
    /// The purchase of a pool that it comes to; `None` where the pool sells no such thing.
    pub fn of<'p>(&self, pool: &str, purchases: &'p [Purchase]) -> Option<&'p Purchase> {
        purchases.iter().find(|one| {
            one.pool == pool
                && one.instance_type == self.instance_type
                && one.zone == self.zone
                && one.capacity_type == self.capacity_type
                && one.reservation == self.reservation
        })
    }
}

/// A pod that the plan leaves out.
#[derive(Clone, Debug)]
pub struct RefusedPod {
    /// `namespace/name`.
    pub pod: String,
    /// The refusal.
    pub reason: Refusal,
}

/// Reads a case and plans for it.
pub fn planned(case: &Case) -> Result<Planned, SnapshotError> {
    let text = case.file().to_string();
    let loaded = plimsoll_snapshot::read(text.as_bytes(), &Limits::default())?;
    let read = &loaded.snapshot;
    let engine = Engine::finding(
        &loaded.objects,
        Arc::clone(&read.catalogues),
        Arc::clone(&read.settings),
        read.seed,
        read.now,
    );
    let snapshot = engine.snapshot(read.now);
    let plan = plimsoll_schedule::finish(&plimsoll_schedule::prepare(&snapshot), None);
    Ok(in_names(&snapshot, &plan))
}

fn in_names(snapshot: &Snapshot, plan: &Plan) -> Planned {
    let pod = |row: usize| snapshot.pods[row].name.to_string();
    let placements = plan.placements.iter().map(|placement| {
        let place = match placement.target {
            Target::New(claim) => Place::New(claim),
            Target::Existing(row) => existing(snapshot, row),
        };
        (pod(placement.pod), place)
    });
    let refused = plan.unplaced.iter().map(|unplaced| RefusedPod {
        pod: pod(unplaced.pod),
        reason: unplaced.reason.clone(),
    });
    let rows = plan.placements.iter().map(|placement| placement.pod);
    let read = rows.map(|row| (pod(row), Arc::clone(&snapshot.pods[row])));
    let noted = plan.notes.iter().filter_map(|note| note.pod.as_ref());
    Planned {
        placements: placements.collect(),
        claims: (0..plan.claims.len())
            .map(|at| claim(snapshot, plan, at))
            .collect(),
        refused: refused.collect(),
        noted: noted.map(ToString::to_string).collect(),
        pods: read.collect(),
    }
}

fn existing(snapshot: &Snapshot, row: usize) -> Place {
    let row = &snapshot.nodes[row];
    match (&row.node, &row.claim) {
        (Some(node), _) => Place::Node(node.name.to_string()),
        (None, Some(claim)) => Place::Claim(claim.name.to_string()),
        (None, None) => unreachable!("a row of a snapshot has a node or a claim"),
    }
}

fn claim(snapshot: &Snapshot, plan: &Plan, at: usize) -> PlannedNode {
    let planned = &plan.claims[at];
    let name = ClaimName::from(format!("{}-{at:05}", planned.pool).as_str());
    let made = planned.to_claim(name, snapshot.now);
    PlannedNode {
        pool: planned.pool.to_string(),
        labels: planned
            .labels
            .iter()
            .map(|(key, value)| (key.to_string(), value.to_string()))
            .collect(),
        taints: plimsoll_api::write::taints(&planned.taints),
        options: planned.options.iter().map(launch).collect(),
        object: Object::Whole(plimsoll_model::Object::Claim(Arc::new(made))).to_value(),
    }
}

fn launch(option: &LaunchOption) -> Launch {
    Launch {
        instance_type: option.instance_type.to_string(),
        zone: option.zone.to_string(),
        capacity_type: option.capacity_type.as_str().to_owned(),
        reservation: option.reservation.as_ref().map(|id| id.as_str().to_owned()),
    }
}
