//! A market for tests of ranking policies.

use super::{Names, context, count, set_last, set_zone};
use crate::bindings::configure::plimsoll::policy::types::{Column, Context, ExtColumn};
use crate::bindings::ranker::exports::plimsoll::policy::ranker::{Catalog, Claims, Pools};
use crate::ranking::{OrderTable, Price, PriceTable, Ranking, Score, Tables};
use crate::time::TimeZone;

/// A market: instance types, offerings, and one pool `general` that may buy all of them.
///
/// Steps after [`offering`](Self::offering) change the offering added last.
#[derive(Debug, Clone)]
pub struct Market {
    names: Names,
    catalog: Catalog,
    context: Context,
    pools: Vec<u32>,
}

impl Default for Market {
    fn default() -> Self {
        Self::new()
    }
}

impl Market {
    /// An empty market with a pool `general`.
    pub fn new() -> Self {
        let market = Self {
            names: Names::default(),
            catalog: empty_catalog(),
            context: context(0),
            pools: Vec::new(),
        };
        market.pool("general")
    }

    /// Adds a pool that may buy everything; `general` comes first.
    #[must_use]
    pub fn pool(mut self, name: &str) -> Self {
        let name = self.names.symbol(name);
        self.pools.push(name);
        self
    }

    /// Time of the snapshot, seconds since 1970.
    #[must_use]
    pub fn at(mut self, now_unix_s: u64) -> Self {
        self.context.now_unix_s = now_unix_s;
        self
    }

    /// Says how many minutes the clock of a zone is ahead of UTC. A policy that asks for another, save UTC, panics.
    #[must_use]
    pub fn zone(mut self, zone: &TimeZone, offset_minutes: i16) -> Self {
        set_zone(&mut self.context, zone, offset_minutes);
        self
    }

    /// Adds an on-demand offering of an instance type, which is added too where it is new: 2 CPUs, 8 GiB, 29 pods.
    #[must_use]
    pub fn offering(mut self, instance_type: &str, zone: &str, price: f64) -> Self {
        let row = self.instance_type(instance_type);
        let zone = self.names.symbol(zone);
        let catalog = &mut self.catalog;
        catalog.o_type.push(row);
        catalog.o_zone.push(zone);
        catalog.o_capacity.push(0);
        catalog.o_price.push(price);
        catalog.o_price_age_s.push(0);
        catalog.o_interruptions_per_day.push(0.0);
        catalog.o_failures_1h.push(0);
        catalog.o_reserved_left.push(0);
        catalog.o_running.push(0);
        self
    }

    /// Makes the offering spot capacity.
    #[must_use]
    pub fn spot(mut self) -> Self {
        set_last(&mut self.catalog.o_capacity, 1);
        self
    }

    /// Makes the offering a reservation with that many nodes left.
    #[must_use]
    pub fn reserved(mut self, left: u32) -> Self {
        set_last(&mut self.catalog.o_capacity, 2);
        set_last(&mut self.catalog.o_reserved_left, left);
        self
    }

    /// Interruptions per day seen in its pool of capacity.
    #[must_use]
    pub fn interruptions(mut self, per_day: f32) -> Self {
        set_last(&mut self.catalog.o_interruptions_per_day, per_day);
        self
    }

    /// Launches that failed in the last hour.
    #[must_use]
    pub fn failures(mut self, last_hour: u32) -> Self {
        set_last(&mut self.catalog.o_failures_1h, last_hour);
        self
    }

    /// Nodes that run already.
    #[must_use]
    pub fn running(mut self, nodes: u32) -> Self {
        set_last(&mut self.catalog.o_running, nodes);
        self
    }

    /// Capacity of its instance type.
    #[must_use]
    pub fn size(mut self, cpu_milli: u32, memory_mib: u32) -> Self {
        if let Some(&row) = self.catalog.o_type.last() {
            self.catalog.t_cpu_milli[row as usize] = cpu_milli;
            self.catalog.t_mem_mib[row as usize] = memory_mib;
        }
        self
    }

    /// A label of the instance type added last; to be set before the next type is added.
    #[must_use]
    pub fn label(mut self, key: &str, value: &str) -> Self {
        let (key, value) = (self.names.symbol(key), self.names.symbol(value));
        self.catalog.t_label_key.push(key);
        self.catalog.t_label_value.push(value);
        if let Some(end) = self.catalog.t_label_ends.last_mut() {
            *end += 1;
        }
        self
    }

