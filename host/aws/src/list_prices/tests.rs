//! Price lists that are empty, cost nothing, are in another currency or are no JSON, and those that count.

use plimsoll_base::units::PricePerHour;
use plimsoll_cloud::{Cloud, Options, ScriptedFault, World};
use serde_json::json;

use super::*;
use crate::client::Clients;
use crate::sample;

/// An item of the price list.
fn item(name: &str, currency: &str, price: &str) -> String {
    let price = json!({currency: price});
    json!({
        "product": {"attributes": {"instanceType": name}},
        "terms": {"OnDemand": {"A.B": {"priceDimensions": {"A.B.C": {"pricePerUnit": price}}}}},
    })
    .to_string()
}

fn list(shared: &[String], bare_metal: &[String]) -> PriceList {
    PriceList {
        shared: shared.to_vec(),
        bare_metal: bare_metal.to_vec(),
    }
}

fn dollars(amount: f64) -> Option<PricePerHour> {
    PricePerHour::from_dollars(amount)
}

#[test]
fn items_that_say_no_price_say_nothing() {
    let metal = [item("m5.metal", "USD", "4.608")];
    let two = r#"{"Product": {"Attributes": {"InstanceType": "m5.xlarge"}}, "Terms": {"onDemand": {
        "one": {"PriceDimensions": {"a": {"PricePerUnit": {"usd": "0.1"}}, "b": {"PricePerUnit": {"usd": "0.2"}}}},
        "other": {"PriceDimensions": {"c": {"PricePerUnit": {"usd": "0"}}}}
    }}}"#;
    let shared = [
        item("m5.large", "USD", "0.0960000000"),
        item("free.large", "USD", "0.0000000000"),
        item("debt.large", "USD", "-1"),
        item("words.large", "USD", "cheap"),
        item("nan.large", "USD", "NaN"),
        item("yuan.large", "CNY", "0.5"),
        item("", "USD", "0.5"),
        "{\"product\":".to_owned(),
        "[]".to_owned(),
        "{}".to_owned(),
        two.to_owned(),
    ];
    let prices = list(&shared, &metal).prices("us-east-1").expect("prices");
    let names: Vec<&str> = prices.keys().map(String::as_str).collect();
    assert_eq!(names, ["m5.large", "m5.metal", "m5.xlarge"]);
    let price = |name: &str| prices.get(name).copied();
    assert_eq!(price("m5.large"), dollars(0.096));
    assert_eq!(price("m5.metal"), dollars(4.608));
    assert_eq!(price("m5.xlarge"), dollars(0.2), "the highest of several");
}

#[test]
fn a_list_without_any_price_is_told_with_what_there_was() {
    let (virtual_machine, metal) = (
        item("m5.large", "USD", "0.096"),
        item("m5.metal", "USD", "4.608"),
    );
    let free = item("m5.large", "USD", "0.00");
    for (list, region, expected) in [
        (
            list(&[], std::slice::from_ref(&metal)),
            "eu-west-1",
            r#"pricing:GetProducts: 0 items for "Compute Instance" of tenancy Shared in eu-west-1, none of a type with a price above 0 in USD; expected at least one"#,
        ),
        (
            list(&[free, "{".to_owned()], std::slice::from_ref(&metal)),
            "us-east-1",
            r#"pricing:GetProducts: 2 items for "Compute Instance" of tenancy Shared in us-east-1, none of a type with a price above 0 in USD; expected at least one"#,
        ),
        (
            list(std::slice::from_ref(&virtual_machine), &[]),
            "us-east-1",
            r#"pricing:GetProducts: 0 items for "Compute Instance (bare metal)" of tenancy Dedicated in us-east-1, none of a type with a price above 0 in USD; expected at least one"#,
        ),
        (
            list(&[virtual_machine], &[metal]),
            "cn-north-1",
            r#"pricing:GetProducts: 1 items for "Compute Instance" of tenancy Shared in cn-north-1, none of a type with a price above 0 in CNY; expected at least one"#,
        ),
    ] {
        let refused = list.prices(region).expect_err("no prices");
        assert_eq!(refused.to_string(), expected);
    }
}

#[test]
fn each_region_is_asked_for_where_its_prices_are() {
    for (region, endpoint) in [
        ("ap-northeast-1", "ap-south-1"),
        ("cn-north-1", "cn-northwest-1"),
        ("eu-west-3", "eu-central-1"),
        ("us-west-2", "us-east-1"),
        ("sa-east-1", "us-east-1"),
        ("", "us-east-1"),
    ] {
        assert_eq!(endpoint_region(region), endpoint, "{region}");
    }
    assert!(is_priced("us-east-1") && !is_priced("us-gov-west-1"));
}

