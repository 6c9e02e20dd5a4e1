//! Custom resource definitions into a lab: server-side apply, then waiting until each is established and can be listed.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Client;
use kube::api::{Api, ListParams, Patch, PatchParams};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use serde_json::Value;

use crate::error::LabError;
use crate::readiness::until;

/// How long a definition may take on a machine that starts several labs at once.
const PATIENCE: Duration = Duration::from_mins(3);

/// Applies definitions in their order, then waits until each is established and its objects can be listed: for a moment
/// in between the server says to come again later.
pub(crate) async fn apply(client: &Client, manifests: &[Value]) -> Result<(), LabError> {
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    let name_of = |manifest: &Value| {
        let name = manifest["metadata"]["name"].as_str();
        name.unwrap_or_default().to_owned()
    };
    let names: Vec<String> = manifests.iter().map(name_of).collect();
    for (name, manifest) in names.iter().zip(manifests) {
        let parameters = PatchParams::apply("plimsoll-lab").force();
        definitions
            .patch(name, &parameters, &Patch::Apply(manifest))
            .await?;
    }
    for name in names {
        let what = format!("custom resource {name} to be established");
        let definition = until(&what, PATIENCE, async || {
            Ok(definitions.get_opt(&name).await?.filter(is_established))
        });
        let objects = objects_of(client, &definition.await?);
        let what = format!("objects of custom resource {name} to be listed");
        until(&what, PATIENCE, async || {
            let one = ListParams::default().limit(1);
            objects.list_metadata(&one).await.map(Some)
        })
        .await?;
    }
    Ok(())
}

fn objects_of(client: &Client, definition: &CustomResourceDefinition) -> Api<DynamicObject> {
    let spec = &definition.spec;
    let served = spec.versions.iter().find(|version| version.served);
    let version = served.map_or("v1", |version| version.name.as_str());
    let kind = GroupVersionKind::gvk(&spec.group, version, &spec.names.kind);
    let resource = ApiResource::from_gvk_with_plural(&kind, &spec.names.plural);
    Api::all_with(client.clone(), &resource)
}

/// Every manifest of a folder, in the order of their names.
pub(crate) fn read_folder(folder: &Path) -> Result<Vec<Value>, LabError> {
    let mut all = Vec::new();
    for path in manifests(folder)? {
        all.extend(read(&path)?);
    }
    Ok(all)
}

fn is_established(definition: &CustomResourceDefinition) -> bool {
    let conditions = definition
        .status
        .as_ref()
        .and_then(|status| status.conditions.as_ref());
    conditions
        .into_iter()
        .flatten()
        .any(|condition| condition.type_ == "Established" && condition.status == "True")
}

fn manifests(folder: &Path) -> Result<Vec<PathBuf>, LabError> {
    let file = |source| LabError::File {
        path: folder.to_owned(),
        source,
    };
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(file)? {
        let path = entry.map_err(file)?.path();
        if path.extension().is_some_and(|extension| {
            extension == "yaml" || extension == "yml" || extension == "json"
        }) {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

fn read(path: &Path) -> Result<Vec<Value>, LabError> {
    let text = fs::read_to_string(path).map_err(|source| LabError::File {
        path: path.to_owned(),
        source,
    })?;
    let wrong = |reason: String| LabError::Manifest {
        path: path.to_owned(),
        reason,
    };
    let documents: Vec<Value> =
        serde_saphyr::from_multiple(&text).map_err(|error| wrong(error.to_string()))?;
    let documents: Vec<Value> = documents
        .into_iter()
        .filter(|document| !document.is_null())
        .collect();
    match documents
        .iter()
        .find(|document| document["kind"] != "CustomResourceDefinition")
    {
        Some(other) => Err(wrong(format!("kind is {}", other["kind"]))),
        None => Ok(documents),
    }
}
