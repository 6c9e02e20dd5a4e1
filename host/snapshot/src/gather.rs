//! Collects objects, changes and our section in the order in which a file gives them.
//!
//! Each object is converted at once and its text forgotten, but for templates of daemons and buffers: these wait for the end of the
//! file, since objects that stand behind them may add to their pods. Names are unique per kind; unknown kinds and fields are
//! counted, not listed.

mod notes;
mod served;

use std::collections::hash_map::{DefaultHasher, Entry};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::BuildHasherDefault;

use plimsoll_api::{Admission, Interner, Kind, Object, ObjectKey, ReadError, Severity};
use plimsoll_base::labels;
use plimsoll_base::time::Timestamp;
use plimsoll_ec2_facts::ClassSettings;
use plimsoll_ec2_facts::provider::{CLASS, DOMAIN};
use plimsoll_model::Volumes;
use plimsoll_model::snapshot::Objects;
use serde_json::{Map, Value};

use crate::error::{Place, Position, SnapshotError};
use crate::note::{Named, Note};
use crate::replicas::Template;
use crate::section::{self, ChangeEntry, NodeClassEntry};

/// Group and version of our own kinds.
pub(crate) const API_VERSION: &str = "plimsoll.dev/v1alpha1";
/// The kind of a document that is our section.
pub(crate) const SNAPSHOT: &str = "Snapshot";

/// Kinds that are part of a full picture without being read for decisions made from a file.
const SILENT: [&str; 2] = [CLASS, KWOK_CLASS];
/// Kind of the classes of KWOK's provider.
pub(crate) const KWOK_CLASS: &str = "KWOKNodeClass";

/// Groups of the kinds whose fields are looked at by [`plimsoll_api::validate`].
const VALIDATED: [&str; 2] = ["karpenter.sh", "autoscaling.x-k8s.io"];

/// The objects and fields read so far.
#[derive(Default)]
pub(crate) struct Gatherer {
    pub(crate) interner: Interner,
    pub(crate) objects: Objects,
    pub(crate) volumes: Volumes,
    /// Changes, not yet resolved against the snapshot's instant.
    pub(crate) changes: Vec<section::Change>,
    pub(crate) section: Option<Map<String, Value>>,
    /// The newest instant seen.
    pub(crate) newest: Timestamp,
    counts: BTreeMap<Kind, usize>,
    names: HashMap<ObjectKey, u32, BuildHasherDefault<DefaultHasher>>,
    items: usize,
    /// Where the object stands that is being read.
    place: Place,
    unknown_kinds: BTreeMap<String, usize>,
    unknown_fields: BTreeMap<(&'static str, String), Named>,
    /// Objects that remarks speak of, by severity, kind and sentence.
    remarks: BTreeMap<(Severity, String, String), Named>,
    /// Workloads without an owner, as far as they make pods.
    pub(crate) templates: Vec<Template>,
    /// Settings of nodes by the name of their class.
    pub(crate) classes: BTreeMap<String, ClassSettings>,
    /// Node classes of which not all is well.
    pub(crate) node_classes: Vec<NodeClassEntry>,
    /// Objects of kinds that are looked at without being kept.
    passed: BTreeMap<String, usize>,
    /// `true` where an API server has accepted the objects: one that cannot be read is skipped.
    pub(crate) is_served: bool,
    /// Such objects, each with what is wrong.
    unreadable: Vec<Note>,
    document: Map<String, Value>,
    /// Defaults that admission gives to pods of templates.
    pub(crate) admission: Admission,
    /// Templates, with their places in the lists of their kinds: they wait for what admission gives.
    incomplete: Vec<(Kind, usize, Value)>,
}

impl Gatherer {
    /// A new document begins.
    pub(crate) fn begin_document(&mut self, at: Position) {
        self.document.clear();
        self.place = Place {
            document: self.place.document + 1,
            line: at.line,
            item: None,
        };
    }

    /// A field of the document that is neither its items nor our section.
    pub(crate) fn document_field(&mut self, key: String, value: Value) {
        self.document.insert(key, value);
    }

    /// The document has ended: if it was no list, it is an object or our section itself.
    pub(crate) fn end_document(&mut self, is_list: bool) -> Result<(), SnapshotError> {
        let fields = std::mem::take(&mut self.document);
        if is_list {
            return Ok(());
        }
        let text = |key: &str| fields.get(key).and_then(Value::as_str).unwrap_or_default();
        let (api_version, kind) = (text("apiVersion"), text("kind"));
        if (api_version, kind) == (API_VERSION, SNAPSHOT) {
            let is_ours = |(key, _): &(String, Value)| {
                !matches!(key.as_str(), "apiVersion" | "kind" | "metadata")
            };
            let mut ours = fields.into_iter().filter(is_ours).peekable();
            if ours.peek().is_some() || self.section.is_none() {
                self.begin_section()?;
            }
            return ours.try_for_each(|(key, value)| self.section_field(key, value));
        }
        let is_only_section = fields.is_empty() && self.section.is_some();
        if is_only_section || kind.ends_with("List") {
            return Ok(());
        }
        self.object(&Value::Object(fields))
    }

