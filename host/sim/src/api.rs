//! The API server: objects with versions, finalizers, and a watch.
//!
//! Every change gets the next version and is put out to the watch; nothing else tells the engine what the world is like.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plimsoll_base::ids::{ClaimName, NodeName, ObjectName, Uid};
use plimsoll_base::labels::{self, Labels};
use plimsoll_base::resources::{ResourceName, Resources};
use plimsoll_base::time::Timestamp;
use plimsoll_model::action::ObjectKey;
use plimsoll_model::{DaemonSet, Node, NodeClaim, Object, Pod, Readiness, Version, Volumes};

use crate::budgets::Budgets;
use crate::status;

/// One watch event.
#[derive(Clone, Debug)]
pub(crate) struct Watched {
    pub(crate) object: Object,
    pub(crate) version: Version,
    pub(crate) deleted: bool,
}

/// Objects by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Api {
    pub(crate) pods: BTreeMap<ObjectName, Arc<Pod>>,
    pub(crate) nodes: BTreeMap<NodeName, Arc<Node>>,
    pub(crate) claims: BTreeMap<ClaimName, Arc<NodeClaim>>,
    pub(crate) daemon_sets: Vec<Arc<DaemonSet>>,
    others: Vec<Object>,
    namespaces: BTreeMap<Arc<str>, Labels>,
    volumes: Arc<Volumes>,
    pub(crate) budgets: Budgets,
    /// How many objects have borne a name so far, by kind and name.
    births: BTreeMap<String, u32>,
    /// Uids of the claims that own nodes.
    owners: BTreeMap<NodeName, Uid>,
    pods_on: BTreeMap<NodeName, BTreeSet<ObjectName>>,
    used: BTreeMap<NodeName, Resources>,
    room: Room,
    touched_nodes: BTreeSet<NodeName>,
    /// Pods without a node, in the order in which the scheduler takes them.
    waiting: BTreeSet<Turn>,
    /// Bound pods that want some others kept away.
    repelling: BTreeSet<ObjectName>,
    nominated: BTreeMap<NodeName, BTreeSet<ObjectName>>,
    versions: BTreeMap<Name, Version>,
    version: u64,
    outbox: Vec<Watched>,
}

/// Priority, then age.
type Turn = (Reverse<i32>, Timestamp, ObjectName);

fn turn(pod: &Pod) -> Turn {
    (Reverse(pod.spec.priority), pod.created, pod.name.clone())
}

/// Requests of bound pods and allocatable of nodes, summed over the cluster.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Room {
    /// Milli-cores.
    pub(crate) cpu: (i64, i64),
    /// Bytes.
    pub(crate) memory: (i64, i64),
}

impl Room {
    fn asked(&mut self, requests: &Resources, sign: i64) {
        self.cpu.0 += sign * requests.get(&ResourceName::Cpu);
        self.memory.0 += sign * requests.get(&ResourceName::Memory);
    }

    fn had(&mut self, node: &Node, sign: i64) {
        self.cpu.1 += sign * node.allocatable.get(&ResourceName::Cpu);
        self.memory.1 += sign * node.allocatable.get(&ResourceName::Memory);
    }
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Name {
    Pod(ObjectName),
    Node(NodeName),
    Claim(ClaimName),
    Other(ObjectKey),
}

impl Api {
    fn emit(&mut self, object: Object, name: Option<Name>, deleted: bool) -> Version {
        self.version += 1;
        let version = Version(self.version);
        match name {
            Some(name) if deleted => {
                self.versions.remove(&name);
            }
            Some(name) => {
                self.versions.insert(name, version);
            }
            None => {}
        }
        self.outbox.push(Watched {
            object,
            version,
            deleted,
        });
        version
    }

    /// Version of the last change.
    pub(crate) fn version(&self) -> Version {
        Version(self.version)
    }

    /// The uid of an object that is made now: no other has it, though its name may come back.
    pub(crate) fn new_uid(&mut self, kind: &str, name: &str) -> Uid {
        let own = format!("{kind}/{name}");
        let births = self.births.entry(own.clone()).or_default();
        *births += 1;
        match births {
            1 => Uid::from(own),
            later => Uid::from(format!("{own}/{later}")),
        }
    }

