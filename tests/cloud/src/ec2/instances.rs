//! Instances: lists by id, filter and page, and their end.

use serde_json::{Value, json};

use super::filter::{Filter, filters, passes};
use super::network::VPC;
use super::page::{Sizes, page};
use super::{tag_set, texts};
use crate::clock::rfc3339;
use crate::fault::Fault;
use crate::world::{Instance, State, World};

pub(super) fn describe(world: &World, input: &Value) -> Result<Value, Fault> {
    let (filters, ids) = (filters(input)?, texts(input, "InstanceId"));
    if !ids.is_empty() && !input["MaxResults"].is_null() {
        let message = "The parameter instancesSet cannot be used with the parameter maxResults";
        return Err(Fault::new("InvalidParameterCombination", message));
    }
    let mut found = Vec::new();
    for (instance, state) in known(world, &ids)? {
        if is_found(world, instance, state, &filters)? {
            found.push((instance, state));
        }
    }
    let write = |own: &(&Instance, State)| described(world, own.0, own.1);
    let mut answer = page(input, "instancesSet", &Sizes::USUAL, &found, write)?;
    let instances = answer["instancesSet"].take();
    let reservations = reservations(world, instances);
    Ok(json!({"reservationSet": reservations, "nextToken": answer["nextToken"]}))
}

/// Instances of these ids, or all of them, with their states. Fails where calls do not know one.
pub(super) fn known<'w>(
    world: &'w World,
    ids: &[&str],
) -> Result<Vec<(&'w Instance, State)>, Fault> {
    if ids.is_empty() {
        let all = world.instances.values();
        return Ok(all
            .filter_map(|own| Some((own, world.state(own)?)))
            .collect());
    }
    let find = |id: &&str| {
        let own = world.instances.get(*id)?;
        Some((own, world.state(own)?))
    };
    let missing: Vec<&str> = ids
        .iter()
        .filter(|id| find(id).is_none())
        .copied()
        .collect();
    match missing[..] {
        [] => Ok(ids.iter().filter_map(find).collect()),
        [id] => {
            let message = format!("The instance ID '{id}' does not exist");
            Err(Fault::new("InvalidInstanceID.NotFound", message))
        }
        _ => {
            let message = format!("The instance IDs '{}' do not exist", missing.join(", "));
            Err(Fault::new("InvalidInstanceID.NotFound", message))
        }
    }
}

fn is_found(
    world: &World,
    instance: &Instance,
    state: State,
    filters: &[Filter<'_>],
) -> Result<bool, Fault> {
    let has_launch = state != State::Terminated;
    passes(filters, &instance.tags, |name| {
        Some(match name {
            "instance-id" => vec![instance.id.clone()],
            "instance-state-name" => vec![state.name().to_owned()],
            "instance-state-code" => vec![state.code().to_string()],
            "instance-type" => vec![instance.instance_type.clone()],
            "instance-lifecycle" => lifecycle(instance).map(str::to_owned).into_iter().collect(),
            "spot-instance-request-id" => instance.spot_request.clone().into_iter().collect(),
            "availability-zone" => vec![instance.zone.clone()],
            "image-id" => vec![instance.image.clone()],
            "reservation-id" => vec![instance.reservation.clone()],
            "owner-id" => vec![world.account.clone()],
            "subnet-id" | "vpc-id" | "instance.group-id" if !has_launch => Vec::new(),
            "subnet-id" => vec![instance.subnet.clone()],
            "vpc-id" => vec![VPC.to_owned()],
            "instance.group-id" => instance.security_groups.clone(),
            _ => return None,
        })
    })
}

fn lifecycle(instance: &Instance) -> Option<&'static str> {
    instance.spot_request.as_ref().map(|_| "spot")
}

/// Instances of one launch beside each other, as a reservation.
fn reservations(world: &World, instances: Value) -> Vec<Value> {
    let Value::Array(instances) = instances else {
        return Vec::new();
    };
    let mut reservations: Vec<Value> = Vec::new();
    for mut instance in instances {
        let id = instance["reservation"].take();
        match reservations.last_mut() {
            Some(last) if last["reservationId"] == id => {
                if let Some(set) = last["instancesSet"].as_array_mut() {
                    set.push(instance);
                }
            }
            _ => reservations.push(json!({
                "reservationId": id, "ownerId": world.account, "instancesSet": [instance],
            })),
        }
    }
    reservations
}

