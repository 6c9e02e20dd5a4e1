//! Fleets on a world with one template, m5 and c5 types, two zones.

use plimsoll_base::units::PricePerHour;
use plimsoll_model::catalogue::CapacityType::{self, OnDemand, Spot};
use serde_json::{Value, json};

use super::super::answer;
use crate::fault::{Fault, ScriptedFault};
use crate::world::{CapacityPool, World};

fn world() -> World {
    let mut world = World::demo("demo");
    let data = json!({
        "ImageId": world.images[0].id,
        "IamInstanceProfile": {"Name": "demo"},
        "NetworkInterface": [{"DeviceIndex": "0", "SecurityGroupId": [world.security_groups[0].id]}],
        "TagSpecification": [{"ResourceType": "instance", "Tag": [{"Key": "from", "Value": "template"}]}],
    });
    let profile = json!({"InstanceProfileName": "demo", "RoleName": world.roles[0]});
    for operation in ["CreateInstanceProfile", "AddRoleToInstanceProfile"] {
        crate::iam::answer(&mut world, operation, &profile).expect("a profile");
    }
    let input = json!({"LaunchTemplateName": "first", "LaunchTemplateData": data});
    answer(&mut world, "CreateLaunchTemplate", &input).expect("a template");
    world
}

/// An override: a type in the subnet of a zone.
fn own(world: &World, instance_type: &str, zone: &str) -> Value {
    let subnet = world
        .subnets
        .iter()
        .find(|subnet| subnet.zone == zone)
        .expect("a subnet");
    json!({"InstanceType": instance_type, "SubnetId": subnet.id, "AvailabilityZone": zone})
}

fn input(kind: &str, strategy: &str, count: u32, overrides: &[Value]) -> Value {
    let options = if kind == "spot" {
        "SpotOptions"
    } else {
        "OnDemandOptions"
    };
    json!({
        "Type": "instant",
        "LaunchTemplateConfigs": [{
            "LaunchTemplateSpecification": {"LaunchTemplateName": "first", "Version": "$Latest"}, "Overrides": overrides,
        }],
        options: {"AllocationStrategy": strategy},
        "TargetCapacitySpecification": {"DefaultTargetCapacityType": kind, "TotalTargetCapacity": count.to_string()},
        "TagSpecification": [{"ResourceType": "instance", "Tag": [{"Key": "cluster", "Value": "demo"}]}],
    })
}

/// Types, zones and numbers of instances that a fleet gave.
fn given(answer: &Value) -> Vec<(String, String, usize)> {
    let entries = answer["fleetInstanceSet"].as_array().into_iter().flatten();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    entries
        .map(|entry| {
            let own = &entry["launchTemplateAndOverrides"]["overrides"];
            let count = entry["instanceIds"].as_array().map_or(0, Vec::len);
            (
                text(&entry["instanceType"]),
                text(&own["availabilityZone"]),
                count,
            )
        })
        .collect()
}

/// Types, zones and codes of errors.
fn errors(answer: &Value) -> Vec<(String, String, String)> {
    let entries = answer["errorSet"].as_array().into_iter().flatten();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    entries
        .map(|entry| {
            let own = &entry["launchTemplateAndOverrides"]["overrides"];
            (
                text(&own["instanceType"]),
                text(&own["availabilityZone"]),
                text(&entry["errorCode"]),
            )
        })
        .collect()
}

fn create(world: &mut World, input: &Value) -> Value {
    answer(world, "CreateFleet", input).expect("a fleet")
}

fn refused(world: &mut World, input: &Value) -> Fault {
    answer(world, "CreateFleet", input).expect_err("refused")
}

fn set_price(world: &mut World, instance_type: &str, zone: &str, dollars: f64) {
    let price = PricePerHour::from_dollars(dollars).expect("a price");
    world
        .spot_prices
        .insert((instance_type.to_owned(), zone.to_owned()), price);
    world
        .on_demand_prices
        .insert(instance_type.to_owned(), price);
}

fn three(a: &str, b: &str, count: usize) -> (String, String, usize) {
    (a.to_owned(), b.to_owned(), count)
}

fn error(a: &str, b: &str, c: &str) -> (String, String, String) {
    (a.to_owned(), b.to_owned(), c.to_owned())
}

fn set_stock(world: &mut World, instance_type: &str, zone: &str, kind: CapacityType, left: u32) {
    world.set_stock(CapacityPool::new(instance_type, zone, kind), left);
}

