//! Offerings that may be launched, and the nodes that come of them, read from the manifests alone: pools and the catalogue as they are written.
//!
//! Nothing here looks at the core's model, so that a rule that is misread there is not misread here in the same way.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::case::{Case, items, text};
use crate::quantity;
use crate::scheduler::Fresh;

/// Labels that every node has from its offering.
const ZONE: &str = "topology.kubernetes.io/zone";
const CAPACITY_TYPE: &str = "karpenter.sh/capacity-type";
const INSTANCE_TYPE: &str = "node.kubernetes.io/instance-type";
const HOSTNAME: &str = "kubernetes.io/hostname";
const NODE_POOL: &str = "karpenter.sh/nodepool";

/// One way to buy a node in a pool.
#[derive(Clone, Debug, PartialEq)]
pub struct Purchase {
    /// The pool's name.
    pub pool: String,
    /// The instance type's name.
    pub instance_type: String,
    /// The zone.
    pub zone: String,
    /// `on-demand`, `spot` or `reserved`.
    pub capacity_type: String,
    /// The reservation, where there is one.
    pub reservation: Option<String>,
    /// Labels of the node, its host name apart.
    pub labels: BTreeMap<String, String>,
    /// Taints of the node.
    pub taints: Vec<Value>,
    /// Amounts by resource of all that it has.
    pub capacity: BTreeMap<String, i64>,
    /// Amounts by resource of what pods may have.
    pub allocatable: BTreeMap<String, i64>,
    /// Volumes that it attaches, by driver; a driver that is not named is unlimited.
    pub attaches: BTreeMap<String, i64>,
}

impl Purchase {
    /// The node as it joins, with its CSINode.
    pub fn node(&self, name: &str, drivers: &[String]) -> Fresh {
        let mut labels = self.labels.clone();
        labels.insert(HOSTNAME.to_owned(), name.to_owned());
        let amounts = written(&self.allocatable);
        let node = json!({
            "apiVersion": "v1", "kind": "Node",
            "metadata": {"name": name, "labels": labels},
            "spec": {"taints": self.taints, "providerID": format!("fake:///{name}")},
            "status": {
                "capacity": written(&self.capacity), "allocatable": amounts,
                "conditions": [{"type": "Ready", "status": "True"}],
            },
        });
        Fresh {
            node,
            with: vec![csi_node(name, drivers, &self.attaches)],
        }
    }
}

/// The drivers of a node, with the zone as their topology.
pub fn csi_node(name: &str, drivers: &[String], attaches: &BTreeMap<String, i64>) -> Value {
    let drivers: Vec<Value> = drivers
        .iter()
        .map(|driver| {
            let mut entry = json!({"name": driver, "nodeID": name, "topologyKeys": [ZONE]});
            if let Some(count) = attaches.get(driver) {
                entry["allocatable"] = json!({"count": count});
            }
            entry
        })
        .collect();
    json!({
        "apiVersion": "storage.k8s.io/v1", "kind": "CSINode",
        "metadata": {"name": name}, "spec": {"drivers": drivers},
    })
}

fn written(amounts: &BTreeMap<String, i64>) -> Map<String, Value> {
    amounts
        .iter()
        .map(|(name, amount)| (name.clone(), Value::String(quantity::write(name, *amount))))
        .collect()
}

/// Every driver that an object of the cluster names.
pub fn drivers(case: &Case) -> Vec<String> {
    let named = case
        .of_kind("CSIDriver")
        .map(|one| text(one, "/metadata/name"));
    let classes = case
        .of_kind("StorageClass")
        .map(|one| text(one, "/provisioner"));
    let mut drivers: Vec<String> = named.chain(classes).map(str::to_owned).collect();
    drivers.retain(|driver| driver != "kubernetes.io/no-provisioner");
    drivers.sort();
    drivers.dedup();
    drivers
}

/// Every way to buy a node, pool by pool in the order of the file.
pub fn purchases(case: &Case) -> Vec<Purchase> {
    let types = items(&case.section, "/catalogue/instanceTypes");
    let pools: Vec<&Value> = case.of_kind("NodePool").collect();
    let mut all = Vec::new();
    for pool in pools {
        for instance_type in types {
            for offering in items(instance_type, "/offerings") {
                all.extend(purchase(pool, instance_type, offering));
            }
        }
    }
    all
}

