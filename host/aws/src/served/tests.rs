//! A class sells what EC2 says that there is, where it says that it is, for what it says that it costs.

use plimsoll_base::time::Timestamp;
use plimsoll_base::units::PricePerHour;
use plimsoll_cloud::{Cloud, Options, World};
use plimsoll_ec2_facts::instance_type;
use plimsoll_model::catalogue::{CapacityType, PriceSource};
use serde_json::json;

use super::*;
use crate::launch::draft::draft;
use crate::prices::quotes;
use crate::sample;

const NOW: Timestamp = Timestamp::from_millis(1_790_000_000_000);

/// The market of a cloud, all of it asked for.
async fn market(world: World) -> Market {
    let cloud = Cloud::start(Options { port: 0, world }).await;
    let cloud = cloud.expect("a cloud");
    let clients = sample::clients(&cloud).await;
    let mut market = Market::of_tables("us-east-1");
    let listing = &mut market.listing;
    let types = clients.instance_types().await.expect("types");
    listing.types = Some(Arc::new(types.sold));
    listing.zones = Some(Arc::new(clients.offered_zones().await.expect("zones")));
    let list = clients.price_list().await.expect("a list");
    listing.prices = Some(Arc::new(list.prices("us-east-1").expect("prices")));
    let points = clients.spot_prices(NOW).await.expect("prices");
    market.spot = Some(quotes(&points, NOW));
    market
}

/// Offerings of a type on a market, as lines; `None` where a class does not sell it.
fn sold(market: &Market, name: &str) -> Option<Vec<String>> {
    let class = sample::class_on(market, &json!({}));
    let offerings = &class.catalogue.get(name)?.offerings;
    let lines = offerings.iter().map(|own| {
        let (kind, source) = (own.capacity_type.as_str(), own.price_source);
        format!("{} {kind} {} {source:?}", own.zone, own.price.nanos())
    });
    Some(lines.collect())
}

fn dollars(amount: f64) -> PricePerHour {
    PricePerHour::from_dollars(amount).expect("a price")
}

#[tokio::test]
async fn a_class_sells_all_that_is_offered_in_its_zones_at_the_prices_of_the_lists() {
    let mut world = World::new();
    let spot = |zone: &str| ("m5.large".to_owned(), zone.to_owned());
    for (zone, price) in [("us-east-1a", 0.03), ("us-east-1b", 0.04)] {
        world.spot_prices.insert(spot(zone), dollars(price));
    }
    let name = "m5.large".to_owned();
    world.on_demand_prices.insert(name.clone(), dollars(0.2));
    let told = market(world.clone()).await;
    let all = [
        "us-east-1a spot 30000000 Quote",
        "us-east-1a on-demand 200000000 List",
        "us-east-1b spot 40000000 Quote",
        "us-east-1b on-demand 200000000 List",
    ];
    assert_eq!(sold(&told, "m5.large").expect("sold"), all);
    world.on_demand_prices.insert(name, dollars(0.3));
    let told = market(world).await;
    let dearer = sold(&told, "m5.large").expect("sold");
    assert_eq!(dearer[1], "us-east-1a on-demand 300000000 List");
    let class = sample::class_on(&told, &json!({}));
    assert_eq!(class.catalogue.types().len(), 1_345);
    let tables = sample::class(&json!({}));
    for own in class.catalogue.types() {
        let known = tables.catalogue.get(own.name.as_str()).expect("a type");
        assert_eq!(own.requirements, known.requirements, "{}", own.name);
        let room = |own: &InstanceType| (own.capacity.clone(), own.overhead.clone());
        assert_eq!(room(own), room(known), "{}", own.name);
        assert_eq!(own.attach_limits, known.attach_limits, "{}", own.name);
    }
}

#[tokio::test]
async fn a_type_is_sold_in_zones_that_have_it_and_in_no_others() {
    let mut world = World::new();
    let pair = |name: &str, zone: &str| (name.to_owned(), zone.to_owned());
    world.not_offered.extend([
        pair("m5.large", "us-east-1a"),
        pair("c5.large", "us-east-1a"),
        pair("c5.large", "us-east-1b"),
    ]);
    let told = market(world).await;
    let m5 = sold(&told, "m5.large").expect("sold");
    assert_eq!(m5.len(), 2);
    assert!(
        m5.iter().all(|line| line.starts_with("us-east-1b")),
        "{m5:?}"
    );
    assert_eq!(
        sold(&told, "c5.large"),
        None,
        "the class has no other zones"
    );
    let r5 = sold(&told, "r5.large").expect("sold");
    assert_eq!(r5.len(), 4);
}

