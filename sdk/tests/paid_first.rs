//! A first policy, as an author would write it, and what it does: nothing here is more than the guide shows.

use plimsoll_sdk::guest::Module as _;
use plimsoll_sdk::ranking::*;
use plimsoll_sdk::testing::Market;

/// Settings, as they appear in the Policy object. Their JSON Schema comes from this struct.
#[derive(Settings)]
struct Options {
    /// Dollars per hour charged for each interruption per day seen lately in the same pool of capacity.
    #[setting(default = 0.02, min = 0.0)]
    interruption_charge: f64,
    /// Families never to buy.
    #[setting(default = [])]
    avoid: Vec<String>,
}

reasons! { PAID = "already paid for", PRICE = "list price", RISKY = "interrupted lately", AVOIDED = "family is on the avoid list" }

struct PaidFirst;

impl Ranking for PaidFirst {
    type Settings = Options;

    /// Cost of one more node of this offering to us, in dollars per hour.
    fn price(&self, offering: &Offering, _pool: &Pool, options: &Options) -> Price {
        if options
            .avoid
            .iter()
            .any(|family| family == offering.family())
        {
            return Price::veto(AVOIDED);
        }
        let charge = options.interruption_charge * offering.interruptions_per_day();
        let market = Price::dollars(
            offering.price() + charge,
            if charge > 0.0 { RISKY } else { PRICE },
        );
        match offering.reserved_left() {
            0 => market,
            left => market.but_first(left, 0.0, PAID),
        }
    }
}

export_ranking!(PaidFirst, vetoes);

fn market() -> Market {
    Market::new()
        .offering("m5.large", "a", 0.096)
        .offering("m5.large", "b", 0.040)
        .spot()
        .interruptions(2.0)
        .offering("t3.large", "a", 0.083)
        .offering("m5.xlarge", "a", 0.192)
        .reserved(3)
}

#[test]
fn interruptions_are_charged_by_the_default_setting() {
    let prices = market().prices(&PaidFirst, &Options::default());
    assert_eq!(prices[0], Price::dollars(0.096, PRICE));
    assert_eq!(prices[1], Price::dollars(0.040 + 0.02 * 2.0, RISKY));
}

#[test]
fn a_reservation_is_free_while_it_lasts() {
    let prices = market().prices(&PaidFirst, &Options::default());
    assert_eq!(
        prices[3],
        Price::dollars(0.192, PRICE).but_first(3, 0.0, PAID)
    );
}

#[test]
fn families_on_the_list_are_vetoed() {
    let options = Options {
        avoid: vec!["t3".into()],
        ..Options::default()
    };
    let prices = market().prices(&PaidFirst, &options);
    assert_eq!(prices[2], Price::veto(AVOIDED));
    assert!(
        prices
            .iter()
            .filter(|price| price.then().is_infinite())
            .count()
            == 1
    );
}

#[test]
fn the_manifest_is_json_and_says_what_the_policy_is() {
    let manifest = PaidFirst::MANIFEST;
    let mut text = String::new();
    let bytes = manifest.bytes::<{ PaidFirst::MANIFEST.len() }>();
    text.push_str(std::str::from_utf8(&bytes).unwrap());
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (&json["hook"], &json["unit"], &json["vetoes"]),
        (&"rank".into(), &"dollars".into(), &true.into())
    );
    assert_eq!(json["reasons"][2]["text"], "interrupted lately");
    let charge = &json["settings"]["properties"]["interruption_charge"];
    assert_eq!(
        (&charge["type"], &charge["default"], &charge["minimum"]),
        (&"number".into(), &0.02.into(), &0.into())
    );
    assert_eq!(
        json["settings"]["properties"]["avoid"]["items"]["type"],
        "string"
    );
    assert_eq!(json["settings"]["additionalProperties"], false);
}