    /// An optional signal with one number per offering, in the order they were added.
    #[must_use]
    pub fn signal(mut self, name: &str, values: &[f64]) -> Self {
        let name = self.names.symbol(name);
        self.catalog.o_ext.push(ExtColumn {
            name,
            values: Column::F64s(values.to_vec()),
        });
        self
    }

    /// The policy's prices: for each pool in turn, one per offering.
    #[expect(
        clippy::panic,
        reason = "a declined question is a failed test, and should say why"
    )]
    pub fn prices<P: Ranking>(&self, policy: &P, settings: &P::Settings) -> Vec<Price> {
        let table = self.price_table();
        match policy.prices(&table, settings) {
            Ok(answer) => (0..table.len()).filter_map(|row| answer.get(row)).collect(),
            Err(error) => panic!("the policy declined: {}", error.message),
        }
    }

    /// The policy's scores for one claim that asks `cpu_milli` and `memory_mib`: one per offering.
    #[expect(
        clippy::panic,
        reason = "a declined question is a failed test, and should say why"
    )]
    pub fn scores<P: Ranking>(
        &self,
        policy: &P,
        settings: &P::Settings,
        (cpu_milli, memory_mib): (u32, u32),
    ) -> Vec<Score> {
        let table = self.order_table(cpu_milli, memory_mib);
        match policy.orders(&table, settings) {
            Ok(answer) => (0..table.len()).filter_map(|row| answer.get(row)).collect(),
            Err(error) => panic!("the policy declined: {}", error.message),
        }
    }

    /// The whole question, for policies that take it.
    pub fn price_table(&self) -> PriceTable {
        let offerings = count(self.catalog.o_type.len());
        let pools = count(self.pools.len());
        let pools = Pools {
            name: self.pools.clone(),
            weight: vec![0; self.pools.len()],
            nodes: vec![0; self.pools.len()],
            cost: vec![0.0; self.pools.len()],
            cand_ends: (1..=pools).map(|pool| pool * offerings).collect(),
            cand: (0..pools).flat_map(|_| 0..offerings).collect(),
            p_ext: Vec::new(),
            cand_ext: Vec::new(),
        };
        PriceTable::new(self.tables(), pools)
    }

    fn order_table(&self, cpu_milli: u32, memory_mib: u32) -> OrderTable {
        let offerings = count(self.catalog.o_type.len());
        let claims = Claims {
            pool: self.pools[..1].to_vec(),
            cpu_milli: vec![cpu_milli],
            mem_mib: vec![memory_mib],
            pods: vec![1],
            gpus: vec![0],
            cand_ends: vec![offerings],
            cand: (0..offerings).collect(),
            ext: Vec::new(),
        };
        OrderTable::new(self.tables(), claims)
    }

    fn tables(&self) -> Tables {
        let symbols = self.names.symbols();
        Tables::new(self.context.clone(), symbols, self.catalog.clone())
    }

    fn instance_type(&mut self, name: &str) -> u32 {
        let family = name.split('.').next().unwrap_or(name);
        let (name, family) = (self.names.symbol(name), self.names.symbol(family));
        let catalog = &mut self.catalog;
        if let Some(row) = catalog.t_name.iter().position(|&known| known == name) {
            return count(row);
        }
        catalog.t_name.push(name);
        catalog.t_family.push(family);
        catalog.t_arch.push(0);
        catalog.t_cpu_milli.push(2_000);
        catalog.t_mem_mib.push(8_192);
        catalog.t_pods.push(29);
        catalog.t_gpus.push(0);
        catalog.t_gpu_kind.push(0);
        catalog.t_label_ends.push(count(catalog.t_label_key.len()));
        count(catalog.t_name.len() - 1)
    }
}

fn empty_catalog() -> Catalog {
    Catalog {
        t_name: Vec::new(),
        t_family: Vec::new(),
        t_arch: Vec::new(),
        t_cpu_milli: Vec::new(),
        t_mem_mib: Vec::new(),
        t_pods: Vec::new(),
        t_gpus: Vec::new(),
        t_gpu_kind: Vec::new(),
        t_label_ends: Vec::new(),
        t_label_key: Vec::new(),
        t_label_value: Vec::new(),
        o_type: Vec::new(),
        o_zone: Vec::new(),
        o_capacity: Vec::new(),
        o_price: Vec::new(),
        o_price_age_s: Vec::new(),
        o_interruptions_per_day: Vec::new(),
        o_failures_1h: Vec::new(),
        o_reserved_left: Vec::new(),
        o_running: Vec::new(),
        t_ext: Vec::new(),
        o_ext: Vec::new(),
    }
}
