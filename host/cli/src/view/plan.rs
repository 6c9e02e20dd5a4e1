//! A plan as a document: NodeClaims that `kubectl apply` takes, where each pod goes, and what the plan costs.

use std::fmt;

use plimsoll_api::{Kind, write};
use plimsoll_base::fixed_hash::{hash_of, short_name};
use plimsoll_base::ids::ClaimName;
use plimsoll_disrupt::static_pool;
use plimsoll_model::plan::{self, LaunchOption, PlannedClaim, PoolRefusal, Refusal, Target};
use plimsoll_model::snapshot::Snapshot;
use plimsoll_schedule::spare;
use plimsoll_schedule::waste::waste;
use plimsoll_schedule::{Outside, outside};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::{Value, json};

use super::{Document, Dollars, Name, Percent, percent};

/// Letters and digits at the end of the name of a planned NodeClaim.
const NAME_LENGTH: usize = 8;

/// Output of `plimsoll plan`: nodes for the pending pods of a snapshot.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Plan {
    /// SHA-256 of the input's bytes.
    input_sha256: String,
    /// The ranking policy.
    policy: String,
    /// The cost of the new nodes.
    cost: Cost,
    /// Allocatable of the new nodes that neither pods nor DaemonSets request; absent where there are no new nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    unrequested: Option<Unrequested>,
    /// The nodes to create, as NodeClaims.
    #[schemars(schema_with = "node_claims")]
    node_claims: Vec<Value>,
    /// The launch options of each NodeClaim.
    launches: Vec<Launch>,
    /// The node of each pod, in an order in which the scheduler can bind them.
    placements: Vec<Placement>,
    /// Pods that fit on no node, with the reasons.
    unschedulable_pods: Vec<Unschedulable>,
    /// Pods without a node that are not planned for, with the reasons. With `placements` and `unschedulablePods` these are all pods
    /// without a node.
    not_planned_pods: Vec<NotPlanned>,
    /// The state of each CapacityBuffer, where those are enabled.
    capacity_buffers: Vec<Buffer>,
    /// The state of each NodePool with `replicas`.
    static_node_pools: Vec<StaticPool>,
    /// Remarks for the owners of NodePools.
    notes: Vec<Note>,
}

impl Document for Plan {}

/// Dollars per hour, all new nodes together, with the node cost of the settings.
#[expect(clippy::struct_field_names, reason = "each name ends in its unit")]
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Cost {
    /// At list prices.
    price_per_hour: Dollars,
    /// At the prices of the ranking policy.
    policy_price_per_hour: Dollars,
    /// At list prices, if every NodeClaim got the most expensive of its launch options.
    highest_price_per_hour: Dollars,
    /// The linear-programming lower bound at list prices: no nodes that hold these pods cost less.
    lp_bound_dollars_per_hour: Dollars,
    /// Cost of first fit in Karpenter's order, at list prices.
    first_fit_price_per_hour: Dollars,
}

/// Shares of the allocatable that are not requested.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Unrequested {
    /// Of cpu.
    cpu_percent: Percent,
    /// Of memory.
    memory_percent: Percent,
}

/// The ways to launch one NodeClaim.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Launch {
    /// Name of the NodeClaim.
    node_claim: String,
    /// The launch options, best first; the plan's cost counts with the first.
    options: Vec<Offering>,
}

/// An offering: instance type, zone and capacity type, with its price.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Offering {
    /// The instance type.
    instance_type: String,
    /// The zone.
    zone: String,
    /// `on-demand`, `spot` or `reserved`.
    capacity_type: String,
    /// The capacity reservation, of reserved capacity.
    #[serde(skip_serializing_if = "Option::is_none")]
    reservation_id: Option<String>,
    /// The list price in dollars per hour.
    price_per_hour: Dollars,
    /// The ranking policy's price in dollars per hour, with the node cost of the settings.
    policy_price_per_hour: Dollars,
}

/// The node of one pod: one that exists, or a NodeClaim.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Placement {
    /// The pod.
    pod: Name,
    /// The existing node.
    #[serde(skip_serializing_if = "Option::is_none")]
    node: Option<String>,
    /// The NodeClaim: one of `nodeClaims`, or one of the cluster whose node does not exist yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    node_claim: Option<String>,
    /// Preferences of the pod that were given up.
    relaxed_preferences: u32,
}

/// A pod that fits on no node.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Unschedulable {
    /// The pod.
    pod: Name,
    #[serde(flatten)]
    refusal: PodRefusal,
}

/// A pod that is not planned for.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct NotPlanned {
    /// The pod.
    pod: Name,
    #[serde(flatten)]
    outside: OutsideReason,
}

/// The reason why a pod is not planned for.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct OutsideReason {
    /// `SchedulingGated`, `NotTriedYet`, `Nominated`, `DaemonSet`, `StaticPod`, `Deleting` or `ExcludesNodePools`.
    reason: &'static str,
    /// The reason in a clause that follows the pod's name.
    message: String,
}

