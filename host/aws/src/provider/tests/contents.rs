//! Fields of a class in what EC2 is asked for: each comes where it belongs, and what the class does not say is as it is for everybody.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use plimsoll_model::NodeClaim;

use super::*;
use crate::launch::template::{LaunchTemplate, metadata};

/// Input of the first call of an operation.
fn input(scene: &Scene, operation: &str) -> Value {
    let mut calls = scene.cloud.calls().into_iter();
    let found = calls.find(|call| call.operation == operation);
    found.expect(operation).input
}

/// Content of the template that a class with these fields is launched by.
async fn content(spec: &Value) -> Value {
    let scene = Scene::new().await;
    scene.serve(spec).await;
    scene.launch(&two(Spot)).await;
    input(&scene, "CreateLaunchTemplate")["LaunchTemplateData"].take()
}

/// A class with one disk that has this volume.
fn disk(volume: &Value) -> Value {
    json!({"blockDeviceMappings": [{"deviceName": "/dev/xvda", "ebs": volume}]})
}

/// A class, a place in the content of its template, and what is there.
type Case = (Value, &'static str, Value);

fn of_disks() -> Vec<Case> {
    let (whole, volume) = ("/BlockDeviceMapping/0", "/BlockDeviceMapping/0/Ebs");
    let usual = json!({"Encrypted": "true", "VolumeSize": "20", "VolumeType": "gp3"});
    let with = |own: Value, expected: Value| (disk(&own), volume, expected);
    let keyed = json!({"encrypted": true, "kmsKeyID": "key-1"});
    let snapshot = json!({"snapshotID": "snap-1", "volumeInitializationRate": 100});
    let named = json!({"blockDeviceMappings": [{"deviceName": "/dev/sdb"}]});
    vec![
        (
            json!({}),
            whole,
            json!({"DeviceName": "/dev/xvda", "Ebs": usual}),
        ),
        (named, whole, json!({"DeviceName": "/dev/sdb"})),
        with(
            json!({"deleteOnTermination": false}),
            json!({"DeleteOnTermination": "false"}),
        ),
        with(keyed, json!({"Encrypted": "true", "KmsKeyId": "key-1"})),
        with(
            json!({"iops": 4000, "throughput": 300}),
            json!({"Iops": "4000", "Throughput": "300"}),
        ),
        with(
            snapshot,
            json!({"SnapshotId": "snap-1", "VolumeInitializationRate": "100"}),
        ),
        with(
            json!({"volumeSize": "1.5Ti", "volumeType": "io2"}),
            json!({"VolumeSize": "1536", "VolumeType": "io2"}),
        ),
    ]
}

fn of_the_metadata_service() -> Vec<Case> {
    let spec = json!({"metadataOptions": {
        "httpEndpoint": "disabled", "httpProtocolIPv6": "enabled", "httpPutResponseHopLimit": 3, "httpTokens": "optional",
    }});
    let content = |endpoint: &str, ipv6: &str, hops: &str, tokens: &str| {
        json!({
            "HttpEndpoint": endpoint, "HttpProtocolIpv6": ipv6, "HttpPutResponseHopLimit": hops, "HttpTokens": tokens,
            "InstanceMetadataTags": "disabled",
        })
    };
    let usual = content("enabled", "disabled", "1", "required");
    let own = content("disabled", "enabled", "3", "optional");
    let place = "/MetadataOptions";
    vec![(json!({}), place, usual), (spec, place, own)]
}

fn of_the_rest() -> Vec<Case> {
    let (image, group) = (format!("ami-{:017x}", 1), format!("sg-{:017x}", 1));
    let interface = json!([{"DeviceIndex": "0", "SecurityGroupId": [group]}]);
    let (address, public) = (
        "associatePublicIPAddress",
        "/NetworkInterface/0/AssociatePublicIpAddress",
    );
    let prefixes = "/NetworkInterface/0/Ipv4PrefixCount";
    let nested = json!({"cpuOptions": {"nestedVirtualization": "disabled"}});
    let profile = json!({"role": null, "instanceProfile": "own"});
    let cpu = json!({"NestedVirtualization": "disabled"});
    vec![
        (json!({}), "/Monitoring", json!({"Enabled": "false"})),
        (
            json!({"detailedMonitoring": true}),
            "/Monitoring",
            json!({"Enabled": "true"}),
        ),
        (json!({}), public, Value::Null),
        (json!({address: true}), public, json!("true")),
        (json!({address: false}), public, json!("false")),
        (nested, "/CpuOptions", cpu),
        (json!({}), "/CpuOptions", Value::Null),
        (json!({}), "/Placement", json!({"Tenancy": "default"})),
        (json!({}), "/EnclaveOptions", json!({"Enabled": "false"})),
        (json!({}), "/ImageId", json!(image)),
        (profile, "/IamInstanceProfile", json!({"Name": "own"})),
        (json!({}), "/NetworkInterface", interface),
        (json!({}), "/SecurityGroupId", Value::Null),
        (json!({"ipPrefixCount": 3}), prefixes, json!("3")),
    ]
}

#[tokio::test]
async fn each_field_of_a_class_is_in_its_launch_template() {
    let cases = [of_disks(), of_the_metadata_service(), of_the_rest()];
    for (spec, place, expected) in cases.concat() {
        let content = content(&spec).await;
        let found = content.pointer(place).cloned().unwrap_or_default();
        assert_eq!(found, expected, "{spec}: {place}");
    }
}

#[tokio::test]
async fn interfaces_of_a_cluster_of_ipv6_have_such_an_address_and_such_prefixes() {
    let scene = Scene::new().await;
    let dns = "fd12:3456::a".to_owned();
    scene.ec2.change_cluster(|cluster| cluster.dns = Some(dns));
    let entry = |device: u32, kind: &str| json!({"networkCardIndex": 0, "deviceIndex": device, "interfaceType": kind});
    let listed = json!([entry(0, "interface"), entry(1, "efa-only")]);
    scene
        .serve(&json!({"ipPrefixCount": 2, "networkInterfaces": listed}))
        .await;
    let options = vec![sample::option("c6in.32xlarge", "us-east-1a", Spot, 7.0)];
    scene.launch(&sample::request(&["a"], options)).await;
    let content = input(&scene, "CreateLaunchTemplate")["LaunchTemplateData"].take();
    let own = &content["NetworkInterface"];
    for (field, expected) in [
        ("PrimaryIpv6", json!("true")),
        ("Ipv6AddressCount", json!("1")),
        ("Ipv6PrefixCount", json!("2")),
        ("Ipv4PrefixCount", Value::Null),
    ] {
        assert_eq!(own[0][field], expected, "{field}");
        assert_eq!(
            own[1][field],
            Value::Null,
            "{field} of one without addresses"
        );
    }
}

#[tokio::test]
async fn user_data_joins_local_disks_where_the_class_says_so() {
    for (spec, expected) in [
        (json!({}), false),
        (json!({"instanceStorePolicy": "RAID0"}), true),
    ] {
        let content = content(&spec).await;
        let encoded = content["UserData"].as_str().expect("user data");
        let text = STANDARD.decode(encoded).expect("base64");
        let text = String::from_utf8(text).expect("text");
        assert_eq!(text.contains("RAID0"), expected, "{text}");
    }
}

/// Keys of the tags that a list of specifications has for a kind of resource; `None` where it has none for it.
fn tag_keys(specifications: &Value, kind: &str) -> Option<Vec<String>> {
    let mut all = specifications.as_array()?.iter();
    let own = all.find(|own| own["ResourceType"] == kind)?;
    let tags = own["Tag"].as_array()?.iter();
    let keys = tags.filter_map(|tag| tag["Key"].as_str());
    Some(keys.map(str::to_owned).collect())
}

#[tokio::test]
async fn all_that_is_made_has_the_tags_of_the_class_and_the_fleet_its_context() {
    for kind in [OnDemand, Spot] {
        let scene = Scene::new().await;
        let spec = json!({"tags": {"team": "shop"}, "context": "ctx-1"});
        scene.serve(&spec).await;
        scene.launch(&two(kind)).await;
        let template = input(&scene, "CreateLaunchTemplate");
        let fleet = input(&scene, "CreateFleet");
        let own = [
            "eks:eks-cluster-name",
            "karpenter.k8s.aws/ec2nodeclass",
            "karpenter.sh/nodepool",
            "kubernetes.io/cluster/demo",
            "team",
        ];
        let inner = &template["LaunchTemplateData"]["TagSpecification"];
        let requests = tag_keys(inner, "spot-instances-request");
        assert_eq!(requests.is_some(), kind == Spot);
        let made = [
            tag_keys(&template["TagSpecification"], "launch-template"),
            tag_keys(inner, "network-interface"),
            requests.or(Some(own.map(str::to_owned).into())),
        ];
        for keys in made {
            assert_eq!(keys.expect("tags"), own);
        }
        let token = "plimsoll.dev/launch-token";
        for resource in ["instance", "volume", "fleet"] {
            let keys = tag_keys(&fleet["TagSpecification"], resource).expect("tags");
            let (with_token, others): (Vec<_>, Vec<_>) =
                keys.into_iter().partition(|key| key == token);
            assert_eq!(
                (with_token.len(), others),
                (1, own.map(str::to_owned).into())
            );
        }
        assert_eq!(fleet["Context"], "ctx-1");
    }
}

#[tokio::test]
async fn a_claim_that_wants_hardware_of_its_own_gets_it() {
    let scene = Scene::new().await;
    let mut request = two(OnDemand);
    let tenancy = json!([{"key": "karpenter.k8s.aws/instance-tenancy", "operator": "In", "values": ["dedicated"]}]);
    let claim: Arc<NodeClaim> = sample::claim("a", &tenancy);
    request.claims = [claim].into();
    request.batch.size = 1;
    scene.launch(&request).await;
    let template = input(&scene, "CreateLaunchTemplate");
    let placement = &template["LaunchTemplateData"]["Placement"];
    assert_eq!(*placement, json!({"Tenancy": "dedicated"}));
}

#[tokio::test]
async fn isolated_regions_are_not_asked_for_ipv6_of_the_metadata_service() {
    let scene = Scene::new().await;
    for (region, expected) in [
        ("us-east-1", json!("disabled")),
        ("us-gov-west-1", json!("disabled")),
        ("us-iso-east-1", Value::Null),
        ("us-isob-west-1", Value::Null),
        ("us-isof-south-1", Value::Null),
    ] {
        scene.cloud.forget_calls();
        let clients = sample::clients_in(&scene.cloud, region).await;
        let template = LaunchTemplate {
            image: region.to_owned(),
            metadata: metadata(None),
            ..LaunchTemplate::default()
        };
        clients
            .ensure_template(&template)
            .await
            .expect("a template");
        let made = input(&scene, "CreateLaunchTemplate");
        let own = &made["LaunchTemplateData"]["MetadataOptions"];
        assert_eq!(own["HttpProtocolIpv6"], expected, "{region}");
        assert_eq!(own["HttpTokens"], "required", "{region}");
    }
}

#[tokio::test]
async fn instances_leave_open_reservations_only_where_they_are_told_to() {
    let none = json!({"CapacityReservationPreference": "none"});
    for (fills, expected) in [(false, none), (true, Value::Null)] {
        let scene = Scene::new().await;
        let nodes = NodeSettings {
            fills_open_reservations: fills,
            ..NODES
        };
        scene.serve_with(&json!({}), nodes).await;
        for capacity in [Spot, CapacityType::OnDemand] {
            scene.cloud.forget_calls();
            let mut request = two(capacity);
            request.batch.token = format!("00ab-{}", u8::from(capacity == Spot))
                .as_str()
                .into();
            assert!(!claims(scene.launch(&request).await).is_empty());
            let made = &input(&scene, "CreateLaunchTemplate")["LaunchTemplateData"];
            assert_eq!(
                made["CapacityReservationSpecification"], expected,
                "{capacity:?}"
            );
        }
    }
}

#[tokio::test]
async fn instances_run_enclaves_where_the_class_says_so_and_the_type_can() {
    for (spec, expected) in [
        (json!({}), Some("false")),
        (json!({"enclaveOptions": {"enabled": false}}), Some("false")),
        (json!({"enclaveOptions": {"enabled": true}}), Some("true")),
    ] {
        let scene = Scene::new().await;
        scene.serve(&spec).await;
        let options = vec![
            sample::option("m5.large", "us-east-1a", Spot, 0.04),
            sample::option("m5.xlarge", "us-east-1a", Spot, 0.05),
        ];
        assert!(!claims(scene.launch(&sample::request(&["a"], options)).await).is_empty());
        let made = input(&scene, "CreateLaunchTemplate");
        let enabled = made["LaunchTemplateData"]["EnclaveOptions"]["Enabled"].as_str();
        assert_eq!(enabled, expected, "{spec}");
        let fleet = input(&scene, "CreateFleet");
        let small = fleet.to_string().contains("m5.large");
        assert_eq!(small, enabled == Some("false"), "{spec}: {fleet}");
    }
}