    /// Our section begins.
    pub(crate) fn begin_section(&mut self) -> Result<(), SnapshotError> {
        if self.section.is_some() {
            return Err(SnapshotError::TwoSections);
        }
        self.section = Some(Map::new());
        Ok(())
    }

    /// A field of our section.
    pub(crate) fn section_field(&mut self, key: String, value: Value) -> Result<(), SnapshotError> {
        let section = self.section.get_or_insert_default();
        if section.contains_key(&key) {
            let sentence = format!("{key} is given twice; expected it once");
            return Err(SnapshotError::Section(sentence));
        }
        section.insert(key, value);
        Ok(())
    }

    /// One item of a list.
    pub(crate) fn item(&mut self, value: &Value) -> Result<(), SnapshotError> {
        let item = self.place.item.map_or(0, |item| item + 1);
        self.place.item = Some(item);
        let read = self.object(value);
        self.or_passed_over(value, read)
    }

    /// The items of a list that is an item itself, as kubectl flattens them.
    fn items_of(
        &mut self,
        list: &Map<String, Value>,
        items: &[Value],
    ) -> Result<(), SnapshotError> {
        let own = ["apiVersion", "kind"].map(|key| (key.to_owned(), list.get(key).cloned()));
        let own = own
            .into_iter()
            .filter_map(|(key, value)| Some((key, value?)));
        let outer = std::mem::replace(&mut self.document, own.collect());
        let read = items.iter().try_for_each(|item| self.object(item));
        self.document = outer;
        read
    }

    /// One object, or a list of objects.
    fn object(&mut self, value: &Value) -> Result<(), SnapshotError> {
        let Value::Object(fields) = value else {
            return Err(SnapshotError::NoObject { place: self.place });
        };
        if let Some(Value::Array(items)) = fields.get("items") {
            return self.items_of(fields, items);
        }
        self.items += 1;
        let (api_version, written_kind) = self.kind_of(fields)?;
        if self.admission.take(&api_version, &written_kind, value) {
            return Ok(());
        }
        let Some(kind) = Kind::parse(&api_version, &written_kind) else {
            let is_used = self.look_at(&api_version, &written_kind, value)?;
            if !is_used {
                let passed = self
                    .unknown_kinds
                    .entry(format!("{api_version} {written_kind}"));
                *passed.or_default() += 1;
            }
            return Ok(());
        };
        let count = self.counts.entry(kind).or_default();
        let index = *count;
        *count += 1;
        let refused = |sentence: String| SnapshotError::Object {
            list: kind.plural().to_owned(),
            index,
            sentence,
        };
        self.validate(&api_version, &written_kind, value)
            .map_err(refused)?;
        if kind == Kind::NodeClaim && self.is_by_hand(value) {
            return Ok(());
        }
        if Admission::completes(kind) {
            self.incomplete.push((kind, index, value.clone()));
            return Ok(());
        }
        self.take(kind, index, value)?;
        self.template(&api_version, &written_kind, index, value)
            .map(|_| ())
    }

    /// Converts and keeps an object, which stands at a place in the list of its kind.
    fn take(&mut self, kind: Kind, index: usize, value: &Value) -> Result<(), SnapshotError> {
        let read = self.converted(kind, value);
        let (key, object) = read.map_err(|error| SnapshotError::Object {
            list: kind.plural().to_owned(),
            index,
            sentence: error.to_string(),
        })?;
        self.tell_unread(&key, &object);
        self.name(key, index)?;
        self.keep(object);
        Ok(())
    }

    /// Converts what has waited for the end of the file.
    pub(crate) fn end(&mut self) -> Result<(), SnapshotError> {
        for (kind, index, mut value) in std::mem::take(&mut self.incomplete) {
            self.admission.complete(kind, &mut value);
            let taken = self.take(kind, index, &value);
            self.or_passed_over(&value, taken)?;
        }
        Ok(())
    }

    /// Remarks on what of an object could not be read where it was read first.
    fn tell_unread(&mut self, key: &ObjectKey, object: &Object) {
        let Some(unread) = object.unread() else {
            return;
        };
        let problem = unread.problem.iter().map(|problem| {
            format!(
                "{problem}: nothing is launched for it and no node of it is disrupted voluntarily"
            )
        });
        let ignored = unread.ignored.iter().map(ToString::to_string);
        for sentence in problem.chain(ignored) {
            let remark = (Severity::Fault, key.kind.to_string(), sentence);
            let told = self.remarks.entry(remark);
            told.or_default().add(path(key));
        }
    }

