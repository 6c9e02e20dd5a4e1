//! Typed views of one row: an offering, a pool, a planned claim. Cheap to ask, and nobody has to know what a column is.

use std::rc::Rc;

use super::columns::Tables;
use crate::bindings::ranker::exports::plimsoll::policy::ranker::{Claims, Pools};
use crate::columns::{Capacity, Signal};

/// Processor architecture of an instance type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Architecture {
    /// 64-bit x86.
    Amd64,
    /// 64-bit ARM.
    Arm64,
    /// Any other.
    Other,
}

/// An instance type in a zone, bought in one way: what a node is made from.
#[derive(Debug, Clone)]
pub struct Offering {
    pub(super) tables: Rc<Tables>,
    pub(super) candidate: usize,
    pub(super) row: usize,
}

impl Offering {
    pub(super) fn new(tables: &Rc<Tables>) -> Self {
        Self {
            tables: Rc::clone(tables),
            candidate: 0,
            row: 0,
        }
    }

    /// Makes this the view of another candidate; views are moved along the rows instead of being made for each.
    pub(super) fn move_to(&mut self, candidate: usize, row: u32) {
        self.candidate = candidate;
        self.row = row as usize;
    }

    /// Row of the instance type. Looked up when asked for: a policy of prices alone never asks.
    fn type_row(&self) -> usize {
        self.tables.catalog.o_type[self.row] as usize
    }

    /// Number of the offering in the catalogue: rows with equal numbers are the same offering in different pools.
    pub fn row(&self) -> usize {
        self.row
    }

    /// Name of the instance type, for instance `m7g.2xlarge`.
    pub fn instance_type(&self) -> &str {
        self.tables
            .texts
            .get(self.tables.catalog.t_name[self.type_row()])
    }

    /// Family of the instance type, for instance `m7g`.
    pub fn family(&self) -> &str {
        self.tables
            .texts
            .get(self.tables.catalog.t_family[self.type_row()])
    }

    /// Number of the family: equal for equal families, and quicker to compare than names.
    pub fn family_key(&self) -> u32 {
        self.tables.catalog.t_family[self.type_row()]
    }

    /// Zone, for instance `eu-central-1a`.
    pub fn zone(&self) -> &str {
        self.tables.texts.get(self.tables.catalog.o_zone[self.row])
    }

    /// Number of the zone: equal for equal zones, and quicker to compare than names.
    pub fn zone_key(&self) -> u32 {
        self.tables.catalog.o_zone[self.row]
    }

    /// How it is bought.
    pub fn capacity(&self) -> Capacity {
        Capacity::of(self.tables.catalog.o_capacity[self.row])
    }

    /// List price, dollars per hour.
    pub fn price(&self) -> f64 {
        self.tables.catalog.o_price[self.row]
    }

    /// Seconds since the price was read at its source.
    pub fn price_age_s(&self) -> u32 {
        self.tables.catalog.o_price_age_s[self.row]
    }

    /// Interruptions per day seen lately in this pool of capacity.
    pub fn interruptions_per_day(&self) -> f64 {
        f64::from(self.tables.catalog.o_interruptions_per_day[self.row])
    }

    /// Launches of this offering that failed for lack of capacity in the last hour.
    pub fn failures_last_hour(&self) -> u32 {
        self.tables.catalog.o_failures_1h[self.row]
    }

    /// Nodes left in the reservation; 0 where there is none.
    pub fn reserved_left(&self) -> u32 {
        self.tables.catalog.o_reserved_left[self.row]
    }

    /// Nodes of this offering that run already.
    pub fn running(&self) -> u32 {
        self.tables.catalog.o_running[self.row]
    }

    /// Processor architecture.
    pub fn architecture(&self) -> Architecture {
        match self.tables.catalog.t_arch[self.type_row()] {
            0 => Architecture::Amd64,
            1 => Architecture::Arm64,
            _ => Architecture::Other,
        }
    }

    /// Processor time, milli-CPU of capacity.
    pub fn cpu_milli(&self) -> u32 {
        self.tables.catalog.t_cpu_milli[self.type_row()]
    }

    /// Memory, MiB of capacity.
    pub fn memory_mib(&self) -> u32 {
        self.tables.catalog.t_mem_mib[self.type_row()]
    }

    /// Most pods a node takes.
    pub fn pods(&self) -> u32 {
        self.tables.catalog.t_pods[self.type_row()]
    }

    /// Accelerators.
    pub fn gpus(&self) -> u32 {
        self.tables.catalog.t_gpus[self.type_row()]
    }

    /// Kind of accelerator; empty where there is none.
    pub fn gpu_kind(&self) -> &str {
        self.tables
            .texts
            .get(self.tables.catalog.t_gpu_kind[self.type_row()])
    }

    /// Value of a label of the instance type.
    pub fn label(&self, key: &str) -> Option<&str> {
        self.tables.label(self.type_row(), key)
    }

    /// Value of an optional signal: of this candidate, else of the offering, else of the instance type.
    pub fn signal(&self, name: &str) -> Option<Signal<'_>> {
        let Tables {
            catalog,
            candidate_signals,
            texts,
            ..
        } = &*self.tables;
        texts
            .signal(candidate_signals, name, self.candidate)
            .or_else(|| texts.signal(&catalog.o_ext, name, self.row))
            .or_else(|| texts.signal(&catalog.t_ext, name, self.type_row()))
    }
}

/// A NodePool that may buy.
#[derive(Debug, Clone)]
pub struct Pool {
    pub(super) tables: Rc<Tables>,
    pub(super) pools: Rc<Pools>,
    pub(super) row: usize,
}

impl Pool {
    /// Name of the NodePool.
    pub fn name(&self) -> &str {
        self.tables.texts.get(self.pools.name[self.row])
    }

    /// Weight of the NodePool. The host tries higher weights first, whatever the prices.
    pub fn weight(&self) -> u32 {
        self.pools.weight[self.row]
    }

    /// Nodes the pool has.
    pub fn nodes(&self) -> u32 {
        self.pools.nodes[self.row]
    }

    /// Cost of those nodes, dollars per hour at list price.
    pub fn cost(&self) -> f64 {
        self.pools.cost[self.row]
    }

    /// Value of an optional signal of the pool.
    pub fn signal(&self, name: &str) -> Option<Signal<'_>> {
        self.tables.texts.signal(&self.pools.p_ext, name, self.row)
    }
}

/// A claim as planned: what one new node will hold when it comes. Requests include daemons.
#[derive(Debug, Clone)]
pub struct Claim {
    pub(super) tables: Rc<Tables>,
    pub(super) claims: Rc<Claims>,
    pub(super) row: usize,
}

impl Claim {
    /// Number of the claim in the question, counted from 0.
    pub fn number(&self) -> usize {
        self.row
    }

    /// Name of its NodePool.
    pub fn pool(&self) -> &str {
        self.tables.texts.get(self.claims.pool[self.row])
    }

    /// Requested processor time, milli-CPU.
    pub fn cpu_milli(&self) -> u32 {
        self.claims.cpu_milli[self.row]
    }

    /// Requested memory, MiB.
    pub fn memory_mib(&self) -> u32 {
        self.claims.mem_mib[self.row]
    }

    /// Pods.
    pub fn pods(&self) -> u32 {
        self.claims.pods[self.row]
    }

    /// Accelerators.
    pub fn gpus(&self) -> u32 {
        self.claims.gpus[self.row]
    }

    /// Value of an optional signal of the claim.
    pub fn signal(&self, name: &str) -> Option<Signal<'_>> {
        self.tables.texts.signal(&self.claims.ext, name, self.row)
    }
}
