//! Policy documents over the wire: each service refuses in its format, and a fleet tells of instances that it may not run.

use plimsoll_cloud::{Cloud, Policy};

use crate::client::{ec2, json, query, send};
use crate::instances::{fleet, launched};

/// From now on a cloud allows these actions, on all resources.
fn allow(cloud: &Cloud, actions: &[&str]) {
    let actions = actions.join("\", \"");
    let text = format!(
        r#"{{"Version": "2012-10-17", "Statement": {{"Effect": "Allow", "Action": ["{actions}"], "Resource": "*",
            "Condition": {{"StringEquals": {{"aws:RequestedRegion": "us-east-1"}}}}}}}}"#
    );
    let policy = Policy::parse(&text).expect("a policy");
    cloud.with(|world| world.policies = Some(vec![policy]));
}

#[tokio::test]
async fn each_service_refuses_in_its_format() {
    let (cloud, ids) = launched(1).await;
    allow(&cloud, &["ec2:Describe*"]);
    assert_eq!(ec2(&cloud, "Action=DescribeSubnets").await.status, 200);
    let end = format!("Action=TerminateInstances&InstanceId.1={}", ids[0]);
    let told = ec2(&cloud, &end).await;
    assert_eq!(
        (told.status, told.element("Code")),
        (403, Some("UnauthorizedOperation"))
    );
    let user =
        "User: arn:aws:sts::111122223333:assumed-role/plimsoll/test is not authorized to perform:";
    let words = format!(
        "You are not authorized to perform this operation. {user} ec2:TerminateInstances on resource: \
         arn:aws:ec2:us-east-1:111122223333:instance/{} because no identity-based policy allows the ec2:TerminateInstances action",
        ids[0]
    );
    assert_eq!(told.element("Message"), Some(&*words));
    assert_eq!(cloud.with(|world| world.alive().count()), 1);

    let told = query(&cloud, "iam", "Action=ListInstanceProfiles").await;
    let told = told.expect("an answer");
    assert_eq!(
        (told.status, told.element("Code")),
        (403, Some("AccessDenied"))
    );
    assert!(told.body.starts_with("<ErrorResponse"), "{}", told.body);
    let told = json(
        &cloud,
        "ssm",
        "AmazonSSM.GetParameter",
        r#"{"Name":"/own"}"#,
    )
    .await;
    assert_eq!(told.status, 400);
    assert!(
        told.body.contains(r#""__type":"AccessDeniedException""#)
            && told
                .body
                .contains("arn:aws:ssm:us-east-1:111122223333:parameter/own"),
        "{}",
        told.body
    );
    let told = json(
        &cloud,
        "sqs",
        "AmazonSQS.GetQueueUrl",
        r#"{"QueueName":"demo"}"#,
    )
    .await;
    assert_eq!(told.status, 403);
    assert!(
        told.head
            .contains("x-amzn-query-error: accessdenied;sender")
    );
    let told = send(&cloud, "eks", "GET", "/clusters/demo", "", "").await;
    let told = told.expect("an answer");
    assert_eq!(told.status, 403);
    assert!(
        told.head
            .contains("x-amzn-errortype: accessdeniedexception")
    );
    let codes = cloud.calls().into_iter().filter_map(|call| call.error);
    assert_eq!(codes.count(), 5);
}

#[tokio::test]
async fn a_fleet_of_instances_that_may_not_be_run_gives_none_and_an_error_for_each_override() {
    let (cloud, _) = launched(1).await;
    allow(&cloud, &["ec2:CreateFleet", "ec2:CreateTags"]);
    let told = ec2(&cloud, &fleet(2)).await;
    assert_eq!(told.status, 200);
    assert_eq!(told.element("errorCode"), Some("UnauthorizedOperation"));
    let words = told.element("errorMessage").unwrap_or_default();
    assert!(words.contains("ec2:RunInstances on resource: "), "{words}");
    assert_eq!(cloud.with(|world| world.instances.len()), 1);
    // A dry run looks at the call for the fleet alone.
    let told = ec2(&cloud, &format!("{}&DryRun=true", fleet(2))).await;
    assert_eq!(told.element("Code"), Some("DryRunOperation"));
    allow(
        &cloud,
        &["ec2:CreateFleet", "ec2:CreateTags", "ec2:RunInstances"],
    );
    assert_eq!(ec2(&cloud, &fleet(2)).await.element("errorCode"), None);
    assert_eq!(cloud.with(|world| world.instances.len()), 3);
}