#[test]
fn compiled_prices_are_those_of_the_nearest_region_in_its_currency() {
    let price = |region: &str, name: &str| compiled(region).get(name).copied();
    assert_eq!(price("us-east-1", "a1.2xlarge"), dollars(0.204));
    assert_eq!(price("eu-west-1", "a1.2xlarge"), dollars(0.204));
    assert_eq!(price("us-gov-east-1", "c6g.large"), dollars(0.0816));
    assert_eq!(price("us-gov-east-1", "a1.2xlarge"), None);
    assert_eq!(price("cn-north-1", "c5.large"), dollars(0.739), "yuan");
    assert_eq!(price("cn-northwest-1", "c5.large"), dollars(0.739));
}

/// Clients of a cloud whose price list has these items.
async fn priced(items: [Vec<String>; 2]) -> (Cloud, Clients) {
    let mut world = World::new();
    world.price_items = Some(items);
    let cloud = Cloud::start(Options { port: 0, world }).await;
    let cloud = cloud.expect("a cloud");
    let clients = sample::clients(&cloud).await;
    (cloud, clients)
}

#[tokio::test]
async fn all_pages_of_both_lists_are_read() {
    let shared = (0..150).map(|number| item(&format!("m{number}.large"), "USD", "0.1"));
    let metal = item("m5.metal", "USD", "4.608");
    let (cloud, clients) = priced([shared.collect(), vec![metal]]).await;
    let list = clients.price_list().await.expect("a list");
    let prices = list.prices("us-east-1").expect("prices");
    assert_eq!(prices.len(), 151);
    let calls = cloud.calls();
    assert_eq!(calls.len(), 3, "two pages and one");
    let asked = |call: &plimsoll_cloud::Call| {
        let filters = call.input["Filters"].as_array().cloned();
        let pair = |own: &serde_json::Value| {
            assert_eq!(own["Type"], "TERM_MATCH");
            format!("{}={}", own["Field"], own["Value"]).replace('"', "")
        };
        let mut pairs: Vec<String> = filters.unwrap_or_default().iter().map(pair).collect();
        pairs.sort_unstable();
        pairs.join(", ")
    };
    let both = "marketoption=OnDemand, operatingSystem=Linux, preInstalledSw=NA";
    assert_eq!(
        asked(&calls[0]),
        format!(
            "capacitystatus=Used, {both}, productFamily=Compute Instance, regionCode=us-east-1, serviceCode=AmazonEC2, tenancy=Shared"
        )
    );
    assert_eq!(
        asked(&calls[2]),
        format!(
            "capacitystatus=Used, {both}, productFamily=Compute Instance (bare metal), regionCode=us-east-1, serviceCode=AmazonEC2, tenancy=Dedicated"
        )
    );
    for call in &calls {
        assert_eq!(call.input["MaxResults"], 100);
    }
}

#[tokio::test]
async fn a_list_that_breaks_off_is_a_failure_of_the_whole() {
    let shared = (0..150).map(|number| item(&format!("m{number}.large"), "USD", "0.1"));
    let metal = item("m5.metal", "USD", "4.608");
    let (cloud, clients) = priced([shared.collect(), vec![metal]]).await;
    let denied = plimsoll_cloud::Fault::new("AccessDeniedException", "no");
    let fault = ScriptedFault::error("GetProducts", denied);
    cloud.with(|world| world.faults.push(fault));
    let refused = clients.price_list().await.expect_err("no list");
    assert_eq!(
        refused.to_string(),
        "pricing:GetProducts: AccessDeniedException: no"
    );
}

#[tokio::test]
async fn list_prices_of_documented_types_are_those_of_the_table() {
    let cloud = Cloud::start(Options::default()).await.expect("a cloud");
    cloud.with(|world| *world = World::new());
    let clients = sample::clients(&cloud).await;
    let list = clients.price_list().await.expect("a list");
    let told = list.prices("us-east-1").expect("prices");
    let known = compiled("us-east-1");
    assert_eq!(told.len(), 1_345);
    for (name, price) in &told {
        // The cloud writes six places.
        let micros = |price: &PricePerHour| price.nanos() / 1_000;
        assert_eq!(known.get(name).map(micros), Some(micros(price)), "{name}");
    }
}
