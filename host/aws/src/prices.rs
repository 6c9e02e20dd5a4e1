//! Spot prices of types in zones, out of the points of their history.

use std::collections::BTreeMap;

use plimsoll_base::time::Timestamp;
use plimsoll_base::units::PricePerHour;
use plimsoll_ec2_facts::catalogue::{SpotQuote, SpotQuotes};

/// A point of a price's history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpotPoint {
    /// The type.
    pub instance_type: String,
    /// The zone.
    pub zone: String,
    /// Dollars an hour, as they are written.
    pub price: String,
    /// Since when.
    pub since: Timestamp,
}

/// The newest price of each type in each zone. What is no price above nothing says nothing.
pub fn quotes(points: &[SpotPoint], now: Timestamp) -> SpotQuotes {
    let mut newest: BTreeMap<(&str, &str), (Timestamp, PricePerHour)> = BTreeMap::new();
    for point in points {
        let price = point
            .price
            .parse()
            .ok()
            .and_then(PricePerHour::from_dollars);
        let Some(price) = price.filter(|price| *price > PricePerHour::ZERO) else {
            continue;
        };
        let known = newest
            .entry((&point.instance_type, &point.zone))
            .or_insert((point.since, price));
        if known.0 < point.since {
            *known = (point.since, price);
        }
    }
    let mut quotes = SpotQuotes::default();
    for ((instance_type, zone), (since, price)) in newest {
        let age_s = u32::try_from(now.since(since).millis() / 1000).unwrap_or(0);
        let put = quotes.insert(instance_type, zone, SpotQuote { price, age_s });
        put.expect("a price above nothing");
    }
    quotes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_price_counts_and_what_is_none_does_not() {
        let at = |second: i64| Timestamp::from_millis(second * 1000);
        let point = |zone: &str, price: &str, second: i64| SpotPoint {
            instance_type: "m7i.large".to_owned(),
            zone: zone.to_owned(),
            price: price.to_owned(),
            since: at(second),
        };
        let points = [
            point("a", "0.0400", 10),
            point("a", "0.0500", 20),
            point("a", "0.0300", 5),
            point("b", "0.000000", 20),
            point("c", "cheap", 20),
            point("d", "-1", 20),
        ];
        let quotes = quotes(&points, at(50));
        let price = PricePerHour::from_dollars(0.05).expect("a price");
        assert_eq!(
            quotes.get("m7i.large", "a"),
            Some(SpotQuote { price, age_s: 30 })
        );
        for zone in ["b", "c", "d"] {
            assert_eq!(quotes.get("m7i.large", zone), None, "{zone}");
        }
    }
}