/// The reason why a pod fits on no node.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct PodRefusal {
    /// `InvalidPod`, `DynamicResources`, `NoNodePool`, `ReservedCapacity`, `NodesUnused` or `NoOffering`.
    reason: &'static str,
    /// The reason in a sentence that follows the pod's name.
    message: String,
    /// With reason `NoOffering`: what each NodePool refused.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    node_pools: Vec<PoolReasons>,
}

/// The reasons of one NodePool.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct PoolReasons {
    /// The NodePool.
    node_pool: String,
    /// The first rule that refused the whole NodePool; absent where offerings were refused one by one.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    /// The refused offerings, each counted once: under the one rule that refuses all, or else at the first that refuses it.
    offerings: Vec<Refused>,
    /// The nearest offering that would hold the pod, and the rules of the NodePool to lift for it; absent where no trial has shown
    /// one to.
    #[serde(skip_serializing_if = "Option::is_none")]
    nearest: Option<String>,
}

/// Offerings that one rule refused.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Refused {
    /// Number of offerings.
    count: usize,
    /// The rule, in words that follow the number.
    message: String,
}

/// A CapacityBuffer.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Buffer {
    /// Namespace and name.
    #[serde(flatten)]
    name: Name,
    /// `FitsExistingCapacity`, `RequiresNewCapacity`, `BufferEmpty` or `NotReadyForProvisioning`.
    reason: String,
    /// The state in words, with numbers.
    message: String,
}

/// A NodePool with `replicas`.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct StaticPool {
    /// The NodePool.
    node_pool: String,
    /// Its state in words, with numbers.
    message: String,
}

/// A remark.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Note {
    /// The NodePool that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    node_pool: Option<String>,
    /// The pod that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pod: Option<Name>,
    /// The remark.
    message: String,
}

/// The name that a planned NodeClaim goes by: its NodePool's and letters of a hash over time, seed and row and over what it
/// requires and requests, so that a plan made anew gives the same name, and another claim another.
pub(crate) fn claim_name(snapshot: &Snapshot, plan: &plan::Plan, row: usize) -> ClaimName {
    let claim = &plan.claims[row];
    let pool = &claim.pool;
    let place = (snapshot.seed, snapshot.now, "plan", row, pool);
    let number = hash_of(&(place, &claim.requirements, &claim.requests));
    ClaimName::from(format!("{pool}-{}", short_name(number, NAME_LENGTH)))
}

impl Plan {
    /// The document of a plan for a snapshot.
    pub(crate) fn of(
        snapshot: &Snapshot,
        plan: &plan::Plan,
        policy: String,
        input_sha256: &str,
    ) -> Self {
        let names: Vec<ClaimName> = (0..plan.claims.len())
            .map(|row| claim_name(snapshot, plan, row))
            .collect();
        let claims = || plan.claims.iter().zip(&names);
        let exists = |row: usize| !snapshot.pods[row].is_spare();
        let placements = plan.placements.iter();
        let unplaced = plan.unplaced.iter();
        Self {
            input_sha256: input_sha256.to_owned(),
            policy,
            cost: Cost::of(&plan.cost),
            unrequested: (!plan.claims.is_empty()).then(|| Unrequested::of(snapshot, plan)),
            node_claims: claims()
                .map(|(planned, name)| node_claim(snapshot, planned, name))
                .collect(),
            launches: claims()
                .map(|(planned, name)| Launch::of(planned, name))
                .collect(),
            placements: placements
                .filter(|placed| exists(placed.pod))
                .map(|placed| Placement::of(snapshot, placed, &names))
                .collect(),
            unschedulable_pods: unplaced
                .filter(|unplaced| exists(unplaced.pod))
                .map(|unplaced| Unschedulable::of(snapshot, unplaced))
                .collect(),
            not_planned_pods: outside(snapshot)
                .into_iter()
                .map(|(row, outside)| NotPlanned {
                    pod: Name::from(&snapshot.pods[row].name),
                    outside: OutsideReason::of(&outside),
                })
                .collect(),
            capacity_buffers: spare::verdicts(snapshot, plan)
                .into_iter()
                .map(Buffer::of)
                .collect(),
            static_node_pools: static_pool::report(snapshot)
                .into_iter()
                .map(|(pool, message)| StaticPool {
                    node_pool: pool.name.to_string(),
                    message,
                })
                .collect(),
            notes: plan.notes.iter().map(Note::of).collect(),
        }
    }
}

impl Cost {
    fn of(cost: &plan::PlanCost) -> Self {
        Self {
            price_per_hour: cost.list.into(),
            policy_price_per_hour: cost.planned.into(),
            highest_price_per_hour: cost.dearest.into(),
            lp_bound_dollars_per_hour: cost.bound.into(),
            first_fit_price_per_hour: cost.first_fit.into(),
        }
    }
}

impl Unrequested {
    fn of(snapshot: &Snapshot, plan: &plan::Plan) -> Self {
        let unrequested = waste(snapshot, &plan.claims);
        Self {
            cpu_percent: percent(unrequested.cpu),
            memory_percent: percent(unrequested.memory),
        }
    }
}

