//! Fleets of instances at once: the best overrides first, as many instances as there are, and an error for each override that gave too few.

mod launch;
mod request;
#[cfg(test)]
mod tests;

use plimsoll_model::catalogue::CapacityType;
use serde_json::{Value, json};

use super::template;
use crate::fault::Fault;
use crate::iam_policy;
use crate::world::World;
use launch::Launch;
use request::{Override, Request};

pub(super) fn create(world: &mut World, input: &Value) -> Result<Value, Fault> {
    let request = Request::read(world, input)?;
    let fleet = format!("fleet-{}", world.next_uuid());
    let denied = iam_policy::fleet_denial(world, input);
    let (mut left, mut given, mut errors) = (request.count, Vec::new(), Vec::new());
    for own in &request.overrides {
        if left == 0 {
            break;
        }
        let (count, error) = match &denied {
            Some(denied) => (0, Some(denied.clone())),
            None => launch::available(world, own, left),
        };
        left -= count;
        if count > 0 {
            let shared = Launch {
                fleet: &fleet,
                tags: &request.tags,
            };
            let ids = launch::launch(world, own, count, &shared);
            let mut entry = described(own);
            entry["instanceIds"] = json!(ids);
            entry["instanceType"] = json!(own.pool.instance_type);
            given.push(entry);
        }
        if let Some(error) = error {
            let mut entry = described(own);
            entry["errorCode"] = json!(error.code);
            entry["errorMessage"] = json!(error.message);
            errors.push(entry);
        }
    }
    Ok(json!({"fleetId": fleet, "fleetInstanceSet": given, "errorSet": errors}))
}

/// What instances and errors both say: the override as it was asked for, and how it is paid for.
fn described(own: &Override<'_>) -> Value {
    let text = |key: &str| own.tree[key].as_str();
    let lifecycle = match own.pool.capacity_type {
        CapacityType::Spot => "spot",
        _ => "on-demand",
    };
    json!({
        "lifecycle": lifecycle,
        "launchTemplateAndOverrides": {
            "launchTemplateSpecification": {"launchTemplateId": own.template.id, "version": "1"},
            "overrides": {
                "instanceType": own.pool.instance_type,
                "subnetId": text("SubnetId"),
                "availabilityZone": text("AvailabilityZone"),
                "imageId": text("ImageId"),
                "priority": text("Priority"),
            },
        },
    })
}

/// Checks a request without changing anything.
pub(super) fn check(world: &World, input: &Value) -> Result<(), Fault> {
    Request::read(world, input).map(drop)
}

/// Checks a request to run instances: its template, image and profile.
pub(super) fn check_run(world: &World, input: &Value) -> Result<(), Fault> {
    let named = &input["LaunchTemplate"];
    let data = match named {
        Value::Null => &Value::Null,
        named => &template::of_specification(world, named)?.data,
    };
    let image = input["ImageId"]
        .as_str()
        .or_else(|| data["ImageId"].as_str());
    launch::check_image(world, image.unwrap_or_default(), None)?;
    launch::check_profile(world, data)?;
    launch::check_profile(world, input)
}

/// Types and zones of the overrides of a request.
pub(super) fn subjects(world: &World, input: &Value) -> Vec<(String, String)> {
    let request = Request::read(world, input);
    let overrides = request.map(|request| request.overrides).unwrap_or_default();
    let pools = overrides.into_iter().map(|own| own.pool);
    pools.map(|pool| (pool.instance_type, pool.zone)).collect()
}
