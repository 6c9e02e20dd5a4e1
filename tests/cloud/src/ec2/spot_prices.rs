//! Spot prices of types in zones, as they are now.

use std::time::Duration;

use plimsoll_model::catalogue::CapacityType;
use serde_json::{Value, json};

use super::filter::{filters, passes};
use super::page::{Sizes, page};
use super::texts;
use crate::clock::rfc3339;
use crate::fault::Fault;
use crate::world::{CapacityPool, Tags, World, dollars};

/// The product that a Linux node is.
const PRODUCT: &str = "Linux/UNIX";
/// How long the prices have been as they are.
const AGE: Duration = Duration::from_hours(1);

/// A page has a thousand entries however many more are asked for.
const MOST: usize = 1_000;
const SIZES: Sizes = Sizes {
    least: 1,
    most: MOST,
    usual: MOST,
};

pub(super) fn describe(world: &World, input: &Value) -> Result<Value, Fault> {
    let filters = filters(input)?;
    let (types, products) = (
        texts(input, "InstanceType"),
        texts(input, "ProductDescription"),
    );
    let zone_asked = input["AvailabilityZone"].as_str();
    let mut found = Vec::new();
    let is_shown = products.is_empty() || products.contains(&PRODUCT);
    for own in world.instance_types().filter(|_| is_shown) {
        if !types.is_empty() && !types.contains(&own.name) {
            continue;
        }
        for zone in &world.zones {
            let is_asked = zone_asked.is_none_or(|asked| asked == zone);
            let values = |name: &str| match name {
                "availability-zone" => Some(vec![zone.clone()]),
                "instance-type" => Some(vec![own.name.to_owned()]),
                "product-description" => Some(vec![PRODUCT.to_owned()]),
                _ => None,
            };
            if !is_asked
                || !world.is_offered(own.name, zone)
                || !passes(&filters, &Tags::new(), values)?
            {
                continue;
            }
            let pool = CapacityPool::new(own.name, zone, CapacityType::Spot);
            if let Some(price) = world.price(&pool) {
                found.push((own.name, zone, price));
            }
        }
    }
    let since = rfc3339(world.now() - AGE);
    let mut input = input.clone();
    let asked = input["MaxResults"]
        .as_str()
        .and_then(|most| most.parse::<usize>().ok());
    if let Some(most) = asked {
        input["MaxResults"] = json!(most.min(MOST).to_string());
    }
    page(
        &input,
        "spotPriceHistorySet",
        &SIZES,
        &found,
        |(name, zone, price)| {
            json!({
                "instanceType": name,
                "productDescription": PRODUCT,
                "spotPrice": dollars(*price),
                "timestamp": since,
                "availabilityZone": zone,
            })
        },
    )
}

#[cfg(test)]
mod tests {
    use plimsoll_base::units::PricePerHour;

    use super::*;

    fn ask(world: &World, input: &Value) -> Vec<Value> {
        let told = describe(world, input).expect("prices");
        told["spotPriceHistorySet"]
            .as_array()
            .cloned()
            .unwrap_or_default()
    }

    #[test]
    fn prices_differ_by_type_and_zone_and_are_those_that_fleets_go_by() {
        let mut world = World::new();
        world.types = ["m5.large", "c5.large"].map(str::to_owned).into();
        let price = PricePerHour::from_dollars(0.0123).expect("a price");
        let key = ("m5.large".to_owned(), "us-east-1b".to_owned());
        world.spot_prices.insert(key, price);
        assert_eq!(ask(&world, &json!({})).len(), 6);
        let told = ask(
            &world,
            &json!({"InstanceType": ["m5.large"], "AvailabilityZone": "us-east-1b"}),
        );
        assert_eq!(told.len(), 1);
        assert_eq!(told[0]["spotPrice"], "0.012300");
        let filter = json!([{"Name": "availability-zone", "Value": ["us-east-1a"]}]);
        assert_eq!(ask(&world, &json!({"Filter": filter})).len(), 2);
        assert_eq!(
            ask(&world, &json!({"ProductDescription": ["Windows"]})).len(),
            0
        );
    }

    #[test]
    fn a_page_has_a_thousand_prices_even_if_more_are_asked_for() {
        let world = World::new();
        let told = describe(&world, &json!({"MaxResults": "2000"})).expect("prices");
        assert_eq!(
            told["spotPriceHistorySet"].as_array().map(Vec::len),
            Some(1_000)
        );
        assert_eq!(told["nextToken"], "1000");
    }
}
