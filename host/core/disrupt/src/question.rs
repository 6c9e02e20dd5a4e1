//! Questions to policies about a fleet: how many nodes may be disrupted, and what moves are worth.
//!
//! A budget policy gets a row per pool and reason, parallel to [`DisruptionPass::allowances`]; a consolidation policy gets every node of
//! ours, since shares are of the whole, and a row per move, parallel to [`Proposal::moves`].

use std::collections::BTreeMap;

use plimsoll_base::ids::{PoolName, Uid};
use plimsoll_base::labels;
use plimsoll_base::requirement::Undefined;
use plimsoll_base::resources::{ResourceName, Resources};
use plimsoll_base::time::Timestamp;
use plimsoll_base::units::{MAX_DOLLARS_PER_HOUR, PricePerHour};
use plimsoll_hooks::allow::{AllowQuestion, AllowQuestionBuilder, BudgetRow};
use plimsoll_hooks::hook::Context;
use plimsoll_hooks::rank::Capacity;
use plimsoll_hooks::score::ScoreQuestionBuilder;
use plimsoll_hooks::score::{
    MoveRow, MoveRowError, NodeRow, NodeSignals, Replacement, ScoreQuestion,
};
use plimsoll_model::catalogue::CapacityType;
use plimsoll_model::plan::LaunchOption;
use plimsoll_model::snapshot::{Snapshot, StateNode};
use plimsoll_model::{
    Effect, MoveCost, NodePool, Owner, OwnerKind, Pod, Taint, first_untolerated, is_reschedulable,
};

use super::candidate::Fleet;
use super::moves::Move;
use super::pass::{DisruptionPass, Proposal};

impl DisruptionPass<'_> {
    /// The question to a budget policy; its answer goes to [`DisruptionPass::cap`].
    pub fn allow_question(&self) -> AllowQuestion {
        let snapshot = self.fleet.snapshot;
        let waiting = waiting_by_pool(snapshot);
        let mut question = AllowQuestionBuilder::new(Context::of(snapshot));
        for row in &self.allowances {
            question.pool(&BudgetRow {
                name: row.pool.as_str(),
                reason: row.reason,
                nodes: row.nodes.counted,
                not_ready: row.nodes.not_ready,
                disrupting: row.nodes.down - row.nodes.not_ready,
                ceiling: row.declared.nodes,
                pending_pods: waiting.get(&row.pool).copied().unwrap_or(0),
                recent_evictions: recent(&snapshot.activity.evictions_hour, &row.pool),
                recent_failures: recent(&snapshot.activity.failures_hour, &row.pool),
            });
        }
        question.finish()
    }
}

fn recent<K: Ord>(counts: &BTreeMap<K, u32>, key: &K) -> u32 {
    counts.get(key).copied().unwrap_or(0)
}

/// Pods that wait and might run on a node of each pool: they tolerate its hard taints, and no label of their node selector
/// contradicts it. A pod counts in every pool that might take it.
fn waiting_by_pool(snapshot: &Snapshot) -> BTreeMap<&PoolName, u32> {
    let pods = snapshot.pods.iter();
    let waiting: Vec<&Pod> = pods
        .map(AsRef::as_ref)
        .filter(|pod: &&Pod| {
            pod.node.is_none() && pod.unschedulable && pod.is_active() && !pod.is_spare()
        })
        .collect();
    let of_pool = |pool: &NodePool| {
        let taints = pool.taints.iter();
        let hard = taints.filter(|taint| taint.effect != Effect::PreferNoSchedule);
        let hard: Vec<Taint> = hard.cloned().collect();
        let own = pool.node_requirements();
        let may_run = |pod: &&&Pod| {
            let selector = &pod.spec.node_selector;
            first_untolerated(&hard, &pod.spec.tolerations).is_none()
                && own.accepts(selector, Undefined::Ignored).is_ok()
        };
        u32::try_from(waiting.iter().filter(may_run).count()).unwrap_or(u32::MAX)
    };
    let pools = snapshot.pools.iter();
    pools.map(|pool| (&pool.name, of_pool(pool))).collect()
}

