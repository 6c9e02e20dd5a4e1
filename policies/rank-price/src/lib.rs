//! List price, and instances of the size that suits the cluster first: the Cluster Autoscaler's expander `price`.
//! README.md gives the formula.

use plimsoll_sdk::ranking::*;

/// Settings, as they appear in the Policy object.
#[derive(Debug, Settings)]
pub struct Options {
    /// Processors that an instance should have; 0 goes by the number of nodes.
    #[setting(default = 0, min = 0, max = 1024)]
    pub cpus: u32,
}

reasons! { SUITS = "list price, of the size that suits", SIZE = "list price times how far off the size is" }

/// Nodes up to which a cluster is best served by instances of so many processors.
const SIZES: [(u32, u32); 5] = [(2, 1), (6, 2), (20, 4), (60, 8), (200, 16)];
/// Dollars per hour beyond which the host takes no price: the largest instances would have one in a small cluster.
const MOST: f64 = 100_000.0;
/// Processors in larger clusters.
const LARGEST: u32 = 32;

/// List price times how far an instance is from the size that suits.
#[derive(Debug)]
pub struct SuitedPrice;

impl Ranking for SuitedPrice {
    type Settings = Options;

    fn prices(&self, table: &PriceTable, options: &Options) -> Result<PriceAnswer, PolicyError> {
        let wanted = match options.cpus {
            0 => suited(nodes(table)),
            told => told,
        };
        Ok(table.map(|offering, _pool| {
            let off = unfitness(offering.cpu_milli(), wanted);
            let reason = if off > 1.0 { SIZE } else { SUITS };
            Price::dollars((offering.price() * off).min(MOST), reason)
        }))
    }
}

export_ranking!(SuitedPrice);

/// Nodes of all pools that are asked about.
fn nodes(table: &PriceTable) -> u32 {
    let mut seen: Vec<(String, u32)> = Vec::new();
    table.each(|_offering, pool| {
        // Candidates of one pool stand together.
        if seen.last().is_none_or(|(name, _)| name != pool.name()) {
            seen.push((pool.name().to_owned(), pool.nodes()));
        }
    });
    seen.iter()
        .fold(0, |sum, (_, nodes)| sum.saturating_add(*nodes))
}

/// Processors of the instances that suit a cluster of so many nodes.
fn suited(nodes: u32) -> u32 {
    let size = SIZES.iter().find(|(most, _)| nodes <= *most);
    size.map_or(LARGEST, |(_, cpus)| *cpus)
}

/// How many times larger or smaller an instance is than wanted; 1 where it is just right.
fn unfitness(cpu_milli: u32, wanted: u32) -> f64 {
    let own = f64::from(cpu_milli.max(1)) / 1000.0;
    let wanted = f64::from(wanted);
    (own / wanted).max(wanted / own)
}

#[cfg(test)]
mod tests {
    use plimsoll_sdk::testing::Market;

    use super::*;

    fn prices(cpus: u32) -> Vec<f64> {
        let market = Market::new()
            .offering("m5.large", "a", 0.1)
            .offering("m5.2xlarge", "a", 0.4)
            .size(8_000, 32_768);
        let prices = market.prices(&SuitedPrice, &Options { cpus });
        prices.iter().map(Price::then).collect()
    }

    #[test]
    fn a_machine_costs_more_the_further_its_size_is_off() {
        let [small, large] = prices(2)[..] else {
            panic!()
        };
        assert_eq!((small, large), (0.1, 0.4 * 4.0));
        let [small, large] = prices(8)[..] else {
            panic!()
        };
        assert_eq!((small, large), (0.1 * 4.0, 0.4));
    }

    #[test]
    fn the_largest_instance_has_a_price_that_the_host_takes() {
        let market = Market::new().offering("u7i-12tb.224xlarge", "a", 152.88);
        let market = market.size(896_000, 12_582_912);
        let prices = market.prices(&SuitedPrice, &Options { cpus: 1 });
        assert!((prices[0].then() - MOST).abs() < 1e-9);
    }

    #[test]
    fn larger_clusters_are_served_by_larger_machines() {
        let sizes = [0, 2, 3, 20, 21, 200, 201, 5000].map(suited);
        assert_eq!(sizes, [1, 1, 2, 4, 8, 16, 32, 32]);
    }
}
