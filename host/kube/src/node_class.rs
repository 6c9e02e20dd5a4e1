//! EC2NodeClasses: those there are, as they change, and what is written of them.

use std::collections::BTreeMap;

use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use kube::api::{Api, ListParams, Patch, PatchParams};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use kube::runtime::watcher::Event;
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Client, Error, ResourceExt};
use plimsoll_api::Kind;
use plimsoll_api::kinds::{Ec2NodeClass, Ec2NodeClassStatus};
use plimsoll_api::read_class;
use serde_json::{Map, Value, json};

use crate::resource::with_nulls;

/// Finalizer of classes: what was made for one goes before it does.
pub const FINALIZER: &str = "karpenter.k8s.aws/termination";

/// Classes that are watched. A watch that breaks is begun again with growing pauses.
pub struct WatchedClasses {
    changes: BoxStream<'static, watcher::Result<Event<DynamicObject>>>,
    classes: BTreeMap<String, Ec2NodeClass>,
    /// Those of a list that is being read.
    listed: Option<BTreeMap<String, Ec2NodeClass>>,
}

impl WatchedClasses {
    /// Begins to watch.
    pub fn start(client: &Client) -> Self {
        let changes = watcher::watcher(api(client), watcher::Config::default()).default_backoff();
        Self {
            changes: changes.boxed(),
            classes: BTreeMap::new(),
            listed: None,
        }
    }

    /// The classes as they are known, by name.
    pub fn all(&self) -> &BTreeMap<String, Ec2NodeClass> {
        &self.classes
    }

    /// Waits until they have changed, or the watch has an error, after which it goes on; `None` once it has ended for good. Nothing is
    /// lost if the wait is given up.
    pub async fn changed(&mut self) -> Option<Result<(), watcher::Error>> {
        loop {
            match self.changes.next().await? {
                Ok(event) => {
                    if self.take(event) {
                        return Some(Ok(()));
                    }
                }
                Err(error) => return Some(Err(error)),
            }
        }
    }

    /// Takes an event in; `true` if the classes are others than before.
    fn take(&mut self, event: Event<DynamicObject>) -> bool {
        match event {
            Event::Init => self.listed = Some(BTreeMap::new()),
            Event::InitApply(object) => {
                let listed = self.listed.get_or_insert_default();
                listed.extend(read(object).map(|class| (name(&class), class)));
            }
            Event::InitDone => {
                self.classes = self.listed.take().unwrap_or_default();
                return true;
            }
            Event::Apply(object) => {
                let read = read(object).map(|class| (name(&class), class));
                let is_read = read.is_some();
                self.classes.extend(read);
                return is_read;
            }
            Event::Delete(object) => return self.classes.remove(&object.name_any()).is_some(),
        }
        false
    }
}

fn name(class: &Ec2NodeClass) -> String {
    class.metadata.name.clone().unwrap_or_default()
}

/// The class as it is written, as far as it is understood.
fn read(object: DynamicObject) -> Option<Ec2NodeClass> {
    let name = object.name_any();
    let class = as_class(object);
    let class = class
        .inspect_err(|error| tracing::warn!(%error, class = name, "EC2NodeClass cannot be read"));
    let class = class.ok()?;
    for part in &class.unread.ignored {
        tracing::warn!(class = name, "EC2NodeClass: {part}");
    }
    Some(class)
}

fn as_class(object: DynamicObject) -> Result<Ec2NodeClass, Error> {
    let value = serde_json::to_value(object).map_err(Error::SerdeError)?;
    let unread = |error| Error::SerdeError(serde_json::Error::io(std::io::Error::other(error)));
    read_class(&value).map_err(unread)
}

fn api(client: &Client) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk("karpenter.k8s.aws", "v1", "EC2NodeClass");
    Api::all_with(
        client.clone(),
        &ApiResource::from_gvk_with_plural(&kind, "ec2nodeclasses"),
    )
}

/// A kind of node classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassKind {
    /// API group and version.
    pub api: (&'static str, &'static str),
    /// The name as the API writes it.
    pub kind: &'static str,
    plural: &'static str,
}

