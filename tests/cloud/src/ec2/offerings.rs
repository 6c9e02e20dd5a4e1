//! Offerings of instance types: in the region, or in each zone.

use serde_json::{Value, json};

use super::filter::{filters, passes};
use super::page::{Sizes, page};
use crate::fault::Fault;
use crate::world::{Tags, World};

const SIZES: Sizes = Sizes {
    usual: 1_000,
    ..Sizes::USUAL
};

pub(super) fn describe(world: &World, input: &Value) -> Result<Value, Fault> {
    let kind = input["LocationType"].as_str().unwrap_or("region");
    let zones: Vec<(&str, &str)> = match kind {
        "region" => vec![(&world.region, "")],
        "availability-zone" => world.zones.iter().map(|zone| (&**zone, &**zone)).collect(),
        "availability-zone-id" => {
            let mut ids: Vec<(&str, &str)> = world
                .subnets
                .iter()
                .map(|own| (&*own.zone_id, &*own.zone))
                .collect();
            ids.sort_unstable();
            ids.dedup();
            ids
        }
        other => {
            let message = format!("The location type '{other}' is invalid");
            return Err(Fault::invalid(message));
        }
    };
    let filters = filters(input)?;
    let mut found = Vec::new();
    for own in world.instance_types() {
        for (location, zone) in &zones {
            let values = |name: &str| match name {
                "instance-type" => Some(vec![own.name.to_owned()]),
                "location" => Some(vec![(*location).to_owned()]),
                _ => None,
            };
            let is_offered = zone.is_empty() || world.is_offered(own.name, zone);
            if is_offered && passes(&filters, &Tags::new(), values)? {
                found.push((own.name, *location));
            }
        }
    }
    page(
        input,
        "instanceTypeOfferingSet",
        &SIZES,
        &found,
        |(name, location)| json!({"instanceType": name, "locationType": kind, "location": location}),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_have_a_thousand_and_give_every_offering_once() {
        let world = World::new();
        let mut input = json!({"LocationType": "availability-zone"});
        let mut seen = Vec::new();
        loop {
            let told = describe(&world, &input).expect("offerings");
            let page = told["instanceTypeOfferingSet"].as_array().expect("a page");
            assert!(page.len() <= 1_000);
            seen.extend(page.iter().map(ToString::to_string));
            match &told["nextToken"] {
                Value::Null => break,
                token => input["NextToken"] = token.clone(),
            }
        }
        let count = seen.len();
        assert_eq!(count, 3 * world.instance_types().count());
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), count);
        input["MaxResults"] = json!("1001");
        let refused = describe(&world, &input).expect_err("too many");
        assert_eq!(refused.code, "InvalidParameterValue");
    }

    #[test]
    fn a_zone_lists_what_it_has() {
        let mut world = World::new();
        world.types = ["m5.large", "c5.large"].map(str::to_owned).into();
        world
            .not_offered
            .insert(("m5.large".to_owned(), "us-east-1c".to_owned()));
        let ask = |input: Value| {
            let told = describe(&world, &input).expect("offerings");
            let all = told["instanceTypeOfferingSet"]
                .as_array()
                .cloned()
                .unwrap_or_default();
            let pair = |own: &Value| {
                format!("{}/{}", own["instanceType"], own["location"]).replace('"', "")
            };
            all.iter().map(pair).collect::<Vec<_>>()
        };
        assert_eq!(ask(json!({})), ["c5.large/us-east-1", "m5.large/us-east-1"]);
        let zones = ask(json!({"LocationType": "availability-zone"}));
        assert_eq!(zones.len(), 5);
        assert!(!zones.contains(&"m5.large/us-east-1c".to_owned()));
        let filter = json!([{"Name": "instance-type", "Value": ["m5*"]}]);
        let some = ask(json!({"LocationType": "availability-zone", "Filter": filter}));
        assert_eq!(some, ["m5.large/us-east-1a", "m5.large/us-east-1b"]);
    }
}
