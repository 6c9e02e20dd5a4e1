//! A cluster at one moment, as far as a controller may change it: pools and claims whole, nodes but for what their kubelets report, and
//! where pods run. Two pictures differ by what somebody did in between.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

use k8s_openapi::api::core::v1::{Node, Pod};
use k8s_openapi::serde::Serialize;
use k8s_openapi::serde::de::DeserializeOwned;
use kube::api::{Api, ListParams};
use kube::{Client, Resource};
use plimsoll_api::Kind;
use serde_json::{Map, Value, json};

/// Fields that the server changes with every write.
const BOOKKEEPING: [&str; 2] = ["managedFields", "resourceVersion"];

/// When pods last came or went, as a claim's status says, up to ten seconds behind: who looks anew may know better by a moment.
const LAST_POD_EVENT: &str = "lastPodEventTime";

/// A condition that Karpenter alone writes, when it has held a claim against its node, as it does every ten minutes.
const CONSISTENT: &str = "ConsistentStateFound";

/// Objects by kind and name.
#[derive(Clone, Debug)]
pub(super) struct Picture(BTreeMap<String, Value>);

impl Picture {
    pub(super) async fn of(client: &Client) -> Self {
        let mut objects = BTreeMap::new();
        let mut take = |kind: &str, all: Vec<Value>| {
            for object in all {
                let name = object["metadata"]["name"].as_str().unwrap_or_default();
                objects.insert(format!("{kind} {name}"), object);
            }
        };
        for kind in [Kind::NodePool, Kind::NodeClaim] {
            let all = list(plimsoll_kube::api(client, kind)).await;
            take(&format!("{kind:?}"), all.into_iter().map(told).collect());
        }
        let nodes = list(Api::<Node>::all(client.clone())).await;
        let reported = |mut node: Value| {
            node["status"] = Value::Null;
            told(node)
        };
        take("Node", nodes.into_iter().map(reported).collect());
        let pods = list(Api::<Pod>::namespaced(client.clone(), "default")).await;
        take("Pod", pods.iter().map(place).collect());
        Self(objects)
    }

    /// Differences to a later one, object by object and field by field; if it has `grown`, objects that came and what
    /// pools say of them are left out.
    pub(super) fn differences(&self, later: &Self, grown: bool) -> Vec<String> {
        let came = later.0.keys().filter(|_| !grown);
        let names = self.0.keys().chain(came);
        let names: BTreeSet<&String> = names
            .filter(|name| !(grown && name.starts_with("NodePool ")))
            .collect();
        let mut found = Vec::new();
        for name in names {
            let of = |picture: &Self| picture.0.get(name).cloned().unwrap_or_default();
            compare(name, &of(self), &of(later), &mut found);
        }
        found
    }

    /// Names of nodes that no claim names, and of claims that name no node.
    pub(super) fn orphans(&self) -> Vec<&str> {
        let of = |kind: &'static str| {
            let objects = self.0.iter();
            objects.filter_map(move |(name, it)| Some((name.strip_prefix(kind)?, it)))
        };
        let nodes: BTreeSet<&str> = of("Node ").map(|(name, _)| name).collect();
        let claims = of("NodeClaim ").map(|(name, it)| (name, it["status"]["nodeName"].as_str()));
        let claims: Vec<(&str, Option<&str>)> = claims.collect();
        let is_claimed = |node: &&str| claims.iter().any(|(_, of)| *of == Some(*node));
        let has_node = |of: Option<&str>| of.is_some_and(|node| nodes.contains(node));
        let stray = nodes.iter().filter(|node| !is_claimed(node)).copied();
        let empty = claims.iter().filter(|(_, of)| !has_node(*of));
        stray.chain(empty.map(|(name, _)| *name)).collect()
    }

    /// Number of claims.
    pub(super) fn claims(&self) -> usize {
        let names = self.0.keys();
        names.filter(|name| name.starts_with("NodeClaim ")).count()
    }

    /// Keys of the labels of each node of a pool.
    pub(super) fn labels(&self, pool: &str) -> Vec<Vec<&String>> {
        let labels = self.0.values().filter_map(|object| {
            let is_node = object["kind"] == "Node";
            let labels = object["metadata"]["labels"].as_object()?;
            (is_node && labels.get("karpenter.sh/nodepool")? == pool)
                .then(|| labels.keys().collect())
        });
        labels.collect()
    }

    /// Pods that wait for a certain node, or say that they do.
    pub(super) fn nominated(&self) -> Vec<&str> {
        let mut nominated = Vec::new();
        for (name, object) in &self.0 {
            if object["status"]["nominatedNodeName"].is_string() {
                nominated.push(name.as_str());
            }
        }
        nominated
    }

    /// Number of claims that say that they are drifted.
    pub(super) fn drifted(&self) -> usize {
        let is_drifted = |it: &&Value| it["status"]["conditions"]["Drifted"]["status"] == "True";
        self.0.values().filter(is_drifted).count()
    }
}

async fn list<K>(api: Api<K>) -> Vec<Value>
where
    K: Resource + Clone + Debug + DeserializeOwned + Serialize,
{
    let all = api
        .list(&ListParams::default())
        .await
        .expect("a list")
        .items;
    let written = all.iter().map(serde_json::to_value);
    written.map(|object| object.expect("JSON")).collect()
}

/// An object with its conditions by their type, and without what the server keeps for itself.
fn told(mut object: Value) -> Value {
    if let Some(meta) = object["metadata"].as_object_mut() {
        for field in BOOKKEEPING {
            meta.remove(field);
        }
    }
    if let Some(status) = object["status"].as_object_mut() {
        status.remove(LAST_POD_EVENT);
    }
    if let Some(Value::Array(conditions)) = object.pointer("/status/conditions") {
        let named = conditions.iter().map(|condition| {
            let kind = condition["type"].as_str().unwrap_or_default();
            (kind.to_owned(), condition.clone())
        });
        let named: Map<String, Value> = named.filter(|(kind, _)| kind != CONSISTENT).collect();
        object["status"]["conditions"] = Value::Object(named);
    }
    object
}

/// A pod, as far as it matters where it runs.
fn place(pod: &Value) -> Value {
    let meta = &pod["metadata"];
    json!({
        "metadata": {"name": meta["name"], "uid": meta["uid"], "deletionTimestamp": meta["deletionTimestamp"]},
        "spec": {"nodeName": pod["spec"]["nodeName"]},
        "status": {"nominatedNodeName": pod["status"]["nominatedNodeName"]},
    })
}

/// Notes each field that differs.
fn compare(path: &str, before: &Value, after: &Value, found: &mut Vec<String>) {
    let (Value::Object(before), Value::Object(after)) = (before, after) else {
        if before != after {
            found.push(format!("{path}: {before} is now {after}"));
        }
        return;
    };
    let field = |of: &Map<String, Value>, name: &str| of.get(name).cloned().unwrap_or_default();
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    for name in names {
        let path = format!("{path} {name}");
        compare(&path, &field(before, name), &field(after, name), found);
    }
}
