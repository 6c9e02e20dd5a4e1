//! Calls that change nothing, and those of the queue and of profiles: by region, cluster and name.

use super::*;

/// Calls in a region, with the code and status that answer them.
type Asked = (
    Service,
    &'static str,
    &'static str,
    Value,
    (&'static str, u16),
);

fn hold(cases: impl IntoIterator<Item = Asked>) {
    let mut world = world();
    for (service, region, operation, input, told) in cases {
        let denied = denial(&mut world, (service, region), operation, &input);
        let denied = denied.map(|denied| (denied.code, denied.status));
        let (code, status) = denied.unwrap_or((String::new(), 200));
        assert_eq!(
            (code.as_str(), status),
            told,
            "{operation} {input} in {region}"
        );
    }
}

#[test]
fn what_is_read_is_read_in_its_region_and_of_its_cluster() {
    let parameter = |name: &str| json!({"Name": name});
    let none = json!({});
    hold([
        (
            Service::Ec2,
            REGION,
            "DescribeSubnets",
            none.clone(),
            ("", 200),
        ),
        (
            Service::Ec2,
            "eu-west-1",
            "DescribeSubnets",
            none.clone(),
            ("UnauthorizedOperation", 403),
        ),
        (
            Service::Ec2,
            REGION,
            "DescribeVolumes",
            none.clone(),
            ("UnauthorizedOperation", 403),
        ),
        (
            Service::Eks,
            REGION,
            "DescribeCluster",
            json!({"name": "demo"}),
            ("", 200),
        ),
        (
            Service::Eks,
            REGION,
            "DescribeCluster",
            json!({"name": "other"}),
            ("AccessDeniedException", 403),
        ),
        (
            Service::Ssm,
            REGION,
            "GetParameter",
            parameter("/aws/service/a"),
            ("", 200),
        ),
        (
            Service::Ssm,
            REGION,
            "GetParameter",
            parameter("/own/a"),
            ("AccessDeniedException", 400),
        ),
        (
            Service::Ssm,
            REGION,
            "GetParameter",
            parameter("arn:aws:ssm:us-east-1:111122223333:parameter/a"),
            ("AccessDeniedException", 400),
        ),
        (
            Service::Pricing,
            REGION,
            "GetProducts",
            none.clone(),
            ("", 200),
        ),
        (
            Service::Pricing,
            REGION,
            "DescribeServices",
            none.clone(),
            ("AccessDeniedException", 400),
        ),
    ]);
}

#[test]
fn the_queue_and_profiles_are_those_of_the_cluster() {
    let none = json!({});
    hold([
        (
            Service::Sqs,
            REGION,
            "GetQueueUrl",
            json!({"QueueName": "demo"}),
            ("", 200),
        ),
        (
            Service::Sqs,
            REGION,
            "ReceiveMessage",
            json!({"QueueUrl": "http://127.0.0.1/1/demo"}),
            ("", 200),
        ),
        (
            Service::Sqs,
            REGION,
            "ReceiveMessage",
            json!({"QueueUrl": "http://127.0.0.1/1/other"}),
            ("AccessDenied", 403),
        ),
        (
            Service::Sqs,
            REGION,
            "SendMessage",
            json!({"QueueUrl": "http://127.0.0.1/1/demo"}),
            ("AccessDenied", 403),
        ),
        (
            Service::Iam,
            REGION,
            "ListInstanceProfiles",
            none.clone(),
            ("", 200),
        ),
        (
            Service::Iam,
            REGION,
            "CreateRole",
            json!({"InstanceProfileName": "own"}),
            ("AccessDenied", 403),
        ),
        (
            Service::Sts,
            REGION,
            "GetCallerIdentity",
            none.clone(),
            ("", 200),
        ),
    ]);
}
