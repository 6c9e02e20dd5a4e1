//! The columns of the hook's questions, and rows as they enter them.
//!
//! Generated from the lists of `host/columns`; `make columns` makes it anew.

use serde::{Deserialize, Serialize};

use super::catalogue::Architecture;
use crate::hook::{Capacity, ExtColumn, Sym, SymbolsBuilder};

/// Names of the signals that the host sends in questions of this hook.
pub const SIGNALS: &[&str] = &[];

/// Columns of the catalogue; `t_` columns have a row per instance type, `o_` columns a row per offering.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CatalogueColumns {
    /// Name, for instance `m7g.2xlarge`.
    pub t_name: Vec<Sym>,
    /// Family of the instance type, for instance `m7g`.
    pub t_family: Vec<Sym>,
    /// Code of the [`Architecture`] of the processor.
    pub t_arch: Vec<u8>,
    /// Processor time, milli-CPU of capacity.
    pub t_cpu_milli: Vec<u32>,
    /// Memory, MiB of capacity.
    pub t_mem_mib: Vec<u32>,
    /// Most pods a node of this type takes.
    pub t_pods: Vec<u32>,
    /// Accelerators.
    pub t_gpus: Vec<u32>,
    /// Kind of accelerator; empty where there is none.
    pub t_gpu_kind: Vec<Sym>,
    /// End of each type's labels in the two columns that follow.
    pub t_label_ends: Vec<u32>,
    /// Label keys, all types joined.
    pub t_label_key: Vec<Sym>,
    /// Label values, all types joined.
    pub t_label_value: Vec<Sym>,
    /// Row of the instance type.
    pub o_type: Vec<u32>,
    /// Zone, for instance `eu-central-1a`.
    pub o_zone: Vec<Sym>,
    /// Code of the [`Capacity`] type that it is bought as.
    pub o_capacity: Vec<u8>,
    /// List price, dollars per hour, in 0 to 100,000.
    pub o_price: Vec<f64>,
    /// Seconds since the price was read at its source.
    pub o_price_age_s: Vec<u32>,
    /// Interruptions per day seen lately in its pool of capacity.
    pub o_interruptions_per_day: Vec<f32>,
    /// Launches of this offering that failed for lack of capacity in the last hour.
    pub o_failures_1h: Vec<u32>,
    /// Nodes left in the reservation; 0 where there is none.
    pub o_reserved_left: Vec<u32>,
    /// Nodes of this offering that run already, planned ones excluded.
    pub o_running: Vec<u32>,
    /// Optional signals per type.
    pub t_ext: Vec<ExtColumn>,
    /// Optional signals per offering.
    pub o_ext: Vec<ExtColumn>,
}

/// One instance type, as it enters the catalogue.
#[derive(Debug, Clone, Copy)]
pub struct InstanceTypeRow<'a> {
    /// Name, for instance `m7g.2xlarge`.
    pub name: &'a str,
    /// Family of the instance type, for instance `m7g`.
    pub family: &'a str,
    /// [`Architecture`] of the processor.
    pub architecture: Architecture,
    /// Processor time, milli-CPU of capacity.
    pub cpu_milli: u32,
    /// Memory, MiB of capacity.
    pub memory_mib: u32,
    /// Most pods a node of this type takes.
    pub pods: u32,
    /// Accelerators.
    pub gpus: u32,
    /// Kind of accelerator; empty where there is none.
    pub gpu_kind: &'a str,
    /// Its labels: key and value.
    pub labels: &'a [(&'a str, &'a str)],
}

impl CatalogueColumns {
    /// Adds a row to every column but those that are joined out of parts.
    pub(super) fn push_type(&mut self, symbols: &mut SymbolsBuilder, row: &InstanceTypeRow<'_>) {
        self.t_name.push(symbols.intern(row.name));
        self.t_family.push(symbols.intern(row.family));
        self.t_arch.push(row.architecture as u8);
        self.t_cpu_milli.push(row.cpu_milli);
        self.t_mem_mib.push(row.memory_mib);
        self.t_pods.push(row.pods);
        self.t_gpus.push(row.gpus);
        self.t_gpu_kind.push(symbols.intern(row.gpu_kind));
    }
}

