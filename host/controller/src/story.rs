//! Lines of the log that tell a node's life in Karpenter's words, from waiting pods to the terminated instance, one for each step.

use std::collections::BTreeMap;

use plimsoll_base::event_reason::EventReason;
use plimsoll_base::ids::ClaimName;
use plimsoll_base::labels;
use plimsoll_base::requirement::Requirement;
use plimsoll_base::words::shortened;
use plimsoll_cluster::Cluster;
use plimsoll_lifecycle::Interruption;
use plimsoll_model::action::{
    ClaimChange, Event, Finalizer, LaunchedInstance, ObjectKey, Order, Purpose, Request, Write,
};
use plimsoll_model::command::BegunCommand;
use plimsoll_model::plan::Plan;
use plimsoll_model::{ConditionStatus, ConditionType, NodeClaim};

use crate::view::View;

/// Types of an offering that are named; of more their number is.
const NAMED: usize = 5;

/// Tells of a plan that buys something, or cannot.
pub(crate) fn planned(plan: &Plan) {
    let pods = plan.placements.len() + plan.unplaced.len();
    if pods == 0 {
        return;
    }
    tracing::info!(pods, "found provisionable pod(s)");
    if !plan.claims.is_empty() {
        let on_new: usize = plan.pods_by_claim().iter().map(Vec::len).sum();
        tracing::info!(
            nodeclaims = plan.claims.len(),
            pods = on_new,
            "computed new nodeclaim(s) to fit pod(s)"
        );
    }
}

/// Tells of a command that begins.
pub(crate) fn begun(command: &BegunCommand, cluster: &Cluster) {
    let decision = if command.replacements.is_empty() {
        "delete"
    } else {
        "replace"
    };
    let node = |name: &ClaimName| {
        let claim = cluster.claims.get(name)?;
        let node = cluster.nodes_of(claim).first()?.name.clone();
        let label = |key: &str| claim.labels.get(key).map_or("", AsRef::as_ref);
        let (of, capacity) = (label(labels::INSTANCE_TYPE), label(labels::CAPACITY_TYPE));
        Some(format!("{node} ({name}, {of}, {capacity})"))
    };
    tracing::info!(
        "command-id" = %command.id,
        reason = command.reason.facts().label,
        decision,
        "disrupted-node-count" = command.members.len(),
        "replacement-node-count" = command.replacements.len(),
        "pod-count" = command.pods,
        "disrupted-nodes" = shortened(command.members.iter().filter_map(node)),
        "replacement-nodes" = shortened(command.replacements.iter().map(ClaimName::as_str)),
        "disrupting node(s)"
    );
}

/// Tells of what people are told that belongs in the log as well: pods without a place, by the reason, and claims that are deleted for what the
/// cloud says.
pub(crate) fn reported(reports: &[Event], interruption: Option<Interruption>, view: &View) {
    let mut unplaced: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for report in reports {
        match (&report.object, report.reason) {
            (ObjectKey::Pod(uid), EventReason::FailedScheduling) => {
                let name = view
                    .pod(uid)
                    .map_or_else(|| uid.to_string(), ToString::to_string);
                unplaced.entry(&report.message).or_default().push(name);
            }
            (ObjectKey::Claim(name), EventReason::TerminatingOnInterruption) => {
                let kind = interruption.map_or("", |own| own.facts().label);
                tracing::info!(
                    "message-kind" = kind,
                    NodeClaim = name.as_str(),
                    action = "CordonAndDrain",
                    "initiating delete from interruption message"
                );
            }
            _ => {}
        }
    }
    for (error, pods) in unplaced {
        let count = pods.len();
        let pods = shortened(pods);
        tracing::error!(
            error,
            Pods = pods,
            "pod-count" = count,
            "could not schedule pod(s)"
        );
    }
}

/// Tells of a write that was carried out, where it is a step of a node's life.
pub(crate) fn written(order: &Order) {
    let Request::Write(write) = &order.request else {
        return;
    };
    match write {
        Write::CreateClaim { claim, .. } => created(claim),
        Write::ChangeClaim(name, change) => changed(name.as_str(), change),
        // A drain adds a label to a node that is tainted already: no second step.
        Write::ChangeNode(name, change)
            if order.purpose == Purpose::Taint && change.taints.is_some() =>
        {
            tracing::info!(Node = name.as_str(), "tainted node");
        }
        Write::ChangeNode(name, change) if change.finalizer == Finalizer::Removed => {
            tracing::info!(Node = name.as_str(), "deleted node");
        }
        _ => {}
    }
}

fn created(claim: &NodeClaim) {
    let types = claim.requirements.get(labels::INSTANCE_TYPE);
    let types = types.and_then(Requirement::listed);
    let mut names: Vec<&str> = types.into_iter().flatten().map(AsRef::as_ref).collect();
    let more = names.len().saturating_sub(NAMED);
    names.truncate(NAMED);
    let mut shown = names.join(", ");
    if more > 0 {
        shown = format!("{shown} and {more} other(s)");
    }
    tracing::info!(
        NodePool = claim.pool.as_str(),
        NodeClaim = claim.name.as_str(),
        "instance-types" = shown,
        "created nodeclaim"
    );
}

fn changed(name: &str, change: &ClaimChange) {
    let holds = |kind| {
        let mut said = change.conditions.iter();
        said.any(|own| own.kind == kind && own.status == ConditionStatus::True)
    };
    if holds(ConditionType::Launched)
        && let Some(machine) = &change.machine
    {
        launched(name, machine);
    }
    // Said once more when the node is complete, then without its name.
    if holds(ConditionType::Registered)
        && let Some(node) = &change.node
    {
        let node = node.as_str();
        tracing::info!(NodeClaim = name, Node = node, "registered nodeclaim");
    }
    if holds(ConditionType::Initialized) {
        tracing::info!(NodeClaim = name, "initialized nodeclaim");
    }
    if change.finalizer == Finalizer::Removed {
        tracing::info!(NodeClaim = name, "deleted nodeclaim");
    }
}

fn launched(name: &str, machine: &LaunchedInstance) {
    let label = |key: &str| machine.labels.get(key).map_or("", AsRef::as_ref);
    tracing::info!(
        NodeClaim = name,
        "provider-id" = machine.provider_id.as_str(),
        "instance-type" = label(labels::INSTANCE_TYPE),
        zone = label(labels::ZONE),
        "capacity-type" = label(labels::CAPACITY_TYPE),
        allocatable = %machine.allocatable,
        "launched nodeclaim"
    );
}
