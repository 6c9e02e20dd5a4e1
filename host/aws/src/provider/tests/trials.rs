//! The trial of a class is the launch that its pools would ask for, in every subnet, and what a class itself says wrong is its condition.

use plimsoll_ec2_facts::catalogue::{CapacityTypes, SoldType};
use plimsoll_ec2_facts::instance_type;
use plimsoll_model::Version;

use super::*;

/// From now on there is this pool.
fn observe(scene: &Scene, pool: Object) {
    scene.ec2.observe(&Input::Applied(pool, Version::default()));
}

fn asks(key: &str, values: &[&str]) -> Value {
    json!({"key": key, "operator": "In", "values": values})
}

fn pool(requirements: &[Value]) -> Object {
    sample::pool("general", &json!({"spec": {"requirements": requirements}}))
}

async fn try_out(scene: &Scene) -> Result<(), Refusal> {
    let class = scene.ec2.class("default").expect("a class");
    scene.ec2.try_out(&class).await.expect("an answer")
}

/// Inputs of the calls of an operation.
fn inputs(scene: &Scene, operation: &str) -> Vec<Value> {
    let calls = scene.cloud.calls().into_iter();
    let calls = calls.filter(|call| call.operation == operation);
    calls.map(|call| call.input).collect()
}

/// Types that instances were tried of, each with the tenancy of its template.
fn tried(scene: &Scene) -> Vec<(String, String)> {
    let runs = inputs(scene, "RunInstances").into_iter();
    let templates = inputs(scene, "CreateLaunchTemplate");
    runs.map(|run| {
        let of_run = |made: &&Value| {
            made["LaunchTemplateName"] == run["LaunchTemplate"]["LaunchTemplateName"]
        };
        let made = templates.iter().find(of_run).expect("a template");
        let tenancy = &made["LaunchTemplateData"]["Placement"]["Tenancy"];
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        (text(&run["InstanceType"]), text(tenancy))
    })
    .collect()
}

#[tokio::test]
async fn a_class_is_tried_out_with_a_type_and_the_tenancy_that_its_pools_ask_for() {
    let (family, tenancy) = (
        "karpenter.k8s.aws/instance-family",
        "karpenter.k8s.aws/instance-tenancy",
    );
    let other_class = json!({"spec": {
        "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "other"},
        "requirements": [asks(family, &["c7i"])],
    }});
    let by_label =
        json!({"metadata": {"labels": {"node.kubernetes.io/instance-type": "c7i.large"}}});
    for (own, expected, is_dedicated) in [
        (None, "m5.large", false),
        (Some(pool(&[asks(family, &["m7g"])])), "m7g.12xlarge", false),
        (Some(sample::pool("general", &by_label)), "c7i.large", false),
        (
            Some(sample::pool("general", &other_class)),
            "m5.large",
            false,
        ),
        // Nothing that is sold in the zones of the class.
        (
            Some(pool(&[
                asks(family, &["c7i"]),
                asks("topology.kubernetes.io/zone", &["us-east-1z"]),
            ])),
            "m5.large",
            false,
        ),
        // An image for GPUs is tried where the pool wants nothing else.
        (
            Some(pool(&[asks(family, &["g5", "m5"])])),
            "m5.12xlarge",
            false,
        ),
        (Some(pool(&[asks(family, &["g5"])])), "g5.12xlarge", false),
        (
            Some(pool(&[
                asks(family, &["c7i"]),
                asks(tenancy, &["default", "dedicated"]),
            ])),
            "c7i.12xlarge",
            true,
        ),
        (
            Some(pool(&[asks(family, &["c7i"]), asks(tenancy, &["default"])])),
            "c7i.12xlarge",
            false,
        ),
    ] {
        let scene = Scene::new().await;
        let told = format!("{own:?}");
        if let Some(own) = own {
            observe(&scene, own);
        }
        assert_eq!(try_out(&scene).await, Ok(()));
        let tenancy = if is_dedicated { "dedicated" } else { "default" };
        let expected = [(expected.to_owned(), tenancy.to_owned())];
        assert_eq!(tried(&scene), expected, "{told}");
    }
}

#[tokio::test]
async fn pools_that_ask_for_something_else_have_the_class_tried_out_anew() {
    let scene = Scene::new().await;
    let own = pool(&[asks("karpenter.k8s.aws/instance-family", &["c7i"])]);
    for (seen, count) in [(false, 1), (false, 1), (true, 2), (true, 2)] {
        if seen {
            observe(&scene, own.clone());
        }
        assert_eq!(try_out(&scene).await, Ok(()));
        assert_eq!(tried(&scene).len(), count);
    }
    scene.ec2.observe(&Input::Deleted(own, Version::default()));
    assert_eq!(try_out(&scene).await, Ok(()));
    let types: Vec<String> = tried(&scene).into_iter().map(|(name, _)| name).collect();
    assert_eq!(types, ["m5.large", "c7i.12xlarge", "m5.large"]);
}