#[tokio::test]
async fn a_type_that_the_tables_do_not_have_is_sold_once_it_has_a_price() {
    let known = instance_type("m7i.large").expect("a type");
    let more = plimsoll_ec2_facts::InstanceType {
        name: "z9.large",
        ..known.clone()
    };
    let mut world = World::new();
    world.more_types.push(Box::leak(Box::new(more)));
    let told = market(world.clone()).await;
    assert_eq!(sold(&told, "z9.large"), None, "nobody knows its price");
    let name = "z9.large".to_owned();
    world.on_demand_prices.insert(name.clone(), dollars(0.5));
    world.without_spot.insert(name);
    let told = market(world).await;
    assert_eq!(
        sold(&told, "z9.large").expect("sold"),
        [
            "us-east-1a on-demand 500000000 List",
            "us-east-1b on-demand 500000000 List"
        ]
    );
    let class = sample::class_on(&told, &json!({}));
    let own = class.catalogue.get("z9.large").expect("sold");
    assert_eq!(class.image_of(own), Some("ami-amd"));
    let documented = class.catalogue.get("m7i.large").expect("sold");
    assert_eq!(own.overhead, documented.overhead);
    // What is sold can be launched.
    let option = sample::option("z9.large", "us-east-1a", CapacityType::OnDemand, 0.5);
    let request = sample::request(&["a"], vec![option]);
    let drafted = draft(&class, &sample::cluster(), &request).expect("a draft");
    let (_, ways) = &drafted.templates[0];
    assert_eq!(ways[0].instance_type, "z9.large");
}

#[tokio::test]
async fn spot_costs_the_list_price_until_quotes_come_and_is_not_sold_without_one_then() {
    let mut market = Market::of_tables("us-east-1");
    let lines = sold(&market, "m5.large").expect("sold");
    assert_eq!(lines[0], "us-east-1a spot 96000000 List");
    let mut spot = SpotQuotes::default();
    let quote = plimsoll_ec2_facts::catalogue::SpotQuote {
        price: dollars(0.03),
        age_s: 60,
    };
    spot.insert("m5.large", "us-east-1b", quote)
        .expect("a price");
    market.spot = Some(spot);
    let class = sample::class_on(&market, &json!({}));
    let own = class.catalogue.get("m5.large").expect("sold");
    let spot = own.offerings.iter();
    let spot: Vec<_> = spot
        .filter(|own| own.capacity_type == CapacityType::Spot)
        .map(|own| (&*own.zone, own.price, own.price_source, own.price_age_s))
        .collect();
    let quoted = (dollars(0.03), PriceSource::Quote, 60);
    assert_eq!(spot, [("us-east-1b", quoted.0, quoted.1, quoted.2)]);
}

#[test]
fn regions_without_compiled_prices_sell_at_those_of_the_reference_region() {
    let market = Market::of_tables("eu-west-1");
    let lines = sold(&market, "m5.large").expect("sold");
    assert_eq!(lines[1], "us-east-1a on-demand 96000000 List");
    let market = Market {
        list_price_age_s: 90,
        ..Market::of_tables("cn-northwest-1")
    };
    let class = sample::class_on(&market, &json!({}));
    let own = class.catalogue.get("c5.large").expect("sold");
    assert_eq!(own.offerings[1].price.nanos(), 739_000_000, "yuan");
    assert_eq!(own.offerings[1].price_age_s, 90);
}

#[tokio::test]
async fn a_class_that_nests_virtual_machines_sells_types_of_which_ec2_says_that_they_can() {
    let known = instance_type("m7i.large").expect("a type");
    let more = plimsoll_ec2_facts::InstanceType {
        name: "z9.large",
        nested_virtualization: true,
        ..known.clone()
    };
    let mut world = World::new();
    world
        .on_demand_prices
        .insert("z9.large".to_owned(), dollars(0.5));
    world.more_types.push(Box::leak(Box::new(more)));
    let told = market(world).await;
    let class = |own: &str| {
        let spec = json!({"cpuOptions": {"nestedVirtualization": own}});
        sample::class_on(&told, &spec).catalogue
    };
    let (all, some) = (class("disabled"), class("enabled"));
    assert_eq!(all.types().len(), some.types().len(), "all are known");
    let families: BTreeSet<&str> = some
        .types()
        .iter()
        .filter(|own| own.offerings.iter().any(|offering| offering.available))
        .map(|own| own.name.as_str().split('.').next().unwrap_or_default())
        .collect();
    let expected = [
        "c8i", "c8i-flex", "m8i", "m8i-flex", "r8i", "r8i-flex", "z9",
    ];
    assert_eq!(Vec::from_iter(families), expected);
}
