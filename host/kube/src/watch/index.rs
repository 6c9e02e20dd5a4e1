//! Watch events in, inputs of the engine out. No request is made here, and nothing waits.
//!
//! - What a new list no longer has is a deletion, also where the watch missed it.
//! - An object that cannot be read is reported and skipped; what was known of it before stays. A pool or claim of which a part is not
//!   understood is taken in without that part, and told of as well.
//! - How far each kind has come is known by version; what the server has that was not told yet is found by comparison ([`Index::lacks`]).
//! - Volumes, their claims and classes are one object to the engine and are handed in together, by [`Index::flush`]. So are
//!   daemon sets, which their pods change, and templates whose defaults have changed. None is handed in while one of its kinds is
//!   being listed.
//! - [`Input::Synced`] comes once, when every kind has been listed.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use kube::ResourceExt;
use kube::core::DynamicObject;
use plimsoll_api::{Admission, Interner, Kind, Object, ReadError, ResizeRule, read_tolerant};
use plimsoll_base::ids::{ObjectName, Uid};
use plimsoll_base::time::Timestamp;
use plimsoll_engine::Input;
use plimsoll_model::{Pod, Version, Volumes};

use super::daemons::Daemons;
use super::templates::Templates;
use super::{Change, Event, Read};
use crate::resource::{to_value, version};

/// Kinds that daemon sets are made of.
const DAEMONS: [Kind; 2] = [Kind::DaemonSet, Kind::Pod];
/// Kinds that volumes are made of.
const VOLUMES: [Kind; 6] = [
    Kind::PersistentVolumeClaim,
    Kind::PersistentVolume,
    Kind::StorageClass,
    Kind::CsiNode,
    Kind::CsiDriver,
    Kind::StorageCapacity,
];

/// Namespace and name; the namespace of what lives in none is empty.
pub type Key = (String, String);

/// The objects seen, by kind and name.
#[derive(Debug, Default)]
pub struct Index {
    interner: Interner,
    listings: BTreeMap<Kind, Listing>,
    unlisted: BTreeSet<Kind>,
    synced: bool,
    pod_names: HashMap<Uid, ObjectName>,
    templates: Templates,
    daemons: Daemons,
    daemons_changed: BTreeSet<Uid>,
    volumes: Volumes,
    volumes_changed: bool,
    /// Objects that could not be read and were not told of yet.
    told: Vec<Unreadable>,
    /// Parts that were ignored in any object of a kind.
    ignored: BTreeSet<(Kind, Arc<str>)>,
    /// Those that were not told of yet.
    newly_ignored: Vec<Ignored>,
}

/// A part of an object that is ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ignored {
    /// Kind of the object.
    pub kind: Kind,
    /// Name of the first object that has it.
    pub name: String,
    /// The part, in words.
    pub words: Arc<str>,
}

/// An object that cannot be read, wholly or in part, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// Its kind.
    pub kind: Kind,
    /// Its namespace and name.
    pub key: Key,
    /// The field at fault, in words.
    pub problem: String,
    /// `true` if the object is known but for what is at fault.
    pub is_known: bool,
}

/// An object among those of its name that there are one after the other, as it was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Its uid.
    pub uid: Uid,
    /// The version that was seen.
    pub version: Version,
}

#[derive(Debug, Default)]
struct Listing {
    known: BTreeMap<Key, (Object, Seen)>,
    /// Objects that cannot be read as they are now, wholly or in part.
    unreadable: BTreeMap<Key, Seen>,
    /// All that happened up to this version has been told.
    reached: Version,
    /// Names of a list that is under way.
    listed: Option<BTreeSet<Key>>,
}

impl Listing {
    fn seen(&self, key: &Key) -> Option<&Seen> {
        let known = || self.known.get(key).map(|(_, seen)| seen);
        self.unreadable.get(key).or_else(known)
    }
}

impl Index {
    /// Nothing seen yet of these kinds.
    pub fn new(kinds: &[Kind]) -> Self {
        Self {
            unlisted: kinds.iter().copied().collect(),
            ..Self::default()
        }
    }

