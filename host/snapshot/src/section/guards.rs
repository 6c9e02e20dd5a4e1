//! Bounds on what cheap packing and consolidation may do, as they are written; what is absent keeps its default.

use plimsoll_model::snapshot::{ChurnGuards, Guards, RunawayGuards};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::duration::Duration;
use super::percent::Percent;
use super::settings::price;

/// Bounds on what cheap packing may do.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct GuardsEntry {
    /// `true` if they hold at all (default true).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Pods planned on one new small node (110).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pods_small_node: Option<u32>,
    /// Pods planned on one new large node (250).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pods_large_node: Option<u32>,
    /// Where a node begins to be large, in milli-cores (30000).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub small_node_cpu_milli: Option<i64>,
    /// Largest share of what its pool's pods request that one new node may have, in percent, by the larger of its shares of
    /// cpu and memory (5). Counts above `nodeShareFromCpuMilli`; 0 allows no larger node, unless a pod needs it.
    /// Nodes with accelerators are never too large.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_share_percent: Option<Percent>,
    /// Size up to which a new node is never too large, in milli-cores (48000). In static pools no larger one is bought.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub node_share_from_cpu_milli: Option<i64>,
    /// Replicas of one workload from which one new node may have only a part of them (10).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replicas_apart_from: Option<u32>,
    /// The part of such a workload's replicas that one new node gets at most: one in so many, rounded down (3).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub replicas_apart_divisor: Option<u32>,
    /// Largest share of a pool's spot nodes in one type and zone, in percent (20).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spot_share_percent: Option<Percent>,
    /// Spot nodes from which that share counts (10).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spot_share_from: Option<u32>,
    /// Types a spot claim names where they exist (15).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spot_types: Option<u32>,
    /// `true` if burstable and previous-generation types, and bare metal without accelerators, may be bought unasked (default false).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exotic_types: Option<bool>,
    /// `true` if spot instances may be bought for a pool that says nothing of capacity types (default false).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unrequested_spot: Option<bool>,
    /// `true` if new nodes get no more volumes than their type attaches (default true).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attach_slots: Option<bool>,
    /// `true` if new nodes and their pods take no more addresses of a zone than its subnets have free (default true). Counts
    /// only where `subnets` says how many those are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub free_addresses: Option<bool>,
    /// `true` if new nodes are planned with the least that nodes of their type turned out to have (default true). Holds in
    /// every pool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub learned_reserve: Option<bool>,
}

/// The whole percent of a field, or its default.
fn percent(written: Option<Percent>, default: u32) -> u32 {
    written.map_or(default, |Percent(percent)| percent)
}

/// Bounds on replacing nodes to save money. They hold in pools packed by price.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ChurnEntry {
    /// Least age of a node that is replaced (default 0s: any age).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_age: Option<Duration>,
    /// Least saving of a move in percent of what its nodes cost (5); twice as much where it uses up what a NodePool's budgets leave.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub saving_percent: Option<Percent>,
    /// Least saving of a move in dollars per hour (0.02).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub saving: Option<f64>,
    /// `true` if nodes on which pods of Jobs run are left alone, whatever a move would save (default false).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spare_jobs: Option<bool>,
    /// How much the work that pods of Jobs lose by a move counts against what it saves, in percent (200). 0 moves them as any others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost_work_percent: Option<u32>,
    /// How long the way back from a move is barred (default 1h).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reversal_cooldown: Option<Duration>,
    /// `true` if spot nodes may be replaced by cheaper spot nodes (default false). Holds in every pool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spot_to_spot: Option<bool>,
}

/// Bounds on buying for the whole cluster, whatever the packing. Annotations of a NodePool set lower ceilings for it.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct RunawayEntry {
    /// Most nodes asked for and not yet ready for pods (2000).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes_in_flight: Option<u32>,
    /// Most nodes asked for within any minute (2000).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes_per_minute: Option<u32>,
    /// Most dollars per hour that all nodes cost together at list prices (20000).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dollars_per_hour: Option<f64>,
    /// How often a launch is repeated whose instance was too small for every pod it was made for (2).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub equal_relaunches: Option<u32>,
}

impl RunawayEntry {
    pub(super) fn to_guards(&self) -> Result<RunawayGuards, String> {
        let default = RunawayGuards::default();
        Ok(RunawayGuards {
            nodes_in_flight: self.nodes_in_flight.unwrap_or(default.nodes_in_flight),
            nodes_per_minute: self.nodes_per_minute.unwrap_or(default.nodes_per_minute),
            dollars_per_hour: match self.dollars_per_hour {
                None => default.dollars_per_hour,
                Some(dollars) => price("runaway.dollarsPerHour", dollars)?,
            },
            equal_relaunches: self.equal_relaunches.unwrap_or(default.equal_relaunches),
        })
    }