impl Proposal<'_, '_> {
    /// The question to a consolidation policy; its values go to [`Proposal::decide`].
    pub fn score_question(&self) -> Result<ScoreQuestion, MoveRowError> {
        let fleet = &self.pass().fleet;
        let mut question = ScoreQuestionBuilder::new(Context::of(fleet.snapshot));
        let replicas = ready_replicas(fleet.snapshot);
        let mut rows: BTreeMap<usize, u32> = BTreeMap::new();
        for (row, node) in fleet.snapshot.nodes.iter().enumerate() {
            if node.is_managed() && node.is_initialized() {
                let asked = add_node(fleet, row, node, &replicas, &mut question)?;
                rows.insert(row, asked);
            }
        }
        for found in &self.moves {
            add_move(found, &rows, &mut question)?;
        }
        Ok(question.finish())
    }
}

/// `true` if a pod serves: it is on a node, and nothing says that it is not ready.
fn is_ready(pod: &Pod) -> bool {
    pod.is_active() && pod.node.is_some() && pod.ready != Some(false)
}

/// Ready pods by their owner.
fn ready_replicas(snapshot: &Snapshot) -> BTreeMap<&Uid, u32> {
    let mut replicas = BTreeMap::new();
    let pods = snapshot.pods.iter();
    for pod in pods.filter(|pod| is_ready(pod)) {
        if let Some(owner) = &pod.owner {
            *replicas.entry(&owner.uid).or_insert(0) += 1;
        }
    }
    replicas
}

fn add_node(
    fleet: &Fleet<'_>,
    row: usize,
    node: &StateNode,
    replicas: &BTreeMap<&Uid, u32>,
    question: &mut ScoreQuestionBuilder,
) -> Result<u32, MoveRowError> {
    let snapshot = fleet.snapshot;
    let pods: Vec<&Pod> = fleet.pods_on(row).map(|(_, pod)| pod).collect();
    let count = |of: &dyn Fn(&Pod) -> bool| {
        let many = pods.iter().filter(|pod| of(pod)).count();
        u32::try_from(many).unwrap_or(u32::MAX)
    };
    let is_last = |pod: &Pod| {
        let owner = pod.owner.as_ref().filter(|_| is_reschedulable(pod));
        let ready = |owner: &Owner| replicas.get(&owner.uid).copied().unwrap_or(0);
        owner.is_some_and(|owner| ready(owner) <= u32::from(is_ready(pod)))
    };
    let claim = node.claim.as_ref();
    let created = claim.map_or(snapshot.now, |claim| claim.created);
    let event = claim.and_then(|claim| snapshot.activity.pod_events.get(&claim.name));
    let event = event.copied().or(claim.map(|claim| claim.phase_since()));
    let movable = pods
        .iter()
        .filter(|pod| !pod.is_owned_by(OwnerKind::DaemonSet));
    let youngest = movable.filter_map(|pod| pod.started).max();
    let mut used = Resources::new();
    for pod in pods.iter().filter(|pod| !pod.is_terminal()) {
        used.add(&pod.spec.requests);
    }
    let label = |key: &str| node.labels().get(key).map_or("", AsRef::as_ref);
    let pool = node.pool();
    // An unknown price stays none; the others are with the node's own cost, like those of replacements.
    let price = pool.as_ref().map(|pool| fleet.worth(node, pool));
    let known = price.filter(|price| *price > PricePerHour::ZERO);
    let price = known.map(|price| price + snapshot.settings.node_cost);
    let moved = pods.iter().copied().filter(|pod| is_reschedulable(pod));
    let owners = pods.iter().filter_map(|pod| pod.owner.as_ref());
    let worn = owners.map(|owner| recent(&snapshot.activity.evictions_day, &owner.uid));
    let asked = question.node(&NodeRow {
        name: node.name(),
        pool: pool.as_ref().map_or("", AsRef::as_ref),
        type_name: label(labels::INSTANCE_TYPE),
        zone: label(labels::ZONE),
        capacity: capacity(CapacityType::parse(label(labels::CAPACITY_TYPE))),
        price: dollars(price.unwrap_or_default()),
        age_s: seconds(created, snapshot.now),
        since_move_s: seconds(event.unwrap_or(created), snapshot.now),
        cpu_used: share(&used, &node.allocatable(), &ResourceName::Cpu),
        mem_used: share(&used, &node.allocatable(), &ResourceName::Memory),
        pods: count(&|_| true),
        pods_daemon: count(&|pod| pod.is_owned_by(OwnerKind::DaemonSet)),
        pods_no_evict: count(&|pod| pod.is_protected(snapshot.now)),
        pods_last_replica: count(&is_last),
        youngest_pod_s: seconds(youngest.unwrap_or(created), snapshot.now),
        evictions_day: worn.max().unwrap_or(0),
        eviction_cost: MoveCost::of_node(moved).pods() - 1.0,
    })?;
    let recommended = claim.and_then(|claim| snapshot.activity.rebalance.get(&claim.name));
    question.node_signals(&NodeSignals {
        job_age_s: oldest_job_s(&pods, snapshot.now),
        rebalance_age_s: recommended.map_or(0, |at| seconds(*at, snapshot.now).max(1)),
    });
    Ok(asked)
}