    /// The same, with pods that are being resized counted as the scheduler counts them.
    #[must_use]
    pub fn counting_resizes(mut self, rule: ResizeRule) -> Self {
        self.interner.resizes = rule;
        self
    }

    /// Takes in one event.
    pub fn take(&mut self, (kind, change): Event) -> Vec<Input> {
        let mut inputs = Vec::new();
        match change {
            Change::ListBegun => {
                self.listing(kind).listed = Some(BTreeSet::new());
            }
            Change::Listed(object) => {
                let key = key(&object);
                if let Some(listed) = &mut self.listing(kind).listed {
                    listed.insert(key);
                }
                self.apply(kind, *object, &mut inputs);
            }
            Change::ListDone(version) => {
                self.end_list(kind, &mut inputs);
                self.reach(kind, version);
            }
            Change::Applied(object) => {
                let version = version(&object);
                self.apply(kind, *object, &mut inputs);
                self.reach(kind, version);
            }
            Change::Deleted(object) => {
                let version = version(&object);
                self.remove(kind, &key(&object), version, &mut inputs);
                self.reach(kind, version);
            }
            Change::Reached(version) => self.reach(kind, version),
            Change::Failed(_) => {}
        }
        inputs
    }

    fn reach(&mut self, kind: Kind, version: Version) {
        let reached = &mut self.listing(kind).reached;
        *reached = version.max(*reached);
    }

    /// `true` if a kind has been listed, and no new list of it is under way.
    pub fn is_listed(&self, kind: Kind) -> bool {
        !self.unlisted.contains(&kind) && !self.is_listing(&[kind])
    }

    /// Version up to which all that happened to a kind has been told; zero before its first list.
    pub fn reached(&self, kind: Kind) -> Version {
        self.listings
            .get(&kind)
            .map(|listing| listing.reached)
            .unwrap_or_default()
    }

    /// Names of a kind's objects, without their namespaces, in the order of both.
    pub fn names(&self, kind: Kind) -> impl Iterator<Item = &str> {
        let listing = self.listings.get(&kind).into_iter();
        let keys = listing.flat_map(|listing| listing.known.keys());
        keys.map(|(_, name)| name.as_str())
    }

    /// An object as it was seen last, whether it could be read or not; `None` where there is none of this namespace and name.
    pub fn seen(&self, kind: Kind, key: &Key) -> Option<&Seen> {
        self.listings.get(&kind)?.seen(key)
    }

    /// Number of a kind's objects of which nothing is known, since they cannot be read.
    pub fn unknown(&self, kind: Kind) -> usize {
        let Some(listing) = self.listings.get(&kind) else {
            return 0;
        };
        let unreadable = listing.unreadable.keys();
        let unknown = unreadable.filter(|key| !listing.known.contains_key(*key));
        unknown.count()
    }

    /// Number of a kind's objects that can be read.
    pub fn count(&self, kind: Kind) -> usize {
        self.listings
            .get(&kind)
            .map_or(0, |listing| listing.known.len())
    }

    /// Kinds that have not been listed yet.
    pub fn unlisted(&self) -> impl Iterator<Item = Kind> {
        self.unlisted.iter().copied()
    }

    /// Name of a pod; `None` where there is none of this uid.
    pub fn pod(&self, uid: &Uid) -> Option<&ObjectName> {
        self.pod_names.get(uid)
    }

    /// Objects that could not be read since the last call.
    pub fn take_unreadable(&mut self) -> Vec<Unreadable> {
        std::mem::take(&mut self.told)
    }

    /// Parts of objects that were ignored for the first time in their kind since the last call.
    pub fn take_ignored(&mut self) -> Vec<Ignored> {
        std::mem::take(&mut self.newly_ignored)
    }

    /// How many objects of each kind cannot be read, wholly or in part; kinds without any are absent.
    pub fn unreadable(&self) -> BTreeMap<Kind, usize> {
        let counts = self.listings.iter();
        let counts = counts.map(|(kind, listing)| (*kind, listing.unreadable.len()));
        counts.filter(|(_, count)| *count > 0).collect()
    }

