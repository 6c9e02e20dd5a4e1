//! Launches made again where some of their claims have their instances already, launches with more ways to buy than EC2 takes, and spot once
//! the account has its role.

use super::*;

#[tokio::test]
async fn a_launch_that_is_repeated_leaves_out_the_instances_that_claims_have() {
    let scene = Scene::new().await;
    let first = ids(&claims(scene.launch(&two(OnDemand)).await));
    assert_eq!(first.len(), 2);
    // Each of the two may have been written down before the process ended.
    for (named, left) in [(0, 1), (1, 0)] {
        let mut request = two(OnDemand);
        request.taken = [ProviderId::from(first[named].as_str())].into();
        request.claims = vec![Arc::clone(&two(OnDemand).claims[left])];
        assert_eq!(ids(&claims(scene.launch(&request).await)), [&*first[left]]);
        assert_eq!(ids(&scene.find(&request).await), [&*first[left]]);
    }
    assert_eq!(scene.instances().len(), 2);
}

#[tokio::test]
async fn ec2_is_asked_for_no_more_ways_to_buy_than_it_takes() {
    let scene = Scene::new().await;
    let class = scene.ec2.class("default").expect("a class");
    let types = class.catalogue.types().iter();
    let types = types.filter(|own| class.image_of(own).is_some());
    let mut price = 1.0;
    let zones = ["us-east-1a", "us-east-1b", "us-east-1c"];
    let options = types.take(120).flat_map(|own| {
        zones.map(|zone| {
            price += 0.01;
            sample::option(own.name.as_str(), zone, OnDemand, price)
        })
    });
    let options: Vec<_> = options.collect();
    assert_eq!(options.len(), 360);
    let cheapest: Vec<String> = options[..300]
        .iter()
        .map(|own| format!("{} {}", own.instance_type, own.zone))
        .collect();
    let launched = claims(scene.launch(&sample::request(&["a"], options)).await);
    assert_eq!(ids(&launched).len(), 1, "{launched:?}");
    let calls = scene.cloud.calls().into_iter();
    let mut asked: Vec<String> = Vec::new();
    for call in calls.filter(|call| call.operation == "CreateFleet") {
        let configs = call.input["LaunchTemplateConfigs"].as_array().cloned();
        for config in configs.unwrap_or_default() {
            let ways = config["Overrides"].as_array().cloned().unwrap_or_default();
            let text = |way: &Value, key: &str| way[key].as_str().unwrap_or("-").to_owned();
            asked.extend(ways.iter().map(|way| {
                format!(
                    "{} {}",
                    text(way, "InstanceType"),
                    text(way, "AvailabilityZone")
                )
            }));
        }
    }
    let (asked, cheapest): (BTreeSet<_>, BTreeSet<_>) =
        (asked.into_iter().collect(), cheapest.into_iter().collect());
    assert_eq!(asked, cheapest);
}

#[tokio::test]
async fn without_its_role_no_class_is_offered_spot_and_with_it_spot_is_launched_again() {
    let scene = Scene::new().await;
    let wide = scene.ec2.class("default").expect("a class");
    let mut object = wide.object.clone();
    object.metadata.name = Some("wide".to_owned());
    let first_subnet = json!([{"id": format!("subnet-{:017x}", 1)}]);
    scene
        .serve(&json!({"subnetSelectorTerms": first_subnet}))
        .await;
    let narrow = scene.ec2.class("default").expect("a class");
    scene
        .ec2
        .serve([narrow, Arc::new(wide.with_object(object))]);
    let missing = Fault::new(
        "AuthFailure.ServiceLinkedRoleCreationNotPermitted",
        "The provided credentials do not have permission to create the service-linked role for EC2 Spot Instances.",
    );
    let fault = ScriptedFault::error("CreateFleet", missing).in_zone("us-east-1a");
    scene.cloud.with(|world| world.faults.push(fault));
    let Outcome::Done(Answer::Launched(answer)) = scene.launch(&two(Spot)).await else {
        unreachable!("an answer")
    };
    let exhausted = answer.exhausted.iter();
    let zones: BTreeSet<&str> = exhausted.clone().map(|own| &*own.zone).collect();
    let of_all = ["us-east-1a", "us-east-1b", "us-east-1c"];
    assert_eq!(zones, of_all.into(), "those of the other class, too");
    assert!(exhausted.clone().all(|own| own.capacity_type == Spot));
    // Somebody has made the role, and the engine asks for spot again.
    let mut again = two(Spot);
    again.batch.token = "00ab-1".into();
    assert_eq!(ids(&claims(scene.launch(&again).await)).len(), 2);
    assert!(
        scene
            .instances()
            .iter()
            .all(|own| own.capacity_type == Spot)
    );
}
