//! Nodes: how many came and went, how long that took, and what each has and holds.
//!
//! Gauges of nodes carry a label for each well-known label of nodes: its last part, with underscores.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plimsoll_base::ids::{NodeName, ProviderId};
use plimsoll_base::labels::{self, LabelKey, Labels};
use plimsoll_base::resources::{ResourceName, Resources};
use plimsoll_base::time::Timestamp;
use plimsoll_model::catalogue::Catalogues;
use plimsoll_model::{ConditionType, Node, NodeClaim, OwnerKind, Pod};

use super::exposition::{Exposition, Samples, labels_text};
use super::families;
use super::keyed::{Counters, Histograms, Summaries};
use super::{amount, resource_type, seconds};

/// Figures of nodes that came and went.
#[derive(Clone, Debug)]
pub(crate) struct NodeMeters {
    created: Counters<2>,
    terminated: Counters<2>,
    drained: Counters<1>,
    termination: Summaries<1>,
    lifetime: Histograms<1>,
}

impl Default for NodeMeters {
    fn default() -> Self {
        Self {
            created: Counters::default(),
            terminated: Counters::default(),
            drained: Counters::default(),
            termination: Summaries::default(),
            lifetime: Histograms::new(&families::NODE_LIFETIME),
        }
    }
}

impl NodeMeters {
    /// A claim changes: its node joins when it says so, and is drained when it says that.
    pub(crate) fn follow_claim(&mut self, before: &NodeClaim, after: &NodeClaim) {
        let becomes = |kind| after.conditions.is_true(kind) && !before.conditions.is_true(kind);
        let pool = Arc::from(after.pool.as_str());
        if becomes(ConditionType::Registered) {
            let labels = [Arc::clone(&pool), value(&after.labels, labels::ZONE)];
            self.created.add(labels, 1);
        }
        if becomes(ConditionType::Drained) {
            self.drained.add([pool], 1);
        }
    }

    /// A node that was asked to go is let go: our finalizer is off.
    pub(crate) fn release(&mut self, node: &Node, deleting: Timestamp, now: Timestamp) {
        let pool = value(&node.labels, labels::NODEPOOL);
        let zone = value(&node.labels, labels::ZONE);
        self.terminated.add([Arc::clone(&pool), zone], 1);
        let took = seconds(now.since(deleting));
        self.termination.observe([Arc::clone(&pool)], took, now);
        self.lifetime
            .observe([pool], seconds(now.since(node.created)));
    }

    pub(crate) fn write(&self, out: &mut Exposition, now: Timestamp) {
        out.counters(&families::NODES_CREATED, &self.created);
        out.counters(&families::NODES_TERMINATED, &self.terminated);
        out.counters(&families::NODES_DRAINED, &self.drained);
        out.summaries(&families::NODE_TERMINATION, &self.termination, now);
        out.histograms(&families::NODE_LIFETIME, &self.lifetime);
    }
}

fn value(labels: &Labels, key: &str) -> Arc<str> {
    labels.get(key).cloned().unwrap_or_default()
}

/// Requests of the pods on one node.
#[derive(Clone, Debug)]
struct Load {
    all: Resources,
    daemons: Resources,
}

impl Load {
    /// Nothing, said of the resources that are told of every node.
    fn none() -> Self {
        let told = [ResourceName::Cpu, ResourceName::Memory, ResourceName::Pods];
        let none: Resources = told.into_iter().map(|name| (name, 0)).collect();
        Self {
            all: none.clone(),
            daemons: none,
        }
    }
}

/// Requests of the pods that take room, by node.
fn loads(pods: &[Arc<Pod>]) -> BTreeMap<&NodeName, Load> {
    let mut loads: BTreeMap<&NodeName, Load> = BTreeMap::new();
    for pod in pods.iter().filter(|pod| !pod.is_terminal()) {
        let Some(node) = &pod.node else { continue };
        let own = loads.entry(node).or_insert_with(Load::none);
        own.all.add(&pod.spec.requests);
        if pod.is_owned_by(OwnerKind::DaemonSet) {
            own.daemons.add(&pod.spec.requests);
        }
    }
    loads
}