    pub(super) fn from_guards(guards: &RunawayGuards) -> Self {
        Self {
            nodes_in_flight: Some(guards.nodes_in_flight),
            nodes_per_minute: Some(guards.nodes_per_minute),
            dollars_per_hour: Some(guards.dollars_per_hour.dollars()),
            equal_relaunches: Some(guards.equal_relaunches),
        }
    }
}

impl GuardsEntry {
    pub(super) fn to_guards(&self) -> Result<Guards, String> {
        let default = Guards::default();
        Ok(Guards {
            enabled: self.enabled.unwrap_or(default.enabled),
            pods_small_node: self.pods_small_node.unwrap_or(default.pods_small_node),
            pods_large_node: self.pods_large_node.unwrap_or(default.pods_large_node),
            small_node_cpu_milli: self
                .small_node_cpu_milli
                .unwrap_or(default.small_node_cpu_milli),
            node_share_percent: percent(self.node_share_percent, default.node_share_percent),
            node_share_from_cpu_milli: match self.node_share_from_cpu_milli {
                None => default.node_share_from_cpu_milli,
                Some(cpu) if cpu < 0 => {
                    return Err(format!(
                        "guards.nodeShareFromCpuMilli is {cpu}; expected milli-cores of at least 0"
                    ));
                }
                Some(cpu) => cpu,
            },
            replicas_apart_from: self
                .replicas_apart_from
                .unwrap_or(default.replicas_apart_from),
            replicas_apart_divisor: match self.replicas_apart_divisor {
                None => default.replicas_apart_divisor,
                Some(0) => {
                    return Err(
                        "guards.replicasApartDivisor is 0; expected a number of at least 1"
                            .to_owned(),
                    );
                }
                Some(divisor) => divisor,
            },
            spot_share_percent: percent(self.spot_share_percent, default.spot_share_percent),
            spot_share_from: self.spot_share_from.unwrap_or(default.spot_share_from),
            spot_types: self.spot_types.unwrap_or(default.spot_types),
            exotic_types: self.exotic_types.unwrap_or(default.exotic_types),
            unrequested_spot: self.unrequested_spot.unwrap_or(default.unrequested_spot),
            attach_slots: self.attach_slots.unwrap_or(default.attach_slots),
            free_addresses: self.free_addresses.unwrap_or(default.free_addresses),
            learned_reserve: self.learned_reserve.unwrap_or(default.learned_reserve),
        })
    }

    pub(super) fn from_guards(guards: &Guards) -> Self {
        Self {
            enabled: Some(guards.enabled),
            pods_small_node: Some(guards.pods_small_node),
            pods_large_node: Some(guards.pods_large_node),
            small_node_cpu_milli: Some(guards.small_node_cpu_milli),
            node_share_percent: Some(Percent(guards.node_share_percent)),
            node_share_from_cpu_milli: Some(guards.node_share_from_cpu_milli),
            replicas_apart_from: Some(guards.replicas_apart_from),
            replicas_apart_divisor: Some(guards.replicas_apart_divisor),
            spot_share_percent: Some(Percent(guards.spot_share_percent)),
            spot_share_from: Some(guards.spot_share_from),
            spot_types: Some(guards.spot_types),
            exotic_types: Some(guards.exotic_types),
            unrequested_spot: Some(guards.unrequested_spot),
            attach_slots: Some(guards.attach_slots),
            free_addresses: Some(guards.free_addresses),
            learned_reserve: Some(guards.learned_reserve),
        }
    }
}

impl ChurnEntry {
    pub(super) fn to_guards(&self) -> Result<ChurnGuards, String> {
        let default = ChurnGuards::default();
        Ok(ChurnGuards {
            node_age: self.node_age.map_or(default.node_age, |span| span.0),
            saving_percent: percent(self.saving_percent, default.saving_percent),
            saving: match self.saving {
                None => default.saving,
                Some(dollars) => price("churn.saving", dollars)?,
            },
            spare_jobs: self.spare_jobs.unwrap_or(default.spare_jobs),
            lost_work_percent: self.lost_work_percent.unwrap_or(default.lost_work_percent),
            reversal_cooldown: self
                .reversal_cooldown
                .map_or(default.reversal_cooldown, |span| span.0),
            spot_to_spot: self.spot_to_spot.unwrap_or(default.spot_to_spot),
        })
    }

    pub(super) fn from_guards(guards: &ChurnGuards) -> Self {
        Self {
            node_age: Some(Duration(guards.node_age)),
            saving_percent: Some(Percent(guards.saving_percent)),
            saving: Some(guards.saving.dollars()),
            spare_jobs: Some(guards.spare_jobs),
            lost_work_percent: Some(guards.lost_work_percent),
            reversal_cooldown: Some(Duration(guards.reversal_cooldown)),
            spot_to_spot: Some(guards.spot_to_spot),
        }
    }
}
