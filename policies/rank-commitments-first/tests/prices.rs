//! Capacity that is paid for goes first and no further than its amount.

use plimsoll_sdk::ranking::{Price, Ranking as _, Reason};
use plimsoll_sdk::testing::Market;
use rank_commitments_first::{CommitmentsFirst, Options};

const LIST: Reason = Reason(1);
const RESERVED: Reason = Reason(2);
const COMMITTED: Reason = Reason(3);

fn options(commitments: &[&str]) -> Options {
    Options {
        commitments: commitments.iter().map(|text| (*text).to_owned()).collect(),
        committed_share: 0.25,
    }
}

fn market() -> Market {
    Market::new()
        .offering("m7g.large", "a", 0.08)
        .running(2)
        .offering("m7g.large", "b", 0.08)
        .offering("m7g.xlarge", "a", 0.16)
        .offering("m7g.large", "a", 0.03)
        .spot()
        .running(9)
        .offering("c7g.large", "a", 0.07)
        .reserved(3)
}

#[test]
fn a_commitment_is_shared_by_its_family_less_what_runs_on_demand() {
    let prices = market().prices(&CommitmentsFirst, &options(&["m7g=5"]));
    let committed = |list: f64| {
        Price::dollars(list, LIST)
            .but_first(3, 0.25 * list, COMMITTED)
            .in_group(1)
    };
    assert_eq!(
        prices[..4],
        [
            committed(0.08),
            committed(0.08),
            committed(0.16),
            Price::dollars(0.03, LIST)
        ]
    );
}

#[test]
fn a_commitment_that_is_used_up_changes_nothing() {
    let prices = market().prices(&CommitmentsFirst, &options(&["m7g.large=2"]));
    assert_eq!(prices[0], Price::dollars(0.08, LIST));
}

#[test]
fn a_reservation_is_free_while_it_lasts_and_one_for_all_pools() {
    let prices = market()
        .pool("batch")
        .prices(&CommitmentsFirst, &options(&["m7g=5"]));
    let reserved = Price::dollars(0.07, LIST)
        .but_first(3, 0.0, RESERVED)
        .in_group(1 + 1 + 4);
    assert_eq!((prices[4], prices[9]), (reserved, reserved));
}

#[test]
fn what_is_no_commitment_is_refused_by_name() {
    let refused = |text| CommitmentsFirst.validate(&options(&["m7g=5", text]));
    assert!(refused("c7g.large = 2").is_empty());
    for text in ["c7g", "=5", "c7g=many", "c7g=-1"] {
        assert!(refused(text)[0].message.contains(text), "{text}");
    }
}
