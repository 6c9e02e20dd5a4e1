//! Scripted faults and rates over the wire.

use std::io::ErrorKind;

use plimsoll_cloud::{Clock, Fault, Rate, ScriptedFault};

use crate::client::{cloud, ec2, json, query};
use crate::instances::{fleet, launched};

const MAKE: &str = "Action=CreateLaunchTemplate&ClientToken=a&LaunchTemplateName=first&LaunchTemplateData.ImageId=ami-1";

#[tokio::test]
async fn an_error_comes_as_often_as_it_is_scripted_and_with_its_status() {
    let cloud = cloud().await;
    let fault = Fault::new("InternalError", "An internal error has occurred").with_status(500);
    cloud.with(|world| {
        world
            .faults
            .push(ScriptedFault::error("DescribeSubnets", fault).times(2));
    });
    for status in [500, 500, 200] {
        let told = ec2(&cloud, "Action=DescribeSubnets").await;
        assert_eq!(told.status, status);
        assert_eq!(
            ec2(&cloud, "Action=DescribeSecurityGroups").await.status,
            200
        );
    }
    let errors: Vec<_> = cloud
        .calls()
        .into_iter()
        .filter_map(|call| call.error)
        .collect();
    assert_eq!(errors, ["InternalError", "InternalError"]);
}

#[tokio::test]
async fn a_lost_answer_is_of_a_call_that_happened() {
    let cloud = cloud().await;
    cloud.with(|world| {
        world
            .faults
            .push(ScriptedFault::lost_answer("CreateLaunchTemplate"));
    });
    let lost = query(&cloud, "ec2", MAKE).await.expect_err("no answer");
    assert!(
        matches!(
            lost.kind(),
            ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset
        ),
        "{lost}"
    );
    assert_eq!(cloud.with(|world| world.launch_templates.len()), 1);
    // The same call again is told of the one that was made.
    let told = ec2(&cloud, MAKE).await;
    let id = cloud.with(|world| world.launch_templates[0].id.clone());
    assert_eq!(told.element("launchTemplateId"), Some(&*id));
    assert_eq!(cloud.with(|world| world.launch_templates.len()), 1);
}

#[tokio::test]
async fn half_of_an_answer_comes_as_if_it_were_all_or_before_its_connection_ends() {
    for (fault, is_ended) in [
        (ScriptedFault::halved_answer("CreateLaunchTemplate"), true),
        (ScriptedFault::cut_answer("CreateLaunchTemplate"), false),
    ] {
        let cloud = cloud().await;
        cloud.with(|world| world.faults.push(fault));
        let told = ec2(&cloud, MAKE).await;
        assert_eq!(told.status, 200);
        assert!(
            told.body.contains("<CreateLaunchTemplateResponse") && !told.body.contains("</Create"),
            "{told:?}"
        );
        let length = format!("content-length: {}", told.body.len());
        assert_eq!(told.head.contains(&length), is_ended, "{told:?}");
        // A cut answer does not say that it is at its end: its last chunk is missing.
        assert!(!told.body.ends_with("0\r\n\r\n"), "{told:?}");
        assert_eq!(cloud.with(|world| world.launch_templates.len()), 1);
    }
}