/// An instance as lists have it. Terminated ones have lost network and profile.
fn described(world: &World, instance: &Instance, state: State) -> Value {
    let data = &instance.template;
    let subnets = world.subnets.iter();
    let zone_id = subnets
        .filter(|own| own.zone == instance.zone)
        .map(|own| &own.zone_id)
        .next();
    let facts = world.instance_type(&instance.instance_type);
    let architecture = facts.map(super::types::architecture);
    let tenancy = data["Placement"]["Tenancy"].as_str().unwrap_or("default");
    let mut told = json!({
        "reservation": instance.reservation,
        "instanceId": instance.id,
        "imageId": instance.image,
        "instanceState": state_of(state),
        "instanceType": instance.instance_type,
        "launchTime": rfc3339(instance.launched),
        "placement": {
            "availabilityZone": instance.zone, "availabilityZoneId": zone_id, "tenancy": tenancy, "groupName": "",
        },
        "monitoring": {"state": if data["Monitoring"]["Enabled"] == "true" { "enabled" } else { "disabled" }},
        "architecture": architecture,
        "instanceLifecycle": lifecycle(instance),
        "spotInstanceRequestId": instance.spot_request,
        "virtualizationType": "hvm",
        "hypervisor": "xen",
        "rootDeviceType": "ebs",
        "rootDeviceName": "/dev/xvda",
        "tagSet": tag_set(&instance.tags),
        "privateDnsName": "",
        "metadataOptions": metadata(data),
    });
    if state != State::Terminated {
        network(world, instance, &mut told);
    }
    let reason = world.state_reasons.get(&instance.id);
    if let Some(reason) = reason.filter(|_| state >= State::ShuttingDown) {
        told["stateReason"] = json!({"code": reason.code, "message": reason.message});
    }
    told
}

fn network(world: &World, instance: &Instance, told: &mut Value) {
    let number = instance
        .id
        .rsplit('-')
        .next()
        .and_then(|hex| u64::from_str_radix(hex, 16).ok());
    let [.., a, b, c] = number.unwrap_or_default().to_be_bytes();
    let address = format!("10.{a}.{b}.{c}");
    let host = address.replace('.', "-");
    let groups: Vec<Value> = instance
        .security_groups
        .iter()
        .map(|id| {
            let group = world.security_groups.iter().find(|group| group.id == *id);
            json!({"groupId": id, "groupName": group.map(|group| &group.name)})
        })
        .collect();
    told["privateIpAddress"] = json!(address);
    told["privateDnsName"] = json!(format!("ip-{host}.ec2.internal"));
    told["subnetId"] = json!(instance.subnet);
    told["vpcId"] = json!(VPC);
    told["groupSet"] = json!(groups);
    let usual = [json!({})];
    let interfaces = instance.template["NetworkInterface"].as_array();
    let interfaces = interfaces.map_or(&usual[..], Vec::as_slice).iter();
    let interfaces = interfaces.enumerate().map(|(number, own)| {
        let kind = own["InterfaceType"].as_str().unwrap_or("interface");
        let id = instance.id.replace("i-", "eni-");
        let rest = (number > 0).then(|| format!("{number:02x}"));
        json!({
            "networkInterfaceId": id + &rest.unwrap_or_default(),
            "subnetId": instance.subnet,
            "vpcId": VPC,
            "status": "in-use",
            "interfaceType": kind,
            "privateIpAddress": (number == 0).then_some(&address),
            "groupSet": groups,
        })
    });
    told["networkInterfaceSet"] = interfaces.collect();
    told["iamInstanceProfile"] = json!(instance.profile.as_ref().map(|name| {
        let path = world
            .instance_profiles
            .get(name)
            .map_or("/", |own| &own.path);
        json!({
            "arn": format!("arn:aws:iam::{}:instance-profile{path}{name}", world.account),
            "id": "AIPA00000000000000001",
        })
    }));
}

fn metadata(data: &Value) -> Value {
    let own = &data["MetadataOptions"];
    let text = |key: &str, usual: &str| own[key].as_str().unwrap_or(usual).to_owned();
    json!({
        "state": "applied",
        "httpEndpoint": text("HttpEndpoint", "enabled"),
        "httpTokens": text("HttpTokens", "optional"),
        "httpPutResponseHopLimit": text("HttpPutResponseHopLimit", "1"),
        "httpProtocolIpv6": text("HttpProtocolIpv6", "disabled"),
        "instanceMetadataTags": text("InstanceMetadataTags", "disabled"),
    })
}

pub(super) fn state_of(state: State) -> Value {
    json!({"code": state.code(), "name": state.name()})
}

/// Ends instances: all of the call, or none where one is not known.
pub(super) fn terminate(world: &mut World, input: &Value) -> Result<Value, Fault> {
    let ids = texts(input, "InstanceId");
    if ids.is_empty() {
        return Err(Fault::missing("InstanceId"));
    }
    let before = known(world, &ids)?;
    let before: Vec<(String, State)> = before
        .into_iter()
        .map(|(own, state)| (own.id.clone(), state))
        .collect();
    let now = world.now();
    for (id, _) in &before {
        world.end_for(
            id,
            now,
            "Client.UserInitiatedShutdown",
            "User initiated shutdown",
        );
    }
    let told = before.into_iter().map(|(id, state)| {
        // One that ends at once is still told to be on its way.
        let after = state.max(State::ShuttingDown);
        json!({"instanceId": id, "currentState": state_of(after), "previousState": state_of(state)})
    });
    Ok(json!({"instancesSet": told.collect::<Vec<_>>()}))
}