#[tokio::test]
async fn a_class_whose_types_are_sold_as_spot_alone_is_tried_out_as_well() {
    let scene = Scene::new().await;
    let mut own = class(&json!({}));
    own.status = Some(scene.reconciled(&own).await.status);
    let mut market = Market::of_tables("us-east-1");
    let facts = instance_type("m7i.large").expect("a type").clone();
    let spot_only = SoldType {
        facts,
        capacity_types: CapacityTypes::SpotOnly,
    };
    let types = BTreeMap::from([("m7i.large".to_owned(), spot_only)]);
    market.listing.types = Some(Arc::new(types));
    let nodes = NodeSettings {
        memory_overhead: Share::from_parts_per_million(75_000),
        reserved_interfaces: 0,
        fills_open_reservations: false,
    };
    let served = ServedClass::new(own, &market, "", nodes).expect("a class");
    scene.ec2.serve([Arc::new(served)]);
    let denied = Fault::new("UnauthorizedOperation", "You are not authorized").with_status(403);
    let fault = ScriptedFault::error("RunInstances", denied).times(100);
    scene.cloud.with(|world| world.faults.push(fault));
    let refusal = try_out(&scene).await.expect_err("a refusal");
    assert_eq!(refusal.reason, "RunInstancesAuthCheckFailed");
    let fleets = inputs(&scene, "CreateFleet");
    let kind = &fleets[0]["TargetCapacitySpecification"]["DefaultTargetCapacityType"];
    assert_eq!((fleets.len(), kind), (1, &json!("on-demand")));
}

#[tokio::test]
async fn instances_are_tried_in_every_subnet_with_the_interfaces_of_the_class_until_one_may_run() {
    let entry = |card: u32, device: u32, kind: &str| json!({"networkCardIndex": card, "deviceIndex": device, "interfaceType": kind});
    let listed = json!([entry(0, 0, "interface"), entry(1, 1, "efa-only")]);
    let mut world = World::demo("demo");
    let second = plimsoll_cloud::Subnet {
        id: "subnet-second".to_owned(),
        ..world.subnets[0].clone()
    };
    world.subnets.push(second);
    let scene = Scene::on(world).await;
    scene.serve(&json!({"networkInterfaces": listed})).await;
    let denied = || Fault::new("UnauthorizedOperation", "You are not authorized").with_status(403);
    let fault = ScriptedFault::error("RunInstances", denied()).times(3);
    scene.cloud.with(|world| world.faults.push(fault));
    assert_eq!(try_out(&scene).await, Ok(()));
    let runs = inputs(&scene, "RunInstances");
    let subnets: BTreeSet<&str> = runs
        .iter()
        .filter_map(|run| run["NetworkInterface"][0]["SubnetId"].as_str())
        .collect();
    assert_eq!((runs.len(), subnets.len()), (4, 4));
    for run in &runs {
        let subnet = &run["NetworkInterface"][0]["SubnetId"];
        let expected = json!([
            {"NetworkCardIndex": "0", "DeviceIndex": "0", "InterfaceType": "interface", "SubnetId": subnet},
            {"NetworkCardIndex": "1", "DeviceIndex": "1", "InterfaceType": "efa-only", "SubnetId": subnet},
        ]);
        assert_eq!(run["NetworkInterface"], expected);
    }
    // EC2 takes one subnet of a zone for each type of a fleet.
    let overrides =
        inputs(&scene, "CreateFleet")[0]["LaunchTemplateConfigs"][0]["Overrides"].take();
    assert_eq!(overrides.as_array().map(Vec::len), Some(3));
}

#[tokio::test]
async fn a_trial_that_ec2_throttles_is_given_up_at_once() {
    let scene = Scene::new().await;
    let slow = Fault::new("RequestLimitExceeded", "Request limit exceeded.").with_status(503);
    let fault = ScriptedFault::error("RunInstances", slow).times(100);
    scene.cloud.with(|world| world.faults.push(fault));
    let class = scene.ec2.class("default").expect("a class");
    let error = scene
        .ec2
        .try_out(&class)
        .await
        .expect_err("nothing is known");
    assert_eq!(error.code, "RequestLimitExceeded");
    assert_eq!(inputs(&scene, "RunInstances").len(), 1);
}

#[tokio::test]
async fn user_data_that_is_no_archive_although_it_begins_like_one_is_the_classs_condition() {
    let scene = Scene::new().await;
    let half =
        "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"X\"\n\n--X\n\nruncmd: []\n";
    let spec = json!({"userData": half});
    scene.serve(&spec).await;
    let refusal = try_out(&scene).await.expect_err("a refusal");
    let expected = Refusal {
        reason: "UserDataInvalid",
        message: "spec.userData begins as a MIME archive and is none: it does not end with --X--"
            .to_owned(),
    };
    assert_eq!(refusal, expected);
    let own = class(&spec);
    let looked = look(&own, &scene.ec2.cluster(), scene.ec2.clients(), NOW).await;
    assert!(looked.is_sound(), "it is tried out");
    let status = looked.conclude(Ok(Err(refusal))).status;
    let said = |kind: &str| {
        let found = status.conditions.iter().find(|own| own.kind == kind);
        found.map(|own| (own.status.as_str(), own.reason.as_str()))
    };
    assert_eq!(
        said("ValidationSucceeded"),
        Some(("False", "UserDataInvalid"))
    );
    assert_eq!(said("Ready"), Some(("False", "UnhealthyDependents")));
    // A launch that comes before the condition is refused as well.
    let refused = scene.launch(&two(OnDemand)).await;
    let Outcome::Refused(Reason::ClassNotReady(words)) = &refused else {
        unreachable!("{refused:?}")
    };
    assert_eq!(
        *words,
        format!("EC2NodeClass default: {}", expected.message)
    );
    assert!(inputs(&scene, "CreateLaunchTemplate").is_empty());
}