/// Names of labels, each with the well-known keys that it is for.
fn well_known(catalogues: &Catalogues) -> BTreeMap<String, Vec<LabelKey>> {
    let mut names: BTreeMap<String, Vec<LabelKey>> = BTreeMap::new();
    for key in catalogues.provider().well_known_keys() {
        if let [_, name] = key.as_str().split('/').collect::<Vec<_>>()[..] {
            let name = name.to_lowercase().replace('-', "_");
            names.entry(name).or_default().push(key);
        }
    }
    names
}

/// Text of a node's well-known labels.
fn well_known_text(names: &BTreeMap<String, Vec<LabelKey>>, node: &Node) -> String {
    let of = |keys: &[LabelKey]| {
        let mut values = keys.iter().filter_map(|key| node.label(key.as_str()));
        values.next().map_or("", |value| &**value)
    };
    labels_text(names.iter().map(|(name, keys)| (name.as_str(), of(keys))))
}

/// Nodes, the pods on them and the NodeClaims that stand for them.
pub(crate) type Seen<'a> = (&'a [Arc<Node>], &'a [Arc<Pod>], &'a [Arc<NodeClaim>]);

/// Gauges of nodes, and of the cluster that they are.
pub(crate) fn write(
    out: &mut Exposition,
    (nodes, pods, claims): Seen<'_>,
    catalogues: &Catalogues,
    now: Timestamp,
) {
    let names = well_known(catalogues);
    let loads = loads(pods);
    let none = Load::none();
    let ours: BTreeSet<&ProviderId> = claims
        .iter()
        .filter_map(|claim| claim.provider_id.as_ref())
        .collect();
    let mut rows: Vec<(&Node, String, &str, &Load)> = Vec::with_capacity(nodes.len());
    for node in nodes {
        let is_ours = node
            .provider_id
            .as_ref()
            .is_some_and(|id| ours.contains(id));
        let managed = if is_ours { "true" } else { "false" };
        let load = loads.get(&node.name).unwrap_or(&none);
        rows.push((node, well_known_text(&names, node), managed, load));
    }
    rows.sort_unstable_by(|(one, ..), (other, ..)| one.name.cmp(&other.name));
    let mut samples = out.family(&families::NODE_AGE);
    for (node, more, managed, _) in &rows {
        let age = seconds(now.since(node.created));
        samples.sample_beside(more, &[node.name.as_str(), "", *managed], age);
    }
    let family = |mut samples: Samples<'_>, of: &dyn Fn(&Node, &Load) -> Resources| {
        for (node, more, managed, load) in &rows {
            for (name, value) in of(node, load).iter() {
                let kind = resource_type(name);
                let values = [node.name.as_str(), "", *managed, kind.as_str()];
                samples.sample_beside(more, &values, amount(name, value));
            }
        }
    };
    let allocatable = |node: &Node, _: &Load| node.allocatable.clone();
    family(out.family(&families::NODE_ALLOCATABLE), &allocatable);
    let requests = |_: &Node, load: &Load| load.all.clone();
    family(out.family(&families::NODE_POD_REQUESTS), &requests);
    let daemons = |_: &Node, load: &Load| load.daemons.clone();
    family(out.family(&families::NODE_DAEMON_REQUESTS), &daemons);
    let overhead = |node: &Node, _: &Load| node.capacity.minus(&node.allocatable);
    family(out.family(&families::NODE_OVERHEAD), &overhead);
    let (mut room, mut asked) = (Resources::new(), Resources::new());
    for (node, _, _, load) in &rows {
        room.add(&node.allocatable);
        asked.add(&load.all);
    }
    let mut samples = out.family(&families::UTILIZATION);
    for (name, value) in room.iter().filter(|(_, value)| *value > 0) {
        let share = 100.0 * amount(name, asked.get(name)) / amount(name, value);
        samples.sample(&[&resource_type(name)], share);
    }
}