/// Seconds since the oldest pod of a Job that runs among these started: its work is lost with its node. 0 where none runs, so that
/// a policy loses nothing with such a node.
fn oldest_job_s(pods: &[&Pod], now: Timestamp) -> u32 {
    let jobs = pods
        .iter()
        .filter(|pod| pod.is_owned_by(OwnerKind::Job) && pod.is_active());
    let oldest = jobs.filter_map(|pod| pod.started).min();
    oldest.map_or(0, |started| seconds(started, now))
}

fn add_move(
    found: &Move,
    rows: &BTreeMap<usize, u32>,
    question: &mut ScoreQuestionBuilder,
) -> Result<u32, MoveRowError> {
    let members = found
        .members
        .iter()
        .filter_map(|row| rows.get(row).copied());
    let members: Vec<u32> = members.collect();
    let bought = found.claims.iter().filter_map(|claim| claim.chosen());
    let replacements: Vec<Replacement<'_>> = bought.map(replacement).collect();
    question.propose(&MoveRow {
        kind: found.kind,
        members: &members,
        replacements: &replacements,
        pods_moved: u32::try_from(found.pods_moved()).unwrap_or(u32::MAX),
    })
}

fn replacement(option: &LaunchOption) -> Replacement<'_> {
    Replacement {
        type_name: option.instance_type.as_str(),
        zone: &option.zone,
        capacity: capacity(Some(option.capacity_type)),
        price: dollars(option.price),
    }
}

/// A price as a policy is told it; with a node's own cost it may be beyond what any price is.
fn dollars(price: PricePerHour) -> f64 {
    price.dollars().min(MAX_DOLLARS_PER_HOUR)
}

fn capacity(capacity_type: Option<CapacityType>) -> Capacity {
    match capacity_type {
        Some(CapacityType::Reserved) => Capacity::Reserved,
        Some(CapacityType::Spot) => Capacity::Spot,
        Some(CapacityType::OnDemand) | None => Capacity::OnDemand,
    }
}

fn seconds(since: Timestamp, now: Timestamp) -> u32 {
    u32::try_from(now.since(since).millis() / 1000).unwrap_or(u32::MAX)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a ratio, as a column of f32"
)]
fn share(used: &Resources, had: &Resources, of: &ResourceName) -> f32 {
    match had.get(of) {
        0 => 0.0,
        had => (used.get(of) as f64 / had as f64) as f32,
    }
}
