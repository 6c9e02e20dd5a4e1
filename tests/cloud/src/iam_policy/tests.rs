//! Rights of one policy, right by right: what each condition lets through, and what it does not.

mod documents;
mod reads;

use serde_json::{Value, json};

use super::*;
use crate::world::{InstanceProfile, LaunchTemplate, Tags};

const REGION: &str = "us-east-1";
const ROLE: &str = "KarpenterNodeRole-demo";

/// The policy of a cluster `demo`, as its controller is given it.
fn shipped() -> Policy {
    let text = include_str!("../../../../charts/aws/policy.json");
    let filled = [
        ("Partition", "aws"),
        ("Region", REGION),
        ("AccountID", "111122223333"),
        ("ClusterName", "demo"),
        ("NodeRole", ROLE),
        ("QueueName", "demo"),
    ];
    let filled = filled.iter().fold(text.to_owned(), |text, (name, value)| {
        text.replace(&format!("${{{name}}}"), value)
    });
    Policy::parse(&filled).expect("it is understood")
}

fn tags(pairs: &[(&str, &str)]) -> Tags {
    let own = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
    pairs.iter().map(own).collect()
}

/// Tags of all that the controller makes.
fn own() -> Tags {
    tags(&[
        ("eks:eks-cluster-name", "demo"),
        ("karpenter.sh/nodepool", "general"),
        ("kubernetes.io/cluster/demo", "owned"),
    ])
}

fn profile_tags() -> Tags {
    tags(&[
        ("eks:eks-cluster-name", "demo"),
        ("karpenter.k8s.aws/ec2nodeclass", "default"),
        ("kubernetes.io/cluster/demo", "owned"),
        ("topology.kubernetes.io/region", REGION),
    ])
}

/// A demo world with one template, instance and profile of the cluster, and one of each that is another's.
fn world() -> World {
    let mut world = World::demo("demo");
    world.policies = Some(vec![shipped()]);
    for (name, tags) in [("own", own()), ("other", tags(&[("team", "shop")]))] {
        let data = json!({
            "ImageId": "ami-00000000000000001", "IamInstanceProfile": {"Name": name},
            "NetworkInterface": [{"DeviceIndex": "0", "SecurityGroupId": ["sg-00000000000000001"]}],
            "BlockDeviceMapping": [{"Ebs": {"SnapshotId": "snap-1"}}],
            "TagSpecification": specifications(&["network-interface", "spot-instances-request"], &own()),
        });
        let template = LaunchTemplate {
            id: format!("lt-{name}"),
            name: name.to_owned(),
            created: world.now(),
            tags: tags.clone(),
            data,
        };
        world.launch_templates.push(template);
        let tags = if name == "own" { profile_tags() } else { tags };
        let profile = InstanceProfile {
            path: "/karpenter/us-east-1/demo/uid/".to_owned(),
            role: Some(ROLE.to_owned()),
            tags,
        };
        world.instance_profiles.insert(name.to_owned(), profile);
    }
    world
}

fn specifications(kinds: &[&str], tags: &Tags) -> Value {
    let list = |tags: &Tags| -> Value {
        let tag = |(key, value)| json!({"Key": key, "Value": value});
        tags.iter().map(tag).collect()
    };
    let one = |kind: &&str| json!({"ResourceType": kind, "Tag": list(tags)});
    kinds.iter().map(one).collect()
}

fn fleet(kinds: &[&str], tags: &Tags) -> Value {
    json!({
        "LaunchTemplateConfigs": [{
            "LaunchTemplateSpecification": {"LaunchTemplateName": "own"},
            "Overrides": [{"InstanceType": "m5.large", "SubnetId": "subnet-00000000000000001"}],
        }],
        "TargetCapacitySpecification": {"DefaultTargetCapacityType": "spot", "TotalTargetCapacity": "1"},
        "TagSpecification": specifications(kinds, tags),
    })
}

const FLEET: [&str; 3] = ["fleet", "instance", "volume"];

/// What a call is refused for: the right, or nothing.
fn refused(world: &mut World, service: Service, operation: &str, input: &Value) -> String {
    let denied = denial(world, (service, REGION), operation, input);
    let words = denied.map(|fault| fault.message).unwrap_or_default();
    let (_, right) = words.split_once("perform: ").unwrap_or_default();
    let (right, _) = right.split_once(" because ").unwrap_or((right, ""));
    right.replace(" on resource: arn:aws", "")
}

/// Adds to tags, or takes a tag away where the value is empty.
fn but(mut all: Tags, key: &str, value: &str) -> Tags {
    all.insert(key.to_owned(), value.to_owned());
    all.retain(|_, value| !value.is_empty());
    all
}

