//! Mistakes of people, one by one: each is told in a condition or a refusal with the field and the way out, nothing is launched for it, and
//! nothing that runs is ended.

use plimsoll_cloud::Image;

use super::*;
use crate::class::queue::QueueStanding;
use crate::class::retire::retire;
use crate::queue::reader::{Heard, QueueReader};

/// The condition of a type after a look at a class, as `status reason message`.
async fn told(scene: &Scene, spec: &Value, kind: &str) -> String {
    condition(&scene.reconciled(&class(spec)).await, kind)
}

/// The same an hour later, when nothing that EC2 has told holds any more.
async fn told_later(scene: &Scene, kind: &str) -> String {
    let later = Timestamp::from_millis(NOW.millis() + 3_600_000);
    let (cluster, clients) = (scene.ec2.cluster(), scene.ec2.clients());
    let looked = look(&class(&json!({})), &cluster, clients, later).await;
    condition(&looked.conclude(Ok(Ok(()))), kind)
}

fn condition(reconciled: &Reconciled, kind: &str) -> String {
    let mut conditions = reconciled.status.conditions.iter();
    let own = conditions.find(|own| own.kind == kind);
    own.map(|own| format!("{} {} {}", own.status, own.reason, own.message))
        .unwrap_or_default()
}

#[tokio::test]
async fn a_class_that_says_what_cannot_be_is_told_so_and_launches_nothing() {
    let many = (0..44).map(|number| (format!("key-{number}"), json!("x")));
    let many: serde_json::Map<String, Value> = many.collect();
    let other = json!([{"tags": {"karpenter.sh/discovery": "other"}}]);
    let empty = json!([]);
    for (spec, kind, words) in [
        (
            json!({"instanceProfile": "own"}),
            "InstanceProfileReady",
            "False InstanceProfileAmbiguous spec has role \"KarpenterNodeRole-demo\" and instanceProfile \"own\"; expected one of them",
        ),
        (
            json!({"role": null}),
            "InstanceProfileReady",
            "False InstanceProfileNotFound spec has neither role nor instanceProfile",
        ),
        (
            json!({"role": "nobody"}),
            "InstanceProfileReady",
            "False RoleNotFound spec.role is \"nobody\"",
        ),
        (
            json!({"amiFamily": "AL2023", "amiSelectorTerms": [{"alias": "ubuntu@latest"}]}),
            "AMIsReady",
            "False UnsupportedAlias spec.amiSelectorTerms: ",
        ),
        (
            json!({"amiSelectorTerms": [{"alias": "al2023@v20200101"}]}),
            "AMIsReady",
            "False AMINotFound spec.amiSelectorTerms is [{\"alias\":\"al2023@v20200101\"",
        ),
        (
            json!({"amiFamily": "AL2023", "amiSelectorTerms": [{"id": "ami-0"}]}),
            "AMIsReady",
            "False AMINotFound spec.amiSelectorTerms is [{",
        ),
        (
            json!({"subnetSelectorTerms": other}),
            "SubnetsReady",
            "False SubnetsNotFound spec.subnetSelectorTerms is ",
        ),
        (
            json!({"securityGroupSelectorTerms": other}),
            "SecurityGroupsReady",
            "False SecurityGroupsNotFound spec.securityGroupSelectorTerms is ",
        ),
        (
            json!({"tags": {"karpenter.sh/nodepool": "mine"}}),
            "ValidationSucceeded",
            "False TagValidationFailed spec.tags has the key \"karpenter.sh/nodepool\"",
        ),
        (
            json!({"tags": many}),
            "ValidationSucceeded",
            "False TagValidationFailed spec.tags has 44 keys, and the controller writes 7 more",
        ),
        (
            json!({"amiFamily": "Windows2022", "amiSelectorTerms": empty}),
            "ValidationSucceeded",
            "False UnsupportedFamily spec.amiFamily is Windows2022",
        ),
    ] {
        let scene = Scene::new().await;
        let told = told(&scene, &spec, kind).await;
        assert!(told.starts_with(words), "{spec}: {told}");
        scene.serve(&spec).await;
        let refused = scene.launch(&two(OnDemand)).await;
        let Outcome::Refused(Reason::ClassNotReady(words)) = &refused else {
            unreachable!("{spec}: {refused:?}")
        };
        assert!(
            words.starts_with("EC2NodeClass default is not ready: ") && words.contains(kind),
            "{words}"
        );
        assert!(scene.instances().is_empty());
    }
}

