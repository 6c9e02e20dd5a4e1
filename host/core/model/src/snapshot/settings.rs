//! The cluster-wide settings that decisions read.

use plimsoll_base::time::Span;
use plimsoll_base::units::PricePerHour;
use serde::{Deserialize, Serialize};

use crate::{Ceilings, DefaultSpread, PackingMode};

/// Weight of preferences of pods.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum PreferencePolicy {
    /// They hold at first and are given up one at a time.
    #[default]
    Respect,
    /// They are not read.
    Ignore,
}

/// Rule for `minValues` of a requirement that cannot be met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum MinValuesPolicy {
    /// The pool cannot be used.
    #[default]
    Strict,
    /// The minimum is lowered to what there is, and the claim says so.
    BestEffort,
}

/// Bounds on what cheap packing may do. Each yields rather than leave a pod waiting, and says so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a setting of its own"
)]
pub struct Guards {
    /// `true` if they hold at all.
    pub enabled: bool,
    /// Pods planned on one new node of at most [`Guards::small_node_cpu_milli`] (110).
    pub pods_small_node: u32,
    /// Pods planned on one larger new node (250).
    pub pods_large_node: u32,
    /// Where a node begins to be large, in milli-cores (30,000).
    pub small_node_cpu_milli: i64,
    /// Largest share of what its pool's pods request that one new node may have, in percent from 0 to 100 (5), by the
    /// larger of its shares of cpu and memory. A node of at most [`Guards::node_share_from_cpu_milli`] is never too large,
    /// nor is one with accelerators, which come in few sizes.
    pub node_share_percent: u32,
    /// Size above which a node's share counts, in milli-cores (48,000).
    pub node_share_from_cpu_milli: i64,
    /// Replicas of one workload from which one new node may have only a part of them (10); below, the scheduler's own
    /// spreading decides.
    pub replicas_apart_from: u32,
    /// Of so many replicas one new node gets at most this part, at least one: a third by default (3); 1 is all of them.
    pub replicas_apart_divisor: u32,
    /// Largest share of a pool's spot nodes in one type and zone, in percent (20), once it has [`Guards::spot_share_from`].
    pub spot_share_percent: u32,
    /// Spot nodes from which the share counts (10).
    pub spot_share_from: u32,
    /// Types a spot claim names where they exist (15).
    pub spot_types: u32,
    /// `true` if burstable and previous-generation types, and bare metal without accelerators, may be bought without a requirement that
    /// names them.
    pub exotic_types: bool,
    /// `true` if spot instances may be bought for a pool that says nothing of capacity types.
    pub unrequested_spot: bool,
    /// `true` if a new node gets no more volumes than its type attaches.
    #[serde(default = "counted")]
    pub attach_slots: bool,
    /// `true` if new nodes and their pods take no more addresses of a zone than its subnets have free, where that is known.
    #[serde(default = "counted")]
    pub free_addresses: bool,
    /// `true` if new nodes are planned with the least that nodes of their type turned out to have. Holds in every pool.
    #[serde(default = "counted")]
    pub learned_reserve: bool,
}

/// Value of guards in records that were written before there were any.
const fn counted() -> bool {
    true
}

/// One of the bounds, as notes on a plan name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Guard {
    /// Pods on one new node.
    PodsPerNode,
    /// Replicas of one workload on one new node.
    ReplicasPerNode,
    /// Size of one new node as a share of the requests of its pool's pods.
    NodeShare,
    /// No burstable and previous-generation instances, and no bare metal without accelerators.
    ExoticTypes,
    /// No spot instances for pools that say nothing of capacity types.
    UnrequestedSpot,
    /// Spot nodes in one type and zone.
    SpotShare,
    /// Volumes on one new node.
    AttachSlots,
    /// Addresses that all new nodes of a zone take.
    FreeAddresses,
}