/// The kinds that this program has a provider for.
pub const KINDS: [ClassKind; 2] = [
    ClassKind {
        api: ("karpenter.k8s.aws", "v1"),
        kind: "EC2NodeClass",
        plural: "ec2nodeclasses",
    },
    ClassKind {
        api: ("karpenter.kwok.sh", "v1alpha1"),
        kind: "KWOKNodeClass",
        plural: "kwoknodeclasses",
    },
];

/// The classes of a kind as they are written, whether they can be read or not.
pub async fn list_as_written(client: &Client, of: ClassKind) -> Result<Vec<Value>, Error> {
    let (group, version) = of.api;
    let kind = GroupVersionKind::gvk(group, version, of.kind);
    let resource = ApiResource::from_gvk_with_plural(&kind, of.plural);
    let classes: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
    let listed = classes.list(&ListParams::default()).await?.items;
    let written = listed.into_iter().map(|class| {
        let mut written = crate::resource::to_value(class);
        written["apiVersion"] = resource.api_version.clone().into();
        written["kind"] = of.kind.into();
        written
    });
    Ok(written.collect())
}

/// The classes as they are now. Fails where one cannot be read.
pub async fn list(client: &Client) -> Result<Vec<Ec2NodeClass>, Error> {
    let listed = api(client).list(&ListParams::default()).await?;
    listed.items.into_iter().map(as_class).collect()
}

/// Writes what is to stand in the metadata of a class: our finalizer or none, and annotations. Nothing where it is so already; fails where the
/// class has changed since it was read. Returns the class as it stands then, which the next write goes by.
pub async fn write_metadata(
    client: &Client,
    class: &Ec2NodeClass,
    is_held: bool,
    annotations: &[(&str, &str)],
) -> Result<Ec2NodeClass, Error> {
    let Some(metadata) = metadata_patch(class, is_held, annotations) else {
        return Ok(class.clone());
    };
    let patch = Patch::Merge(json!({ "metadata": metadata }));
    let (classes, params) = (api(client), PatchParams::default());
    let written = classes.patch(&name(class), &params, &patch).await?;
    as_class(written)
}

fn metadata_patch(
    class: &Ec2NodeClass,
    is_held: bool,
    annotations: &[(&str, &str)],
) -> Option<Map<String, Value>> {
    let mut metadata = Map::new();
    let mut finalizers = class.metadata.finalizers.clone().unwrap_or_default();
    let has = finalizers.iter().any(|own| own == FINALIZER);
    if has != is_held {
        finalizers.retain(|own| own != FINALIZER);
        finalizers.extend(is_held.then(|| FINALIZER.to_owned()));
        metadata.insert("finalizers".to_owned(), finalizers.into());
    }
    let own = class.metadata.annotations.clone().unwrap_or_default();
    let due = annotations
        .iter()
        .filter(|(key, value)| own.get(*key).is_none_or(|own| own != value));
    let due: Map<String, Value> = due
        .map(|(key, value)| ((*key).to_owned(), (*value).into()))
        .collect();
    if !due.is_empty() {
        metadata.insert("annotations".to_owned(), due.into());
    }
    if metadata.is_empty() {
        return None;
    }
    // Lists are replaced: they must not have changed meanwhile.
    let version = class.metadata.resource_version.clone();
    metadata.insert("resourceVersion".to_owned(), version.into());
    metadata.insert("uid".to_owned(), class.metadata.uid.clone().into());
    Some(metadata)
}

/// Fields of a status that may be left out.
const FIELDS: [&str; 5] = [
    "subnets",
    "securityGroups",
    "amis",
    "instanceProfile",
    "conditions",
];

/// Writes the status of a class, unless it is so already; fails where the class has changed since it was read.
pub async fn write_status(
    client: &Client,
    class: &Ec2NodeClass,
    status: &Ec2NodeClassStatus,
) -> Result<(), Error> {
    if class.status.as_ref() == Some(status) {
        return Ok(());
    }
    let status = serde_json::to_value(status).map_err(Error::SerdeError)?;
    let status = with_nulls(status, &FIELDS);
    // Lists are replaced here, too.
    let metadata = &class.metadata;
    let metadata = json!({"uid": metadata.uid, "resourceVersion": metadata.resource_version});
    let patch = json!({"metadata": metadata, "status": status});
    let (classes, params) = (api(client), PatchParams::default());
    let patch = Patch::Merge(patch);
    let written = classes.patch_status(&name(class), &params, &patch).await;
    written.map(drop)
}

