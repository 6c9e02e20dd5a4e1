//! The life of an instance, from its launch template to its end.

use std::time::{Duration, UNIX_EPOCH};

use plimsoll_cloud::{Clock, Cloud, Delays};

use crate::client::{self, Answer, cloud, ec2};

const TEMPLATE: &str = "Action=CreateLaunchTemplate&LaunchTemplateName=first&LaunchTemplateData.ImageId=ami-00000000000000001\
    &LaunchTemplateData.NetworkInterface.1.DeviceIndex=0\
    &LaunchTemplateData.NetworkInterface.1.SecurityGroupId.1=sg-00000000000000001\
    &LaunchTemplateData.MetadataOptions.HttpTokens=required\
    &TagSpecification.1.ResourceType=launch-template&TagSpecification.1.Tag.1.Key=cluster&TagSpecification.1.Tag.1.Value=demo";

/// A call for spot instances by the template.
pub(crate) fn fleet(count: u32) -> String {
    format!(
        "Action=CreateFleet&Type=instant&LaunchTemplateConfigs.1.LaunchTemplateSpecification.LaunchTemplateName=first\
         &LaunchTemplateConfigs.1.LaunchTemplateSpecification.Version=%24Latest\
         &LaunchTemplateConfigs.1.Overrides.1.InstanceType=m5.large\
         &LaunchTemplateConfigs.1.Overrides.1.SubnetId=subnet-00000000000000001\
         &LaunchTemplateConfigs.1.Overrides.1.AvailabilityZone=us-east-1a\
         &SpotOptions.AllocationStrategy=price-capacity-optimized\
         &TargetCapacitySpecification.DefaultTargetCapacityType=spot\
         &TargetCapacitySpecification.TotalTargetCapacity={count}\
         &TagSpecification.1.ResourceType=instance&TagSpecification.1.Tag.1.Key=pool&TagSpecification.1.Tag.1.Value=a%26b"
    )
}

/// A cloud with so many instances, and their ids.
pub(crate) async fn launched(count: u32) -> (Cloud, Vec<String>) {
    let cloud = cloud().await;
    let made = ec2(&cloud, TEMPLATE).await;
    assert_eq!(made.status, 200, "{}", made.body);
    let given = ec2(&cloud, &fleet(count)).await;
    assert_eq!(given.status, 200, "{}", given.body);
    let ids = cloud.with(|world| world.instances.keys().cloned().collect());
    (cloud, ids)
}

fn code(answer: &Answer) -> (u16, &str) {
    (answer.status, answer.element("Code").unwrap_or_default())
}

#[tokio::test]
async fn an_instance_is_launched_described_tagged_and_terminated() {
    let (cloud, ids) = launched(1).await;
    let id = &ids[0];
    let by_id = format!("Action=DescribeInstances&InstanceId.1={id}");
    let told = ec2(&cloud, &by_id).await;
    for (name, text) in [
        ("instanceId", &**id),
        ("name", "running"),
        ("groupId", "sg-00000000000000001"),
        ("availabilityZoneId", "use1-az1"),
        ("subnetId", "subnet-00000000000000001"),
        ("instanceLifecycle", "spot"),
        ("httpTokens", "required"),
    ] {
        assert_eq!(told.element(name), Some(text), "{name}");
    }
    assert!(
        told.element("spotInstanceRequestId")
            .is_some_and(|own| own.starts_with("sir-"))
    );
    assert!(
        told.body.contains("<key>pool</key><value>a&amp;b</value>"),
        "{}",
        told.body
    );
    assert!(
        told.body
            .contains("http://ec2.amazonaws.com/doc/2016-11-15/\"")
    );

    let tag = format!("Action=CreateTags&ResourceId.1={id}&Tag.1.Key=Name&Tag.1.Value=node-1");
    assert_eq!(ec2(&cloud, &tag).await.element("return"), Some("true"));
    let find = "Action=DescribeInstances&Filter.1.Name=tag%3AName&Filter.1.Value.1=node-*\
        &Filter.2.Name=tag-key&Filter.2.Value.1=pool&Filter.3.Name=instance-state-name&Filter.3.Value.1=running";
    assert_eq!(ec2(&cloud, find).await.count("instanceId"), 1);

    let end = format!("Action=TerminateInstances&InstanceId.1={id}");
    let told = ec2(&cloud, &end).await;
    let current = told.element("currentState");
    assert_eq!(current, Some("<code>32</code><name>shutting-down</name>"));
    assert_eq!(ec2(&cloud, find).await.count("instanceId"), 0);
    // For an hour it is still known, as one that has ended.
    let told = ec2(&cloud, &by_id).await;
    assert_eq!(told.element("name"), Some("terminated"));
    assert_eq!(told.element("subnetId"), None);
    cloud.with(|world| world.clock.advance(Duration::from_hours(1)));
    assert_eq!(
        code(&ec2(&cloud, &by_id).await),
        (400, "InvalidInstanceID.NotFound")
    );
}

