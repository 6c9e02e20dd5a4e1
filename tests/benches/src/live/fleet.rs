//! A fleet at one moment, and what it costs by the one list of prices that both controllers buy from.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use k8s_openapi::api::core::v1::Node;
use kube::ResourceExt;
use plimsoll_base::units::PricePerHour;
use plimsoll_kwok::catalogue;
use plimsoll_model::catalogue::Catalogue;
use serde_json::{Value, json};

const TYPE: &str = "node.kubernetes.io/instance-type";
const ZONE: &str = "topology.kubernetes.io/zone";
const CAPACITY_TYPE: &str = "karpenter.sh/capacity-type";
/// The price as the provider that made the node has it.
const PRICE: &str = "eks-node-viewer/instance-price";

/// Prices of the generic list of KWOK.
pub struct Prices(Catalogue);

/// Nodes that are not going.
pub struct Fleet {
    /// By name.
    pub nodes: BTreeMap<String, Node>,
    /// Cost of all of them, in dollars per hour.
    pub price: f64,
}

impl Prices {
    /// Reads the list.
    pub fn read() -> Result<Self> {
        Ok(Self(catalogue::builtin()?))
    }

    fn of(&self, node: &Node) -> Option<PricePerHour> {
        let label = |key: &str| node.labels().get(key).map(String::as_str);
        let (zone, capacity_type) = (label(ZONE)?, label(CAPACITY_TYPE)?);
        let offerings = &self.0.get(label(TYPE)?)?.offerings;
        let sold = offerings.iter().find(|offering| {
            &*offering.zone == zone && offering.capacity_type.as_str() == capacity_type
        });
        Some(sold?.price)
    }
}

impl Fleet {
    /// The nodes that are not going. Fails where one is of no type of the list, or costs something else by its own label.
    pub fn of(nodes: &BTreeMap<String, Node>, prices: &Prices) -> Result<Self> {
        let staying = nodes
            .iter()
            .filter(|(_, node)| node.metadata.deletion_timestamp.is_none());
        let nodes: BTreeMap<String, Node> = staying
            .map(|(name, node)| (name.clone(), node.clone()))
            .collect();
        let mut total = 0.0;
        for (name, node) in &nodes {
            let price = prices.of(node).with_context(|| {
                format!(
                    "node {name} is of no offering of the list: {:?}",
                    node.labels()
                )
            })?;
            let said = node
                .labels()
                .get(PRICE)
                .and_then(|text| text.parse::<f64>().ok());
            let price = price.dollars();
            anyhow::ensure!(
                said.is_none_or(|said| (said - price).abs() < 1e-6),
                "node {name} costs {price} by the list and says {said:?} itself"
            );
            total += price;
        }
        Ok(Self {
            nodes,
            price: total,
        })
    }

    /// Manifests of as many nodes with the same labels, without a NodeClaim. Each has room to spare: the scheduler alone would not find
    /// the places by which a fleet just holds its pods, and its time does not depend on the room.
    pub fn twins(&self) -> Vec<Value> {
        let room = json!({"cpu": "64", "memory": "1Ti", "pods": "256"});
        let twin = |(name, node): (&String, &Node)| {
            let labels: BTreeMap<&String, &String> = node
                .labels()
                .iter()
                .filter(|(key, _)| !key.starts_with("karpenter.sh/"))
                .collect();
            json!({
                "apiVersion": "v1", "kind": "Node",
                "metadata": {
                    "name": format!("twin-{name}"), "labels": labels,
                    "annotations": {"kwok.x-k8s.io/node": "fake"},
                },
                "status": {"allocatable": room, "capacity": room},
            })
        };
        self.nodes.iter().map(twin).collect()
    }
}
