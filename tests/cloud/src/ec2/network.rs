//! Subnets and security groups.

use serde_json::{Value, json};

use super::filter::{filters, passes};
use super::page::{Sizes, page};
use super::{tag_set, texts};
use crate::fault::Fault;
use crate::world::World;

pub(super) const VPC: &str = "vpc-00000000000000001";

pub(super) fn describe_subnets(world: &World, input: &Value) -> Result<Value, Fault> {
    let (filters, ids) = (filters(input)?, texts(input, "SubnetId"));
    if let Some(id) = ids
        .iter()
        .find(|id| world.subnets.iter().all(|subnet| subnet.id != **id))
    {
        let message = format!("The subnet ID '{id}' does not exist");
        return Err(Fault::new("InvalidSubnetID.NotFound", message));
    }
    let mut found = Vec::new();
    for subnet in &world.subnets {
        let is_named = ids.is_empty() || ids.contains(&&*subnet.id);
        let values = |name: &str| match name {
            "subnet-id" => Some(vec![subnet.id.clone()]),
            "vpc-id" => Some(vec![VPC.to_owned()]),
            "availability-zone" => Some(vec![subnet.zone.clone()]),
            "availability-zone-id" => Some(vec![subnet.zone_id.clone()]),
            "state" => Some(vec!["available".to_owned()]),
            _ => None,
        };
        if is_named && passes(&filters, &subnet.tags, values)? {
            found.push(subnet);
        }
    }
    page(input, "subnetSet", &Sizes::USUAL, &found, |subnet| {
        json!({
            "subnetId": subnet.id,
            "state": "available",
            "vpcId": VPC,
            "availabilityZone": subnet.zone,
            "availabilityZoneId": subnet.zone_id,
            "availableIpAddressCount": world.free_addresses(subnet),
            "tagSet": tag_set(&subnet.tags),
        })
    })
}

pub(super) fn describe_security_groups(world: &World, input: &Value) -> Result<Value, Fault> {
    let (filters, ids) = (filters(input)?, texts(input, "GroupId"));
    if let Some(id) = ids
        .iter()
        .find(|id| world.security_groups.iter().all(|group| group.id != **id))
    {
        let message = format!("The security group '{id}' does not exist");
        return Err(Fault::new("InvalidGroup.NotFound", message));
    }
    let mut found = Vec::new();
    for group in &world.security_groups {
        let is_named = ids.is_empty() || ids.contains(&&*group.id);
        let values = |name: &str| match name {
            "group-id" => Some(vec![group.id.clone()]),
            "group-name" => Some(vec![group.name.clone()]),
            "vpc-id" => Some(vec![VPC.to_owned()]),
            _ => None,
        };
        if is_named && passes(&filters, &group.tags, values)? {
            found.push(group);
        }
    }
    page(input, "securityGroupInfo", &Sizes::USUAL, &found, |group| {
        json!({
            "groupId": group.id,
            "groupName": group.name,
            "vpcId": VPC,
            "ownerId": world.account,
            "tagSet": tag_set(&group.tags),
        })
    })
}
