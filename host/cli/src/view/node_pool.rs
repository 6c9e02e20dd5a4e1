//! Explanations of NodePools: what a pool may buy, has bought, and lets be disrupted, and what it waits for.

use std::collections::{BTreeMap, BTreeSet};

use plimsoll_base::requirement::Requirement;
use plimsoll_base::resources::{ResourceName, Resources};
use plimsoll_base::units::PricePerHour;
use plimsoll_base::{labels, words};
use plimsoll_disrupt::budget::{PoolAllowance, allowances};
use plimsoll_disrupt::static_pool;
use plimsoll_model::catalogue::{CapacityType, TypeOffering};
use plimsoll_model::snapshot::{Guard, Snapshot, StateNode};
use plimsoll_model::supply::Supply;
use plimsoll_model::{ConditionStatus, ConditionType, ConsolidationPolicy, NodePool};
#[cfg(feature = "live")]
use plimsoll_policy::Hook;
use plimsoll_snapshot::section::Duration;
use schemars::JsonSchema;
use serde::Serialize;

use super::node::option;
use super::node_claim::StatusCondition;
use super::plan::Offering;
use super::{Document, Dollars, Instant, duration, instant, quantities};
use crate::output::{counted, thousands};

/// Field that has the limits of a NodePool, as problems name it.
const LIMITS: &str = "spec.limits";

/// Output of `plimsoll explain nodepool`: what it may buy, has bought, and lets be disrupted.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NodePoolExplanation {
    /// Its name.
    name: String,
    /// True if its conditions allow its use.
    ready: bool,
    /// Conditions that it waits for, in words.
    waits_for: Vec<String>,
    /// Conditions in its status.
    conditions: Vec<StatusCondition>,
    /// Numbers of its nodes.
    nodes: PoolNodes,
    /// Nodes that it keeps and has, of a NodePool of a fixed size, in words.
    #[serde(skip)]
    kept: Option<String>,
    /// List price of its nodes in dollars per hour.
    price_per_hour: Dollars,
    /// Capacity of its nodes and NodeClaims: quantities by resource.
    capacity: BTreeMap<String, String>,
    /// Its limits: quantities by resource.
    limits: BTreeMap<String, String>,
    /// The rest of its limits: quantities by resource.
    limits_left: BTreeMap<String, String>,
    /// Limits and use in words; `None` where a part of its specification, which may be its limits, cannot be read.
    #[serde(skip)]
    limited: Option<String>,
    /// `false` for one of which a part cannot be read: nothing is bought from it.
    #[serde(skip)]
    is_read: bool,
    /// Offerings that its requirements leave.
    offerings: PoolOfferings,
    /// `WhenEmpty`, `WhenEmptyOrUnderutilized` or `Balanced`.
    consolidation_policy: &'static str,
    /// Time without pod events after which a node is consolidatable; absent for never.
    #[serde(skip_serializing_if = "Option::is_none")]
    consolidate_after: Option<Duration>,
    /// The same in words.
    #[serde(skip)]
    after: String,
    /// Its budgets as they are now, by reason.
    budgets: Vec<BudgetNow>,
    /// Policies of the cluster that answer for it; absent for a file.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) policies: Vec<PoolPolicy>,
    /// Findings beside: node classes of which not all is well, and launches that failed, in sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) findings: Vec<String>,
}

impl Document for NodePoolExplanation {}

/// A policy that answers for a NodePool.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PoolPolicy {
    /// `Rank`, `Consolidate` or `Budget`.
    hook: &'static str,
    /// Name of the Policy object.
    name: String,
    /// Calls that its status counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    calls: Option<i64>,
    /// Those of them that failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    faults: Option<i64>,
}

/// Numbers of the nodes of a NodePool.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct PoolNodes {
    /// Nodes and NodeClaims.
    all: usize,
    /// Those of them that are ready for pods.
    initialized: usize,
    /// Those of them that are deleting.
    deleting: usize,
    /// The number that it keeps, of a NodePool of a fixed size.
    #[serde(skip_serializing_if = "Option::is_none")]
    replicas: Option<u32>,
}

/// Offerings that the requirements of a NodePool leave.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct PoolOfferings {
    /// Offerings of the catalogue.
    all: usize,
    /// Those of them that the requirements allow.
    allowed: usize,
    /// Those of them that are out of stock.
    unavailable: usize,
    /// Number of instance types among the allowed.
    instance_types: usize,
    /// Those of the allowed that guards keep from being bought while there are others.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    guarded: Vec<GuardedOfferings>,
    /// Zones among the allowed.
    zones: Vec<String>,
    /// Capacity types among the allowed.
    capacity_types: Vec<String>,
    /// The cheapest of the allowed that are in stock; absent where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    cheapest: Option<Offering>,
    /// The most expensive one.
    #[serde(skip_serializing_if = "Option::is_none")]
    most_expensive: Option<Offering>,
}

