//! EC2: which operation is which, and what they share.

mod filter;
mod fleet;
mod images;
mod instances;
mod network;
mod offerings;
mod page;
mod spot_prices;
mod status;
mod tags;
mod template;
mod types;

use serde_json::{Value, json};

use crate::fault::Fault;
use crate::world::{Tags, World};

/// Answers an operation.
pub(crate) fn answer(world: &mut World, operation: &str, input: &Value) -> Result<Value, Fault> {
    if input["DryRun"] == "true" {
        return Err(dry_run(world, operation, input));
    }
    match operation {
        "CreateFleet" => world.once(operation, input, |world| fleet::create(world, input)),
        "CreateLaunchTemplate" => {
            world.once(operation, input, |world| template::create(world, input))
        }
        "CreateTags" => tags::create(world, input),
        "DeleteLaunchTemplate" => template::delete(world, input),
        "DescribeImages" => images::describe(world, input),
        "DescribeInstanceStatus" => status::describe(world, input),
        "DescribeInstanceTypeOfferings" => offerings::describe(world, input),
        "DescribeInstanceTypes" => types::describe(world, input),
        "DescribeInstances" => instances::describe(world, input),
        "DescribeLaunchTemplates" => template::describe(world, input),
        "DescribeSecurityGroups" => network::describe_security_groups(world, input),
        "DescribeSpotPriceHistory" => spot_prices::describe(world, input),
        "DescribeSubnets" => network::describe_subnets(world, input),
        "RunInstances" => {
            let message = "RunInstances is served as a dry run only";
            Err(Fault::new("UnsupportedOperation", message))
        }
        "TerminateInstances" => instances::terminate(world, input),
        other => Err(Fault::unknown(other)),
    }
}

/// The error of a dry run: what the call would be refused for, or the one that says that it would go well.
fn dry_run(world: &World, operation: &str, input: &Value) -> Fault {
    let checked = match operation {
        "CreateFleet" => fleet::check(world, input),
        "RunInstances" => fleet::check_run(world, input),
        _ => Ok(()),
    };
    let message = "Request would have succeeded, but DryRun flag is set.";
    let fine = || Fault::new("DryRunOperation", message).with_status(412);
    checked.err().unwrap_or_else(fine)
}

/// Types and zones that a call is about, for faults that are scripted for some alone.
pub(crate) fn subjects(world: &World, operation: &str, input: &Value) -> Vec<(String, String)> {
    if world.faults.is_empty() {
        return Vec::new();
    }
    if operation == "CreateFleet" {
        return fleet::subjects(world, input);
    }
    let named = ["InstanceId", "ResourceId"].map(|key| texts(input, key));
    let found = named
        .iter()
        .flatten()
        .filter_map(|id| world.instances.get(*id));
    found
        .map(|own| (own.instance_type.clone(), own.zone.clone()))
        .collect()
}

/// Texts of a list in an input.
pub(crate) fn texts<'i>(input: &'i Value, key: &str) -> Vec<&'i str> {
    let entries = input[key].as_array().into_iter().flatten();
    entries.filter_map(Value::as_str).collect()
}

fn tag_set(tags: &Tags) -> Value {
    let tag = |(key, value): (&String, &String)| json!({"key": key, "value": value});
    tags.iter().map(tag).collect()
}

/// Tags of a list `Tag` of an input.
pub(crate) fn tags_of(input: &Value) -> Tags {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let tags = input["Tag"].as_array().into_iter().flatten();
    tags.map(|tag| (text(&tag["Key"]), text(&tag["Value"])))
        .collect()
}

/// Tags that a list `TagSpecification` of an input has for a kind of resource.
pub(crate) fn tags_for(input: &Value, kind: &str) -> Tags {
    let all = input["TagSpecification"].as_array().into_iter().flatten();
    let own = all.filter(|specification| specification["ResourceType"] == kind);
    own.flat_map(tags_of).collect()
}