#[tokio::test]
async fn a_call_is_held_before_it_is_carried_out_or_after() {
    let cloud = cloud().await;
    for (number, is_carried_out) in [(1, false), (2, true)] {
        let fault = ScriptedFault::hold("CreateLaunchTemplate", is_carried_out);
        cloud.with(|world| world.faults.push(fault));
        let until_held = async {
            while cloud.held_calls() < number {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            answer = query(&cloud, "ec2", MAKE) => assert!(answer.is_err(), "{answer:?}"),
            () = until_held => {}
        }
        let made = cloud.with(|world| world.launch_templates.len());
        assert_eq!(made, usize::from(is_carried_out));
    }
    assert_eq!(ec2(&cloud, MAKE).await.status, 200);
}

#[tokio::test]
async fn a_fault_for_a_type_or_zone_meets_calls_about_such_instances_alone() {
    let (cloud, ids) = launched(1).await;
    let fault = || Fault::new("InternalError", "").with_status(500);
    let scripted = |zone: &str| ScriptedFault::error("TerminateInstances", fault()).in_zone(zone);
    let other = scripted("us-east-1a").of_type("c5.large");
    cloud.with(|world| world.faults.extend([scripted("us-east-1b"), other]));
    let end = format!("Action=TerminateInstances&InstanceId.1={}", ids[0]);
    assert_eq!(ec2(&cloud, &end).await.status, 200);
    let own = scripted("us-east-1a").of_type("m5.large");
    cloud.with(|world| world.faults.push(own));
    assert_eq!(ec2(&cloud, &end).await.status, 500);
    assert_eq!(ec2(&cloud, &end).await.status, 200);
}

#[tokio::test]
async fn a_fault_without_a_type_meets_a_fleet_as_a_whole() {
    let (cloud, _) = launched(1).await;
    let limit = Fault::new("RequestLimitExceeded", "Request limit exceeded.").with_status(503);
    cloud.with(|world| {
        world
            .faults
            .push(ScriptedFault::error("CreateFleet", limit));
    });
    let told = ec2(&cloud, &fleet(1)).await;
    let code = told.element("Code");
    assert_eq!((told.status, code), (503, Some("RequestLimitExceeded")));
    assert_eq!(ec2(&cloud, &fleet(1)).await.status, 200);
}

#[tokio::test]
async fn calls_beyond_a_rate_are_refused_with_503_until_tokens_come_back() {
    let cloud = cloud().await;
    let rate = Rate {
        per_second: 1.0,
        burst: 2.0,
    };
    cloud.with(|world| {
        world.clock = Clock::standing_at(world.now());
        world.rates.insert("DescribeSubnets".to_owned(), rate);
    });
    let mut statuses = Vec::new();
    for second in 0..4 {
        let told = ec2(&cloud, "Action=DescribeSubnets").await;
        statuses.push(told.status);
        if told.status == 503 {
            assert_eq!(
                told.element("Code"),
                Some("RequestLimitExceeded"),
                "{second}"
            );
            cloud.with(|world| world.clock.advance(std::time::Duration::from_secs(1)));
        }
    }
    assert_eq!(statuses, [200, 200, 503, 200]);
}

#[tokio::test]
async fn each_instance_of_a_call_costs_a_token_of_its_own_bucket() {
    let cloud = cloud().await;
    let rate = Rate {
        per_second: 1.0,
        burst: 3.0,
    };
    cloud.with(|world| {
        world.clock = Clock::standing_at(world.now());
        let rates = &mut world.instance_rates;
        rates.insert("TerminateInstances".to_owned(), rate);
    });
    let end = async |ids: &[&str]| {
        let ids = ids.iter().enumerate();
        let ids = ids.map(|(number, id)| format!("&InstanceId.{}={id}", number + 1));
        let form = format!("Action=TerminateInstances{}", ids.collect::<String>());
        ec2(&cloud, &form).await.status
    };
    // None of them is there, which is told once there are tokens.
    assert_eq!(end(&["i-1", "i-2"]).await, 400);
    assert_eq!(end(&["i-1", "i-2"]).await, 503);
    assert_eq!(end(&["i-1"]).await, 400);
    cloud.with(|world| world.clock.advance(std::time::Duration::from_secs(2)));
    assert_eq!(end(&["i-1", "i-2"]).await, 400);
}

#[tokio::test]
async fn services_of_json_have_their_own_words_for_too_many_calls() {
    let cloud = cloud().await;
    let rate = Rate {
        per_second: 0.0,
        burst: 0.0,
    };
    cloud.with(|world| world.rates.insert("GetParameter".to_owned(), rate));
    let told = json(&cloud, "ssm", "AmazonSSM.GetParameter", "{}").await;
    assert_eq!(told.status, 400);
    assert!(told.body.contains("ThrottlingException"), "{}", told.body);
}
