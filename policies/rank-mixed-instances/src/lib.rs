//! On-demand and spot nodes in fixed shares, below a price: what an Auto Scaling group calls mixed instances. README.md has the
//! rule.

mod room;

use plimsoll_sdk::ranking::*;

use crate::room::Room;

/// Settings, as they appear in the Policy object.
#[derive(Debug, Settings)]
pub struct Options {
    /// Dollars per hour above which nothing is bought.
    #[setting(default = 100, min = 0, max = 100000)]
    pub max_price: f64,
    /// Instance types that may be bought; none means any.
    #[setting(default = [])]
    pub types: Vec<String>,
    /// On-demand nodes that come first.
    #[setting(default = 0)]
    pub base: u32,
    /// Share of the nodes above the base that are on-demand.
    #[setting(default = 0.5, min = 0, max = 1)]
    pub on_demand_share: f64,
    /// Nodes that one plan may buy: the fewer, the closer the shares are kept.
    #[setting(default = 10, min = 1)]
    pub at_once: u32,
}

reasons! {
    ON_DEMAND = "on-demand, within its share",
    SPOT = "spot, within its share",
    SHARE = "its share is full",
    DEAR = "above the highest price",
    TYPE = "not one of the types",
}

/// Groups of prices that share one count.
const ON_DEMAND_GROUP: u32 = 1;
const SPOT_GROUP: u32 = 2;

/// Shares by counting what runs.
#[derive(Debug)]
pub struct MixedInstances;

impl Ranking for MixedInstances {
    type Settings = Options;

    fn prices(&self, table: &PriceTable, options: &Options) -> Result<PriceAnswer, PolicyError> {
        let room = Room::count(table, options);
        Ok(table.map(|offering, _pool| {
            if let Some(reason) = objection(offering, options) {
                return Price::veto(reason);
            }
            let (nodes, group, reason) = match offering.capacity() {
                Capacity::Spot => (room.spot, SPOT_GROUP, SPOT),
                Capacity::OnDemand | Capacity::Reserved => {
                    (room.on_demand, ON_DEMAND_GROUP, ON_DEMAND)
                }
            };
            match nodes {
                0 => Price::veto(SHARE),
                _ => Price::veto(SHARE)
                    .but_first(nodes, offering.price(), reason)
                    .in_group(group),
            }
        }))
    }
}

export_ranking!(MixedInstances, vetoes);

/// Why an offering is not one of the mix.
fn objection(offering: &Offering, options: &Options) -> Option<Reason> {
    let is_listed = || {
        let mut types = options.types.iter();
        types.any(|name| name == offering.instance_type())
    };
    if offering.price() > options.max_price {
        Some(DEAR)
    } else if !options.types.is_empty() && !is_listed() {
        Some(TYPE)
    } else {
        None
    }
}
