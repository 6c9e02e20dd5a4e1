//! Watch events in, inputs of the engine out. No request is made here, and nothing waits.
//!
//! - What a new list no longer has is a deletion, also where the watch missed it.
//! - An object that cannot be read is passed over with a warning; what was known of it before stays.
//! - Volumes, their claims and classes are one object to the engine and are handed in together, by [`Index::flush`]. So are
//!   daemon sets, which their pods change. Neither is handed in while one of its kinds is being listed.
//! - [`Input::Synced`] comes once, when every kind has been listed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kube::ResourceExt;
use kube::core::DynamicObject;
use kube::runtime::watcher;
use plimsoll_api::{Interner, Kind, Object};
use plimsoll_core::engine::Input;
use plimsoll_core::ids::Uid;
use plimsoll_core::model;
use plimsoll_core::model::{Version, Volumes};

use super::Event;
use super::daemons::Daemons;
use crate::resource::{to_object, version};

/// Kinds that daemon sets are made of.
const DAEMONS: [Kind; 2] = [Kind::DaemonSet, Kind::Pod];
/// Kinds that volumes are made of.
const VOLUMES: [Kind; 4] = [
    Kind::PersistentVolumeClaim,
    Kind::PersistentVolume,
    Kind::StorageClass,
    Kind::CsiNode,
];

/// Namespace and name.
type Key = (String, String);

/// The objects seen, by kind and name.
#[derive(Debug, Default)]
pub struct Index {
    interner: Interner,
    listings: BTreeMap<Kind, Listing>,
    unlisted: BTreeSet<Kind>,
    synced: bool,
    daemons: Daemons,
    daemons_changed: BTreeSet<Uid>,
    volumes: Volumes,
    volumes_changed: bool,
}

#[derive(Debug, Default)]
struct Listing {
    known: BTreeMap<Key, (Object, Version)>,
    /// Names of a list that is under way.
    listed: Option<BTreeSet<Key>>,
}

impl Index {
    /// Nothing seen yet of these kinds.
    pub fn new(kinds: &[Kind]) -> Self {
        Self {
            unlisted: kinds.iter().copied().collect(),
            ..Self::default()
        }
    }

    /// Takes in one event.
    pub fn take(&mut self, (kind, event): Event) -> Vec<Input> {
        let mut inputs = Vec::new();
        match event {
            Ok(watcher::Event::Init) => {
                self.listing(kind).listed = Some(BTreeSet::new());
            }
            Ok(watcher::Event::InitApply(object)) => {
                let key = key(&object);
                if let Some(listed) = &mut self.listing(kind).listed {
                    listed.insert(key);
                }
                self.apply(kind, &object, &mut inputs);
            }
            Ok(watcher::Event::InitDone) => self.end_list(kind, &mut inputs),
            Ok(watcher::Event::Apply(object)) => self.apply(kind, &object, &mut inputs),
            Ok(watcher::Event::Delete(object)) => {
                self.remove(kind, &key(&object), version(&object), &mut inputs);
            }
            Err(error) => {
                tracing::warn!(kind = kind.as_str(), %error, "watch interrupted");
            }
        }
        inputs
    }

    /// Inputs that are handed in once for many events: daemon sets, volumes, and that every kind has been listed.
    pub fn flush(&mut self) -> Vec<Input> {
        let mut inputs = Vec::new();
        if !self.unlisted.is_empty() {
            return inputs;
        }
        if !self.is_listing(&DAEMONS) {
            for set in std::mem::take(&mut self.daemons_changed) {
                if let Some((set, version)) = self.daemons.shown(&set, &mut self.interner) {
                    inputs.push(Input::Applied(model::Object::DaemonSet(set), version));
                }
            }
        }
        if !self.is_listing(&VOLUMES) && std::mem::take(&mut self.volumes_changed) {
            let volumes = model::Object::Volumes(Arc::new(self.volumes.clone()));
            inputs.push(Input::Applied(volumes, Version::default()));
        }
        if !std::mem::replace(&mut self.synced, true) {
            inputs.push(Input::Synced);
        }
        inputs
    }

    fn is_listing(&self, kinds: &[Kind]) -> bool {
        let mut listings = kinds.iter().filter_map(|kind| self.listings.get(kind));
        listings.any(|listing| listing.listed.is_some())
    }

    fn listing(&mut self, kind: Kind) -> &mut Listing {
        self.listings.entry(kind).or_default()
    }