/// The purchase of an offering in a pool; `None` where the pool may not buy it or it is sold out.
fn purchase(pool: &Value, instance_type: &Value, offering: &Value) -> Option<Purchase> {
    if offering["available"] == json!(false) {
        return None;
    }
    let capacity_type = match text(offering, "/capacityType") {
        "" => "on-demand",
        named => named,
    };
    let mut labels = labels_of(instance_type);
    for (key, value) in [
        (INSTANCE_TYPE, text(instance_type, "/name")),
        (ZONE, text(offering, "/zone")),
        (CAPACITY_TYPE, capacity_type),
        (NODE_POOL, text(pool, "/metadata/name")),
    ] {
        labels.insert(key.to_owned(), value.to_owned());
    }
    let template = pool.pointer("/spec/template")?;
    for (key, value) in template
        .pointer("/metadata/labels")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        labels.insert(key.clone(), value.as_str().unwrap_or_default().to_owned());
    }
    let rules = items(template, "/spec/requirements");
    if !rules.iter().all(|rule| meets(&labels, rule)) || !sold_by_default(rules, capacity_type) {
        return None;
    }
    let capacity = amounts(&instance_type["capacity"]);
    let mut allocatable = capacity.clone();
    for (name, amount) in amounts(&instance_type["overhead"]) {
        *allocatable.entry(name).or_default() -= amount;
    }
    let attaches = instance_type["attachLimits"]
        .as_object()
        .into_iter()
        .flatten();
    Some(Purchase {
        pool: labels[NODE_POOL].clone(),
        instance_type: labels[INSTANCE_TYPE].clone(),
        zone: labels[ZONE].clone(),
        capacity_type: capacity_type.to_owned(),
        reservation: offering
            .pointer("/reservation/id")
            .and_then(Value::as_str)
            .map(str::to_owned),
        taints: items(template, "/spec/taints").to_vec(),
        attaches: attaches
            .map(|(driver, count)| (driver.clone(), count.as_i64().unwrap_or_default()))
            .collect(),
        labels,
        capacity,
        allocatable,
    })
}

/// A pool that says nothing of capacity types is served on demand.
fn sold_by_default(rules: &[Value], capacity_type: &str) -> bool {
    let named = rules.iter().any(|rule| text(rule, "/key") == CAPACITY_TYPE);
    named || capacity_type == "on-demand"
}

fn labels_of(instance_type: &Value) -> BTreeMap<String, String> {
    let given = instance_type["labels"].as_object().into_iter().flatten();
    let mut labels: BTreeMap<String, String> = given
        .map(|(key, value)| (key.clone(), value.as_str().unwrap_or_default().to_owned()))
        .collect();
    for (key, value) in [
        ("kubernetes.io/arch", "amd64"),
        ("kubernetes.io/os", "linux"),
    ] {
        labels
            .entry(key.to_owned())
            .or_insert_with(|| value.to_owned());
    }
    labels
}

/// `true` if labels meet a requirement of a pool.
fn meets(labels: &BTreeMap<String, String>, rule: &Value) -> bool {
    let value = labels.get(text(rule, "/key"));
    let is_listed = value.is_some_and(|value| {
        items(rule, "/values")
            .iter()
            .any(|one| one == value.as_str())
    });
    let number = |text: Option<&str>| text.and_then(|text| text.parse::<i64>().ok());
    let bound = number(items(rule, "/values").first().and_then(Value::as_str));
    let own = number(value.map(String::as_str));
    match text(rule, "/operator") {
        "In" => is_listed,
        "NotIn" => !is_listed,
        "Exists" => value.is_some(),
        "DoesNotExist" => value.is_none(),
        "Gt" => own.zip(bound).is_some_and(|(own, bound)| own > bound),
        "Lt" => own.zip(bound).is_some_and(|(own, bound)| own < bound),
        _ => false,
    }
}

/// Quantities by resource as whole amounts.
pub fn amounts(written: &Value) -> BTreeMap<String, i64> {
    let given = written.as_object().into_iter().flatten();
    given
        .map(|(name, amount)| (name.clone(), quantity::read(name, amount)))
        .collect()
}