#[test]
fn the_cheapest_override_is_taken_wherever_it_stands() {
    for (kind, strategy) in [
        ("on-demand", "lowest-price"),
        ("spot", "lowest-price"),
        ("spot", "price-capacity-optimized"),
    ] {
        let mut world = world();
        set_price(&mut world, "m5.large", "us-east-1a", 0.3);
        set_price(&mut world, "c5.large", "us-east-1b", 0.1);
        let overrides = [
            own(&world, "m5.large", "us-east-1a"),
            own(&world, "c5.large", "us-east-1b"),
        ];
        let told = create(&mut world, &input(kind, strategy, 3, &overrides));
        assert_eq!(given(&told), [three("c5.large", "us-east-1b", 3)], "{kind}");
        assert_eq!(errors(&told), []);
    }
}

#[test]
fn priorities_count_where_the_strategy_says_so_and_as_numbers() {
    for (kind, strategy) in [
        ("on-demand", "prioritized"),
        ("spot", "capacity-optimized-prioritized"),
    ] {
        let mut world = world();
        set_price(&mut world, "m5.large", "us-east-1a", 0.3);
        let mut overrides = [
            own(&world, "c5.large", "us-east-1a"),
            own(&world, "m5.large", "us-east-1a"),
            own(&world, "c5.large", "us-east-1b"),
        ];
        overrides[0]["Priority"] = json!("10");
        overrides[1]["Priority"] = json!("9.5");
        let told = create(&mut world, &input(kind, strategy, 1, &overrides));
        assert_eq!(given(&told), [three("m5.large", "us-east-1a", 1)], "{kind}");
    }
}

#[test]
fn pools_with_too_little_stock_are_used_up_and_named_in_errors() {
    let mut world = world();
    set_price(&mut world, "m5.large", "us-east-1a", 0.1);
    set_price(&mut world, "c5.large", "us-east-1a", 0.2);
    set_stock(&mut world, "m5.large", "us-east-1a", OnDemand, 2);
    let overrides = [
        own(&world, "m5.large", "us-east-1a"),
        own(&world, "c5.large", "us-east-1a"),
    ];
    let asked = input("on-demand", "lowest-price", 5, &overrides);
    let told = create(&mut world, &asked);
    let expected = [
        three("m5.large", "us-east-1a", 2),
        three("c5.large", "us-east-1a", 3),
    ];
    assert_eq!(given(&told), expected);
    let expected = [error(
        "m5.large",
        "us-east-1a",
        "InsufficientInstanceCapacity",
    )];
    assert_eq!(errors(&told), expected);
    set_stock(&mut world, "c5.large", "us-east-1a", OnDemand, 1);
    let told = create(&mut world, &asked);
    assert_eq!(given(&told), [three("c5.large", "us-east-1a", 1)]);
    assert_eq!(errors(&told).len(), 2);
    assert_eq!(world.instances.len(), 6);
}

#[test]
fn stock_of_one_capacity_type_is_not_that_of_the_other() {
    let mut world = world();
    set_stock(&mut world, "m5.large", "us-east-1a", Spot, 0);
    let overrides = [own(&world, "m5.large", "us-east-1a")];
    let told = create(&mut world, &input("spot", "lowest-price", 1, &overrides));
    assert_eq!(given(&told), []);
    assert_eq!(
        errors(&told),
        [error("m5.large", "us-east-1a", "UnfulfillableCapacity")]
    );
    assert_eq!(told["errorSet"][0]["lifecycle"], "spot");
    let told = create(
        &mut world,
        &input("on-demand", "lowest-price", 1, &overrides),
    );
    assert_eq!(given(&told), [three("m5.large", "us-east-1a", 1)]);
}

#[test]
fn a_full_subnet_gives_no_address() {
    let mut world = world();
    world.subnets[0].free_addresses = 2;
    let overrides = [own(&world, "m5.large", "us-east-1a")];
    let told = create(
        &mut world,
        &input("on-demand", "lowest-price", 3, &overrides),
    );
    assert_eq!(given(&told), [three("m5.large", "us-east-1a", 2)]);
    let expected = [error(
        "m5.large",
        "us-east-1a",
        "InsufficientFreeAddressesInSubnet",
    )];
    assert_eq!(errors(&told), expected);
    let subnets = answer(&mut world, "DescribeSubnets", &json!({})).expect("subnets");
    assert_eq!(subnets["subnetSet"][0]["availableIpAddressCount"], 0);
}

#[test]
fn a_call_that_comes_again_launches_nothing() {
    let mut world = world();
    let overrides = [own(&world, "m5.large", "us-east-1a")];
    let mut asked = input("spot", "lowest-price", 2, &overrides);
    asked["ClientToken"] = json!("a");
    let first = create(&mut world, &asked);
    assert_eq!(create(&mut world, &asked), first);
    assert_eq!(world.instances.len(), 2);
    asked["TargetCapacitySpecification"]["TotalTargetCapacity"] = json!("3");
    assert_eq!(
        refused(&mut world, &asked).code,
        "IdempotentParameterMismatch"
    );
}