    fn end_list(&mut self, kind: Kind, inputs: &mut Vec<Input>) {
        let listing = self.listing(kind);
        let listed = listing.listed.take().unwrap_or_default();
        let gone: Vec<(Key, Version)> = listing
            .known
            .iter()
            .filter(|(key, _)| !listed.contains(*key))
            .map(|(key, (_, version))| (key.clone(), *version))
            .collect();
        for (key, version) in gone {
            self.remove(kind, &key, version, inputs);
        }
        self.unlisted.remove(&kind);
    }

    fn apply(&mut self, kind: Kind, written: &DynamicObject, inputs: &mut Vec<Input>) {
        let object = match to_object(kind, written, &mut self.interner) {
            Ok(object) => object,
            Err(error) => {
                tracing::warn!(kind = kind.as_str(), %error, "object passed over");
                return;
            }
        };
        let version = version(written);
        let known = &mut self.listing(kind).known;
        known.insert(key(written), (object.clone(), version));
        match object {
            Object::Part(part) => {
                self.volumes.put(part);
                self.volumes_changed = true;
            }
            Object::Whole(model::Object::DaemonSet(set)) => {
                self.daemons.apply(&set, version);
                self.daemons_changed.insert(set.uid.clone());
            }
            Object::Whole(object) => {
                if let model::Object::Pod(pod) = &object {
                    self.daemons_changed.extend(self.daemons.apply_pod(pod));
                }
                inputs.push(Input::Applied(object, version));
            }
        }
    }

    fn remove(&mut self, kind: Kind, key: &Key, version: Version, inputs: &mut Vec<Input>) {
        let Some((object, _)) = self.listing(kind).known.remove(key) else {
            return;
        };
        match object {
            Object::Part(part) => {
                self.volumes.remove(&part);
                self.volumes_changed = true;
            }
            Object::Whole(object) => {
                match &object {
                    model::Object::Pod(pod) => {
                        self.daemons_changed.extend(self.daemons.remove_pod(pod));
                    }
                    model::Object::DaemonSet(set) => self.daemons.remove(set),
                    _ => {}
                }
                inputs.push(Input::Deleted(object, version));
            }
        }
    }
}