    /// Watch events since the last call.
    pub(crate) fn take_watched(&mut self) -> Vec<Watched> {
        std::mem::take(&mut self.outbox)
    }

    pub(crate) fn has_watched(&self) -> bool {
        !self.outbox.is_empty()
    }

    /// Everything that is there, as a fresh list would give it: each object with its own version.
    pub(crate) fn list(&self) -> Vec<(Object, Version)> {
        let own = |name: Name| self.versions.get(&name).copied().unwrap_or_default();
        let mut listed: Vec<(Object, Version)> = Vec::new();
        let sets = self.daemon_sets.iter().cloned().map(Object::DaemonSet);
        let others = self.others.iter().cloned().chain(sets);
        listed.extend(others.map(|object| {
            let name = status::key(&object).map(Name::Other);
            let known = name.and_then(|name| self.versions.get(&name).copied());
            (object, known.unwrap_or(Version(self.version)))
        }));
        for (name, claim) in &self.claims {
            let version = own(Name::Claim(name.clone()));
            listed.push((Object::Claim(Arc::clone(claim)), version));
        }
        for (name, node) in &self.nodes {
            let version = own(Name::Node(name.clone()));
            listed.push((Object::Node(Arc::clone(node)), version));
        }
        for (name, pod) in &self.pods {
            let version = own(Name::Pod(name.clone()));
            listed.push((Object::Pod(Arc::clone(pod)), version));
        }
        listed
    }

    /// A pool, overlay or buffer.
    pub(crate) fn other(&self, key: &ObjectKey) -> Option<&Object> {
        let mut others = self.others.iter();
        others.find(|object| status::key(object).as_ref() == Some(key))
    }

    /// Version of a pool, overlay or buffer.
    pub(crate) fn version_of_status(&self, key: &ObjectKey) -> Option<Version> {
        self.versions.get(&Name::Other(key.clone())).copied()
    }

    /// A pool, overlay or buffer with another status.
    pub(crate) fn put_status(&mut self, object: Object) {
        if let Some(own) = self.others.iter_mut().find(|have| have.is_same(&object)) {
            own.clone_from(&object);
        }
        let name = status::key(&object).map(Name::Other);
        self.emit(object, name, false);
    }

    /// An object that nothing here acts upon.
    pub(crate) fn put_other(&mut self, object: Object) {
        let before = self.others.iter().find(|have| have.is_same(&object));
        let object = status::applied(before, object);
        if let Object::DaemonSet(set) = &object {
            self.daemon_sets.retain(|have| have.name != set.name);
            self.daemon_sets.push(Arc::clone(set));
            self.daemon_sets.sort_by(|a, b| a.name.cmp(&b.name));
        } else {
            match &object {
                Object::DisruptionBudget(budget) => self.budgets.put(budget, self.pods.values()),
                Object::Namespace(namespace) => {
                    let (name, labels) = (&namespace.name, &namespace.labels);
                    self.namespaces.insert(Arc::clone(name), labels.clone());
                }
                Object::Volumes(volumes) => self.volumes = Arc::clone(volumes),
                _ => {}
            }
            self.others.retain(|have| !have.is_same(&object));
            self.others.push(object.clone());
        }
        let name = status::key(&object).map(Name::Other);
        self.emit(object, name, false);
    }

    /// Labels of a namespace; none of one that is not there.
    pub(crate) fn labels_of_namespace(&self, name: &str) -> &Labels {
        static NONE: Labels = Labels::new();
        self.namespaces.get(name).unwrap_or(&NONE)
    }

    /// All that is known of volumes.
    pub(crate) fn volumes(&self) -> &Volumes {
        &self.volumes
    }

    /// Volumes that a driver has attached to a node, or is about to.
    pub(crate) fn attached_to(
        &self,
        node: &NodeName,
        driver: &str,
    ) -> impl Iterator<Item = &Arc<str>> {
        let attached = self.others.iter().filter_map(move |object| match object {
            Object::Attachment(own) if own.node == *node && *own.attacher == *driver => Some(own),
            _ => None,
        });
        attached.filter_map(|own| own.volume.as_ref())
    }