#[test]
fn a_fleet_needs_the_tags_of_the_cluster_on_all_that_it_makes() {
    let mut world = world();
    let mut ask = |input: &Value| refused(&mut world, Service::Ec2, "CreateFleet", input);
    assert_eq!(ask(&fleet(&FLEET, &own())), "");
    assert_eq!(ask(&fleet(&FLEET, &but(own(), "team", "shop"))), "");
    let none = "ec2:CreateFleet:ec2:us-east-1:111122223333";
    for key in own().keys() {
        let told = ask(&fleet(&FLEET, &but(own(), key, "")));
        assert_eq!(told, format!("{none}:fleet/*"), "without {key}");
    }
    for (key, value) in [
        ("eks:eks-cluster-name", "other"),
        ("kubernetes.io/cluster/demo", "shared"),
    ] {
        let told = ask(&fleet(&FLEET, &but(own(), key, value)));
        assert_eq!(told, format!("{none}:fleet/*"), "{key}={value}");
    }
    assert_eq!(ask(&fleet(&FLEET[..2], &own())), format!("{none}:volume/*"));
    assert_eq!(
        ask(&fleet(&["fleet"], &own())),
        format!("{none}:instance/*")
    );
    let mut other = fleet(&FLEET, &own());
    other["LaunchTemplateConfigs"][0]["LaunchTemplateSpecification"] =
        json!({"LaunchTemplateId": "lt-other"});
    assert_eq!(ask(&other), format!("{none}:launch-template/lt-other"));
}

#[test]
fn what_is_launched_asks_for_its_parts_too() {
    let mut world = world();
    assert_eq!(
        refused(
            &mut world,
            Service::Ec2,
            "CreateFleet",
            &fleet(&FLEET, &own())
        ),
        ""
    );
    assert_eq!(fleet_denial(&mut world, &fleet(&FLEET, &own())), None);
    let asked = world.asked_rights.iter();
    let of_run = asked.filter(|right| right.action == "ec2:RunInstances");
    let resources: Vec<&str> = of_run
        .map(|right| right.resource.trim_start_matches("arn:aws:ec2:us-east-1:"))
        .collect();
    assert_eq!(
        resources,
        [
            "111122223333:instance/*",
            "111122223333:launch-template/lt-own",
            "111122223333:network-interface/*",
            "111122223333:security-group/sg-00000000000000001",
            "111122223333:spot-instances-request/*",
            "111122223333:subnet/subnet-00000000000000001",
            "111122223333:volume/*",
            ":image/ami-00000000000000001",
            ":snapshot/snap-1",
        ]
    );
}

#[test]
fn a_role_is_passed_to_ec2_alone_and_no_other_role_is() {
    let mut world = world();
    let profile = world.instance_profiles.get_mut("own").expect("a profile");
    profile.role = Some("Admin".to_owned());
    let denied = fleet_denial(&mut world, &fleet(&FLEET, &own())).expect("denied");
    assert_eq!(denied.code, "UnauthorizedOperation");
    assert!(
        denied
            .message
            .contains("iam:PassRole on resource: arn:aws:iam::111122223333:role/Admin"),
        "{}",
        denied.message
    );
    let right = |service: &str| {
        let arn = format!("arn:aws:iam::111122223333:role/{ROLE}");
        AskedRight::new(REGION, "iam:PassRole", arn).with("iam:PassedToService", service)
    };
    assert!(shipped().allows(&right("ec2.amazonaws.com")));
    assert!(!shipped().allows(&right("lambda.amazonaws.com")));
}

#[test]
fn tags_are_put_on_what_is_made_and_later_on_own_instances_by_three_keys() {
    let policy = shipped();
    let on = |kind: &str| {
        let arn = format!("arn:aws:ec2:us-east-1:111122223333:{kind}");
        AskedRight::new(REGION, "ec2:CreateTags", arn)
    };
    let made = |action: &str| {
        on("volume/*")
            .putting(&own())
            .with("ec2:CreateAction", action)
    };
    let named = tags(&[("Name", "node-1"), ("karpenter.sh/nodeclaim", "a")]);
    let of_cluster = |name: &str| but(named.clone(), "eks:eks-cluster-name", name);
    let instance = || on("instance/i-1").on(&own());
    for (right, is_allowed) in [
        (made("CreateFleet"), true),
        (made("RunInstances"), true),
        (made("CreateVolume"), false),
        // Not while it is made.
        (on("volume/*").putting(&own()), false),
        (
            on("snapshot/*")
                .putting(&own())
                .with("ec2:CreateAction", "RunInstances"),
            false,
        ),
        (instance().putting(&named), true),
        (instance().putting(&of_cluster("demo")), true),
        (instance().putting(&of_cluster("other")), false),
        (
            instance().putting(&but(named.clone(), "team", "shop")),
            false,
        ),
        (on("instance/i-1").putting(&named), false),
        (on("volume/vol-1").on(&own()).putting(&named), false),
    ] {
        assert_eq!(policy.allows(&right), is_allowed, "{right:?}");
    }
}

