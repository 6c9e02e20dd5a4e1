//! The one value that crosses from the outside world into decisions: everything known at one instant.
//!
//! Rows are shared (`Arc`) with the state they were frozen from. All lists are sorted by name, so that equal worlds give
//! equal snapshots whatever the order in which their objects arrived.

mod activity;
mod join;
mod removal;
mod rows_by_node;
mod settings;
mod state_node;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use crate::object::Objects;
pub use activity::{Activity, PastMove};
pub use join::{NodeJoin, NodeOrder};
pub use removal::NodeRemoval;
pub use rows_by_node::RowsByNode;
pub use settings::{
    ChurnGuards, Guard, Guards, MinValuesPolicy, PreferencePolicy, RunawayGuards, Settings,
};
pub use state_node::StateNode;
pub use state_node::is_ephemeral;

use plimsoll_base::ids::Uid;
use plimsoll_base::time::Timestamp;
use serde::Serialize;

use crate::buffers;
use crate::catalogue::{Catalogues, ExpectedResources, NodeResources, Overlaid};
use crate::{
    CapacityBuffer, DaemonSet, DeviceClass, HasStatus, Namespace, NodeOverlay, NodePool, Pod,
    PodDisruptionBudget, PodTemplate, Replicated, Service, SpreadConstraint, UnusedNodes,
    VolumeAttachment, Volumes, default_constraints,
};

/// Everything known at one instant, sorted and joined.
#[derive(Clone, Debug, Serialize)]
pub struct Snapshot {
    /// The instant.
    pub now: Timestamp,
    /// The seed of every draw made in a decision.
    pub seed: u64,
    /// Changes to the objects of the cluster that were seen before it; equal numbers of one engine stand for equal objects. 0 where
    /// no engine has made it.
    pub revision: u64,
    /// How to decide.
    pub settings: Arc<Settings>,
    /// Types and offerings that pools may buy, by class.
    pub catalogues: Arc<Catalogues>,
    /// NodePools by name.
    pub pools: Vec<Arc<NodePool>>,
    /// NodeOverlays by name.
    pub overlays: Vec<Arc<NodeOverlay>>,
    /// CapacityBuffers by namespace and name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub buffers: Vec<Arc<CapacityBuffer>>,
    /// PodTemplates by namespace and name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub templates: Vec<Arc<PodTemplate>>,
    /// Nodes joined with their claims, in the order in which they are offered to pods: initialised first, then by name.
    pub nodes: Vec<StateNode>,
    /// Pods by namespace and name, those of [`crate::buffers`] among them.
    pub pods: Vec<Arc<Pod>>,
    /// DaemonSets by namespace and name.
    pub daemon_sets: Vec<Arc<DaemonSet>>,
    /// Workloads by kind, namespace and name.
    pub workloads: Vec<Arc<Replicated>>,
    /// Services by namespace and name.
    pub services: Vec<Arc<Service>>,
    /// Namespaces by name.
    pub namespaces: Vec<Arc<Namespace>>,
    /// PodDisruptionBudgets by namespace and name.
    pub disruption_budgets: Vec<Arc<PodDisruptionBudget>>,
    /// DeviceClasses by name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub device_classes: Vec<Arc<DeviceClass>>,
    /// VolumeAttachments by name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Arc<VolumeAttachment>>,
    /// Volumes and their claims, classes and limits.
    pub volumes: Arc<Volumes>,
    /// Evictions, failures and moves of the last day, and commands under way.
    pub activity: Activity,
    /// Waiting pods for which no more nodes are bought, by uid: those bought for them stand unused.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub unused_nodes: BTreeMap<Uid, Arc<UnusedNodes>>,
}

