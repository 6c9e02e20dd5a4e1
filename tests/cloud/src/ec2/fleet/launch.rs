//! Instances of one override: how many there are to be had, why not more, and their making.

use plimsoll_ec2_facts::instance_type::Architecture;
use plimsoll_model::catalogue::CapacityType;
use serde_json::Value;

use super::super::{tags_for, texts};
use super::request::Override;
use crate::fault::{Effect, Fault};
use crate::world::{Health, Instance, State, Tags, World};

/// A launch: ids that its instances share, and their tags.
pub(super) struct Launch<'r> {
    /// Id of the fleet.
    pub(super) fleet: &'r str,
    /// Tags that the request has for instances.
    pub(super) tags: &'r Tags,
}

/// Instances that an override gives of those that are wanted, and an error if they are fewer.
pub(super) fn available(
    world: &mut World,
    own: &Override<'_>,
    wanted: u32,
) -> (u32, Option<Fault>) {
    let (name, zone) = (&own.pool.instance_type, &own.pool.zone);
    let scripted = world.take_fault("CreateFleet", |fault| {
        let is_error = fault.is_narrow() && matches!(fault.effect, Effect::Fails(_));
        is_error && fault.covers(name, zone) && fault.is_paid_for(own.pool.capacity_type)
    });
    if let Some(Effect::Fails(fault)) = scripted {
        return (0, Some(fault));
    }
    if let Err(refused) = check(world, own) {
        return (0, Some(refused));
    }
    let left = world.stock.get(&own.pool).map_or(u32::MAX, |left| *left);
    let subnet = world.subnets.iter().find(|subnet| subnet.id == own.subnet);
    let free = subnet.map_or(u32::MAX, |subnet| world.free_addresses(subnet));
    let given = wanted.min(left).min(free);
    let error = match given {
        _ if given == wanted => None,
        _ if left <= free => Some(no_capacity(own)),
        _ => {
            let message = format!(
                "There are not enough free addresses in subnet '{}' to satisfy the requested number of instances.",
                own.subnet
            );
            Some(Fault::new("InsufficientFreeAddressesInSubnet", message))
        }
    };
    (given, error)
}

fn no_capacity(own: &Override<'_>) -> Fault {
    let (name, zone) = (&own.pool.instance_type, &own.pool.zone);
    if own.pool.capacity_type == CapacityType::Spot {
        let message = "Unable to fulfill capacity due to your request configuration. Please adjust your request and try again.";
        return Fault::new("UnfulfillableCapacity", message);
    }
    let message = format!(
        "We currently do not have sufficient {name} capacity in the Availability Zone you requested ({zone}). Our system will be working on provisioning additional capacity."
    );
    Fault::new("InsufficientInstanceCapacity", message)
}

/// Refuses what cannot be launched whatever is in stock.
fn check(world: &World, own: &Override<'_>) -> Result<(), Fault> {
    let (name, zone) = (&*own.pool.instance_type, &*own.pool.zone);
    let Some(facts) = world.instance_type(name) else {
        let message = format!("Invalid value '{name}' for InstanceType.");
        return Err(Fault::invalid(message));
    };
    if !own.subnet.is_empty() && world.subnets.iter().all(|subnet| subnet.id != own.subnet) {
        let message = format!("The subnet ID '{}' does not exist", own.subnet);
        return Err(Fault::new("InvalidSubnetID.NotFound", message));
    }
    if !world.is_offered(name, zone) {
        let message = format!(
            "Your requested instance type ({name}) is not supported in your requested Availability Zone ({zone})."
        );
        return Err(Fault::new("Unsupported", message));
    }
    let nests = own.template.data["CpuOptions"]["NestedVirtualization"] == "enabled";
    if nests && !facts.nested_virtualization {
        let message = format!("Nested virtualization is not supported by instance type {name}.");
        return Err(Fault::new("UnsupportedOperation", message));
    }
    if own.template.data["EnclaveOptions"]["Enabled"] == "true" && !facts.enclaves {
        let message = format!("The instance type {name} does not support enclaves.");
        return Err(Fault::new("UnsupportedOperation", message));
    }
    let wanted = match facts.architecture {
        Architecture::Amd64 => "x86_64",
        Architecture::Arm64 => "arm64",
    };
    check_image(world, &own.image, Some(wanted))?;
    check_profile(world, &own.template.data)?;
    check_groups(world, &own.template.data)
}