    /// `true` if the server had something when it was read that has not been told here yet.
    pub fn lacks(&self, kind: Kind, read: &Read) -> bool {
        let Some(listing) = self.listings.get(&kind) else {
            return true;
        };
        if !self.is_listed(kind) {
            return true;
        }
        if listing.reached >= read.version {
            return false;
        }
        let Some(objects) = &read.objects else {
            return true;
        };
        let seen = |key: &Key| listing.seen(key).map(|seen| seen.version);
        let lacks = |(key, version): (&Key, &Version)| seen(key).is_none_or(|seen| seen < *version);
        // What is here and was not there is gone, unless it was made after the read.
        let gone = |key: &Key| {
            !objects.contains_key(key) && seen(key).is_some_and(|seen| seen <= read.version)
        };
        let mut known = listing.known.keys().chain(listing.unreadable.keys());
        objects.iter().any(lacks) || known.any(gone)
    }

    /// Inputs that are handed in once for many events: templates, daemon sets, volumes, and that every kind has been listed.
    pub fn flush(&mut self) -> Vec<Input> {
        let mut inputs = Vec::new();
        if !self.unlisted.is_empty() {
            return inputs;
        }
        self.complete_templates(&mut inputs);
        if !self.is_listing(&DAEMONS) {
            for set in std::mem::take(&mut self.daemons_changed) {
                if let Some((set, version)) = self.daemons.shown(&set, &mut self.interner) {
                    inputs.push(Input::Applied(
                        plimsoll_model::Object::DaemonSet(set),
                        version,
                    ));
                }
            }
        }
        if !self.is_listing(&VOLUMES) && std::mem::take(&mut self.volumes_changed) {
            let volumes = plimsoll_model::Object::Volumes(Arc::new(self.volumes.clone()));
            inputs.push(Input::Applied(volumes, Version::default()));
        }
        if !std::mem::replace(&mut self.synced, true) {
            inputs.push(Input::Synced);
        }
        inputs
    }

    /// Reads all templates again if the defaults that complete them have changed.
    fn complete_templates(&mut self, inputs: &mut Vec<Input>) {
        let mut listings = self.listings.iter();
        if listings.any(|(kind, own)| Admission::reads(*kind) && own.listed.is_some()) {
            return;
        }
        for (kind, key, version, value) in self.templates.take_changed() {
            let Ok((_, object)) = read_tolerant(kind, &value, &mut self.interner) else {
                continue;
            };
            let known = self.listing(kind).known.get(&key);
            if let Some((known, seen)) = known
                && *known != object
            {
                let uid = seen.uid.clone();
                self.keep(kind, key, Seen { uid, version }, object, inputs);
            }
        }
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
            .map(|(key, (_, seen))| (key.clone(), seen.version))
            .collect();
        listing.unreadable.retain(|key, _| listed.contains(key));
        for (key, version) in gone {
            self.remove(kind, &key, version, inputs);
        }
        self.unlisted.remove(&kind);
    }

    fn apply(&mut self, kind: Kind, written: DynamicObject, inputs: &mut Vec<Input>) {
        let (key, version) = (key(&written), version(&written));
        let uid = Uid::from(written.metadata.uid.as_deref().unwrap_or_default());
        let seen = Seen { uid, version };
        let deleting = deleting(&written);
        let mut value = to_value(written);
        self.templates.complete(kind, &key, version, &mut value);
        let object = match read_tolerant(kind, &value, &mut self.interner) {
            Ok((_, object)) => match self.listing(kind).known.get(&key) {
                Some((before, _)) => object.of_class_before(before),
                None => object,
            },
            Err(error) => {
                let known = self.listing(kind).known.get(&key);
                let known = known.and_then(|(known, _)| known.as_known(&error, deleting));
                let Some(known) = known else {
                    return self.pass_over(kind, key, seen, &error);
                };
                known
            }
        };
        let ignored = object.unread().map(|unread| unread.ignored.as_slice());
        for part in ignored.unwrap_or_default() {
            if self.ignored.insert((kind, Arc::clone(part))) {
                self.newly_ignored.push(Ignored {
                    kind,
                    name: key.1.clone(),
                    words: Arc::clone(part),
                });
            }
        }
        let problem = object.unread().and_then(|unread| unread.problem.as_ref());
        match problem.map(ToString::to_string) {
            Some(problem) => self.tell(kind, key.clone(), seen.clone(), problem, true),
            None => {
                self.listing(kind).unreadable.remove(&key);
            }
        }
        self.keep(kind, key, seen, object, inputs);
    }