impl Snapshot {
    /// Sorts and joins objects, and adds the pods that stand for spare room. A node with a pool's label but without a provider id is left out, as is a node of a claim
    /// that has not initialised and lacks its instance-type label: both will be seen again when they are complete. Claims whose
    /// nodes have not come up have what is to be counted on of them ([`ExpectedResources`]). Claims of classes that others serve are
    /// left out: their nodes are like any that we did not make.
    pub fn new(
        now: Timestamp,
        seed: u64,
        settings: Arc<Settings>,
        catalogues: Arc<Catalogues>,
        objects: Objects,
    ) -> Self {
        let mut objects = objects;
        objects.sort();
        objects.pods.retain(|pod| !pod.is_spare());
        objects.pools.iter_mut().for_each(silence);
        objects.overlays.iter_mut().for_each(silence);
        objects.buffers.iter_mut().for_each(silence);
        objects
            .claims
            .retain(|claim| catalogues.serves(&claim.class));
        if settings.capacity_buffers {
            let (templates, workloads) = (&objects.templates, &objects.workloads);
            let pods = buffers::pods(&objects.buffers, templates, workloads, now);
            objects.pods.extend(pods);
            objects.pods.sort_by(|a, b| a.name.cmp(&b.name));
        }
        let mut snapshot = Self {
            now,
            seed,
            revision: 0,
            settings,
            catalogues,
            nodes: join::join(objects.nodes, objects.claims),
            pools: objects.pools,
            overlays: objects.overlays,
            buffers: objects.buffers,
            templates: objects.templates,
            pods: objects.pods,
            daemon_sets: objects.daemon_sets,
            workloads: objects.workloads,
            services: objects.services,
            namespaces: objects.namespaces,
            disruption_budgets: objects.disruption_budgets,
            device_classes: objects.device_classes,
            attachments: objects.attachments,
            volumes: objects.volumes,
            activity: Activity::default(),
            unused_nodes: BTreeMap::new(),
        };
        let mut nodes = std::mem::take(&mut snapshot.nodes);
        snapshot.expect_resources(&mut nodes.iter_mut().collect::<Vec<_>>());
        snapshot.nodes = nodes;
        snapshot
    }

    /// The objects that it was made from, as far as it has kept them.
    pub fn objects(&self) -> Objects {
        Objects {
            pools: self.pools.clone(),
            overlays: self.overlays.clone(),
            buffers: self.buffers.clone(),
            templates: self.templates.clone(),
            nodes: self
                .nodes
                .iter()
                .filter_map(|row| row.node.clone())
                .collect(),
            claims: self
                .nodes
                .iter()
                .filter_map(|row| row.claim.clone())
                .collect(),
            pods: self.pods.clone(),
            daemon_sets: self.daemon_sets.clone(),
            workloads: self.workloads.clone(),
            services: self.services.clone(),
            namespaces: self.namespaces.clone(),
            disruption_budgets: self.disruption_budgets.clone(),
            device_classes: self.device_classes.clone(),
            attachments: self.attachments.clone(),
            volumes: Arc::clone(&self.volumes),
        }
    }

    /// Claims of rows whose nodes have not come up say what is to be counted on of them, by what the pools of this snapshot sell.
    pub fn expect_resources(&self, rows: &mut [&mut StateNode]) {
        if !rows.iter().any(|row| row.is_on_its_way()) {
            return;
        }
        let overlaid = self.overlaid();
        let mut expected = ExpectedResources::new(&overlaid);
        let claims = rows.iter_mut().filter(|row| row.is_on_its_way());
        for claim in claims.filter_map(|row| row.claim.as_mut()) {
            let NodeResources {
                capacity,
                allocatable,
            } = expected.of(claim);
            if claim.capacity != capacity || claim.allocatable != allocatable {
                let shown = Arc::make_mut(claim);
                (shown.capacity, shown.allocatable) = (capacity, allocatable);
            }
        }
    }

    /// Catalogue of each pool, with NodeOverlays applied where they are in use.
    pub fn overlaid(&self) -> Overlaid {
        if self.settings.node_overlays {
            Overlaid::new(&self.catalogues, &self.pools, &self.overlays)
        } else {
            Overlaid::plain(&self.catalogues, &self.pools)
        }
    }

    /// Spread constraints that the cluster gives to a pod without any of its own.
    pub fn default_constraints(&self, pod: &Pod) -> Vec<SpreadConstraint> {
        let defaults = &self.settings.default_spread;
        default_constraints(defaults, &self.services, &self.workloads, pod)
    }

    /// Row of a pool by name.
    pub fn pool(&self, name: &str) -> Option<&Arc<NodePool>> {
        self.pools
            .binary_search_by(|pool| pool.name.as_str().cmp(name))
            .ok()
            .map(|at| &self.pools[at])
    }

    /// Rows of nodes by the name of their Node object.
    pub fn rows_by_node(&self) -> RowsByNode<'_> {
        RowsByNode::of(&self.nodes)
    }

    /// For every node's row, the rows of the pods bound to it.
    pub fn pods_by_node(&self) -> Vec<Vec<usize>> {
        let rows = self.rows_by_node();
        let mut result = vec![Vec::new(); self.nodes.len()];
        for (pod_row, pod) in self.pods.iter().enumerate() {
            let node = pod.node.as_ref();
            if let Some(row) = node.and_then(|name| rows.get(name.as_str())) {
                result[row].push(pod_row);
            }
        }
        result
    }
}

/// Takes off an object what only people read of it.
fn silence<T: HasStatus>(object: &mut Arc<T>) {
    T::take_status(object);
}