#[tokio::test]
async fn kubelet_settings_that_no_node_could_start_on_are_told_with_their_field() {
    for (kubelet, words) in [
        (
            json!({"maxPod": 5}),
            "InvalidKubeletConfiguration spec.kubelet.maxPod is not a setting of kubelet; did you mean maxPods?",
        ),
        (
            json!({"evictionSoft": {"memory.available": "200%"}}),
            "InvalidKubeletConfiguration spec.kubelet.evictionSoft.memory.available is \"200%\"; expected percents up to 100% or a quantity such as 500Mi; spec.kubelet.evictionSoft.memory.available has no evictionSoftGracePeriod",
        ),
    ] {
        let (scene, spec) = (Scene::new().await, json!({"kubelet": kubelet}));
        let told = told(&scene, &spec, "ValidationSucceeded").await;
        assert!(told.starts_with(&format!("False {words}")), "{told}");
        scene.serve(&spec).await;
        let refused = scene.launch(&two(OnDemand)).await;
        assert!(
            matches!(&refused, Outcome::Refused(Reason::ClassNotReady(_))),
            "{refused:?}"
        );
    }
    // No class can be served by these.
    for (kubelet, words) in [
        (json!({"maxPods": "vcpus * 10"}), "spec.kubelet.maxPods is "),
        (
            json!({"kubeReserved": {"memory": "vcpus*10"}}),
            "spec.kubelet.kubeReserved.memory is ",
        ),
    ] {
        let (scene, spec) = (Scene::new().await, json!({"kubelet": kubelet}));
        let told = told(&scene, &spec, "ValidationSucceeded").await;
        let expected = format!("False KubeletExpressionsDisabled {words}");
        assert!(told.starts_with(&expected), "{told}");
    }
}

#[tokio::test]
async fn a_claim_of_a_class_that_is_not_known_to_be_ready_waits() {
    let scene = Scene::new().await;
    let code = "UnauthorizedOperation";
    let denied = ScriptedFault::error("DescribeSecurityGroups", Fault::new(code, "no"));
    scene
        .cloud
        .with(|world| world.faults.push(denied.times(u32::MAX)));
    scene.wait();
    scene.serve(&json!({})).await;
    let refused = scene.launch(&two(OnDemand)).await;
    let Outcome::Refused(Reason::LaunchFailed { reason, words }) = &refused else {
        unreachable!("{refused:?}")
    };
    assert_eq!(&**reason, "NodeClassReadinessUnknown");
    let expected = "EC2NodeClass default is not known to be ready: ";
    assert!(words.starts_with(expected), "{words}");
    assert!(scene.instances().is_empty());
}

#[tokio::test]
async fn a_class_goes_without_a_way_to_iam_in_a_network_that_has_none() {
    let scene = Scene::new().await;
    let refused = Fault::new("AccessDenied", "no").with_status(403);
    let unheard = ScriptedFault::error("ListInstanceProfiles", refused);
    scene
        .cloud
        .with(|world| world.faults.push(unheard.times(u32::MAX)));
    let (class, clients) = (class(&json!({})), scene.ec2.clients());
    assert!(retire(&class, "demo", clients, false).await.is_err());
    assert_eq!(retire(&class, "demo", clients, true).await, Ok(()));
}