    /// `true` if a claim is of no pool, which somebody made by hand; such a claim is reported and skipped.
    fn is_by_hand(&mut self, claim: &Value) -> bool {
        let pool = claim
            .pointer("/metadata/labels")
            .and_then(|own| own.get(labels::NODEPOOL));
        if pool.is_none() {
            let name = claim.pointer("/metadata/name").and_then(Value::as_str);
            let sentence =
                "belongs to no NodePool: it is ignored, and its node counts as unmanaged";
            let key = (
                Severity::Advice,
                "NodeClaim".to_owned(),
                sentence.to_owned(),
            );
            let name = name.unwrap_or_default().to_owned();
            self.remarks.entry(key).or_default().add(name);
        }
        pool.is_none()
    }

    /// Looks at an object that is not kept: classes, Jobs, kinds of older versions. Whether it is part of a full picture.
    fn look_at(
        &mut self,
        api_version: &str,
        kind: &str,
        value: &Value,
    ) -> Result<bool, SnapshotError> {
        let mut list = kind.to_lowercase();
        list.push_str(if list.ends_with('s') { "es" } else { "s" });
        let count = self.passed.entry(list.clone()).or_default();
        let index = *count;
        *count += 1;
        let refused = |sentence: String| SnapshotError::Object {
            list: list.clone(),
            index,
            sentence,
        };
        self.validate(api_version, kind, value).map_err(refused)?;
        if SILENT.contains(&kind) {
            self.node_classes.extend(NodeClassEntry::of(kind, value));
        }
        if kind == CLASS && api_version.starts_with(DOMAIN) {
            let name = value.pointer("/metadata/name").and_then(Value::as_str);
            let name = name.unwrap_or_default().to_owned();
            let settings = plimsoll_ec2_facts::class::settings(value);
            let settings = settings.map_err(|sentence| refused(format!("{name}: {sentence}")))?;
            self.classes.insert(name, settings);
        }
        let is_workload = self.template(api_version, kind, index, value)?;
        Ok(is_workload || SILENT.contains(&kind))
    }

    /// Keeps a workload as far as it makes pods; whether it is one that no server has seen.
    fn template(
        &mut self,
        api_version: &str,
        kind: &str,
        index: usize,
        value: &Value,
    ) -> Result<bool, SnapshotError> {
        let template = Template::of(api_version, kind, index, value).transpose()?;
        let is_manifest = template.as_ref().is_some_and(|own| !own.is_of_server());
        self.templates.extend(template);
        Ok(is_manifest)
    }

    /// Refuses what an API server would refuse, with a sentence, and keeps remarks about the rest.
    fn validate(&mut self, api_version: &str, kind: &str, value: &Value) -> Result<(), String> {
        if self.is_served {
            return Ok(());
        }
        // What we read from a server that knows more than we do is taken as that took it, and told below.
        let is_taken = plimsoll_api::is_partly_read(value);
        for finding in plimsoll_api::validate(api_version, kind, value) {
            if finding.severity == Severity::Error && is_taken {
                continue;
            }
            if finding.severity == Severity::Error {
                let name = Some(name_of(value)).filter(|name| !name.is_empty());
                let name = name.map(|name| format!("{name}: ")).unwrap_or_default();
                return Err(format!("{name}{finding}"));
            }
            let key = (finding.severity, kind.to_owned(), finding.to_string());
            self.remarks.entry(key).or_default().add(name_of(value));
        }
        Ok(())
    }

    /// Version and kind of an item; items of a typed list (`PodList`) have the list's.
    fn kind_of(&self, fields: &Map<String, Value>) -> Result<(String, String), SnapshotError> {
        let text = |fields: &Map<String, Value>, key: &str| {
            fields.get(key).and_then(Value::as_str).map(str::to_owned)
        };
        let missing = |field| SnapshotError::NoKind {
            place: self.place,
            field,
        };
        let of_list = || {
            let list = text(&self.document, "kind")?;
            let kind = list.strip_suffix("List")?;
            (!kind.is_empty()).then(|| kind.to_owned())
        };
        let kind = text(fields, "kind").or_else(of_list);
        let version = text(fields, "apiVersion").or_else(|| text(&self.document, "apiVersion"));
        let kind = kind.ok_or_else(|| missing("kind"))?;
        Ok((version.ok_or_else(|| missing("apiVersion"))?, kind))
    }

