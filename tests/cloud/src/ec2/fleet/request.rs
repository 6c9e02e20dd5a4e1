//! Requests for fleets, read: how many instances, and the overrides in the order in which they are tried.

use std::collections::BTreeSet;

use plimsoll_base::units::PricePerHour;
use plimsoll_model::catalogue::CapacityType;
use serde_json::Value;

use super::super::{tags_for, template};
use crate::fault::Fault;
use crate::world::{CapacityPool, LaunchTemplate, Tags, World};

/// Most overrides of a request.
const MOST_OVERRIDES: usize = 300;

/// A request for instances at once.
pub(super) struct Request<'i> {
    /// Instances that are asked for.
    pub(super) count: u32,
    /// Ways to buy, the first that is tried first.
    pub(super) overrides: Vec<Override<'i>>,
    /// Tags of the instances.
    pub(super) tags: Tags,
}

/// A type in a subnet, with the template that it is launched by.
pub(super) struct Override<'i> {
    /// The template.
    pub(super) template: LaunchTemplate,
    /// As it stands in the request.
    pub(super) tree: &'i Value,
    /// Type, zone and how it is paid for.
    pub(super) pool: CapacityPool,
    /// Id of the subnet; empty where the request names none.
    pub(super) subnet: String,
    /// Id of the image; empty where neither override nor template names one.
    pub(super) image: String,
}

/// Order in which overrides are tried.
#[derive(Clone, Copy)]
enum Strategy {
    LowestPrice,
    MostCapacity,
    Priority,
}

impl<'i> Request<'i> {
    /// Reads a request. Fails where EC2 would refuse it as a whole.
    pub(super) fn read(world: &World, input: &'i Value) -> Result<Self, Fault> {
        if input["Type"] != "instant" {
            return Err(Fault::invalid(
                "Only fleets of type instant are served here",
            ));
        }
        let target = &input["TargetCapacitySpecification"];
        let (capacity_type, strategy) = bought(input, target)?;
        let count = target["TotalTargetCapacity"].as_str();
        let count = count.and_then(|count| count.parse().ok()).unwrap_or(0);
        if count == 0 {
            return Err(Fault::invalid("TotalTargetCapacity must be at least 1"));
        }
        let configs = input["LaunchTemplateConfigs"].as_array();
        let configs = configs.ok_or_else(|| Fault::missing("LaunchTemplateConfigs"))?;
        let mut overrides = Vec::new();
        for config in configs {
            let template =
                template::of_specification(world, &config["LaunchTemplateSpecification"])?;
            let trees = config["Overrides"].as_array();
            let trees = trees.map_or(std::slice::from_ref(&Value::Null), |trees| trees);
            let own = trees
                .iter()
                .map(|tree| read(world, template, tree, capacity_type));
            let own: Vec<Override<'_>> = own.collect::<Result<_, _>>()?;
            check_pools(&own)?;
            overrides.extend(own);
        }
        if overrides.len() > MOST_OVERRIDES {
            let message = format!("A fleet may have {MOST_OVERRIDES} overrides at most");
            return Err(Fault::new("InvalidFleetConfig", message));
        }
        sort(world, &mut overrides, strategy);
        Ok(Self {
            count,
            overrides,
            tags: tags_for(input, "instance"),
        })
    }
}

/// How instances are paid for, and the strategy for that.
fn bought(input: &Value, target: &Value) -> Result<(CapacityType, Strategy), Fault> {
    let (capacity_type, options) = match target["DefaultTargetCapacityType"].as_str() {
        Some("spot") => (CapacityType::Spot, "SpotOptions"),
        Some("on-demand") | None => (CapacityType::OnDemand, "OnDemandOptions"),
        Some(other) => {
            let message = format!("Invalid DefaultTargetCapacityType: {other}");
            return Err(Fault::invalid(message));
        }
    };
    let strategy = input[options]["AllocationStrategy"].as_str();
    let strategy = match (capacity_type, strategy.unwrap_or("lowest-price")) {
        (_, "lowest-price") | (CapacityType::Spot, "price-capacity-optimized" | "diversified") => {
            Strategy::LowestPrice
        }
        (CapacityType::OnDemand, "prioritized")
        | (CapacityType::Spot, "capacity-optimized-prioritized") => Strategy::Priority,
        (CapacityType::Spot, "capacity-optimized") => Strategy::MostCapacity,
        (_, other) => {
            let message = format!("Invalid {options}.AllocationStrategy: {other}");
            return Err(Fault::invalid(message));
        }
    };
    Ok((capacity_type, strategy))
}

fn read<'i>(
    world: &World,
    template: &LaunchTemplate,
    tree: &'i Value,
    capacity_type: CapacityType,
) -> Result<Override<'i>, Fault> {
    let text = |key: &str| {
        let own = tree[key].as_str().or_else(|| template.data[key].as_str());
        own.unwrap_or_default().to_owned()
    };
    let instance_type = text("InstanceType");
    if instance_type.is_empty() {
        let message = "Each override of the fleet must name an instance type";
        return Err(Fault::new("InvalidFleetConfig", message));
    }
    let (subnet, asked) = (text("SubnetId"), text("AvailabilityZone"));
    let found = world.subnets.iter().find(|own| own.id == subnet);
    let zone = found.map_or(&*asked, |subnet| &*subnet.zone);
    if !asked.is_empty() && asked != zone {
        let message = format!("The subnet '{subnet}' is not in the availability zone {asked}");
        return Err(Fault::invalid(message));
    }
    Ok(Override {
        template: template.clone(),
        tree,
        pool: CapacityPool::new(&instance_type, zone, capacity_type),
        image: text("ImageId"),
        subnet,
    })
}

/// A pool may be named once for a template: a type in one subnet of each zone.
fn check_pools(overrides: &[Override<'_>]) -> Result<(), Fault> {
    let mut pools = BTreeSet::new();
    if overrides.iter().all(|own| pools.insert(&own.pool)) {
        return Ok(());
    }
    let message = "The fleet configuration contains duplicate instance pools.";
    Err(Fault::new("InvalidFleetConfig", message))
}

/// Sorts by a strategy; ties stay in the order of the request.
fn sort(world: &World, overrides: &mut [Override<'_>], strategy: Strategy) {
    let price = |own: &Override<'_>| world.price(&own.pool).map_or(i64::MAX, PricePerHour::nanos);
    match strategy {
        Strategy::LowestPrice => overrides.sort_by_key(price),
        Strategy::MostCapacity => {
            let left = |own: &Override<'_>| world.stock.get(&own.pool).map_or(u32::MAX, |own| *own);
            overrides.sort_by_key(|own| std::cmp::Reverse(left(own)));
        }
        Strategy::Priority => {
            let priority = |own: &Override<'_>| {
                let number = own.tree["Priority"].as_str();
                let number = number.and_then(|number| number.parse::<f64>().ok());
                // Without one it comes last.
                number.unwrap_or(f64::INFINITY)
            };
            overrides.sort_by(|a, b| priority(a).total_cmp(&priority(b)));
        }
    }
}