#[tokio::test]
async fn user_data_that_is_too_long_is_found_before_pods_wait_for_it() {
    let scene = Scene::new().await;
    let long = format!("#!/bin/sh\n# {}", "x".repeat(16 << 10));
    scene.serve(&json!({"userData": long})).await;
    let class = scene.ec2.class("default").expect("a class");
    let tried = scene.ec2.try_out(&class).await.expect("an answer");
    let refusal = tried.expect_err("a refusal");
    assert_eq!(refusal.reason, "UserDataSizeLimitExceeded");
    assert!(
        refusal
            .message
            .contains("expected at most 16384: shorten spec.userData"),
        "{refusal:?}"
    );
}

#[tokio::test]
async fn an_instance_profile_that_is_not_there_is_told_until_it_is() {
    let scene = Scene::new().await;
    let spec = json!({"role": null, "instanceProfile": "own"});
    scene.serve(&spec).await;
    let class = scene.ec2.class("default").expect("a class");
    for _ in 0..2 {
        let tried = scene.ec2.try_out(&class).await.expect("an answer");
        let refusal = tried.expect_err("a refusal");
        assert_eq!(refusal.reason, "InstanceProfileNotFound");
        assert!(
            refusal
                .message
                .contains("name an instance profile that is there in spec.instanceProfile"),
            "{refusal:?}"
        );
    }
    scene.cloud.with(|world| {
        let own = plimsoll_cloud::InstanceProfile {
            role: Some("KarpenterNodeRole-demo".to_owned()),
            ..Default::default()
        };
        world.instance_profiles.insert("own".to_owned(), own);
    });
    assert_eq!(scene.ec2.try_out(&class).await, Ok(Ok(())));
}

#[tokio::test]
async fn a_profile_that_was_just_made_may_not_be_known_yet_and_is_waited_for() {
    let scene = Scene::new().await;
    let class = scene.ec2.class("default").expect("a class");
    let made = scene
        .cloud
        .with(|world| std::mem::take(&mut world.instance_profiles));
    assert_eq!(made.len(), 1);
    let tried = scene.ec2.try_out(&class).await;
    let error = tried.expect_err("nothing is known");
    assert_eq!(error.code, "InvalidParameterValue");
    scene.cloud.with(|world| world.instance_profiles = made);
    assert_eq!(scene.ec2.try_out(&class).await, Ok(Ok(())));
}

#[tokio::test]
async fn types_that_no_image_of_the_class_is_for_are_not_sold_and_not_launched() {
    let scene = Scene::new().await;
    let own = Image {
        id: "ami-arm".to_owned(),
        architecture: "arm64".to_owned(),
        created: "2026-06-01T00:00:00.000Z".to_owned(),
        ..Image::default()
    };
    scene.cloud.with(|world| world.images.push(own));
    let spec = json!({"amiFamily": "AL2023", "amiSelectorTerms": [{"id": "ami-arm"}]});
    scene.serve(&spec).await;
    let class = scene.ec2.class("default").expect("a class");
    let image = |name: &str| {
        let sold = class.catalogue.get(name);
        sold.and_then(|sold| class.image_of(sold))
            .map(str::to_owned)
    };
    assert_eq!(image("m6g.large").as_deref(), Some("ami-arm"));
    assert_eq!(image("m5.large"), None);
    let refused = scene.launch(&two(OnDemand)).await;
    let Outcome::Refused(Reason::InsufficientCapacity { offerings, .. }) = &refused else {
        unreachable!("{refused:?}")
    };
    assert_eq!(offerings.len(), 2);
    let calls = scene.cloud.calls().into_iter();
    assert_eq!(
        calls.filter(|call| call.operation == "CreateFleet").count(),
        0
    );
}

