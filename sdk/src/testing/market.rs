//! A market for tests of ranking policies.

use super::{Names, columns, context, count, each, set_last};
use crate::bindings::configure::plimsoll::policy::types::{Column, Context, ExtColumn};
use crate::bindings::ranker::exports::plimsoll::policy::ranker::Catalog;
use crate::ranking::{
    OrderTable, Price, PriceAnswer, PriceTable, Ranking, Score, ScoreAnswer, Tables,
};

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
            catalog: columns::no_rank_catalog(),
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

    clock_steps!();

    /// Adds an on-demand offering of an instance type, which is added too where it is new: 2 CPUs, 8 GiB, 29 pods.
    #[must_use]
    pub fn offering(mut self, instance_type: &str, zone: &str, price: f64) -> Self {
        let row = self.instance_type(instance_type);
        let (catalog, names) = (&mut self.catalog, &mut self.names);
        let zone = names.symbol(zone);
        columns::push_rank_offering(catalog, names, row, price);
        set_last(&mut catalog.o_zone, zone);
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
    #[track_caller]
    pub fn prices<P: Ranking>(&self, policy: &P, settings: &P::Settings) -> Vec<Price> {
        let table = self.price_table();
        each(
            policy.prices(&table, settings),
            table.len(),
            PriceAnswer::get,
        )
    }

    /// The policy's scores for one claim that asks `cpu_milli` and `memory_mib`: one per offering.
    #[track_caller]
    pub fn scores<P: Ranking>(
        &self,
        policy: &P,
        settings: &P::Settings,
        (cpu_milli, memory_mib): (u32, u32),
    ) -> Vec<Score> {
        let table = self.order_table(cpu_milli, memory_mib);
        each(
            policy.orders(&table, settings),
            table.len(),
            ScoreAnswer::get,
        )
    }

    /// The whole question, for policies that take it.
    pub fn price_table(&self) -> PriceTable {
        let offerings = count(self.catalog.o_type.len());
        let pools = count(self.pools.len());
        let mut rows = columns::no_rank_pools();
        for &name in &self.pools {
            columns::push_rank_pool(&mut rows, name);
        }
        rows.cand_ends = (1..=pools).map(|pool| pool * offerings).collect();
        rows.cand = (0..pools).flat_map(|_| 0..offerings).collect();
        PriceTable::new(self.tables(), rows)
    }

    fn order_table(&self, cpu_milli: u32, memory_mib: u32) -> OrderTable {
        let offerings = count(self.catalog.o_type.len());
        let mut claims = columns::no_rank_claims();
        columns::push_rank_claim(&mut claims, self.pools[0]);
        set_last(&mut claims.cpu_milli, cpu_milli);
        set_last(&mut claims.mem_mib, memory_mib);
        claims.cand_ends = vec![offerings];
        claims.cand = (0..offerings).collect();
        OrderTable::new(self.tables(), claims)
    }

    fn tables(&self) -> Tables {
        let symbols = self.names.symbols();
        Tables::new(self.context.clone(), symbols, self.catalog.clone())
    }

    fn instance_type(&mut self, name: &str) -> u32 {
        let known = self.names.symbol(name);
        let catalog = &mut self.catalog;
        if let Some(row) = catalog.t_name.iter().position(|&name| name == known) {
            return count(row);
        }
        columns::push_rank_type(catalog, &mut self.names, name);
        catalog.t_label_ends.push(count(catalog.t_label_key.len()));
        count(catalog.t_name.len() - 1)
    }
}
