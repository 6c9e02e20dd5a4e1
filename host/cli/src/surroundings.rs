//! Knowledge of a cluster beside its objects: region, settings and namespace of its controller, from flags, from
//! the environment under the names that `run` reads, or from the objects themselves.

use std::collections::BTreeSet;

use anyhow::{Context, Result, bail};
use kube::Client;
use plimsoll_api::{Kind, ResizeRule};
use plimsoll_base::labels;
use plimsoll_ec2_facts::provider::CLASS;
use plimsoll_kube::lease::holders;
use plimsoll_kube::module_copy::namespaces;
use plimsoll_kube::scheduler_rules;
use plimsoll_model::snapshot::Settings;
use serde_json::Value;

use crate::cluster::environment;
use crate::flags::{Decisions, Sold};
use crate::leader::NAME;
use crate::settings;
use crate::types_by_class::KWOK_CLASS;

/// Where AWS's tools look for the region.
const REGIONS: [&str; 2] = ["AWS_REGION", "AWS_DEFAULT_REGION"];
/// Variables that name the namespace of a controller. The namespace of the pod that a command runs in is no sign of it.
const NAMESPACES: [&str; 2] = ["LEADER_ELECTION_NAMESPACE", "SYSTEM_NAMESPACE"];

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|text| !text.is_empty())
}

/// The first of these variables that is set.
fn first_of(names: [&str; 2], variable: &impl Fn(&str) -> Option<String>) -> Option<String> {
    names.into_iter().find_map(variable)
}

/// The market of a cluster's pools: as flags say, else as the nodes or the environment do. Without a region, what EC2 sells is not known.
pub(crate) fn sold(flags: &Sold, items: &[Value]) -> Result<Sold> {
    sold_by(flags, items, &variable)
}

fn sold_by(
    flags: &Sold,
    items: &[Value],
    variable: &impl Fn(&str) -> Option<String>,
) -> Result<Sold> {
    let mut sold = flags.clone();
    let is_on_ec2 = items.iter().any(|item| buys_with(item, CLASS));
    if sold.instance_types_file_path.is_none() {
        sold.instance_types_file_path = variable("INSTANCE_TYPES_FILE_PATH").map(Into::into);
    } else if is_on_ec2 && !items.iter().any(|item| buys_with(item, KWOK_CLASS)) {
        bail!(
            "the NodePools of this cluster have an EC2NodeClass and none a KWOKNodeClass; expected --region in place of --instance-types-file-path"
        );
    }
    if sold.region.is_none() && is_on_ec2 {
        sold.region = region(items, variable)?;
    }
    Ok(sold)
}

/// The region: that of the nodes, where all have one; where they name none or several, the one of the environment.
fn region(items: &[Value], variable: &impl Fn(&str) -> Option<String>) -> Result<Option<String>> {
    let nodes = items
        .iter()
        .filter(|item| item["kind"] == Kind::Node.as_str());
    let labels = nodes.filter_map(|node| node["metadata"]["labels"][labels::REGION].as_str());
    let regions: BTreeSet<&str> = labels.collect();
    let mut regions = regions.into_iter();
    match (regions.next(), regions.next()) {
        (None, _) => Ok(first_of(REGIONS, variable)),
        (Some(one), None) => Ok(Some(one.to_owned())),
        (Some(one), Some(other)) => match first_of(REGIONS, variable) {
            Some(region) => Ok(Some(region)),
            None => bail!("the nodes are of several regions, {one} and {other}; expected --region"),
        },
    }
}

/// `true` for a NodePool of this kind of class.
fn buys_with(object: &Value, kind: &str) -> bool {
    let class = &object["spec"]["template"]["spec"]["nodeClassRef"];
    object["kind"] == Kind::NodePool.as_str() && class["kind"] == kind
}

/// Settings of decisions: those of the environment, which is the controller's own where the command runs beside it, and the rules of the
/// cluster's scheduler, with the one by which it counts pods that are being resized.
pub(crate) async fn settings(client: &Client) -> Result<(Settings, ResizeRule)> {
    let (mut settings, warnings) = said(&variable)?;
    for warning in warnings {
        eprintln!("warning: the environment: {warning}");
    }
    let rules = scheduler_rules(client).await.map_err(environment)?;
    settings.nominations = rules.nominations;
    Ok((settings, rules.resizes))
}

