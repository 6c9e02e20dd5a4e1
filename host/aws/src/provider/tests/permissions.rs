//! The policy of the controller's role, enforced by the cloud: a whole course is allowed, nothing in the policy is left over, and what is missing is
//! told where the user looks.

use std::collections::BTreeSet;

use plimsoll_cloud::{Event, Policy};

use super::*;
use crate::class::retire::{delete_unused_profiles, retire};
use crate::parse_message;

const POLICY: &str = include_str!("../../../../../charts/aws/policy.json");
const RULES: &str = include_str!("../../../../../charts/aws/rules.json");

/// The policy of cluster `demo`.
pub(super) fn policy() -> Policy {
    let filled = [
        ("Partition", "aws"),
        ("Region", "us-east-1"),
        ("AccountID", "111122223333"),
        ("ClusterName", "demo"),
        ("NodeRole", "KarpenterNodeRole-demo"),
        ("QueueName", "demo"),
    ];
    let filled = filled
        .iter()
        .fold(POLICY.to_owned(), |text, (name, value)| {
            text.replace(&format!("${{{name}}}"), value)
        });
    Policy::parse(&filled).expect("it is understood")
}

/// A cloud that allows what a policy says, and EC2 without classes.
async fn under(policy: Policy) -> Scene {
    let mut world = World::demo("demo");
    world.policies = Some(vec![policy]);
    Scene::on(world).await
}

/// The policy without one action of one statement.
fn without(what: &str) -> Policy {
    let mut all = policy().lessened().into_iter();
    let found = all.find(|(name, _)| name == what);
    found.map(|(_, less)| less).expect(what)
}

/// All that a controller does from its start to the end of its last class.
async fn course(scene: &Scene) {
    let (ec2, clients) = (&scene.ec2, scene.ec2.clients());
    ec2.find_templates().await.expect("templates");
    let endpoint = clients.endpoint("demo").await.expect("an endpoint");
    assert!(endpoint.is_some());
    clients.service_cidr("demo").await.expect("addresses");
    clients.instance_types().await.expect("types");
    clients.offered_zones().await.expect("zones");
    clients.price_list().await.expect("list prices");
    clients.spot_prices(NOW).await.expect("spot prices");

    let disk = json!({"deviceName": "/dev/xvda", "ebs": {"snapshotID": "snap-1"}});
    let spec = json!({"blockDeviceMappings": [disk], "tags": {"team": "shop"}});
    scene.serve(&spec).await;
    let served = ec2.class("default").expect("a class");
    assert_eq!(ec2.try_out(&served).await, Ok(Ok(())));

    let mut second = two(OnDemand);
    second.batch.token = "00ab-1".into();
    for request in [two(Spot), second] {
        let given = ids(&claims(scene.launch(&request).await));
        assert_eq!(given.len(), 2);
        assert_eq!(ids(&scene.find(&request).await).len(), 2);
    }
    let Outcome::Done(Answer::Listed(listed)) = ec2.call(&CloudCall::List).await else {
        unreachable!("a list")
    };
    assert_eq!(listed.len(), 4);
    clients.impairments().await.expect("status checks");
    for own in listed {
        let instance = own.instance;
        let tag = CloudCall::Tag {
            instance: instance.clone(),
            claim: "a".into(),
            node: "node-1".into(),
        };
        assert_eq!(ec2.call(&tag).await, Outcome::Done(Answer::Nothing));
        let end = CloudCall::Terminate { instance };
        assert_eq!(ec2.call(&end).await, Outcome::Done(Answer::Ending));
    }

    scene.cloud.with(|world| world.send("demo", "{}"));
    let queue = clients.queue("demo").await.expect("a queue");
    let messages = clients.receive(&queue).await.expect("messages");
    let receipts = [messages[0].receipt.clone()];
    let deletion = clients.delete_messages(&queue, &receipts).await;
    assert_eq!(deletion.failure, None);

    let later = Instant::now() + Duration::from_mins(2);
    ec2.delete_unused_templates(later).await.expect("deleted");
    let class = class(&spec);
    let found = clients.profiles_of_cluster("demo").await.expect("profiles");
    let in_use = (std::slice::from_ref(&class), [].as_slice());
    let deleted = delete_unused_profiles(&found, "demo", in_use, clients).await;
    assert_eq!((found.len(), deleted), (1, Vec::new()));
    retire(&class, "demo", clients, false)
        .await
        .expect("retired");
    let left = |world: &mut World| (world.launch_templates.len(), world.instance_profiles.len());
    assert_eq!(scene.cloud.with(left), (0, 0));
}