    /// Removes a VolumeAttachment and gives its node; `None` if there is no such attachment.
    pub(crate) fn remove_attachment(&mut self, name: &str) -> Option<NodeName> {
        let is_it = |object: &Object| match object {
            Object::Attachment(own) => *own.name == *name,
            _ => false,
        };
        let at = self.others.iter().position(is_it)?;
        let object = self.others.remove(at);
        let node = match &object {
            Object::Attachment(own) => Some(own.node.clone()),
            _ => None,
        };
        self.emit(object, None, true);
        node
    }

    /// Shows what disruption budgets allow now.
    pub(crate) fn show_budgets(&mut self) {
        for budget in self.budgets.take_changed() {
            let object = Object::DisruptionBudget(budget);
            self.others.retain(|have| !have.is_same(&object));
            self.others.push(object.clone());
            self.emit(object, None, false);
        }
    }

    pub(crate) fn put_pod(&mut self, pod: Pod) -> (Object, Version) {
        let pod = Arc::new(pod);
        let name = pod.name.clone();
        let before = self.pods.insert(name.clone(), Arc::clone(&pod));
        if let Some(before) = &before {
            self.unindex(before);
        }
        self.budgets.follow(before.as_deref(), Some(&pod));
        self.index(&pod);
        let object = Object::Pod(pod);
        let version = self.emit(object.clone(), Some(Name::Pod(name)), false);
        (object, version)
    }

    pub(crate) fn remove_pod(&mut self, name: &ObjectName) -> Option<Arc<Pod>> {
        let pod = self.pods.remove(name)?;
        self.unindex(&pod);
        self.budgets.follow(Some(&pod), None);
        let object = Object::Pod(Arc::clone(&pod));
        self.emit(object, Some(Name::Pod(name.clone())), true);
        Some(pod)
    }

    fn index(&mut self, pod: &Pod) {
        let name = pod.name.clone();
        if let Some(node) = &pod.node {
            self.touched_nodes.insert(node.clone());
            if !pod.spec.anti_affinity.is_empty() {
                self.repelling.insert(name.clone());
            }
            let names = self.pods_on.entry(node.clone()).or_default();
            names.insert(name);
            if !pod.is_terminal() {
                let used = self.used.entry(node.clone()).or_default();
                used.add(&pod.spec.requests);
                self.room.asked(&pod.spec.requests, 1);
            }
        } else if pod.is_active() {
            if let Some(node) = &pod.nominated {
                let names = self.nominated.entry(node.clone()).or_default();
                names.insert(name);
            }
            self.waiting.insert(turn(pod));
        }
    }

    fn unindex(&mut self, pod: &Pod) {
        self.waiting.remove(&turn(pod));
        self.repelling.remove(&pod.name);
        remove_from(&mut self.nominated, pod.nominated.as_ref(), &pod.name);
        remove_from(&mut self.pods_on, pod.node.as_ref(), &pod.name);
        let Some(node) = &pod.node else { return };
        self.touched_nodes.insert(node.clone());
        if pod.is_terminal() {
            return;
        }
        self.room.asked(&pod.spec.requests, -1);
        if let Some(used) = self.used.get_mut(node) {
            *used = used.minus(&pod.spec.requests);
        }
    }

    /// Requests of bound pods and allocatable of nodes, summed over the cluster.
    pub(crate) fn room(&self) -> Room {
        self.room
    }

    /// Nodes that changed, or whose pods did, since this was last asked.
    pub(crate) fn take_touched_nodes(&mut self) -> BTreeSet<NodeName> {
        std::mem::take(&mut self.touched_nodes)
    }

    /// `true` if a node is ready and has been let in.
    pub(crate) fn is_usable(&self, name: &NodeName) -> bool {
        self.nodes.get(name).is_some_and(|node| {
            let let_in = node.label(labels::REGISTERED);
            node.readiness() == Readiness::Ready && let_in.is_some_and(|value| &**value == "true")
        })
    }