fn key(object: &DynamicObject) -> Key {
    (object.namespace().unwrap_or_default(), object.name_any())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    const KINDS: [Kind; 3] = [Kind::Node, Kind::Pod, Kind::StorageClass];

    fn object(value: Value) -> DynamicObject {
        serde_json::from_value(value).unwrap()
    }

    fn node(name: &str, version: &str) -> DynamicObject {
        object(json!({"metadata": {"name": name, "resourceVersion": version}}))
    }

    /// A list of one kind, as a watch gives it.
    fn list(index: &mut Index, kind: Kind, objects: Vec<DynamicObject>) -> Vec<String> {
        let mut events = vec![watcher::Event::Init];
        events.extend(objects.into_iter().map(watcher::Event::InitApply));
        events.push(watcher::Event::InitDone);
        let inputs = events
            .into_iter()
            .flat_map(|event| index.take((kind, Ok(event))));
        inputs.collect::<Vec<_>>().iter().map(show).collect()
    }

    fn show(input: &Input) -> String {
        match input {
            Input::Applied(model::Object::Node(node), version) => {
                format!("+{} {}", node.name, version.0)
            }
            Input::Deleted(model::Object::Node(node), version) => {
                format!("-{} {}", node.name, version.0)
            }
            Input::Applied(model::Object::Volumes(volumes), _) => {
                format!("{} classes", volumes.classes.len())
            }
            other => format!("{other:?}"),
        }
    }

    fn flushed(index: &mut Index) -> Vec<String> {
        index.flush().iter().map(show).collect()
    }

    #[test]
    fn what_a_new_list_no_longer_has_is_gone() {
        let mut index = Index::new(&KINDS);
        let first = vec![node("a", "5"), node("b", "6")];
        assert_eq!(list(&mut index, Kind::Node, first), ["+a 5", "+b 6"]);
        let second = vec![node("b", "9")];
        assert_eq!(list(&mut index, Kind::Node, second), ["+b 9", "-a 5"]);
    }

    #[test]
    fn a_deletion_has_the_version_of_the_deletion() {
        let mut index = Index::new(&KINDS);
        list(&mut index, Kind::Node, vec![node("a", "5")]);
        let event = watcher::Event::Delete(node("a", "8"));
        let inputs = index.take((Kind::Node, Ok(event)));
        assert_eq!(inputs.iter().map(show).collect::<Vec<_>>(), ["-a 8"]);
    }

    #[test]
    fn the_engine_is_told_once_that_every_kind_has_been_listed() {
        let mut index = Index::new(&KINDS);
        for kind in KINDS {
            assert_eq!(flushed(&mut index), [""; 0]);
            list(&mut index, kind, Vec::new());
        }
        assert_eq!(flushed(&mut index), ["Synced"]);
        list(&mut index, Kind::Node, Vec::new());
        assert_eq!(flushed(&mut index), [""; 0]);
    }

    #[test]
    fn volumes_are_handed_in_together() {
        let mut index = Index::new(&KINDS);
        let class = |name: &str| object(json!({"metadata": {"name": name}, "provisioner": "p"}));
        list(&mut index, Kind::Node, Vec::new());
        list(&mut index, Kind::Pod, Vec::new());
        let classes = vec![class("fast"), class("slow")];
        assert_eq!(list(&mut index, Kind::StorageClass, classes), [""; 0]);
        assert_eq!(flushed(&mut index), ["2 classes", "Synced"]);
        list(&mut index, Kind::StorageClass, vec![class("slow")]);
        assert_eq!(flushed(&mut index), ["1 classes"]);
    }

    #[test]
    fn volumes_are_held_back_while_they_are_listed() {
        let mut index = Index::new(&[Kind::StorageClass]);
        let class = |name: &str| object(json!({"metadata": {"name": name}, "provisioner": "p"}));
        list(&mut index, Kind::StorageClass, vec![class("fast")]);
        assert_eq!(flushed(&mut index), ["1 classes", "Synced"]);
        for event in [
            watcher::Event::Init,
            watcher::Event::InitApply(class("slow")),
            watcher::Event::InitApply(class("slower")),
        ] {
            index.take((Kind::StorageClass, Ok(event)));
            assert_eq!(flushed(&mut index), [""; 0]);
        }
        index.take((Kind::StorageClass, Ok(watcher::Event::InitDone)));
        assert_eq!(flushed(&mut index), ["2 classes"]);
    }

    #[test]
    fn a_daemon_set_is_shown_once_for_all_its_listed_pods() {
        let mut index = Index::new(&[Kind::DaemonSet, Kind::Pod]);
        let set = object(json!({
            "metadata": {"name": "logs", "namespace": "d", "uid": "s1", "resourceVersion": "3"},
            "spec": {"template": {"spec": {"containers": []}}},
        }));
        let pod = |name: &str| {
            let owner = json!({
                "apiVersion": "apps/v1", "kind": "DaemonSet", "name": "logs", "uid": "s1",
                "controller": true,
            });
            object(json!({
                "metadata": {"name": name, "namespace": "d", "uid": name, "ownerReferences": [owner]},
                "spec": {"containers": []},
            }))
        };
        let sets = |inputs: &[Input]| {
            let is_set =
                |input: &&Input| matches!(input, Input::Applied(model::Object::DaemonSet(_), _));
            inputs.iter().filter(is_set).count()
        };
        list(&mut index, Kind::Pod, vec![pod("a"), pod("b")]);
        list(&mut index, Kind::DaemonSet, vec![set]);
        assert_eq!(sets(&index.flush()), 1);
        index.take((Kind::Pod, Ok(watcher::Event::Init)));
        for name in ["a", "b", "c"] {
            let event = watcher::Event::InitApply(pod(name));
            assert_eq!(sets(&index.take((Kind::Pod, Ok(event)))), 0);
            assert_eq!(sets(&index.flush()), 0);
        }
        index.take((Kind::Pod, Ok(watcher::Event::InitDone)));
        assert_eq!(sets(&index.flush()), 1);
    }

    #[test]
    fn an_object_that_cannot_be_read_leaves_what_was_known() {
        let mut index = Index::new(&KINDS);
        list(&mut index, Kind::Node, vec![node("a", "5")]);
        let odd = json!({
            "metadata": {"name": "a", "resourceVersion": "6"},
            "status": {"capacity": {"cpu": "-2"}},
        });
        let relisted = vec![object(odd)];
        assert_eq!(list(&mut index, Kind::Node, relisted), [""; 0]);
        assert_eq!(list(&mut index, Kind::Node, Vec::new()), ["-a 5"]);
    }
}
