//! Calls within the buckets of an account: none of them is throttled, and what is urgent does not wait for what is not.

use std::sync::atomic::{AtomicUsize, Ordering};

use plimsoll_cloud::{usual_instance_rates, usual_rates};
use tokio::task::JoinSet;

use super::*;

/// Codes of the errors that calls of an operation were answered with.
fn errors(cloud: &Cloud, operation: &str) -> Vec<String> {
    let calls = cloud.calls().into_iter();
    let own = calls.filter(|call| call.operation == operation);
    own.filter_map(|call| call.error).collect()
}

fn number_of(cloud: &Cloud, operation: &str) -> usize {
    let calls = cloud.calls().into_iter();
    calls.filter(|call| call.operation == operation).count()
}

#[tokio::test]
async fn two_hundred_launches_and_ends_are_not_throttled_while_more_is_read_than_there_are_tokens()
{
    let mut world = World::demo("demo");
    world.delays.terminated = Duration::from_mins(10);
    let scene = Scene::on(world).await;
    scene.serve(&json!({})).await;
    scene.cloud.with(|world| {
        world.rates = usual_rates();
        world.instance_rates = usual_instance_rates();
    });
    let ec2 = Arc::new(scene.ec2);
    // Of all these lists some hundred are answered at once, and twenty each second.
    let listed = Arc::new(AtomicUsize::new(0));
    let mut lists = JoinSet::new();
    for _ in 0..600 {
        let (ec2, listed) = (Arc::clone(&ec2), Arc::clone(&listed));
        lists.spawn(async move {
            drop(ec2.call(&CloudCall::List).await);
            listed.fetch_add(1, Ordering::SeqCst);
        });
    }

    let mut launches = JoinSet::new();
    for batch in 0..20 {
        let names: Vec<String> = (0..10).map(|own| format!("claim-{batch}-{own}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut request = sample::request(&names, two(OnDemand).options);
        request.batch.token = format!("00ab-{batch}").as_str().into();
        let ec2 = Arc::clone(&ec2);
        launches.spawn(async move { claims(ec2.call(&CloudCall::Launch(request)).await) });
    }
    let mut ends = JoinSet::new();
    while let Some(launched) = launches.join_next().await {
        for id in ids(&launched.expect("a launch")) {
            let ec2 = Arc::clone(&ec2);
            let instance = ProviderId::from(id);
            ends.spawn(async move { ec2.call(&CloudCall::Terminate { instance }).await });
        }
    }
    let ended = ends.join_all().await;
    assert_eq!(ended.len(), 200);
    assert!(
        ended
            .iter()
            .all(|own| *own == Outcome::Done(Answer::Ending))
    );
    assert!(
        listed.load(Ordering::SeqCst) < 600,
        "reads that came before still wait"
    );
    drop(lists);
    for operation in ["TerminateInstances", "CreateFleet"] {
        assert_eq!(errors(&scene.cloud, operation), [""; 0], "{operation}");
    }
    let world_ends = scene.cloud.with(|world| {
        let instances = world.instances.values();
        instances.filter(|own| own.ends.is_some()).count()
    });
    assert_eq!(world_ends, 200);
}

#[tokio::test]
async fn what_is_throttled_all_the_same_is_tried_again_in_its_turn_and_not_taken_apart() {
    let scene = Scene::new().await;
    let launched = claims(scene.launch(&two(OnDemand)).await);
    let ids = ids(&launched);
    let slow = Fault::new("RequestLimitExceeded", "Request limit exceeded.").with_status(503);
    let fault = ScriptedFault::error("TerminateInstances", slow.clone()).times(2);
    scene.cloud.with(|world| {
        world.delays.terminated = Duration::from_mins(10);
        world.faults.push(fault);
    });
    let end = async |id: &String| {
        let instance = ProviderId::from(id.as_str());
        scene.ec2.call(&CloudCall::Terminate { instance }).await
    };
    let ending = Outcome::Done(Answer::Ending);
    let outcomes = tokio::join!(end(&ids[0]), end(&ids[1]));
    assert_eq!(outcomes, (ending.clone(), ending));
    assert_eq!(number_of(&scene.cloud, "TerminateInstances"), 3);
}

#[tokio::test]
async fn a_fleet_that_is_cut_short_by_throttling_slows_down_the_next() {
    let scene = Scene::new().await;
    let slow = Fault::new("RequestLimitExceeded", "Request limit exceeded.");
    let fault = ScriptedFault::error("CreateFleet", slow);
    let in_zones = ["us-east-1a", "us-east-1b"].map(|zone| fault.clone().in_zone(zone));
    scene.cloud.with(|world| world.faults.extend(in_zones));
    let launch = async |attempt: u32| {
        let mut request = two(OnDemand);
        request.batch.token = format!("00ab-{attempt}").as_str().into();
        ids(&claims(scene.launch(&request).await)).len()
    };
    assert_eq!(launch(0).await, 0);
    assert!(scene.ec2.clients().tokens_left("ec2:CreateFleet") < 10);
    assert_eq!(launch(1).await, 2);
}