/// Offerings that a guard keeps from being bought while there are others.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct GuardedOfferings {
    /// The guard in words.
    guard: &'static str,
    /// How many there are.
    count: usize,
}

/// The budgets of a NodePool for one reason.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct BudgetNow {
    /// `Empty`, `Underutilized` or `Drifted`.
    reason: &'static str,
    /// Nodes that may be disrupted at once; absent where nothing limits them.
    #[serde(skip_serializing_if = "Option::is_none")]
    allowed: Option<u32>,
    /// Nodes that are: not ready, or deleting.
    disrupted: u32,
    /// Nodes that percentages are of.
    nodes: u32,
    /// Nodes that may be removed now; absent where nothing limits them.
    #[serde(skip_serializing_if = "Option::is_none")]
    left: Option<u32>,
    /// When a window of the budgets opens or ends; absent where no schedule is involved.
    #[serde(skip_serializing_if = "Option::is_none")]
    until: Option<Instant>,
    /// Why no node may be removed, whatever the budgets allow: the fault of a budget, of the NodePool, or of a policy that it names.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

impl NodePoolExplanation {
    /// The explanation of a pool of the snapshot.
    pub(crate) fn of(snapshot: &Snapshot, pool: &NodePool) -> Self {
        let overlaid = snapshot.overlaid();
        let catalogue = overlaid.of(&pool.name);
        let own = snapshot.nodes.iter();
        let own: Vec<&StateNode> = own
            .filter(|node| node.is_managed() && node.pool().as_ref() == Some(&pool.name))
            .collect();
        let mut capacity = Resources::default();
        for node in &own {
            capacity.add(&node.capacity());
        }
        let claims = own.iter().filter_map(|node| node.claim.as_deref());
        let price: PricePerHour = claims.map(|claim| catalogue.price_of(claim)).sum();
        let limits = pool.limits.clone().unwrap_or_default();
        let supply = Supply::of(snapshot);
        let left = supply.limits_left(&pool.name).cloned().unwrap_or_default();
        let count = |is: &dyn Fn(&StateNode) -> bool| own.iter().filter(|node| is(node)).count();
        let allowed = catalogue.allowed(&pool.node_requirements());
        let all = catalogue.types().iter().map(|sold| sold.offerings.len());
        let rows = allowances(snapshot).into_iter();
        let mut reports = static_pool::report(snapshot).into_iter();
        let mut result = Self {
            name: pool.name.to_string(),
            ready: pool.ready && pool.deleting.is_none(),
            waits_for: waits_for(snapshot, pool),
            conditions: StatusCondition::all(&pool.status.conditions),
            nodes: PoolNodes {
                all: own.len(),
                initialized: count(&|node| node.is_initialized()),
                deleting: count(&|node| node.is_deleting()),
                replicas: pool.replicas,
            },
            kept: reports
                .find(|(own, _)| own.name == pool.name)
                .map(|(_, words)| words),
            price_per_hour: price.into(),
            capacity: quantities(&capacity),
            limited: limits_text(pool, &limits, &left),
            is_read: pool.unread.problem.is_none(),
            limits: quantities(&limits),
            limits_left: quantities(&left),
            offerings: PoolOfferings {
                guarded: guarded(snapshot, pool, &allowed),
                ..PoolOfferings::of(all.sum(), &allowed)
            },
            consolidation_policy: consolidation(pool.disruption.policy),
            consolidate_after: pool.disruption.consolidate_after.map(duration),
            after: match pool.disruption.consolidate_after {
                Some(after) => after.to_string(),
                None => "Never".to_owned(),
            },
            budgets: rows
                .filter(|row| row.pool == pool.name)
                .map(|row| BudgetNow::of(&row))
                .collect(),
            policies: Vec::new(),
            findings: Vec::new(),
        };
        if !result.is_read {
            result.hold("the NodePool cannot be read");
        }
        result
    }

    /// Says that no controller has reported on the NodePool.
    pub(crate) fn unreported(&mut self) {
        self.ready = false;
        (self.waits_for).push("a controller: none has reported on it".to_owned());
    }

    /// Says that no node may be removed, and why.
    pub(crate) fn hold(&mut self, why: &str) {
        for budget in &mut self.budgets {
            budget.left = Some(0);
            budget.problem = Some(why.to_owned());
        }
    }