#[tokio::test]
async fn a_whole_course_is_allowed_and_needs_all_that_the_policy_allows() {
    let scene = under(policy()).await;
    course(&scene).await;
    let denied = scene.cloud.calls().into_iter().filter(|call| {
        let code = call.error.as_deref().unwrap_or_default();
        ErrorClass::of(code, None) == ErrorClass::Denied
    });
    assert_eq!(denied.count(), 0);
    let asked = scene.cloud.with(|world| world.asked_rights.clone());
    for right in &asked {
        assert!(policy().allows(right), "{right}");
    }
    let lessened = policy().lessened().into_iter();
    let needless = lessened.filter(|(_, less)| asked.iter().all(|right| less.allows(right)));
    let needless: Vec<String> = needless.map(|(what, _)| what).collect();
    assert_eq!(needless, [""; 0], "the course does not need these");
}

#[tokio::test]
async fn an_instance_of_another_cluster_is_not_ended_even_if_it_is_asked_for() {
    let scene = under(policy()).await;
    scene.serve(&json!({})).await;
    scene
        .launch(&sample::request(&["a"], two(OnDemand).options))
        .await;
    let instance = scene.first();
    let hide = |tag: &str| {
        scene.cloud.with(|world| {
            let mut instances = world.instances.values_mut();
            let own = instances.next().expect("an instance");
            own.tags.remove(tag);
        });
    };
    let end = async || {
        let call = CloudCall::Terminate {
            instance: instance.clone(),
        };
        let asked = scene.ec2.call(&call).await;
        let calls = scene.cloud.calls().into_iter();
        let calls = calls.filter(|call| call.operation == "TerminateInstances");
        (asked, calls.count())
    };
    hide("kubernetes.io/cluster/demo");
    let (Outcome::Refused(Reason::Other(words)), 1) = end().await else {
        unreachable!("a refusal")
    };
    assert!(
        words.contains("is not authorized to perform: ec2:TerminateInstances on resource: arn:aws:ec2:us-east-1:111122223333:instance/i-"),
        "{words}"
    );
    hide("eks:eks-cluster-name");
    let (Outcome::Refused(Reason::Other(words)), 1) = end().await else {
        unreachable!("a refusal")
    };
    assert!(words.contains("it is left as it is"), "{words}");
    assert!(scene.instances().iter().all(|own| own.ends.is_none()));
}

#[tokio::test]
async fn an_action_that_the_policy_lacks_is_named_in_the_condition_that_waits_for_it() {
    for (what, condition, words) in [
        (
            "ReadEc2: ec2:DescribeSubnets",
            "SubnetsReady",
            "ec2:DescribeSubnets: UnauthorizedOperation; expected",
        ),
        (
            "ReadImageParameters: ssm:GetParameter",
            "AMIsReady",
            "ssm:GetParameter: AccessDeniedException",
        ),
        (
            "MakeInstanceProfiles: iam:CreateInstanceProfile",
            "InstanceProfileReady",
            "iam:CreateInstanceProfile: AccessDenied",
        ),
        (
            "PassNodeRole: iam:PassRole",
            "InstanceProfileReady",
            "iam:AddRoleToInstanceProfile: AccessDenied",
        ),
    ] {
        let scene = under(without(what)).await;
        let status = scene.reconciled(&class(&json!({}))).await.status;
        let mut conditions = status.conditions.iter();
        let told = conditions.find(|own| own.kind == condition);
        let told = told.map(|own| own.message.as_str()).unwrap_or_default();
        assert!(told.starts_with(words), "{what}: {told}");
    }
}