/// One offering, as it enters the catalogue.
#[derive(Debug, Clone, Copy)]
pub struct OfferingRow<'a> {
    /// Row of the instance type.
    pub instance_type: u32,
    /// Zone, for instance `eu-central-1a`.
    pub zone: &'a str,
    /// [`Capacity`] type that it is bought as.
    pub capacity: Capacity,
    /// List price, dollars per hour, in 0 to 100,000.
    pub price: f64,
    /// Seconds since the price was read at its source.
    pub price_age_s: u32,
    /// Interruptions per day seen lately in its pool of capacity.
    pub interruptions_per_day: f32,
    /// Launches of this offering that failed for lack of capacity in the last hour.
    pub failures_1h: u32,
    /// Nodes left in the reservation; 0 where there is none.
    pub reserved_left: u32,
    /// Nodes of this offering that run already, planned ones excluded.
    pub running: u32,
}

impl CatalogueColumns {
    /// Adds a row to every column but those that are joined out of parts.
    pub(super) fn push_offering(&mut self, symbols: &mut SymbolsBuilder, row: &OfferingRow<'_>) {
        self.o_type.push(row.instance_type);
        self.o_zone.push(symbols.intern(row.zone));
        self.o_capacity.push(row.capacity as u8);
        self.o_price.push(row.price);
        self.o_price_age_s.push(row.price_age_s);
        self.o_interruptions_per_day.push(row.interruptions_per_day);
        self.o_failures_1h.push(row.failures_1h);
        self.o_reserved_left.push(row.reserved_left);
        self.o_running.push(row.running);
    }
}

/// Pools and the offerings each may buy.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Pools {
    /// Name of the NodePool.
    pub name: Vec<Sym>,
    /// Weight of the NodePool, 0 to 100: higher is tried first, by the host, whatever the prices.
    pub weight: Vec<u32>,
    /// Nodes the pool has.
    pub nodes: Vec<u32>,
    /// Cost of those nodes, dollars per hour at list price.
    pub cost: Vec<f64>,
    /// End of each pool's part of `cand`.
    pub cand_ends: Vec<u32>,
    /// Offering rows that the pools may buy.
    pub cand: Vec<u32>,
    /// Optional signals per pool.
    pub p_ext: Vec<ExtColumn>,
    /// Optional signals per candidate.
    pub cand_ext: Vec<ExtColumn>,
}

/// One pool, as it enters a question.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PoolRow {
    /// Name of the NodePool.
    pub name: Sym,
    /// Weight of the NodePool, 0 to 100: higher is tried first, by the host, whatever the prices.
    pub weight: u32,
    /// Nodes the pool has.
    pub nodes: u32,
    /// Cost of those nodes, dollars per hour at list price.
    pub cost: f64,
}

impl Pools {
    /// Adds a row to every column but those that are joined out of parts.
    pub(super) fn push_pool(&mut self, row: &PoolRow) {
        self.name.push(row.name);
        self.weight.push(row.weight);
        self.nodes.push(row.nodes);
        self.cost.push(row.cost);
    }
}

/// Planned claims and the offerings that can hold each.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Claims {
    /// Name of its NodePool.
    pub pool: Vec<Sym>,
    /// Requested processor time, milli-CPU.
    pub cpu_milli: Vec<u32>,
    /// Requested memory, MiB, rounded up.
    pub mem_mib: Vec<u32>,
    /// Pods.
    pub pods: Vec<u32>,
    /// Accelerators.
    pub gpus: Vec<u32>,
    /// End of each claim's part of `cand`.
    pub cand_ends: Vec<u32>,
    /// Offering rows that can hold the claims.
    pub cand: Vec<u32>,
    /// Optional signals per claim.
    pub ext: Vec<ExtColumn>,
}

/// One planned claim, as it enters a question. Requests are the claim's totals, daemons included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClaimRow {
    /// Name of its NodePool.
    pub pool: Sym,
    /// Requested processor time, milli-CPU.
    pub cpu_milli: u32,
    /// Requested memory, MiB, rounded up.
    pub mem_mib: u32,
    /// Pods.
    pub pods: u32,
    /// Accelerators.
    pub gpus: u32,
}

impl Claims {
    /// Adds a row to every column but those that are joined out of parts.
    pub(super) fn push_claim(&mut self, row: &ClaimRow) {
        self.pool.push(row.pool);
        self.cpu_milli.push(row.cpu_milli);
        self.mem_mib.push(row.mem_mib);
        self.pods.push(row.pods);
        self.gpus.push(row.gpus);
    }
}