#[tokio::test]
async fn zones_without_the_type_are_named_and_others_are_bought() {
    let scene = Scene::new().await;
    let lacks = |zone: &str| ("m5.large".to_owned(), zone.to_owned());
    scene
        .cloud
        .with(|world| world.not_offered.insert(lacks("us-east-1a")));
    let given = claims(scene.launch(&two(OnDemand)).await);
    assert_eq!(ids(&given).len(), 2);
    assert!(scene.instances().iter().all(|own| own.zone == "us-east-1b"));
    scene
        .cloud
        .with(|world| world.not_offered.insert(lacks("us-east-1b")));
    let mut next = two(OnDemand);
    next.batch.token = "00ab-1".into();
    let refused = claims(scene.launch(&next).await);
    let [
        ClaimLaunch::Refused(Reason::InsufficientCapacity { offerings, .. }),
        _,
    ] = &refused[..]
    else {
        unreachable!("{refused:?}")
    };
    assert_eq!(offerings.len(), 2);
    assert_eq!(scene.instances().len(), 2);
}

#[tokio::test]
async fn a_security_group_that_is_deleted_while_nodes_run_ends_none_of_them_and_launches_none() {
    let scene = Scene::new().await;
    assert_eq!(ids(&claims(scene.launch(&two(OnDemand)).await)).len(), 2);
    scene.cloud.with(|world| world.security_groups.clear());
    // The class has not looked since.
    let mut next = two(OnDemand);
    next.batch.token = "00ab-1".into();
    let refused = claims(scene.launch(&next).await);
    let told = format!("{refused:?}");
    assert!(
        told.contains("InvalidGroup.NotFound") && told.contains("finds those that are there"),
        "{told}"
    );
    scene.wait();
    let told = told_of_groups(&scene).await;
    assert!(told.starts_with("False SecurityGroupsNotFound"), "{told}");
    scene.serve(&json!({})).await;
    let Outcome::Done(Answer::Listed(listed)) = scene.ec2.call(&CloudCall::List).await else {
        unreachable!("a list")
    };
    assert_eq!(listed.len(), 2);
    let is_kept = |own: &ListedInstance| own.drift.is_none() && own.ending.is_none();
    assert!(listed.iter().all(is_kept), "{listed:?}");
    let calls = scene.cloud.calls().into_iter();
    let ends = calls.filter(|call| call.operation == "TerminateInstances");
    assert_eq!(ends.count(), 0);
}

async fn told_of_groups(scene: &Scene) -> String {
    told(scene, &json!({}), "SecurityGroupsReady").await
}

/// Errors of a call that AWS does not take for ours, with words of the way out.
const NOT_OURS: [(&str, &str, &str); 5] = [
    (
        "SignatureDoesNotMatch",
        "Signature expired: 20260101T000000Z is now earlier than 20260101T005500Z",
        "set the clock",
    ),
    ("RequestExpired", "Request has expired.", "set the clock"),
    (
        "ExpiredToken",
        "The security token included in the request is expired",
        "the credentials have expired",
    ),
    (
        "InvalidClientTokenId",
        "The security token included in the request is invalid.",
        "correct AWS_ACCESS_KEY_ID",
    ),
    (
        "AuthFailure",
        "AWS was not able to validate the provided access credentials",
        "set the clock",
    ),
];

#[tokio::test]
async fn a_clock_that_is_off_and_credentials_that_do_not_hold_are_told_where_people_look() {
    for (code, message, way_out) in NOT_OURS {
        let scene = Scene::new().await;
        let fault = || Fault::new(code, message).with_status(403);
        scene.cloud.with(|world| {
            for operation in ["DescribeSubnets", "CreateFleet", "GetQueueUrl"] {
                let fault = ScriptedFault::error(operation, fault()).times(100);
                world.faults.push(fault);
            }
        });
        let told = told_later(&scene, "SubnetsReady").await;
        let words = format!("Unknown AwaitingReconciliation ec2:DescribeSubnets: {code}; ");
        assert!(told.starts_with(&words) && told.contains(way_out), "{told}");
        let refused = scene.launch(&two(OnDemand)).await;
        let Outcome::Refused(Reason::LaunchFailed { reason, words }) = &refused else {
            unreachable!("{code}: {refused:?}")
        };
        assert!(words.contains(way_out), "{words}");
        assert_eq!(&**reason, "Unauthorized");
        assert!(scene.instances().is_empty());
        let error = scene.ec2.clients().queue("demo").await.expect_err(code);
        assert!(error.to_string().contains(way_out), "{error}");
        let standing = QueueStanding::after("demo", "us-east-1", &error);
        let QueueStanding::Unanswered(words) = standing else {
            unreachable!("{standing:?}")
        };
        assert!(words.contains(way_out), "{words}");
    }
}

