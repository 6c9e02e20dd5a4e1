//! EKS: clusters.

use serde_json::{Value, json};

use crate::fault::Fault;
use crate::world::World;

/// The operation of a request, and its input.
pub(crate) fn operation(path: &str) -> (String, Value) {
    match path.strip_prefix("/clusters/") {
        Some(name) => ("DescribeCluster".to_owned(), json!({"name": name})),
        None => (path.to_owned(), Value::Null),
    }
}

pub(crate) fn answer(world: &World, operation: &str, input: &Value) -> Result<Value, Fault> {
    match operation {
        "DescribeCluster" => {
            let name = input["name"].as_str().unwrap_or_default();
            let Some(cluster) = world.clusters.get(name) else {
                let message = format!("No cluster found for name: {name}.");
                return Err(Fault::new("ResourceNotFoundException", message).with_status(404));
            };
            let arn = format!(
                "arn:aws:eks:{}:{}:cluster/{name}",
                world.region, world.account
            );
            Ok(json!({"cluster": {
                "name": name,
                "arn": arn,
                "status": "ACTIVE",
                "version": cluster.version,
                "endpoint": cluster.endpoint,
                "certificateAuthority": {"data": cluster.certificate_authority},
                "kubernetesNetworkConfig": {"serviceIpv4Cidr": cluster.service_cidr, "ipFamily": "ipv4"},
            }}))
        }
        other => Err(Fault::unknown(other)),
    }
}