#[tokio::test]
async fn a_young_instance_is_not_known_yet() {
    let (cloud, ids) = launched(1).await;
    cloud.with(|world| {
        let launched = world.instances[&ids[0]].launched;
        world.clock = Clock::standing_at(launched);
        world.delays = Delays {
            visible: Duration::from_secs(5),
            running: Duration::from_secs(9),
            ..Delays::default()
        };
    });
    let by_id = format!("Action=DescribeInstances&InstanceId.1={}", ids[0]);
    let tag = format!(
        "Action=CreateTags&ResourceId.1={}&Tag.1.Key=a&Tag.1.Value=b",
        ids[0]
    );
    for form in [&by_id, &tag] {
        assert_eq!(
            code(&ec2(&cloud, form).await),
            (400, "InvalidInstanceID.NotFound")
        );
    }
    let all = ec2(&cloud, "Action=DescribeInstances").await;
    assert_eq!((all.status, all.count("instanceId")), (200, 0));
    for (seconds, state) in [(5, "pending"), (4, "running")] {
        cloud.with(|world| world.clock.advance(Duration::from_secs(seconds)));
        let told = ec2(&cloud, &by_id).await;
        assert_eq!(told.element("name"), Some(state));
    }
}

#[tokio::test]
async fn one_unknown_id_refuses_the_whole_call() {
    let (cloud, ids) = launched(1).await;
    let end = format!(
        "Action=TerminateInstances&InstanceId.1={}&InstanceId.2=i-none",
        ids[0]
    );
    assert_eq!(
        code(&ec2(&cloud, &end).await),
        (400, "InvalidInstanceID.NotFound")
    );
    assert!(cloud.with(|world| world.instances[&ids[0]].ends.is_none()));
}

#[tokio::test]
async fn pages_cover_all_instances_of_a_launch() {
    let (cloud, ids) = launched(12).await;
    let (mut token, mut seen) = (String::new(), 0);
    loop {
        let next = format!("Action=DescribeInstances&MaxResults=5{token}");
        let told = ec2(&cloud, &next).await;
        assert_eq!(told.count("reservationId"), 1);
        seen += ids
            .iter()
            .filter(|id| told.body.contains(&format!("<instanceId>{id}<")))
            .count();
        match told.element("nextToken") {
            None => break,
            Some(next) => token = format!("&NextToken={next}"),
        }
    }
    assert_eq!(seen, 12);
    let both = format!(
        "Action=DescribeInstances&MaxResults=5&InstanceId.1={}",
        ids[0]
    );
    assert_eq!(
        code(&ec2(&cloud, &both).await),
        (400, "InvalidParameterCombination")
    );
}

#[tokio::test]
async fn health_is_filtered_by_each_status_and_event() {
    let (cloud, ids) = launched(3).await;
    cloud.with(|world| {
        let mut instances = world.instances.values_mut();
        let mut next = || instances.next().expect("three instances");
        next().health.instance_impaired = Some(UNIX_EPOCH);
        next().health.events.push("instance-retirement".to_owned());
    });
    let ask = |name: &str, value: &str| {
        format!("Action=DescribeInstanceStatus&Filter.1.Name={name}&Filter.1.Value.1={value}")
    };
    for (name, value, id) in [
        ("instance-status.status", "impaired", Some(&*ids[0])),
        ("event.code", "instance-retirement", Some(&*ids[1])),
        ("system-status.status", "impaired", None),
    ] {
        let told = ec2(&cloud, &ask(name, value)).await;
        assert_eq!(told.element("instanceId"), id, "{name}");
    }
    let told = ec2(&cloud, &ask("instance-status.status", "impaired")).await;
    assert_eq!(
        told.element("impairedSince"),
        Some("1970-01-01T00:00:00.000Z")
    );
    let all = ec2(&cloud, "Action=DescribeInstanceStatus").await;
    assert_eq!(all.count("instanceId"), 3);
}

#[tokio::test]
async fn a_dry_run_changes_nothing_and_says_so_with_412() {
    let cloud = cloud().await;
    ec2(&cloud, TEMPLATE).await;
    let told = ec2(&cloud, &format!("{}&DryRun=true", fleet(1))).await;
    assert_eq!(code(&told), (412, "DryRunOperation"));
    assert!(cloud.with(|world| world.instances.is_empty()));
    let types = ec2(&cloud, "Action=DescribeInstanceTypes&DryRun=true").await;
    assert_eq!(code(&types), (412, "DryRunOperation"));
}

#[tokio::test]
async fn a_template_is_found_by_its_tag_and_not_by_another_name() {
    let (cloud, _) = launched(1).await;
    let by_tag = "Action=DescribeLaunchTemplates&Filter.1.Name=tag%3Acluster&Filter.1.Value.1=demo";
    let told = ec2(&cloud, by_tag).await;
    assert_eq!(told.element("launchTemplateName"), Some("first"));
    let by_name = "Action=DescribeLaunchTemplates&LaunchTemplateName.1=second";
    let told = ec2(&cloud, by_name).await;
    assert_eq!(
        code(&told),
        (400, "InvalidLaunchTemplateName.NotFoundException")
    );
}

#[tokio::test]
async fn tags_of_aws_are_refused_and_too_many() {
    let (cloud, ids) = launched(1).await;
    let tag = |key: &str| {
        format!(
            "Action=CreateTags&ResourceId.1={}&Tag.1.Key={key}&Tag.1.Value=x",
            ids[0]
        )
    };
    assert_eq!(
        code(&ec2(&cloud, &tag("aws%3Ax")).await),
        (400, "InvalidParameterValue")
    );
    let many = |number: u32| format!("&Tag.{number}.Key=key-{number}&Tag.{number}.Value=x");
    // With the one that it has, 50 are as many as it may have.
    let most: String = (2..=50).map(many).collect();
    let base = format!("Action=CreateTags&ResourceId.1={}", ids[0]);
    assert_eq!(
        client::ec2(&cloud, &format!("{base}{most}")).await.status,
        200
    );
    assert_eq!(
        code(&ec2(&cloud, &tag("more")).await),
        (400, "TagLimitExceeded")
    );
}