#[tokio::test]
async fn a_queue_that_cannot_be_read_is_a_condition_that_launches_do_not_wait_for() {
    for (name, fault, reason) in [
        // It may be there in another region: in this one it is not.
        ("elsewhere", None, "QueueNotFound"),
        ("demo", Some(("GetQueueUrl", "AccessDenied")), "QueueDenied"),
        (
            "demo",
            Some(("ReceiveMessage", "AccessDenied")),
            "QueueDenied",
        ),
    ] {
        let scene = Scene::new().await;
        if let Some((operation, code)) = fault {
            let denied = Fault::new(code, "You are not authorized").with_status(403);
            let fault = ScriptedFault::error(operation, denied).times(100);
            scene.cloud.with(|world| world.faults.push(fault));
        }
        let ec2 = Ec2::new(scene.ec2.clients().clone(), (*scene.ec2.cluster()).clone());
        let mut reader = QueueReader::new(Arc::new(ec2), name.to_owned());
        let error = reader.next().await.expect_err(reason);
        let standing = QueueStanding::after(name, "us-east-1", &error);
        let own = class(&json!({}));
        let looked = look(&own, &scene.ec2.cluster(), scene.ec2.clients(), NOW).await;
        let looked = looked.with_queue(&standing);
        assert!(looked.is_sound(), "it is tried out");
        let status = looked.conclude(Ok(Ok(()))).status;
        let said = |kind: &str| {
            let mut conditions = status.conditions.iter();
            let own = conditions.find(|own| own.kind == kind);
            own.map(|own| (own.status.as_str(), own.reason.as_str()))
        };
        assert_eq!(said("InterruptionQueueReady"), Some(("False", reason)));
        assert_eq!(said("Ready"), Some(("True", "Ready")));
    }
}

#[tokio::test]
async fn messages_about_other_accounts_and_regions_are_deleted_and_change_nothing() {
    let scene = Scene::new().await;
    assert_eq!(ids(&claims(scene.launch(&two(Spot)).await)).len(), 2);
    let first = scene.first();
    let claim = plimsoll_model::NodeClaim {
        provider_id: Some(first.clone()),
        ..(*sample::claim("a", &json!([]))).clone()
    };
    let ec2 = Ec2::new(scene.ec2.clients().clone(), (*scene.ec2.cluster()).clone());
    let claim = Object::Claim(Arc::new(claim));
    ec2.observe(&Input::Applied(claim, plimsoll_model::Version::default()));
    let id = instance_id(&first).expect("an id");
    for (account, region) in [("444455556666", "us-east-1"), ("111122223333", "eu-west-1")] {
        let event = json!({
            "version": "0", "id": "1", "source": "aws.ec2", "detail-type": "EC2 Spot Instance Interruption Warning",
            "account": account, "region": region, "time": "2026-01-02T03:04:05Z", "detail": {"instance-id": id},
        });
        scene
            .cloud
            .with(|world| world.send("demo", event.to_string()));
    }
    let mut reader = QueueReader::new(Arc::new(ec2), "demo".to_owned());
    let (mut labels, mut deleted) = (Vec::new(), 0);
    while deleted < 2 {
        match reader.next().await.expect("news") {
            Heard::Message {
                message, staying, ..
            } => {
                assert_eq!((message.says, staying), (None, Vec::new()));
                labels.push(message.label());
            }
            Heard::Deleted(count) => deleted += count,
            _ => {}
        }
    }
    assert_eq!(labels, ["unknown", "unknown"]);
    let left = scene
        .cloud
        .with(|world| world.queues["demo"].messages.len());
    assert_eq!(left, 0);
    assert!(scene.instances().iter().all(|own| own.ends.is_none()));
}