/// A claim of a class, as far as its class has to know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassClaim {
    /// Its name.
    pub name: String,
    /// Name of its class.
    pub class: String,
    /// `true` if it has the condition `Drifted`, whatever that says.
    pub is_drifted: bool,
    /// Its annotations.
    pub annotations: BTreeMap<String, String>,
}

/// The claims of a class, by name.
pub async fn claims_of(client: &Client, class: &str) -> Result<Vec<ClassClaim>, Error> {
    let mut claims = claims(client).await?;
    claims.retain(|claim| claim.class == class);
    Ok(claims)
}

/// The claims of all classes, by name.
pub async fn claims(client: &Client) -> Result<Vec<ClassClaim>, Error> {
    let listed = crate::api(client, Kind::NodeClaim)
        .list(&ListParams::default())
        .await?;
    let is_of_class = |claim: &DynamicObject| {
        let reference = &claim.data["spec"]["nodeClassRef"];
        reference["kind"] == "EC2NodeClass"
    };
    let own = listed.items.into_iter().filter(is_of_class);
    let mut claims: Vec<ClassClaim> = own.map(class_claim).collect();
    claims.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(claims)
}

fn class_claim(claim: DynamicObject) -> ClassClaim {
    let conditions = claim.data["status"]["conditions"].as_array();
    let mut conditions = conditions.into_iter().flatten();
    ClassClaim {
        is_drifted: conditions.any(|own| own["type"] == "Drifted"),
        name: claim.name_any(),
        class: claim.data["spec"]["nodeClassRef"]["name"]
            .as_str()
            .unwrap_or_default()
            .to_owned(),
        annotations: claim.metadata.annotations.unwrap_or_default(),
    }
}

/// Writes annotations on a claim; one that is gone needs none.
pub async fn annotate_claim(
    client: &Client,
    name: &str,
    annotations: &[(&str, &str)],
) -> Result<(), Error> {
    let annotations: BTreeMap<&str, &str> = annotations.iter().copied().collect();
    let patch = Patch::Merge(json!({"metadata": {"annotations": annotations}}));
    let claims = crate::api(client, Kind::NodeClaim);
    match claims.patch(name, &PatchParams::default(), &patch).await {
        Err(Error::Api(status)) if status.code == 404 => Ok(()),
        written => written.map(drop),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(name: &str) -> DynamicObject {
        let object = json!({
            "apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass",
            "metadata": {"name": name, "uid": "u1", "resourceVersion": "7", "finalizers": ["theirs"]},
            "spec": {"amiFamily": "AL2023"},
        });
        serde_json::from_value(object).unwrap()
    }

    #[test]
    fn a_list_replaces_what_was_known_once_it_is_whole() {
        let mut watched = WatchedClasses {
            changes: futures_util::stream::empty().boxed(),
            classes: BTreeMap::new(),
            listed: None,
        };
        let names = |watched: &WatchedClasses| watched.all().keys().cloned().collect::<Vec<_>>();
        assert!(watched.take(Event::Apply(class("a"))));
        assert!(!watched.take(Event::Init) && !watched.take(Event::InitApply(class("b"))));
        assert_eq!(names(&watched), ["a"]);
        assert!(watched.take(Event::InitDone));
        assert_eq!(names(&watched), ["b"]);
        assert!(
            watched.take(Event::Delete(class("b"))) && !watched.take(Event::Delete(class("b")))
        );
        assert!(names(&watched).is_empty());
    }

    #[test]
    fn metadata_is_written_where_it_differs_and_finalizers_of_others_stay() {
        let own = read(class("a")).unwrap();
        let patch = metadata_patch(&own, true, &[("hash", "1")]);
        let expected = json!({
            "finalizers": ["theirs", FINALIZER], "annotations": {"hash": "1"},
            "resourceVersion": "7", "uid": "u1",
        });
        assert_eq!(patch.map(Value::Object), Some(expected));
        assert_eq!(metadata_patch(&own, false, &[]), None);
    }
}