/// A planned claim as a manifest.
fn node_claim(snapshot: &Snapshot, planned: &PlannedClaim, name: &ClaimName) -> Value {
    let claim = planned.to_claim(name.clone(), snapshot.now);
    json!({
        "apiVersion": Kind::NodeClaim.api_version(),
        "kind": Kind::NodeClaim.as_str(),
        "metadata": {
            "name": name.as_str(),
            "labels": write::map(&claim.labels),
            "annotations": write::map(&claim.annotations),
        },
        "spec": write::claim_spec(&claim),
    })
}

/// The definition of NodeClaim, as an API server holds it.
fn node_claims(_: &mut SchemaGenerator) -> Schema {
    let definition = plimsoll_api::crd::karpenter()
        .into_iter()
        .find(|definition| definition["spec"]["names"]["kind"] == Kind::NodeClaim.as_str());
    let schema = definition.map(|definition| {
        definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"].clone()
    });
    json_schema!({
        "type": "array",
        "items": {
            "type": "object",
            "properties": {
                "apiVersion": {"const": Kind::NodeClaim.api_version()},
                "kind": {"const": Kind::NodeClaim.as_str()},
                "metadata": {
                    "type": "object",
                    "properties": {
                        "name": {"type": "string"},
                        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
                        "annotations": {"type": "object", "additionalProperties": {"type": "string"}},
                    },
                    "required": ["name"],
                },
                "spec": schema,
            },
            "required": ["apiVersion", "kind", "metadata", "spec"],
        },
    })
}

impl Launch {
    fn of(planned: &PlannedClaim, name: &ClaimName) -> Self {
        Self {
            node_claim: name.to_string(),
            options: planned.options.iter().map(Offering::of).collect(),
        }
    }
}

impl fmt::Display for Offering {
    /// `m7g.large zone-a on-demand $0.0816/h`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, zone, capacity_type) = (&self.instance_type, &self.zone, &self.capacity_type);
        let price = self.price_per_hour.per_hour();
        write!(f, "{name} {zone} {capacity_type} {price}")
    }
}

impl Offering {
    /// `m7g.large, on-demand, zone zone-a, $0.0816/h`
    pub(super) fn headline(&self) -> String {
        let (name, zone, capacity_type) = (&self.instance_type, &self.zone, &self.capacity_type);
        let price = self.price_per_hour.per_hour();
        format!("{name}, {capacity_type}, zone {zone}, {price}")
    }

    pub(super) fn of(option: &LaunchOption) -> Self {
        Self {
            instance_type: option.instance_type.to_string(),
            zone: option.zone.to_string(),
            capacity_type: option.capacity_type.to_string(),
            reservation_id: option.reservation.as_ref().map(ToString::to_string),
            price_per_hour: option.list_price.into(),
            policy_price_per_hour: option.price.into(),
        }
    }
}

impl Placement {
    fn of(snapshot: &Snapshot, placed: &plan::Placement, names: &[ClaimName]) -> Self {
        let (node, node_claim) = match placed.target {
            Target::New(row) => (None, names.get(row).map(ToString::to_string)),
            Target::Existing(row) => {
                let row = &snapshot.nodes[row];
                match (&row.node, &row.claim) {
                    (None, Some(claim)) => (None, Some(claim.name.to_string())),
                    _ => (Some(row.name().to_owned()), None),
                }
            }
        };
        Self {
            pod: Name::from(&snapshot.pods[placed.pod].name),
            node,
            node_claim,
            relaxed_preferences: placed.relaxed,
        }
    }
}

impl Unschedulable {
    fn of(snapshot: &Snapshot, unplaced: &plan::Unplaced) -> Self {
        Self {
            pod: Name::from(&snapshot.pods[unplaced.pod].name),
            refusal: PodRefusal::of(&unplaced.reason),
        }
    }
}

impl OutsideReason {
    pub(super) fn of(outside: &Outside) -> Self {
        Self {
            reason: outside.as_str(),
            message: outside.to_string(),
        }
    }
}

impl PodRefusal {
    pub(super) fn of(refusal: &Refusal) -> Self {
        let pools = match refusal {
            Refusal::Unschedulable(pools) => pools.as_slice(),
            _ => &[],
        };
        Self {
            reason: refusal.as_str(),
            message: refusal.to_string(),
            node_pools: pools.iter().map(PoolReasons::of).collect(),
        }
    }
}

impl PoolReasons {
    fn of(refusal: &PoolRefusal) -> Self {
        let refused = refusal.offerings.iter().map(|refused| Refused {
            count: refused.count,
            message: refused.rule.clone(),
        });
        Self {
            node_pool: refusal.pool.to_string(),
            message: Some(refusal.reason.clone()).filter(|reason| !reason.is_empty()),
            offerings: refused.collect(),
            nearest: refusal.nearest.clone(),
        }
    }
}

impl Buffer {
    fn of(verdict: spare::BufferVerdict) -> Self {
        Self {
            name: Name::from(&verdict.buffer),
            reason: verdict.state.to_string(),
            message: verdict.message,
        }
    }
}

impl Note {
    fn of(note: &plan::Note) -> Self {
        Self {
            node_pool: note.pool.as_ref().map(ToString::to_string),
            pod: note.pod.as_ref().map(Name::from),
            message: note.text.clone(),
        }
    }
}
