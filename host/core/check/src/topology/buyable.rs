//! Domains in which a node for a pod can be bought: on sale in a pool that it tolerates, within the limits left to the pool, with
//! labels that it and its volumes agree with and with room for it beside the daemons there.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plimsoll_base::labels::{HOSTNAME, LabelKey};
use plimsoll_base::requirement::{Operator, Requirement, Requirements};
use plimsoll_base::resources::{ResourceName, Resources};
use plimsoll_model::snapshot::Snapshot;
use plimsoll_model::{Effect, Pod, PodSpec, Taint, first_untolerated};

use super::super::alone;
use super::super::daemons;
use super::super::host::Sold;
use super::super::market::Shop;
use super::super::volumes;

/// Values of one key.
pub(super) type LabelValues = BTreeSet<Arc<str>>;

/// A question that was answered: needs of a pod, places of its volumes, the key, and others that the node must have.
type Asked = (
    Arc<PodSpec>,
    Vec<Vec<Requirements>>,
    LabelKey,
    Vec<LabelKey>,
);

/// Domains for pods in what pools sell.
pub(super) struct BuyableDomains<'a> {
    snapshot: &'a Snapshot,
    shops: &'a [Shop],
    /// By pool: amounts that its limits leave; `None` without limits.
    left: Vec<Option<Resources>>,
    answered: BTreeMap<Asked, Arc<LabelValues>>,
}

impl<'a> BuyableDomains<'a> {
    pub(super) fn new(snapshot: &'a Snapshot, shops: &'a [Shop]) -> Self {
        let left = shops.iter().map(|shop| left_of(snapshot, shop));
        Self {
            snapshot,
            shops,
            left: left.collect(),
            answered: BTreeMap::new(),
        }
    }

    /// Everything that any pool sells of a key.
    pub(super) fn on_sale(&self, key: &LabelKey) -> LabelValues {
        let shops = self.shops.iter();
        shops.flat_map(|shop| values_in(shop, key)).collect()
    }

    /// The domains of a key in which a node for a pod can be bought that has the other keys, too.
    pub(super) fn of(
        &mut self,
        pod: &Pod,
        key: &LabelKey,
        others: &[LabelKey],
    ) -> Arc<LabelValues> {
        let volumes = volumes::alternatives(self.snapshot, pod);
        let volumes: Vec<_> = volumes.into_iter().map(|(_, places)| places).collect();
        let asked = (Arc::clone(&pod.spec), volumes, key.clone(), others.to_vec());
        if let Some(known) = self.answered.get(&asked) {
            return Arc::clone(known);
        }
        let mut values = LabelValues::new();
        for (shop, left) in self.shops.iter().zip(&self.left) {
            self.add(shop, left.as_ref(), pod, &asked, &mut values);
        }
        let values = Arc::new(values);
        self.answered.insert(asked, Arc::clone(&values));
        values
    }

    fn add(
        &self,
        shop: &Shop,
        left: Option<&Resources>,
        pod: &Pod,
        (_, volumes, key, others): &Asked,
        values: &mut LabelValues,
    ) {
        if !tolerates(&shop.pool.taints, pod) {
            return;
        }
        let all = values_in(shop, key);
        for node in nodes_for(self.snapshot, shop, pod, volumes) {
            for sold in &shop.sold {
                if all.is_subset(values) {
                    return;
                }
                let has = |key: &LabelKey| !decided(&node, sold, key).is_empty();
                let found = decided(&node, sold, key);
                let is_new = found.iter().any(|value| !values.contains(value));
                if is_new
                    && others.iter().all(has)
                    && left.is_none_or(|left| is_within(sold, left))
                    && alone::fits(self.snapshot, shop, &node, pod, sold)
                {
                    values.extend(found);
                }
            }
        }
    }
}

/// Requirements of a pool's nodes that a pod and its volumes agree with: one for each of its alternatives and each combination of
/// places of the volumes. A volume that names a host is reached from no new node.
fn nodes_for(
    snapshot: &Snapshot,
    shop: &Shop,
    pod: &Pod,
    volumes: &[Vec<Requirements>],
) -> Vec<Requirements> {
    let narrowed = |nodes: &[Requirements], asked: &[Requirements]| -> Vec<Requirements> {
        let pairs = nodes.iter().flat_map(|node| {
            let asked = asked.iter();
            asked.filter_map(|asked| alone::narrowed(snapshot, node, asked))
        });
        pairs.collect()
    };
    let own = daemons::alternatives(&pod.spec);
    let nodes = narrowed(std::slice::from_ref(&shop.node), &own);
    volumes.iter().fold(nodes, |nodes, places| {
        let places = places.iter().filter(|place| place.get(HOSTNAME).is_none());
        let places: Vec<Requirements> = places.cloned().collect();
        narrowed(&nodes, &places)
    })
}

/// `true` if no taint keeps a pod away; those that only prefer to do not count.
pub(super) fn tolerates(taints: &[Taint], pod: &Pod) -> bool {
    let hard = taints
        .iter()
        .filter(|taint| taint.effect != Effect::PreferNoSchedule);
    let hard: Vec<Taint> = hard.cloned().collect();
    first_untolerated(&hard, &pod.spec.tolerations).is_none()
}

/// Values of a key that nodes of a pool may have, for any pod.
fn values_in(shop: &Shop, key: &LabelKey) -> LabelValues {
    let sold = shop.sold.iter();
    sold.flat_map(|sold| decided(&shop.node, sold, key))
        .collect()
}

/// Values of a key that a node bought as an offering may have; none where nothing lists them.
fn decided(node: &Requirements, sold: &Sold, key: &LabelKey) -> LabelValues {
    let own = node.get(key.as_str()).cloned();
    let both = match (own, sold.value(key.as_str())) {
        (Some(own), Some(sold)) => Some(own.intersect(&sold)),
        (own, sold) => own.or(sold),
    };
    let listed = |requirement: &Requirement| requirement.operator() == Operator::In;
    let found = both.filter(listed);
    found
        .iter()
        .flat_map(|found| found.named().iter().cloned())
        .collect()
}

/// Amounts that limits leave to a pool beside its nodes.
fn left_of(snapshot: &Snapshot, shop: &Shop) -> Option<Resources> {
    let limits = shop.pool.limits.as_ref()?;
    let mut used = Resources::new();
    for node in &snapshot.nodes {
        if !node.is_deleting() && node.pool().as_ref() == Some(&shop.pool.name) {
            used.add(&node.capacity());
        }
    }
    Some(limits.minus(&used))
}

/// `true` if one more node of an offering stays within what is left.
fn is_within(sold: &Sold, left: &Resources) -> bool {
    let mut capacity = sold.instance_type.capacity.clone();
    for (name, amount) in sold.offering().capacity_override.iter() {
        capacity.set(name.clone(), amount);
    }
    capacity.set(ResourceName::Nodes, 1);
    let mut left = left.iter();
    left.all(|(name, amount)| capacity.get(name) <= amount)
}
