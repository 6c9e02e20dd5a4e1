//! Ceilings on buying: what counts against them, and what is said of one that one more node would break.

use std::collections::BTreeMap;

use plimsoll_base::ids::PoolName;
use plimsoll_base::units::PricePerHour;

use crate::{Ceilings, NodePool};

/// Nodes and cost that count against ceilings, of the whole cluster and of each pool.
#[derive(Clone, Debug, Default)]
pub struct Loads {
    cluster: Load,
    pools: BTreeMap<PoolName, Load>,
}

/// Nodes, and what they cost, as far as they count against ceilings.
#[derive(Clone, Copy, Debug, Default)]
pub struct Load {
    /// Claims whose nodes are not ready for pods yet.
    pub in_flight: u32,
    /// Claims asked for within the last minute.
    pub within_minute: u32,
    /// Dollars per hour of all nodes at list price.
    pub rate: PricePerHour,
}

/// Whose ceilings are meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CeilingScope {
    /// Those of the settings, over all pools.
    Cluster,
    /// Those of a pool's annotations.
    Pool(PoolName),
}

/// A ceiling that one more node would break.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenCeiling {
    /// Whose ceiling it is.
    pub scope: CeilingScope,
    reached: Reached,
}

/// The count or cost there is, or would be, and the most there may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reached {
    InFlight(u32, u32),
    PerMinute(u32, u32),
    Cost(PricePerHour, PricePerHour),
}

impl Loads {
    /// Counts more for a pool.
    pub fn add(&mut self, pool: &PoolName, more: Load) {
        self.cluster.add(more);
        self.pools.entry(pool.clone()).or_default().add(more);
    }

    /// The ceiling that one more node of a pool at a list price would break: the cluster's first.
    pub fn broken(
        &self,
        cluster: &Ceilings,
        pool: &NodePool,
        price: PricePerHour,
    ) -> Option<BrokenCeiling> {
        let of_pool = self.pools.get(&pool.name).copied().unwrap_or_default();
        let by_cluster = self.cluster.reaches(cluster, price);
        let by_cluster = by_cluster.map(|reached| (CeilingScope::Cluster, reached));
        let by_pool = || {
            let reached = of_pool.reaches(&pool.ceilings, price)?;
            Some((CeilingScope::Pool(pool.name.clone()), reached))
        };
        let (scope, reached) = by_cluster.or_else(by_pool)?;
        Some(BrokenCeiling { scope, reached })
    }
}

impl Load {
    fn add(&mut self, more: Self) {
        self.in_flight = self.in_flight.saturating_add(more.in_flight);
        self.within_minute = self.within_minute.saturating_add(more.within_minute);
        self.rate += more.rate;
    }

    fn reaches(self, ceilings: &Ceilings, price: PricePerHour) -> Option<Reached> {
        let rate = self.rate + price;
        let in_flight = ceilings
            .nodes_in_flight
            .filter(|most| self.in_flight >= *most)
            .map(|most| Reached::InFlight(self.in_flight, most));
        let per_minute = ceilings
            .nodes_per_minute
            .filter(|most| self.within_minute >= *most)
            .map(|most| Reached::PerMinute(self.within_minute, most));
        let cost = ceilings
            .dollars_per_hour
            .filter(|most| rate > *most)
            .map(|most| Reached::Cost(rate, most));
        in_flight.or(per_minute).or(cost)
    }
}

impl CeilingScope {
    /// True where nodes of a pool count against it.
    pub fn contains(&self, pool: &PoolName) -> bool {
        match self {
            Self::Cluster => true,
            Self::Pool(own) => own == pool,
        }
    }
}

impl BrokenCeiling {
    /// True where it holds only until the minute has passed.
    pub fn passes(&self) -> bool {
        matches!(self.reached, Reached::PerMinute(..))
    }
}

/// The ceiling with its numbers and where it is set.
impl std::fmt::Display for BrokenCeiling {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (setting, annotation) = match self.reached {
            Reached::InFlight(..) => ("nodesInFlight", Ceilings::NODES_IN_FLIGHT),
            Reached::PerMinute(..) => ("nodesPerMinute", Ceilings::NODES_PER_MINUTE),
            Reached::Cost(..) => ("dollarsPerHour", Ceilings::DOLLARS_PER_HOUR),
        };
        let (of, source) = match &self.scope {
            CeilingScope::Cluster => (String::new(), format!("setting runaway.{setting}")),
            CeilingScope::Pool(pool) => (
                format!(" of pool {pool}"),
                format!("annotation {annotation}"),
            ),
        };
        match self.reached {
            Reached::InFlight(have, most) => write!(
                f,
                "ceiling on nodes in flight{of}: {have} of {most} are on their way ({source})"
            ),
            Reached::PerMinute(have, most) => write!(
                f,
                "ceiling on nodes per minute{of}: {have} of {most} were asked for ({source})"
            ),
            Reached::Cost(rate, most) => write!(
                f,
                "ceiling on cost{of}: {rate} with one more node is above {most} ({source})"
            ),
        }
    }
}