impl Guard {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::PodsPerNode,
        Self::ReplicasPerNode,
        Self::NodeShare,
        Self::ExoticTypes,
        Self::UnrequestedSpot,
        Self::SpotShare,
        Self::AttachSlots,
        Self::FreeAddresses,
    ];

    /// In words, to follow "guard on".
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::PodsPerNode => "pods per node",
            Self::ReplicasPerNode => "replicas per node",
            Self::NodeShare => "node share",
            Self::ExoticTypes => "burstable, previous-generation and bare-metal types",
            Self::UnrequestedSpot => "unrequested spot capacity",
            Self::SpotShare => "spot nodes of one type and zone",
            Self::AttachSlots => "volumes per node",
            Self::FreeAddresses => "free subnet addresses",
        }
    }
}

impl Guards {
    /// `true` if what nodes turn out to have is learned.
    pub const fn learns(&self) -> bool {
        self.enabled && self.learned_reserve
    }

    /// The same with one of them lifted.
    #[must_use]
    pub fn without(&self, guard: Guard) -> Self {
        let mut result = self.clone();
        match guard {
            Guard::PodsPerNode => {
                (result.pods_small_node, result.pods_large_node) = (u32::MAX, u32::MAX);
            }
            Guard::ReplicasPerNode => result.replicas_apart_from = u32::MAX,
            Guard::NodeShare => result.node_share_from_cpu_milli = i64::MAX,
            Guard::ExoticTypes => result.exotic_types = true,
            Guard::UnrequestedSpot => result.unrequested_spot = true,
            Guard::SpotShare => result.spot_share_from = u32::MAX,
            Guard::AttachSlots => result.attach_slots = false,
            Guard::FreeAddresses => result.free_addresses = false,
        }
        result
    }
}

impl Default for Guards {
    fn default() -> Self {
        Self {
            enabled: true,
            pods_small_node: 110,
            pods_large_node: 250,
            small_node_cpu_milli: 30_000,
            node_share_percent: 5,
            node_share_from_cpu_milli: 48_000,
            replicas_apart_from: 10,
            replicas_apart_divisor: 3,
            spot_share_percent: 20,
            spot_share_from: 10,
            spot_types: 15,
            exotic_types: false,
            unrequested_spot: false,
            attach_slots: true,
            free_addresses: true,
            learned_reserve: true,
        }
    }
}

/// Bounds on replacing nodes to save money.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ChurnGuards {
    /// The least age of a node that is replaced (0: any age).
    pub node_age: Span,
    /// The least saving of a move in percent of what its nodes cost (5); twice as much where it uses up what a NodePool's budgets leave.
    pub saving_percent: u32,
    /// The least saving of a move ($0.02 per hour).
    pub saving: PricePerHour,
    /// `true` if nodes on which pods of Jobs run are left alone, whatever a move would save (false).
    pub spare_jobs: bool,
    /// How much the work that pods of Jobs lose by a move counts against what it saves, in percent (200).
    #[serde(default = "twice")]
    pub lost_work_percent: u32,
    /// How long the way back from a move is barred (1 hour).
    pub reversal_cooldown: Span,
    /// `true` if spot nodes may be replaced by cheaper spot nodes (gate `SpotToSpotConsolidation`; off). Holds in every pool.
    pub spot_to_spot: bool,
}

/// Lost work counts twice: that a pod runs on for as long as it has is a guess, and what is lost is certain.
const fn twice() -> u32 {
    200
}

impl Default for ChurnGuards {
    fn default() -> Self {
        Self {
            node_age: Span::ZERO,
            saving_percent: 5,
            saving: PricePerHour::from_nanos(20_000_000),
            spare_jobs: false,
            lost_work_percent: twice(),
            reversal_cooldown: Span::from_secs(3600),
            spot_to_spot: false,
        }
    }
}