    /// The explanation for people.
    pub(crate) fn text(&self) -> String {
        let ready = if self.ready { "ready" } else { "not ready" };
        let mut text = format!("NodePool {}: {ready}\n", self.name);
        for awaited in &self.waits_for {
            text += &format!("waits for {awaited}\n");
        }
        let nodes = &self.nodes;
        text += &format!(
            "  {}, {} ready for pods, {} deleting, {}\n",
            counted(nodes.all, "node"),
            nodes.initialized,
            nodes.deleting,
            self.price_per_hour.per_hour()
        );
        if let Some(kept) = &self.kept {
            text += &format!("  {kept}\n");
        }
        if let Some(limited) = &self.limited {
            text += &format!("  {limited}\n");
        }
        if self.is_read {
            text += &self.offerings.text();
            text += &format!(
                "  consolidationPolicy {}, consolidateAfter {}\n",
                self.consolidation_policy, self.after
            );
        }
        for budget in &self.budgets {
            text += &budget.text();
        }
        for policy in &self.policies {
            text += &policy.text();
        }
        text
    }
}

impl PoolPolicy {
    /// A policy of a hook, with its calls and faults where they were counted.
    #[cfg(feature = "live")]
    pub(crate) fn of(hook: Hook, name: &str, counts: Option<(i64, i64)>) -> Self {
        Self {
            hook: hook.in_spec(),
            name: name.to_owned(),
            calls: counts.map(|(calls, _)| calls),
            faults: counts.map(|(_, faults)| faults),
        }
    }

    fn text(&self) -> String {
        let counts = self.calls.zip(self.faults);
        let counts = counts.map(|(calls, faults)| format!(": {calls} calls, {faults} failed"));
        let counts = counts.unwrap_or_default();
        format!("  policy {} ({}){counts}\n", self.name, self.hook)
    }
}

impl PoolOfferings {
    fn of(all: usize, allowed: &[TypeOffering<'_>]) -> Self {
        let names = |of: &dyn Fn(&TypeOffering<'_>) -> String| {
            let names: BTreeSet<String> = allowed.iter().map(of).collect();
            names
        };
        let in_stock = || allowed.iter().filter(|sold| sold.offering.available);
        let by_price = |sold: &&TypeOffering<'_>| (sold.offering.price, sold.key());
        let shown = |sold: &TypeOffering<'_>| Offering::of(&option(*sold));
        Self {
            all,
            allowed: allowed.len(),
            unavailable: allowed.len() - in_stock().count(),
            instance_types: names(&|sold| sold.instance_type.name.to_string()).len(),
            guarded: Vec::new(),
            zones: names(&|sold| sold.offering.zone.to_string())
                .into_iter()
                .collect(),
            capacity_types: names(&|sold| sold.offering.capacity_type.to_string())
                .into_iter()
                .collect(),
            cheapest: in_stock().min_by_key(by_price).map(shown),
            most_expensive: in_stock().max_by_key(by_price).map(shown),
        }
    }

    fn text(&self) -> String {
        if self.allowed == 0 {
            return "  its requirements leave no offering\n".to_owned();
        }
        let mut text = format!(
            "  its requirements leave {} of {}: {}, zones {}, {}\n",
            thousands(self.allowed as u64),
            counted(self.all, "offering"),
            counted(self.instance_types, "instance type"),
            words::shortened(&self.zones),
            self.capacity_types.join(", "),
        );
        if self.unavailable > 0 {
            text += &format!("    {} out of stock\n", thousands(self.unavailable as u64));
        }
        for GuardedOfferings { guard, count } in &self.guarded {
            text += &format!(
                "    {} not bought while there are others: guard on {guard}\n",
                thousands(*count as u64)
            );
        }
        if let (Some(least), Some(most)) = (&self.cheapest, &self.most_expensive) {
            text += &format!("    from {least} to {most}\n");
        }
        text
    }
}

impl BudgetNow {
    fn of(row: &PoolAllowance) -> Self {
        let limited = |nodes: u32| Some(nodes).filter(|nodes| *nodes != u32::MAX);
        let allowed = limited(row.declared.nodes);
        Self {
            reason: row.reason.as_str(),
            allowed,
            disrupted: row.nodes.down,
            nodes: row.nodes.counted,
            left: allowed.map(|_| row.remaining(None)),
            until: row.declared.until.map(instant),
            problem: row.declared.problem.as_ref().map(ToString::to_string),
        }
    }