/// The settings of the environment, with warnings about those without effect.
fn said(variable: &impl Fn(&str) -> Option<String>) -> Result<(Settings, Vec<String>)> {
    let read = settings::read(&Decisions::default(), variable);
    read.context("settings of the environment, under the names of the flags of `plimsoll run`")
}

/// The namespace of the controller, in which the modules of Policies are: as the environment says, else that of the lease that a controller
/// holds, else that of its copies of modules, else the one of the kubeconfig.
pub(crate) async fn namespace(client: &Client, default: String) -> String {
    if let Some(namespace) = first_of(NAMESPACES, &variable) {
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
    fn the_region_is_that_of_the_nodes_else_that_of_the_environment() {
        let none = |_: &str| None;
        let set = |name: &str| (name == "AWS_DEFAULT_REGION").then(|| "eu-west-1".to_owned());
        let of = |items: &[Value]| region(items, &none);
        assert_eq!(of(&[]).expect("none"), None);
        let by_environment = |items: &[Value]| region(items, &set).expect("one");
        assert_eq!(by_environment(&[]).as_deref(), Some("eu-west-1"));
        let nodes = [
            node("eu-north-1"),
            json!({"kind": "Node"}),
            node("eu-north-1"),
        ];
        assert_eq!(of(&nodes).expect("one").as_deref(), Some("eu-north-1"));
        assert_eq!(by_environment(&nodes).as_deref(), Some("eu-north-1"));
        let two = [node("a"), node("b")];
        let several = of(&two).expect_err("two").to_string();
        assert!(several.contains("a and b; expected --region"), "{several}");
        assert_eq!(by_environment(&two).as_deref(), Some("eu-west-1"));
    }

    #[test]
    fn a_cluster_on_ec2_is_not_read_with_the_types_of_a_file() {
        let none = |_: &str| None;
        let file = Sold {
            instance_types_file_path: Some("types.json".into()),
            ..Sold::default()
        };
        let pool = |kind: &str| json!({"kind": "NodePool", "spec": {"template": {"spec": {"nodeClassRef": {"kind": kind}}}}});
        let refused = sold_by(&file, &[pool("EC2NodeClass")], &none).expect_err("refused");
        assert_eq!(
            refused.to_string(),
            "the NodePools of this cluster have an EC2NodeClass and none a KWOKNodeClass; expected --region in place of --instance-types-file-path"
        );
        for pools in [
            &[pool("KWOKNodeClass")][..],
            &[pool("EC2NodeClass"), pool("KWOKNodeClass")],
        ] {
            let taken = sold_by(&file, pools, &none).expect("taken");
            assert_eq!(
                taken.instance_types_file_path,
                file.instance_types_file_path
            );
            assert_eq!(taken.region, None);
        }
    }

    #[test]
    fn the_namespace_is_the_first_that_a_variable_names() {
        let system = |name: &str| (name == "SYSTEM_NAMESPACE").then(|| "system".to_owned());
        let both = |name: &str| Some(name.to_lowercase());
        assert_eq!(first_of(NAMESPACES, &system).as_deref(), Some("system"));
        let named = first_of(NAMESPACES, &both);
        assert_eq!(named.as_deref(), Some("leader_election_namespace"));
        assert_eq!(first_of(NAMESPACES, &|_: &str| None), None);
    }

    #[test]
    fn settings_of_the_environment_warn_and_say_where_they_are_from() {
        let gates = |text: &'static str| {
            move |name: &str| (name == "FEATURE_GATES").then(|| text.to_owned())
        };
        let (_, warnings) = said(&gates("TerminateFirstDrift=true")).expect("they are taken");
        let [warning] = &warnings[..] else {
            unreachable!("{warnings:?}")
        };
        assert!(warning.contains("TerminateFirstDrift"), "{warning}");
        let refused = said(&gates("NodeRepair")).expect_err("refused");
        assert_eq!(
            format!("{refused:#}"),
            "settings of the environment, under the names of the flags of `plimsoll run`: --feature-gates has \"NodeRepair\"; expected NAME=true or NAME=false"
        );
    }
}