/// Bounds on buying for the whole cluster, so high that only a fault reaches them. They hold whatever the packing; a pool
/// may have lower ceilings of its own ([`Ceilings`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunawayGuards {
    /// Most nodes asked for and not yet ready for pods (2,000).
    pub nodes_in_flight: u32,
    /// Most nodes asked for within any minute (2,000).
    pub nodes_per_minute: u32,
    /// Most that all nodes cost together at list prices ($20,000 per hour).
    pub dollars_per_hour: PricePerHour,
    /// How often a launch is repeated that was undersized, because its instance was too small for every pod it was made for (2).
    pub equal_relaunches: u32,
}

impl RunawayGuards {
    /// The ceilings among them.
    pub const fn ceilings(&self) -> Ceilings {
        Ceilings {
            nodes_in_flight: Some(self.nodes_in_flight),
            nodes_per_minute: Some(self.nodes_per_minute),
            dollars_per_hour: Some(self.dollars_per_hour),
        }
    }
}

impl Default for RunawayGuards {
    fn default() -> Self {
        Self {
            nodes_in_flight: 2_000,
            nodes_per_minute: 2_000,
            dollars_per_hour: PricePerHour::from_nanos(20_000_000_000_000),
            equal_relaunches: 2,
        }
    }
}

/// Settings of the whole cluster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a setting of its own"
)]
pub struct Settings {
    /// Weight of preferences of pods.
    pub preferences: PreferencePolicy,
    /// Rule for `minValues` that cannot be met.
    pub min_values: MinValuesPolicy,
    /// `true` if reservations are used (gate `ReservedCapacity`).
    pub reserved_capacity: bool,
    /// `true` if NodeOverlays are applied (gate `NodeOverlay`).
    pub node_overlays: bool,
    /// `true` if room is kept for CapacityBuffers (gate `CapacityBuffer`). Off as in Karpenter: buffers that lie in a
    /// cluster unused would begin to cost money on the day on which we take over.
    #[serde(default)]
    pub capacity_buffers: bool,
    /// `true` if static pools are brought to their number of nodes and down to it (gate `StaticCapacity`; off for the same reason).
    /// Drifted nodes of such pools are replaced regardless, as Karpenter does.
    #[serde(default)]
    pub static_capacity: bool,
    /// `true` if unhealthy nodes are replaced (gate `NodeRepair`; off as in Karpenter).
    #[serde(default)]
    pub node_repair: bool,
    /// `true` if the scheduler honours nominations, as it does from Kubernetes 1.35 on; else none are written.
    #[serde(default = "counted")]
    pub nominations: bool,
    /// Spread constraints for pods that have none of their own.
    pub default_spread: Vec<DefaultSpread>,
    /// Quiet time that ends a batch.
    pub batch_idle: Span,
    /// Time after which a batch ends anyway.
    pub batch_max: Span,
    /// Packing of every pool, whatever the pool says; `None` leaves it to the pool.
    pub packing: Option<PackingMode>,
    /// Bounds on what cheap packing may do.
    pub guards: Guards,
    /// Bounds on replacing nodes to save money.
    #[serde(default)]
    pub churn: ChurnGuards,
    /// Ceilings on buying.
    #[serde(default)]
    pub runaway: RunawayGuards,
    /// Dollars per hour that every new node costs beyond its instance: root volume, address, licences.
    pub node_cost: PricePerHour,
    /// Counted work of the search for a cheaper fleet: 0 for the first good plan, 100 for the default effort.
    pub effort: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            preferences: PreferencePolicy::default(),
            min_values: MinValuesPolicy::default(),
            reserved_capacity: true,
            node_overlays: false,
            node_repair: false,
            capacity_buffers: false,
            static_capacity: false,
            nominations: true,
            default_spread: Vec::new(),
            batch_idle: Span::from_secs(1),
            batch_max: Span::from_secs(10),
            packing: None,
            guards: Guards::default(),
            churn: ChurnGuards::default(),
            runaway: RunawayGuards::default(),
            node_cost: PricePerHour::ZERO,
            effort: 100,
        }
    }
}