#[test]
fn instances_are_as_template_and_request_say() {
    let mut world = world();
    let overrides = [own(&world, "m5.large", "us-east-1a")];
    create(&mut world, &input("spot", "lowest-price", 1, &overrides));
    create(
        &mut world,
        &input("on-demand", "lowest-price", 1, &overrides),
    );
    let made: Vec<_> = world.instances.values().collect();
    let (spot, on_demand) = (made[0], made[1]);
    assert_eq!(spot.security_groups, [world.security_groups[0].id.clone()]);
    assert_eq!(spot.profile.as_deref(), Some("demo"));
    assert_eq!(spot.image, world.images[0].id);
    assert_eq!(
        (&*spot.tags["cluster"], &*spot.tags["from"]),
        ("demo", "template")
    );
    let template = &world.launch_templates[0].id;
    assert_eq!(&spot.tags["aws:ec2launchtemplate:id"], template);
    let request = spot.spot_request.as_deref();
    assert!(request.is_some_and(|id| id.starts_with("sir-")));
    assert_eq!(on_demand.spot_request, None);
    assert_ne!(spot.reservation, on_demand.reservation);
}

#[test]
fn overrides_that_cannot_be_launched_are_errors_of_their_own() {
    let mut world = world();
    world
        .not_offered
        .insert(("m5.large".to_owned(), "us-east-1b".to_owned()));
    let mut no_image = own(&world, "m5.large", "us-east-1a");
    no_image["ImageId"] = json!("ami-none");
    for (overrides, code) in [
        (own(&world, "m5.large", "us-east-1b"), "Unsupported"),
        (
            own(&world, "m5.tiny", "us-east-1a"),
            "InvalidParameterValue",
        ),
        (
            own(&world, "m6g.large", "us-east-1a"),
            "InvalidParameterValue",
        ),
        (
            json!({"InstanceType": "m5.large", "SubnetId": "subnet-none"}),
            "InvalidSubnetID.NotFound",
        ),
        (no_image, "InvalidAMIID.NotFound"),
    ] {
        let told = create(
            &mut world,
            &input("on-demand", "lowest-price", 1, &[overrides]),
        );
        assert_eq!(told["errorSet"][0]["errorCode"], code);
        assert_eq!(given(&told), []);
    }
    world.instance_profiles.clear();
    let overrides = [own(&world, "m5.large", "us-east-1a")];
    let told = create(
        &mut world,
        &input("on-demand", "lowest-price", 1, &overrides),
    );
    let message = told["errorSet"][0]["errorMessage"].as_str();
    assert!(message.is_some_and(|own| own.contains("iamInstanceProfile.name is invalid")));
}

#[test]
fn types_that_cannot_nest_virtual_machines_are_refused_where_the_template_asks_for_it() {
    let mut world = world();
    world.launch_templates[0].data["CpuOptions"] = json!({"NestedVirtualization": "enabled"});
    let overrides = [
        own(&world, "m5.large", "us-east-1a"),
        own(&world, "m8i.large", "us-east-1a"),
    ];
    let told = create(
        &mut world,
        &input("on-demand", "lowest-price", 1, &overrides),
    );
    assert_eq!(told["errorSet"][0]["errorCode"], "UnsupportedOperation");
    let launched = &told["fleetInstanceSet"][0];
    assert_eq!(launched["instanceType"], "m8i.large");
}

#[test]
fn types_that_cannot_run_enclaves_are_refused_where_the_template_asks_for_it() {
    let mut world = world();
    world.launch_templates[0].data["EnclaveOptions"] = json!({"Enabled": "true"});
    let overrides = [
        own(&world, "m5.large", "us-east-1a"),
        own(&world, "m5.xlarge", "us-east-1a"),
    ];
    let told = create(
        &mut world,
        &input("on-demand", "lowest-price", 1, &overrides),
    );
    assert_eq!(told["errorSet"][0]["errorCode"], "UnsupportedOperation");
    let launched = &told["fleetInstanceSet"][0];
    assert_eq!(launched["instanceType"], "m5.xlarge");
}