#[test]
fn only_what_bears_the_cluster_s_tags_is_ended() {
    let mut world = world();
    for (name, told) in [
        ("own", ""),
        (
            "other",
            "ec2:DeleteLaunchTemplate:ec2:us-east-1:111122223333:launch-template/lt-other",
        ),
        // EC2 says that there is none.
        ("nobody's", ""),
    ] {
        let input = json!({"LaunchTemplateName": name});
        let refused = refused(&mut world, Service::Ec2, "DeleteLaunchTemplate", &input);
        assert_eq!(refused, told, "{name}");
    }
    let end = |tags: &Tags| {
        let arn = "arn:aws:ec2:us-east-1:111122223333:instance/i-1";
        AskedRight::new(REGION, "ec2:TerminateInstances", arn).on(tags)
    };
    assert!(shipped().allows(&end(&own())));
    for key in ["karpenter.sh/nodepool", "kubernetes.io/cluster/demo"] {
        assert!(!shipped().allows(&end(&but(own(), key, ""))), "{key}");
    }
}

#[test]
fn instance_profiles_are_made_with_their_tags_and_changed_by_them() {
    let mut world = world();
    let mut ask = |operation: &str, input: Value| {
        let told = refused(&mut world, Service::Iam, operation, &input);
        told.replace(":iam::111122223333:", " ")
    };
    let make = |path: &str, tags: &Tags| {
        let tag = |(key, value)| json!({"Key": key, "Value": value});
        let tags: Vec<Value> = tags.iter().map(tag).collect();
        json!({"InstanceProfileName": "new", "Path": path, "Tags": tags})
    };
    let path = "/karpenter/us-east-1/demo/uid/";
    assert_eq!(
        ask("CreateInstanceProfile", make(path, &profile_tags())),
        ""
    );
    let denied = "iam:CreateInstanceProfile instance-profile/karpenter/us-east-1/demo/uid/new";
    for (key, value) in [
        ("karpenter.k8s.aws/ec2nodeclass", ""),
        ("topology.kubernetes.io/region", "eu-west-1"),
        ("kubernetes.io/cluster/demo", ""),
        ("eks:eks-cluster-name", "other"),
    ] {
        let input = make(path, &but(profile_tags(), key, value));
        assert_eq!(ask("CreateInstanceProfile", input), denied, "{key}");
    }
    assert_eq!(
        ask("CreateInstanceProfile", make("/", &profile_tags())),
        "iam:CreateInstanceProfile instance-profile/new"
    );
    for operation in [
        "AddRoleToInstanceProfile",
        "RemoveRoleFromInstanceProfile",
        "DeleteInstanceProfile",
    ] {
        let input = |name: &str| json!({"InstanceProfileName": name, "RoleName": ROLE});
        assert_eq!(ask(operation, input("own")), "");
        assert_eq!(
            ask(operation, input("other")),
            format!("iam:{operation} instance-profile{path}other")
        );
        assert_eq!(ask(operation, input("nobody's")), "");
    }
    let admin = json!({"InstanceProfileName": "own", "RoleName": "Admin"});
    assert_eq!(
        ask("AddRoleToInstanceProfile", admin),
        "iam:PassRole role/Admin"
    );
    for name in ["own", "nobody's"] {
        let input = json!({"InstanceProfileName": name});
        assert_eq!(ask("GetInstanceProfile", input), "");
    }
}

/// IAM refuses a managed policy of more characters, white space apart.
#[test]
fn the_policy_is_not_too_long_for_a_cluster_with_a_long_name() {
    let text = include_str!("../../../../charts/aws/policy.json");
    let long = |name: &str| match name {
        "Partition" => 10,
        "AccountID" => 12,
        "NodeRole" | "QueueName" => 64,
        "Region" => 14,
        _ => 40,
    };
    let names = [
        "Partition",
        "Region",
        "AccountID",
        "ClusterName",
        "NodeRole",
        "QueueName",
    ];
    let filled = names.iter().fold(text.to_owned(), |text, name| {
        text.replace(&format!("${{{name}}}"), &"x".repeat(long(name)))
    });
    let count = filled.chars().filter(|own| !own.is_whitespace()).count();
    assert!(count <= 6_144, "{count}");
}