/// Refuses an image that is not there or is for another architecture.
pub(super) fn check_image(world: &World, id: &str, wanted: Option<&str>) -> Result<(), Fault> {
    let Some(image) = world.images.iter().find(|image| image.id == id) else {
        let message = format!("The image id '[{id}]' does not exist");
        return Err(Fault::new("InvalidAMIID.NotFound", message));
    };
    match wanted {
        Some(wanted) if wanted != image.architecture => Err(Fault::invalid(format!(
            "The architecture '{wanted}' of the specified instance type does not match the architecture '{}' of the specified AMI. Specify an instance type and an AMI that have matching architectures, and try again.",
            image.architecture
        ))),
        _ => Ok(()),
    }
}

/// Refuses an instance profile that is not there or has no role.
pub(super) fn check_profile(world: &World, data: &Value) -> Result<(), Fault> {
    let Some(name) = data["IamInstanceProfile"]["Name"].as_str() else {
        return Ok(());
    };
    let words = match world.instance_profiles.get(name) {
        Some(profile) if profile.role.is_some() => return Ok(()),
        Some(_) => "IAM Instance Profile has no associated IAM Roles",
        None => "Invalid IAM Instance Profile name",
    };
    let message =
        format!("Value ({name}) for parameter iamInstanceProfile.name is invalid. {words}");
    Err(Fault::invalid(message))
}

fn check_groups(world: &World, data: &Value) -> Result<(), Fault> {
    let groups = groups(data);
    let mut unknown = groups.iter().filter(|id| {
        let mut known = world.security_groups.iter();
        known.all(|group| group.id != **id)
    });
    match unknown.next() {
        None => Ok(()),
        Some(id) => {
            let message = format!("The security group '{id}' does not exist");
            Err(Fault::new("InvalidGroup.NotFound", message))
        }
    }
}

/// Ids of the security groups of a template: those of its interfaces, or its own.
fn groups(data: &Value) -> Vec<String> {
    let interfaces = data["NetworkInterface"].as_array().into_iter().flatten();
    let mut ids: Vec<&str> = interfaces
        .flat_map(|own| texts(own, "SecurityGroupId"))
        .collect();
    ids.extend(texts(data, "SecurityGroupId"));
    ids.sort_unstable();
    ids.dedup();
    ids.into_iter().map(str::to_owned).collect()
}

/// Makes instances of an override; their ids.
pub(super) fn launch(
    world: &mut World,
    own: &Override<'_>,
    count: u32,
    launch: &Launch<'_>,
) -> Vec<String> {
    if let Some(left) = world.stock.get_mut(&own.pool) {
        *left = left.saturating_sub(count);
    }
    let data = &own.template.data;
    let mut tags = tags_for(data, "instance");
    tags.extend(launch.tags.clone());
    for (key, value) in [
        ("aws:ec2:fleet-id", launch.fleet),
        ("aws:ec2launchtemplate:id", &own.template.id),
        ("aws:ec2launchtemplate:version", "1"),
    ] {
        tags.insert(key.to_owned(), value.to_owned());
    }
    let (reservation, now, running) = (world.next_id("r"), world.now(), world.delays.running);
    let made = (0..count).map(|_| {
        let id = world.next_id("i");
        let is_spot = own.pool.capacity_type == CapacityType::Spot;
        let instance = Instance {
            id: id.clone(),
            reservation: reservation.clone(),
            fleet: launch.fleet.to_owned(),
            instance_type: own.pool.instance_type.clone(),
            zone: own.pool.zone.clone(),
            subnet: own.subnet.clone(),
            image: own.image.clone(),
            capacity_type: own.pool.capacity_type,
            spot_request: is_spot.then(|| world.next_id("sir")),
            security_groups: groups(data),
            profile: data["IamInstanceProfile"]["Name"]
                .as_str()
                .map(str::to_owned),
            template: data.clone(),
            tags: tags.clone(),
            launched: now,
            ends: None,
            health: Health::default(),
        };
        world.instances.insert(id.clone(), instance);
        world.tell_state(&id, State::Pending, now);
        match world.start_failure.clone() {
            None => world.tell_state(&id, State::Running, now + running),
            Some(reason) => {
                world.state_reasons.insert(id.clone(), reason);
                world.end(&id, now);
            }
        }
        id
    });
    made.collect()
}