#[test]
fn requests_that_make_no_sense_are_refused_as_a_whole() {
    let mut world = world();
    let first = own(&world, "m5.large", "us-east-1a");
    let just = std::slice::from_ref(&first);
    let fine = input("spot", "lowest-price", 1, just);
    let mut wrong_zone = first.clone();
    wrong_zone["AvailabilityZone"] = json!("us-east-1b");
    let mut second = world.subnets[0].clone();
    second.id = "subnet-second".to_owned();
    world.subnets.push(second);
    let twin = json!({"InstanceType": "m5.large", "SubnetId": "subnet-second"});
    let mut no_template = fine.clone();
    no_template["LaunchTemplateConfigs"][0]["LaunchTemplateSpecification"]["LaunchTemplateName"] =
        json!("none");
    let mut maintained = fine.clone();
    maintained["Type"] = json!("maintain");
    for (asked, code) in [
        (no_template, "InvalidLaunchTemplateName.NotFoundException"),
        (maintained, "InvalidParameterValue"),
        (
            input("spot", "prioritized", 1, just),
            "InvalidParameterValue",
        ),
        (
            input("spot", "lowest-price", 0, just),
            "InvalidParameterValue",
        ),
        (
            input("spot", "lowest-price", 1, &[wrong_zone]),
            "InvalidParameterValue",
        ),
        (
            input("spot", "lowest-price", 1, &[first.clone(), twin]),
            "InvalidFleetConfig",
        ),
    ] {
        assert_eq!(refused(&mut world, &asked).code, code);
        // A dry run is refused for the same.
        let mut dry = asked;
        dry["DryRun"] = json!("true");
        assert_eq!(refused(&mut world, &dry).code, code);
    }
    assert!(world.instances.is_empty());
    let mut dry = fine;
    dry["DryRun"] = json!("true");
    let told = refused(&mut world, &dry);
    assert_eq!((&*told.code, told.status), ("DryRunOperation", 412));
    assert!(world.instances.is_empty());
}

#[test]
fn a_scripted_error_meets_the_overrides_that_it_is_for() {
    let mut world = world();
    let limit = Fault::new(
        "MaxSpotInstanceCountExceeded",
        "Max spot instance count exceeded",
    );
    let scripted = ScriptedFault::error("CreateFleet", limit)
        .of_type("m5.large")
        .times(2);
    world.faults.push(scripted);
    set_price(&mut world, "m5.large", "us-east-1a", 0.1);
    set_price(&mut world, "m5.large", "us-east-1b", 0.1);
    let overrides = [
        own(&world, "m5.large", "us-east-1a"),
        own(&world, "m5.large", "us-east-1b"),
        own(&world, "c5.large", "us-east-1a"),
    ];
    set_price(&mut world, "c5.large", "us-east-1a", 0.2);
    let asked = input("spot", "lowest-price", 1, &overrides);
    let told = create(&mut world, &asked);
    assert_eq!(given(&told), [three("c5.large", "us-east-1a", 1)]);
    let code = "MaxSpotInstanceCountExceeded";
    let expected = [
        error("m5.large", "us-east-1a", code),
        error("m5.large", "us-east-1b", code),
    ];
    assert_eq!(errors(&told), expected);
    let told = create(&mut world, &asked);
    assert_eq!(given(&told), [three("m5.large", "us-east-1a", 1)]);
}

#[test]
fn a_scripted_error_for_spot_leaves_what_is_bought_on_demand() {
    let mut world = world();
    let code = "AuthFailure.ServiceLinkedRoleCreationNotPermitted";
    let scripted = ScriptedFault::error("CreateFleet", Fault::new(code, "")).paid_for(Spot);
    world.faults.push(scripted.times(10));
    let overrides = [own(&world, "m5.large", "us-east-1a")];
    let told = create(&mut world, &input("spot", "lowest-price", 1, &overrides));
    assert_eq!(given(&told), []);
    assert_eq!(errors(&told), [error("m5.large", "us-east-1a", code)]);
    let told = create(
        &mut world,
        &input("on-demand", "lowest-price", 1, &overrides),
    );
    assert_eq!(given(&told), [three("m5.large", "us-east-1a", 1)]);
}

#[test]
fn a_dry_run_of_instances_looks_at_template_image_and_profile() {
    let mut world = world();
    let ask = |world: &mut World, template: &str| {
        let input = json!({"DryRun": "true", "LaunchTemplate": {"LaunchTemplateName": template}});
        answer(world, "RunInstances", &input).expect_err("dry").code
    };
    assert_eq!(ask(&mut world, "first"), "DryRunOperation");
    assert_eq!(
        ask(&mut world, "none"),
        "InvalidLaunchTemplateName.NotFoundException"
    );
    world.instance_profiles.clear();
    assert_eq!(ask(&mut world, "first"), "InvalidParameterValue");
    let wet = json!({"LaunchTemplate": {"LaunchTemplateName": "first"}});
    let told = answer(&mut world, "RunInstances", &wet).expect_err("refused");
    assert_eq!(told.code, "UnsupportedOperation");
}
