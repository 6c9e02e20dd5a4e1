//! Columns of a call as views read them.
//!
//! Generated from the lists of `host/columns`; `make columns` makes it anew.

use super::view::{Architecture, Claim, Offering, Pool};
use crate::columns::Capacity;

impl Offering {
    /// Name of the instance type, for instance `m7g.2xlarge`.
    pub fn instance_type(&self) -> &str {
        self.tables
            .texts
            .get(self.tables.catalog.t_name[self.type_row()])
    }

    /// Number of the instance type: equal for equal types, and quicker to compare than names.
    pub fn type_key(&self) -> u32 {
        self.tables.catalog.t_name[self.type_row()]
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

    /// Processor architecture.
    pub fn architecture(&self) -> Architecture {
        Architecture::of(self.tables.catalog.t_arch[self.type_row()])
    }

    /// Processor time, milli-CPU of capacity.
    pub fn cpu_milli(&self) -> u32 {
        self.tables.catalog.t_cpu_milli[self.type_row()]
    }

    /// Memory, MiB of capacity.
    pub fn memory_mib(&self) -> u32 {
        self.tables.catalog.t_mem_mib[self.type_row()]
    }

    /// Most pods a node of this type takes.
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
}

impl Offering {
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

    /// List price, dollars per hour, in 0 to 100,000.
    pub fn price(&self) -> f64 {
        self.tables.catalog.o_price[self.row]
    }

    /// Seconds since the price was read at its source.
    pub fn price_age_s(&self) -> u32 {
        self.tables.catalog.o_price_age_s[self.row]
    }

    /// Interruptions per day seen lately in its pool of capacity.
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

    /// Nodes of this offering that run already, planned ones excluded.
    pub fn running(&self) -> u32 {
        self.tables.catalog.o_running[self.row]
    }
}

impl Pool {
    /// Name of the NodePool.
    pub fn name(&self) -> &str {
        self.tables.texts.get(self.pools.name[self.row])
    }

    /// Weight of the NodePool, 0 to 100: higher is tried first, by the host, whatever the prices.
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
}

impl Claim {
    /// Name of its NodePool.
    pub fn pool(&self) -> &str {
        self.tables.texts.get(self.claims.pool[self.row])
    }

    /// Requested processor time, milli-CPU.
    pub fn cpu_milli(&self) -> u32 {
        self.claims.cpu_milli[self.row]
    }

    /// Requested memory, MiB, rounded up.
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
}