    /// Takes in an object that could be read.
    fn keep(&mut self, kind: Kind, key: Key, seen: Seen, object: Object, inputs: &mut Vec<Input>) {
        if let Object::Defaults(defaults) = &object {
            self.templates.apply_defaults(kind, &key, defaults);
        }
        let version = seen.version;
        let listing = self.listing(kind);
        let before = listing.known.insert(key, (object.clone(), seen));
        match object {
            Object::Defaults(_) => {}
            Object::Part(part) => {
                self.volumes.put(part);
                self.volumes_changed = true;
            }
            Object::Whole(plimsoll_model::Object::DaemonSet(set)) => {
                self.daemons.apply(&set, version);
                self.daemons_changed.insert(set.uid.clone());
            }
            Object::Whole(object) => {
                if let plimsoll_model::Object::Pod(pod) = &object {
                    let before = before.as_ref().and_then(|(object, _)| as_pod(object));
                    self.follow_pod(before.map(AsRef::as_ref), Some(pod));
                }
                inputs.push(Input::Applied(object, version));
            }
        }
    }

    fn follow_pod(&mut self, before: Option<&Pod>, after: Option<&Arc<Pod>>) {
        if let Some(before) = before {
            self.pod_names.remove(&before.uid);
        }
        if let Some(after) = after {
            self.pod_names.insert(after.uid.clone(), after.name.clone());
        }
        self.daemons_changed
            .extend(self.daemons.follow_pod(before, after));
    }

    fn pass_over(&mut self, kind: Kind, key: Key, seen: Seen, error: &ReadError) {
        let is_known = self.listing(kind).known.contains_key(&key);
        self.tell(kind, key, seen, error.field.to_string(), is_known);
    }

    /// Tells once of each version that cannot be read.
    fn tell(&mut self, kind: Kind, key: Key, seen: Seen, problem: String, is_known: bool) {
        let unreadable = &mut self.listing(kind).unreadable;
        let before = unreadable.insert(key.clone(), seen.clone());
        if before != Some(seen) {
            self.told.push(Unreadable {
                kind,
                key,
                problem,
                is_known,
            });
        }
    }

    fn remove(&mut self, kind: Kind, key: &Key, version: Version, inputs: &mut Vec<Input>) {
        let listing = self.listing(kind);
        listing.unreadable.remove(key);
        let known = listing.known.remove(key);
        self.templates.remove(kind, key);
        let Some((object, _)) = known else {
            return;
        };
        match object {
            Object::Defaults(_) => {}
            Object::Part(part) => {
                self.volumes.remove(&part);
                self.volumes_changed = true;
            }
            Object::Whole(object) => {
                match &object {
                    plimsoll_model::Object::Pod(pod) => self.follow_pod(Some(pod), None),
                    plimsoll_model::Object::DaemonSet(set) => self.daemons.remove(set),
                    _ => {}
                }
                inputs.push(Input::Deleted(object, version));
            }
        }
    }
}

/// When the object was asked to go.
fn deleting(object: &DynamicObject) -> Option<Timestamp> {
    let at = object.metadata.deletion_timestamp.as_ref()?;
    Some(Timestamp::from_millis(at.0.as_millisecond()))
}

fn as_pod(object: &Object) -> Option<&Arc<Pod>> {
    match object {
        Object::Whole(plimsoll_model::Object::Pod(pod)) => Some(pod),
        _ => None,
    }
}

fn key(object: &DynamicObject) -> Key {
    (object.namespace().unwrap_or_default(), object.name_any())
}

#[cfg(test)]
mod tests;
