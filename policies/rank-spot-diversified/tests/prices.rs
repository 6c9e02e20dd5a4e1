//! Prices of spot capacity under the default settings, by the formula of the README.

use plimsoll_sdk::ranking::{Price, Ranking as _, Reason};
use plimsoll_sdk::testing::Market;
use rank_spot_diversified::{Options, SpotDiversified};

fn prices(market: &Market, options: &Options) -> Vec<Price> {
    market.prices(&SpotDiversified, options)
}

/// One spot offering of 0.10 dollars, in zone a, as `change` makes it.
fn spot(change: impl FnOnce(Market) -> Market) -> Market {
    change(Market::new().offering("m5.large", "a", 0.10).spot())
}

/// Spot offerings by type, zone, price and the nodes of theirs that run.
fn spot_market(offerings: &[(&str, &str, f64, u32)]) -> Market {
    let add = |market: Market, &(instance_type, zone, price, running): &_| {
        let market = market.offering(instance_type, zone, price);
        market.spot().running(running)
    };
    offerings.iter().fold(Market::new(), add)
}

#[track_caller]
fn assert_first(price: Price, dollars: f64, reason: u16) {
    assert!((price.first() - dollars).abs() < 1e-12, "{price:?}");
    assert_eq!(price.reason(), Reason(reason));
}

#[test]
fn on_demand_and_reserved_cost_their_list_price() {
    let market = Market::new()
        .offering("m5.large", "a", 0.10)
        .interruptions(9.0)
        .offering("m5.large", "b", 0.0)
        .reserved(2);
    let prices = prices(&market, &Options::default());
    assert_eq!(
        prices,
        [
            Price::dollars(0.10, Reason(1)),
            Price::dollars(0.0, Reason(1))
        ]
    );
}

#[test]
fn quiet_spot_costs_its_price() {
    assert_first(
        prices(&spot(|market| market), &Options::default())[0],
        0.10,
        2,
    );
}

#[test]
fn an_interruption_costs_the_work_it_throws_away() {
    let price = prices(
        &spot(|market| market.interruptions(6.0)),
        &Options::default(),
    )[0];
    assert_first(price, 0.10 * (1.0 + 6.0 / 24.0), 3);
    let patient = Options {
        lost_hours: 0.0,
        ..Options::default()
    };
    assert_first(
        prices(&spot(|market| market.interruptions(6.0)), &patient)[0],
        0.10,
        2,
    );
}

#[test]
fn failed_launches_are_charged_each() {
    assert_first(
        prices(&spot(|market| market.failures(3)), &Options::default())[0],
        0.10 * 1.15,
        4,
    );
}

#[test]
fn a_zone_pays_for_its_share_above_an_even_one() {
    let market = spot_market(&[("m5.large", "a", 0.10, 9), ("c5.large", "b", 0.10, 3)]);
    let options = Options {
        family_charge: 0.0,
        ..Options::default()
    };
    let prices = prices(&market, &options);
    assert_first(prices[0], 0.10 * (1.0 + 0.3 * (0.75 - 0.5)), 5);
    assert_first(prices[1], 0.10, 2);
}

#[test]
fn a_family_pays_for_its_share_above_what_is_free() {
    let market = spot_market(&[("m5.large", "a", 0.10, 8), ("c5.large", "a", 0.10, 2)]);
    let options = Options {
        zone_charge: 0.0,
        ..Options::default()
    };
    let prices = prices(&market, &options);
    assert_first(prices[0], 0.10 * (1.0 + 0.2 * (0.8 - 0.3)), 6);
    assert_first(prices[1], 0.10, 2);
}

#[test]
fn an_offering_in_two_pools_is_counted_once() {
    let one = spot_market(&[("m5.large", "a", 0.10, 4), ("m6.large", "b", 0.1, 1)]);
    let two = one.clone().pool("batch");
    let (one, two) = (
        prices(&one, &Options::default()),
        prices(&two, &Options::default()),
    );
    assert_eq!((&two[..2], &two[2..]), (&one[..], &one[..]));
}

#[test]
fn many_at_once_of_a_family_in_a_zone_cost_more_and_share_their_count() {
    let market = spot_market(&[
        ("m5.large", "a", 0.10, 0),
        ("m5.xlarge", "a", 0.20, 0),
        ("m5.large", "b", 0.10, 0),
    ]);
    let prices = prices(&market, &Options::default());
    let crowding = |dollars: f64, group| {
        Price::dollars(dollars * 1.05, Reason(7))
            .but_first(10, dollars, Reason(2))
            .in_group(group)
    };
    let expected = [crowding(0.10, 1), crowding(0.20, 1), crowding(0.10, 2)];
    assert_eq!(prices, expected);
}

#[test]
fn interrupted_spot_costs_more_than_dearer_quiet_spot() {
    let market = Market::new()
        .offering("m5.large", "a", 0.10)
        .spot()
        .interruptions(6.0)
        .offering("m5.large", "b", 0.12)
        .spot();
    let prices = market.prices(&SpotDiversified, &Options::default());
    assert!(prices[1].then() < prices[0].then());
}

#[test]
fn the_largest_charge_gives_the_reason() {
    let price = prices(
        &spot(|market| market.interruptions(12.0).failures(2)),
        &Options::default(),
    )[0];
    assert_first(price, 0.10 * (1.0 + 0.5 + 0.10), 3);
    assert!(SpotDiversified.validate(&Options::default()).is_empty());
}