#[tokio::test]
async fn a_launch_that_the_policy_does_not_allow_is_found_before_pods_wait_for_it() {
    for (what, reason, resource) in [
        (
            "MakeWithTags: ec2:CreateLaunchTemplate",
            "CreateLaunchTemplateAuthCheckFailed",
            "ec2:CreateLaunchTemplate on resource: arn:aws:ec2:us-east-1:111122223333:launch-template/*",
        ),
        (
            "MakeWithTags: ec2:CreateFleet",
            "CreateFleetAuthCheckFailed",
            "ec2:CreateFleet on resource: arn:aws:ec2:us-east-1:111122223333:fleet/*",
        ),
        (
            "MakeWithTags: ec2:RunInstances",
            "RunInstancesAuthCheckFailed",
            "ec2:RunInstances on resource: arn:aws:ec2:us-east-1:111122223333:instance/*",
        ),
    ] {
        let scene = under(without(what)).await;
        scene.serve(&json!({})).await;
        let class = scene.ec2.class("default").expect("a class");
        let tried = scene.ec2.try_out(&class).await.expect("an answer");
        let refusal = tried.expect_err(what);
        assert_eq!(refusal.reason, reason);
        assert!(refusal.message.contains(resource), "{refusal:?}");
        let given = claims(scene.launch(&two(OnDemand)).await);
        assert_eq!(ids(&given), [""; 0], "{what}");
    }
}

#[tokio::test]
async fn services_of_other_formats_are_understood_when_they_refuse() {
    let refused = |error: CallError| (error.class(), error.message);
    for (what, words) in [
        (
            "HearInterruptions: sqs:GetQueueUrl",
            "sqs:GetQueueUrl on resource: arn:aws:sqs:us-east-1:111122223333:demo",
        ),
        (
            "ReadOfNoResource: pricing:GetProducts",
            "pricing:GetProducts because",
        ),
        (
            "ReadCluster: eks:DescribeCluster",
            "eks:DescribeCluster on resource: arn:aws:eks:us-east-1:111122223333:cluster/demo",
        ),
    ] {
        let scene = under(without(what)).await;
        let clients = scene.ec2.clients();
        let failed = [
            clients.queue("demo").await.map(drop),
            clients.price_list().await.map(drop),
            clients.endpoint("demo").await.map(drop),
        ];
        let failed: Vec<_> = failed.into_iter().filter_map(Result::err).collect();
        assert_eq!(failed.len(), 1, "{what}");
        let (class, message) = refused(failed[0].clone());
        assert_eq!(class, ErrorClass::Denied, "{what}");
        assert!(message.contains(words), "{what}: {message}");
    }
}

/// Patterns of the rules, by name.
fn rules() -> BTreeMap<String, Value> {
    serde_json::from_str(RULES).expect("patterns by name")
}

/// `true` if an event has what a pattern names.
fn fits(pattern: &Value, event: &Value) -> bool {
    let mut fields = pattern.as_object().into_iter().flatten();
    fields.all(|(field, values)| {
        let mut values = values.as_array().into_iter().flatten();
        values.any(|value| *value == event[field])
    })
}

#[test]
fn each_rule_of_the_queue_lets_through_another_kind_of_message_that_is_understood() {
    let labels = rules().into_values().map(|pattern| {
        let mut event = json!({"version": "0", "detail": {
            "instance-id": "i-1", "state": "stopping", "service": "EC2", "eventTypeCategory": "scheduledChange",
            "affectedEntities": [{"entityValue": "i-1"}],
        }});
        for field in ["source", "detail-type"] {
            event[field] = pattern[field][0].clone();
        }
        let read = parse_message(&event.to_string()).expect("an event");
        assert_eq!(read.instances, ["i-1"], "{pattern}");
        read.label()
    });
    let labels: BTreeSet<&str> = labels.collect();
    let expected = [
        "capacity_reservation_interrupted",
        "instance_stopped",
        "rebalance_recommendation",
        "scheduled_change",
        "spot_interrupted",
    ];
    assert_eq!(labels, expected.into());
}

#[test]
fn each_event_of_ec2_comes_to_the_queue_by_one_rule() {
    let id = "i-1".to_owned();
    let mut world = World::new();
    for event in [
        Event::SpotInterruption { id: id.clone() },
        Event::RebalanceRecommendation { id: id.clone() },
        Event::StateChange {
            id: id.clone(),
            state: "stopping".to_owned(),
        },
        Event::ScheduledChange { ids: vec![id] },
    ] {
        world.emit("demo", &event);
    }
    for message in world.queues["demo"].messages.values() {
        let event: Value = serde_json::from_str(&message.body).expect("JSON");
        let rules = rules().into_values();
        let count = rules.filter(|pattern| fits(pattern, &event)).count();
        assert_eq!(count, 1, "{event}");
    }
}