    /// Bound pods that want some others kept away, by name.
    pub(crate) fn repelling(&self) -> impl Iterator<Item = &Arc<Pod>> {
        let names = self.repelling.iter();
        names.filter_map(|name| self.pods.get(name))
    }

    /// Requests of the pods bound to a node, summed; `None` for an unknown node.
    pub(crate) fn used(&self, node: &NodeName) -> Option<&Resources> {
        self.used.get(node)
    }

    /// Pods without a node, in the order in which the scheduler takes them.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = &Arc<Pod>> {
        let turns = self.waiting.iter();
        turns.filter_map(|(.., name)| self.pods.get(name))
    }

    /// How many pods have no node.
    pub(crate) fn waiting_count(&self) -> usize {
        self.waiting.len()
    }

    /// Pods without a node that are nominated to one.
    pub(crate) fn nominated_to(&self, node: &NodeName) -> impl Iterator<Item = &Arc<Pod>> {
        let names = self.nominated.get(node).into_iter().flatten();
        names.filter_map(|name| self.pods.get(name))
    }

    /// Pods bound to a node, by name.
    pub(crate) fn pods_on(&self, node: &NodeName) -> impl Iterator<Item = &Arc<Pod>> {
        let names = self.pods_on.get(node).into_iter().flatten();
        names.filter_map(|name| self.pods.get(name))
    }

    pub(crate) fn put_node(&mut self, node: Node) -> (Object, Version) {
        let node = Arc::new(node);
        let name = node.name.clone();
        self.room.had(&node, 1);
        self.touched_nodes.insert(name.clone());
        if let Some(before) = self.nodes.insert(name.clone(), Arc::clone(&node)) {
            self.room.had(&before, -1);
        }
        let object = Object::Node(node);
        let version = self.emit(object.clone(), Some(Name::Node(name)), false);
        (object, version)
    }

    pub(crate) fn remove_node(&mut self, name: &NodeName) {
        self.used.remove(name);
        self.owners.remove(name);
        if let Some(node) = self.nodes.remove(name) {
            self.touched_nodes.insert(name.clone());
            self.room.had(&node, -1);
            self.emit(Object::Node(node), Some(Name::Node(name.clone())), true);
        }
    }

    pub(crate) fn put_claim(&mut self, claim: NodeClaim) -> (Object, Version) {
        let claim = Arc::new(claim);
        let name = claim.name.clone();
        self.claims.insert(name.clone(), Arc::clone(&claim));
        let object = Object::Claim(claim);
        let version = self.emit(object.clone(), Some(Name::Claim(name)), false);
        (object, version)
    }

    pub(crate) fn remove_claim(&mut self, name: &ClaimName) -> Option<Arc<NodeClaim>> {
        let claim = self.claims.remove(name)?;
        let object = Object::Claim(Arc::clone(&claim));
        self.emit(object, Some(Name::Claim(name.clone())), true);
        Some(claim)
    }

    /// A claim owns a node from now on, known by its uid.
    pub(crate) fn own_node(&mut self, name: &NodeName, claim: &Uid) {
        if self.nodes.contains_key(name) {
            self.owners.insert(name.clone(), claim.clone());
        }
    }

    /// Nodes that a claim owns.
    pub(crate) fn owned_by(&self, claim: &Uid) -> Vec<NodeName> {
        let owned = self.owners.iter().filter(|(_, owner)| *owner == claim);
        owned.map(|(node, _)| node.clone()).collect()
    }

    pub(crate) fn version_of_node(&self, name: &NodeName) -> Option<Version> {
        self.versions.get(&Name::Node(name.clone())).copied()
    }

    pub(crate) fn version_of_claim(&self, name: &ClaimName) -> Option<Version> {
        self.versions.get(&Name::Claim(name.clone())).copied()
    }
}

/// Takes a name out of an index, and the entry with its last one.
fn remove_from(
    index: &mut BTreeMap<NodeName, BTreeSet<ObjectName>>,
    node: Option<&NodeName>,
    name: &ObjectName,
) {
    let Some(node) = node else { return };
    if let Some(names) = index.get_mut(node) {
        names.remove(name);
        if names.is_empty() {
            index.remove(node);
        }
    }
}