    fn text(&self) -> String {
        let (reason, disrupted, nodes) = (self.reason, self.disrupted, self.nodes);
        let mut text = format!("  budgets, {reason}: ");
        text += &match (&self.problem, self.allowed, self.left) {
            (Some(problem), _, _) => format!("0 may be removed now: {problem}"),
            (None, Some(_), Some(_)) if nodes == 0 => "no nodes".to_owned(),
            (None, Some(allowed), Some(left)) => format!(
                "{left} may be removed now ({allowed} of {} at once, {disrupted} disrupted)",
                counted(nodes as usize, "node")
            ),
            _ => "no limit".to_owned(),
        };
        if let Some(until) = &self.until {
            text += &format!(", until {until}");
        }
        text.push('\n');
        text
    }
}

/// Whatever keeps a pool from being used, or from having what it keeps.
pub(crate) fn waits_for(snapshot: &Snapshot, pool: &NodePool) -> Vec<String> {
    let mut waits = Vec::new();
    if pool.deleting.is_some() {
        waits.push("its deletion, until its NodeClaims are gone".to_owned());
    }
    let problem = pool.unread.problem.as_deref();
    if let Some(problem) = problem {
        waits.push(format!("a valid specification: {problem}"));
    } else if !snapshot.catalogues.serves(&pool.class) {
        let (kind, name) = (&pool.class.kind, &pool.class.name);
        waits.push(format!(
            "the controller of its own provider: its node class is {kind} {name}"
        ));
    }
    for kind in ConditionType::OF_POOLS {
        if let Some(said) = pool.status.conditions.get(*kind)
            && said.status != ConditionStatus::True
        {
            let words = if said.message.is_empty() {
                &said.reason
            } else {
                &said.message
            };
            // The controller writes the problem as a condition, too.
            if problem != Some(&**words) {
                waits.push(format!("{}: {words}", kind.as_str()));
            }
        }
    }
    if !pool.ready && waits.is_empty() {
        waits.push("its condition Ready, which is False".to_owned());
    }
    waits
}

/// Offerings that guards keep from being bought while there are others, though the pool's requirements allow them: it names neither the
/// types that it wants nor capacity types.
fn guarded(
    snapshot: &Snapshot,
    pool: &NodePool,
    allowed: &[TypeOffering<'_>],
) -> Vec<GuardedOfferings> {
    let guards = &snapshot.settings.guards;
    let provider = snapshot.catalogues.provider();
    let names = |is: &dyn Fn(&Requirement) -> bool| pool.requirements.iter().any(is);
    let is_exotic = |sold: &TypeOffering<'_>| {
        let sold = sold.instance_type;
        provider.is_exotic(&sold.requirements, &sold.capacity)
    };
    let is_spot = |sold: &TypeOffering<'_>| sold.offering.capacity_type == CapacityType::Spot;
    let exotic =
        guards.enabled && !guards.exotic_types && !names(&|asked| provider.names_types(asked));
    let spot = guards.enabled
        && !guards.unrequested_spot
        && !names(&|asked| asked.key().as_str() == labels::CAPACITY_TYPE);
    let count = |guard: Guard, holds: bool, is: &dyn Fn(&TypeOffering<'_>) -> bool| {
        let count = allowed.iter().filter(|sold| is(sold)).count();
        (holds && count > 0).then_some(GuardedOfferings {
            guard: guard.as_str(),
            count,
        })
    };
    let all = [
        count(Guard::ExoticTypes, exotic, &is_exotic),
        count(Guard::UnrequestedSpot, spot, &is_spot),
    ];
    all.into_iter().flatten().collect()
}

/// Limits and use in words, resource by resource; `None` where it is not known whether there are limits.
fn limits_text(pool: &NodePool, limits: &Resources, left: &Resources) -> Option<String> {
    let problem = pool.unread.problem.as_deref();
    if problem.is_some_and(|problem| problem.starts_with(LIMITS)) {
        return Some("limits: cannot be read".to_owned());
    }
    if limits.is_empty() {
        // The first problem alone is known, and its limits may be another.
        return problem.is_none().then(|| "no limits".to_owned());
    }
    let one = |(name, most): (&ResourceName, i64)| {
        let used = most - left.get(name);
        format!(
            "{name} {} of {}",
            name.amount_text(used),
            name.amount_text(most)
        )
    };
    let limited: Vec<String> = limits.iter().map(one).collect();
    Some(format!("limits: {}", limited.join(", ")))
}

fn consolidation(policy: ConsolidationPolicy) -> &'static str {
    match policy {
        ConsolidationPolicy::WhenEmpty => "WhenEmpty",
        ConsolidationPolicy::WhenEmptyOrUnderutilized => "WhenEmptyOrUnderutilized",
        ConsolidationPolicy::Balanced => "Balanced",
    }
}
