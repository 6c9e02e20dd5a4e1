//! Knowledge of a cluster beside its objects: region, settings and namespace of its controller, from flags, from
//! the environment under the names that `run` reads, or from the objects themselves.

use std::collections::BTreeSet;

use anyhow::{Result, bail};
use kube::Client;
use plimsoll_api::Kind;
use plimsoll_core::labels;
use plimsoll_core::snapshot::Settings;
use plimsoll_ec2_facts::provider::CLASS;
use plimsoll_kube::lease::holders;
use plimsoll_kube::module_copy::namespaces;
use plimsoll_kube::scheduler_rules;
use serde_json::Value;

use crate::cluster::environment;
use crate::flags::{Decisions, LeaderElection, Sold};
use crate::leader::{self, NAME};
use crate::settings;

/// Where AWS's tools look for the region.
const REGIONS: [&str; 2] = ["AWS_REGION", "AWS_DEFAULT_REGION"];

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|text| !text.is_empty())
}

/// The market of a cluster's pools: as flags say, else as the environment or the nodes do.
pub(crate) fn sold(flags: &Sold, items: &[Value]) -> Result<Sold> {
    let mut sold = flags.clone();
    if sold.region.is_some() || sold.instance_types_file_path.is_some() {
        return Ok(sold);
    }
    if items.iter().any(buys_on_ec2) {
        sold.region = region(items, &variable)?;
        if sold.region.is_none() {
            bail!(
                "a NodePool of this cluster has a class of EC2, and no node says which region that is in; expected --region, or AWS_REGION"
            );
        }
    } else {
        sold.instance_types_file_path = variable("INSTANCE_TYPES_FILE_PATH").map(Into::into);
    }
    Ok(sold)
}

/// The region: as the environment says, else that of the nodes, where all have one.
fn region(items: &[Value], variable: &impl Fn(&str) -> Option<String>) -> Result<Option<String>> {
    if let Some(region) = REGIONS.into_iter().find_map(variable) {
        return Ok(Some(region));
    }
    let nodes = items
        .iter()
        .filter(|item| item["kind"] == Kind::Node.as_str());
    let labels = nodes.filter_map(|node| node["metadata"]["labels"][labels::REGION].as_str());
    let regions: BTreeSet<&str> = labels.collect();
    let mut regions = regions.into_iter();
    match (regions.next(), regions.next()) {
        (region, None) => Ok(region.map(str::to_owned)),
        (Some(one), Some(other)) => {
            bail!("the nodes are of several regions, {one} and {other}; expected --region")
        }
        (None, Some(_)) => Ok(None),
    }
}

fn buys_on_ec2(object: &Value) -> bool {
    let class = &object["spec"]["template"]["spec"]["nodeClassRef"];
    object["kind"] == Kind::NodePool.as_str() && class["kind"] == CLASS
}

/// Settings of decisions: those of the environment, which is the controller's own where the command runs beside it, and the rules of the
/// cluster's scheduler.
pub(crate) async fn settings(client: &Client) -> Result<Settings> {
    let (mut settings, _) = settings::read(&Decisions::default(), &variable)?;
    let rules = scheduler_rules(client).await.map_err(environment)?;
    settings.nominations = rules.nominations;
    Ok(settings)
}

/// The namespace of the controller, in which the modules of Policies are: as the environment says, else that of the lease that a controller
/// holds, else that of its copies of modules, else the one of the kubeconfig.
pub(crate) async fn namespace(client: &Client, default: String) -> String {
    let none = LeaderElection {
        disabled: None,
        name: None,
        namespace: None,
    };
    if let Some(namespace) = leader::namespace(&none, variable) {
        return namespace;
    }
    let name = variable("LEADER_ELECTION_NAME").unwrap_or_else(|| NAME.to_owned());
    // Without the right to look for either there is the default.
    let held = holders(client, &name).await.unwrap_or_default();
    if let Some(namespace) = held.into_iter().next() {
        return namespace;
    }
    let copies = namespaces(client).await.unwrap_or_default();
    copies.into_iter().next().unwrap_or(default)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn node(region: &str) -> Value {
        json!({"kind": "Node", "metadata": {"labels": {"topology.kubernetes.io/region": region}}})
    }

    #[test]
    fn the_region_is_that_of_the_environment_else_that_of_the_nodes() {
        let none = |_: &str| None;
        let set = |name: &str| (name == "AWS_DEFAULT_REGION").then(|| "eu-west-1".to_owned());
        let of = |items: &[Value]| region(items, &none);
        assert_eq!(of(&[]).expect("none"), None);
        let nodes = [
            node("eu-north-1"),
            json!({"kind": "Node"}),
            node("eu-north-1"),
        ];
        assert_eq!(of(&nodes).expect("one").as_deref(), Some("eu-north-1"));
        let said = region(&nodes, &set).expect("one");
        assert_eq!(said.as_deref(), Some("eu-west-1"));
        let several = of(&[node("a"), node("b")]).expect_err("two").to_string();
        assert!(several.contains("a and b; expected --region"), "{several}");
    }
}
