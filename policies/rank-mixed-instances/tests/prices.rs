//! Offerings of a mix that may be bought: below the price, of the types, within the shares.

use plimsoll_sdk::ranking::{Price, Reason};
use plimsoll_sdk::testing::Market;
use rank_mixed_instances::{MixedInstances, Options};

const ON_DEMAND: Reason = Reason(1);
const SPOT: Reason = Reason(2);
const SHARE: Reason = Reason(3);
const DEAR: Reason = Reason(4);
const TYPE: Reason = Reason(5);

/// C12: small burstable types below 20 cents, half of them on-demand.
fn options() -> Options {
    Options {
        max_price: 0.2,
        types: vec!["t2.small".to_owned(), "t3.small".to_owned()],
        base: 0,
        on_demand_share: 0.5,
        at_once: 10,
    }
}

fn market() -> Market {
    Market::new()
        .offering("t2.small", "a", 0.023)
        .running(6)
        .offering("t3.small", "a", 0.008)
        .spot()
        .running(2)
        .offering("t3.small", "b", 0.21)
        .offering("m5.large", "a", 0.096)
        .running(50)
}

/// C12.
#[test]
fn each_kind_is_bought_up_to_its_share_of_what_will_run() {
    let prices = market().prices(&MixedInstances, &options());
    let up_to = |nodes, dollars, group, reason| {
        Price::veto(SHARE)
            .but_first(nodes, dollars, reason)
            .in_group(group)
    };
    // 8 run and 10 may come: 9 of each kind.
    assert_eq!(
        prices,
        [
            up_to(3, 0.023, 1, ON_DEMAND),
            up_to(7, 0.008, 2, SPOT),
            Price::veto(DEAR),
            Price::veto(TYPE)
        ]
    );
}

#[test]
fn a_kind_whose_share_is_full_is_not_bought() {
    let options = Options {
        on_demand_share: 0.25,
        ..options()
    };
    // Of 18 nodes 5 would be on-demand, and 6 are.
    assert_eq!(
        market().prices(&MixedInstances, &options)[0],
        Price::veto(SHARE)
    );
}
