//! Buys spot capacity for what it really costs: lost work, failed launches, and everything in one place.
//!
//! README.md has the formula. Pure arithmetic on one row, once [`shares::Shares`] has counted what runs.

mod shares;

use plimsoll_sdk::ranking::*;

use crate::shares::Shares;

/// Settings, as they appear in the Policy object.
#[derive(Debug, Settings)]
pub struct Options {
    /// Hours of a node's work lost by an interruption: detection, drain, start, and work done twice.
    #[setting(default = 1, min = 0, max = 24)]
    pub lost_hours: f64,
    /// Share of the price charged per failed launch in the last hour.
    #[setting(default = 0.05, min = 0, max = 10)]
    pub failure_charge: f64,
    /// Share of the price charged where all excess is in the offering's zone.
    #[setting(default = 0.3, min = 0, max = 10)]
    pub zone_charge: f64,
    /// Share of the price charged where all excess is in the offering's family.
    #[setting(default = 0.2, min = 0, max = 10)]
    pub family_charge: f64,
    /// Share of the running spot nodes that one family may have free of charge.
    #[setting(default = 0.3, min = 0, max = 1)]
    pub family_share: f64,
    /// Nodes of one family and zone that a plan buys before the crowding charge.
    #[setting(default = 10)]
    pub at_once: u32,
    /// Share of the price added from then on.
    #[setting(default = 0.05, min = 0, max = 10)]
    pub crowding_charge: f64,
}

reasons! {
    LIST = "list price",
    SPOT = "spot price",
    INTERRUPTED = "spot, interrupted lately",
    OUT_OF_STOCK = "spot, out of stock lately",
    ZONE = "spot, much of it in this zone",
    FAMILY = "spot, much of it in this family",
    CROWDED = "spot, many at once",
}

/// Spot capacity at what its interruptions and its crowding cost.
#[derive(Debug)]
pub struct SpotDiversified;

impl Ranking for SpotDiversified {
    type Settings = Options;

    fn prices(&self, table: &PriceTable, options: &Options) -> Result<PriceAnswer, PolicyError> {
        let mut shares = Shares::count(table);
        Ok(table.map(|offering, _pool| {
            if offering.capacity() != Capacity::Spot {
                return Price::dollars(offering.price(), LIST);
            }
            let risks = risks(offering, options);
            let places = [
                (options.zone_charge * shares.zone_excess(offering), ZONE),
                (
                    options.family_charge * shares.family_excess(offering, options.family_share),
                    FAMILY,
                ),
            ];
            let (charge, reason) = total(&[risks[0], risks[1], places[0], places[1]]);
            let first = offering.price() * (1.0 + charge);
            let crowded = first * (1.0 + options.crowding_charge);
            Price::dollars(crowded, CROWDED)
                .but_first(options.at_once, first, reason)
                .in_group(shares.group(offering))
        }))
    }

    /// The price of a row by itself: without shares, which only the whole table has.
    fn price(&self, offering: &Offering, _pool: &Pool, options: &Options) -> Price {
        let (charge, reason) = own_charge(offering, options);
        Price::dollars(offering.price() * (1.0 + charge), reason)
    }

    fn terms(
        &self,
        offering: &Offering,
        _pool: &Pool,
        options: &Options,
    ) -> Vec<(&'static str, f64)> {
        if offering.capacity() != Capacity::Spot {
            return Vec::new();
        }
        let [interruptions, failures] = risks(offering, options);
        vec![
            ("interruptions", offering.price() * interruptions.0),
            ("failed launches", offering.price() * failures.0),
        ]
    }
}

export_ranking!(SpotDiversified);

/// Charges that need only the row: what interruptions and failed launches cost, as shares of the price.
fn risks(offering: &Offering, options: &Options) -> [(f64, Reason); 2] {
    let interrupted = options.lost_hours * offering.interruptions_per_day() / 24.0;
    let failed = options.failure_charge * f64::from(offering.failures_last_hour());
    [(interrupted, INTERRUPTED), (failed, OUT_OF_STOCK)]
}

fn own_charge(offering: &Offering, options: &Options) -> (f64, Reason) {
    match offering.capacity() {
        Capacity::Spot => total(&risks(offering, options)),
        Capacity::OnDemand | Capacity::Reserved => (0.0, LIST),
    }
}

/// The sum of all charges, and the reason of the largest; the first of equals.
fn total(charges: &[(f64, Reason)]) -> (f64, Reason) {
    let mut largest = (0.0, SPOT);
    let mut sum = 0.0;
    for &(charge, reason) in charges {
        sum += charge;
        if charge > largest.0 {
            largest = (charge, reason);
        }
    }
    (sum, largest.1)
}
