//! A class, a claim and a launch to try things on.

use std::sync::Arc;

use aws_config::Region;
use aws_sdk_ec2::config::Credentials;
use plimsoll_api::{Interner, Kind};
use plimsoll_base::units::PricePerHour;
use plimsoll_cloud::Cloud;
use plimsoll_ec2_facts::Share;
use plimsoll_model::action::{LaunchBatch, LaunchRequest};
use plimsoll_model::catalogue::CapacityType;
use plimsoll_model::plan::LaunchOption;
use plimsoll_model::{NodeClaim, Object};
use serde_json::{Value, json};

use crate::client::{Clients, loader};
use crate::served::{Market, NodeSettings, ServedClass};
use crate::user_data::ClusterAccess;

/// Clients of a cloud on loopback, for `us-east-1`.
pub(crate) async fn clients(cloud: &Cloud) -> Clients {
    clients_in(cloud, "us-east-1").await
}

/// The same for another region.
pub(crate) async fn clients_in(cloud: &Cloud, region: &str) -> Clients {
    let config = loader("0.0.0").endpoint_url(cloud.url());
    let config = config.region(Region::new(region.to_owned()));
    let key = Credentials::new("key", "secret", None, None, "test");
    let config = config.credentials_provider(key).load().await;
    Clients::new(&config, region.to_owned())
}

/// A class of AL2023 in two zones, resolved, with these fields of its specification, where nothing was told of the market.
pub(crate) fn class(spec: &Value) -> ServedClass {
    class_on(&Market::of_tables("us-east-1"), spec)
}

/// The same on a market.
pub(crate) fn class_on(market: &Market, spec: &Value) -> ServedClass {
    let requirement = |key: &str, operator: &str, values: &[&str]| json!({"key": key, "operator": operator, "values": values});
    let image = |id: &str, arch: &str| {
        json!({"id": id, "requirements": [
            requirement("kubernetes.io/arch", "In", &[arch]),
            requirement("karpenter.k8s.aws/instance-gpu-count", "DoesNotExist", &[]),
            requirement("karpenter.k8s.aws/instance-accelerator-count", "DoesNotExist", &[]),
        ]})
    };
    let mut object = json!({
        "apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass",
        "metadata": {"name": "default", "uid": "class-uid", "generation": 1},
        "spec": {
            "amiSelectorTerms": [{"alias": "al2023@latest"}], "role": "nodes",
            "subnetSelectorTerms": [{"tags": {"a": "b"}}], "securityGroupSelectorTerms": [{"tags": {"a": "b"}}],
        },
        "status": {
            "subnets": [
                {"id": "subnet-b", "zone": "us-east-1b", "zoneID": "use1-az2"},
                {"id": "subnet-a", "zone": "us-east-1a", "zoneID": "use1-az1"},
            ],
            "securityGroups": [{"id": "sg-1"}],
            "amis": [image("ami-amd", "amd64"), image("ami-arm", "arm64")],
            "instanceProfile": "demo_1",
            "conditions": [{"type": "Ready", "status": "True", "reason": "Ready", "message": ""}],
        },
    });
    let fields = spec.as_object().expect("fields");
    for (key, value) in fields {
        object["spec"][key] = value.clone();
    }
    let object = serde_json::from_value(object).expect("a class");
    let settings = NodeSettings {
        memory_overhead: Share::from_parts_per_million(75_000),
        reserved_interfaces: 0,
        fills_open_reservations: false,
    };
    ServedClass::new(object, market, "Y2E=", settings).expect("a class that can be served")
}

/// The cluster of the class.
pub(crate) fn cluster() -> ClusterAccess {
    ClusterAccess {
        name: "demo".to_owned(),
        kubernetes: "1.34".to_owned(),
        endpoint: "https://demo.example".to_owned(),
        ca_bundle: "Y2E=".to_owned(),
        service_cidr: Some("10.100.0.0/16".to_owned()),
        dns: Some("10.100.0.10".to_owned()),
    }
}

/// A claim of pool `general`.
pub(crate) fn claim(name: &str, requirements: &Value) -> Arc<NodeClaim> {
    let written = json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodeClaim",
        "metadata": {
            "name": name, "uid": format!("uid-{name}"), "creationTimestamp": "2026-01-31T09:00:00Z",
            "labels": {"karpenter.sh/nodepool": "general", "team": "shop"},
        },
        "spec": {
            "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
            "requirements": requirements,
            "taints": [{"key": "dedicated", "value": "web", "effect": "NoSchedule"}],
        },
    });
    let read = plimsoll_api::read(Kind::NodeClaim, &written, &mut Interner::new(), &mut |_| {});
    match read {
        Ok((_, plimsoll_api::Object::Whole(Object::Claim(claim)))) => Some(claim),
        _ => None,
    }
    .expect("a claim")
}

/// A pool of class `default`, with these fields of its specification's template.
pub(crate) fn pool(name: &str, template: &Value) -> Object {
    let mut written = json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodePool",
        "metadata": {"name": name, "uid": format!("uid-{name}"), "creationTimestamp": "2026-01-31T09:00:00Z"},
        "spec": {"template": {"spec": {
            "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
            "requirements": [],
        }}},
    });
    for (key, value) in template["spec"].as_object().into_iter().flatten() {
        written["spec"]["template"]["spec"][key] = value.clone();
    }
    if let Some(metadata) = template.get("metadata") {
        written["spec"]["template"]["metadata"] = metadata.clone();
    }
    let read = plimsoll_api::read(Kind::NodePool, &written, &mut Interner::new(), &mut |_| {});
    match read {
        Ok((_, plimsoll_api::Object::Whole(own))) => Some(own),
        _ => None,
    }
    .expect("a pool")
}

/// A way to buy.
pub(crate) fn option(name: &str, zone: &str, kind: CapacityType, dollars: f64) -> LaunchOption {
    let price = PricePerHour::from_dollars(dollars).expect("a price");
    LaunchOption {
        instance_type: name.into(),
        zone: zone.into(),
        capacity_type: kind,
        reservation: None,
        price,
        list_price: price,
    }
}

/// A launch of claims of these names.
pub(crate) fn request(names: &[&str], options: Vec<LaunchOption>) -> LaunchRequest {
    LaunchRequest {
        batch: LaunchBatch {
            token: "00ab-0".into(),
            size: names.len(),
        },
        claims: names.iter().map(|name| claim(name, &json!([]))).collect(),
        taken: [].into(),
        options,
    }
}