    fn converted(&mut self, kind: Kind, value: &Value) -> Result<(ObjectKey, Object), ReadError> {
        if self.is_served {
            return plimsoll_api::read_tolerant(kind, value, &mut self.interner);
        }
        let mut unknown = BTreeSet::new();
        let read = plimsoll_api::read(kind, value, &mut self.interner, &mut |path| {
            unknown.insert((kind, section::without_indexes(path)));
        });
        self.note_unknown(unknown, || name_of(value));
        read
    }

    /// Notes fields that an object's kind does not have.
    fn note_unknown(&mut self, fields: BTreeSet<(Kind, String)>, name: impl Fn() -> String) {
        for (kind, path) in fields {
            // Of these kinds, everything but metadata was looked at before.
            if !VALIDATED.contains(&kind.group()) || path.starts_with("metadata") {
                let objects = self.unknown_fields.entry((kind.as_str(), path));
                objects.or_default().add(name());
            }
        }
    }

    /// `true` if there is an object of this kind and name.
    pub(crate) fn has(&self, key: &ObjectKey) -> bool {
        self.names.contains_key(key)
    }

    /// Adds an object that the file does not have.
    pub(crate) fn add(&mut self, key: ObjectKey, object: Object) {
        self.names.insert(key, u32::MAX);
        self.keep(object);
    }

    fn name(&mut self, key: ObjectKey, index: usize) -> Result<(), SnapshotError> {
        let name = path(&key);
        let list = key.kind.plural();
        match self.names.entry(key) {
            Entry::Occupied(first) => Err(SnapshotError::Duplicate {
                list,
                index,
                first: *first.get() as usize,
                name,
            }),
            Entry::Vacant(vacant) => {
                vacant.insert(u32::try_from(index).unwrap_or(u32::MAX));
                Ok(())
            }
        }
    }

    fn keep(&mut self, object: Object) {
        match object {
            Object::Part(part) => self.volumes.put(part),
            // Admission has taken these before they are read.
            Object::Defaults(_) => {}
            Object::Whole(object) => {
                let instants = instants(&object).into_iter().flatten();
                self.newest = instants.fold(self.newest, Ord::max);
                self.objects.push(object);
            }
        }
    }

    /// One change of a recording; an object in it is looked at as those of lists are.
    pub(crate) fn change(&mut self, value: &Value) -> Result<(), SnapshotError> {
        let index = self.changes.len();
        let in_change = |sentence: &str| {
            let separator = if sentence.starts_with([' ', '[']) {
                ""
            } else {
                "."
            };
            SnapshotError::Section(format!("changes[{index}]{separator}{sentence}"))
        };
        // A change refuses the fields that it does not have, so none of its own are left to count.
        let entry: ChangeEntry = plimsoll_api::from_value(value, &mut |_| {})
            .map_err(|error| in_change(&error.to_string()))?;
        if let Some(object) = &entry.upsert {
            let text = |field: &str| object.get(field).and_then(Value::as_str);
            let (version, kind) = (text("apiVersion"), text("kind"));
            self.validate(
                version.unwrap_or_default(),
                kind.unwrap_or_default(),
                object,
            )
            .map_err(|sentence| in_change(&format!("upsert {sentence}")))?;
        }
        let mut unknown = BTreeSet::new();
        let change = section::change(entry, &mut self.interner, &mut |kind, path| {
            unknown.insert((kind, section::without_indexes(path)));
        });
        self.note_unknown(unknown, || format!("changes[{index}]"));
        self.changes
            .push(change.map_err(|sentence| in_change(&sentence))?);
        Ok(())
    }

    /// How many items there were of any kind.
    pub(crate) fn items(&self) -> usize {
        self.items
    }
}

/// Namespace, where there is one, and name.
fn path(key: &ObjectKey) -> String {
    if key.namespace.is_empty() {
        key.name.to_string()
    } else {
        format!("{}/{}", key.namespace, key.name)
    }
}

/// Namespace, where it says one, and name of an object.
fn name_of(value: &Value) -> String {
    let text = |pointer: &str| value.pointer(pointer).and_then(Value::as_str);
    let name = text("/metadata/name").unwrap_or_default();
    match text("/metadata/namespace") {
        Some(namespace) => format!("{namespace}/{name}"),
        None => name.to_owned(),
    }
}

/// Instants that an object tells of itself: the time of a file is not before them.
fn instants(object: &plimsoll_model::Object) -> [Option<Timestamp>; 3] {
    match object {
        plimsoll_model::Object::Pod(pod) => [Some(pod.created), pod.started, pod.deleting],
        plimsoll_model::Object::Node(node) => [Some(node.created), node.deleting, None],
        plimsoll_model::Object::Claim(claim) => [
            Some(claim.created),
            Some(claim.phase_since()),
            claim.deleting,
        ],
        plimsoll_model::Object::Buffer(buffer) => [Some(buffer.created), None, None],
        _ => [None; 3],
    }
}
