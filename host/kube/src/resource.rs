//! How a kind is addressed at the API server, and how an answer becomes the core's object.

use kube::api::{Api, ListParams};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use kube::{Client, ResourceExt};
use plimsoll_api::{Interner, Kind, Object, ReadError};
use plimsoll_core::state::Version;
use thiserror::Error;

/// A kind that must be served is not.
#[derive(Debug, Error)]
#[error(
    "the API server does not serve {plural} of {api_version}; expected its definition to be installed"
)]
pub struct NotServed {
    /// The plural of the kind.
    pub plural: &'static str,
    /// Group and version.
    pub api_version: String,
    /// What the API server said.
    #[source]
    pub source: kube::Error,
}

/// All objects of a kind, in all namespaces.
pub fn api(client: &Client, kind: Kind) -> Api<DynamicObject> {
    Api::all_with(client.clone(), &resource(kind))
}

/// Objects of a kind in one namespace.
pub(crate) fn in_namespace(client: &Client, kind: Kind, namespace: &str) -> Api<DynamicObject> {
    Api::namespaced_with(client.clone(), namespace, &resource(kind))
}

pub(crate) fn resource(kind: Kind) -> ApiResource {
    let kind_of = GroupVersionKind::gvk(kind.group(), kind.version(), kind.as_str());
    ApiResource::from_gvk_with_plural(&kind_of, kind.plural())
}

/// Fails for the first of these kinds that the API server does not list for us.
pub async fn check_served(client: &Client, kinds: &[Kind]) -> Result<(), NotServed> {
    for kind in kinds {
        let listed = api(client, *kind)
            .list_metadata(&ListParams::default().limit(1))
            .await;
        listed.map_err(|source| NotServed {
            plural: kind.plural(),
            api_version: kind.api_version(),
            source,
        })?;
    }
    Ok(())
}

/// The version of an object; zero where there is none, which is older than any.
pub(crate) fn version(object: &DynamicObject) -> Version {
    let version = object.resource_version();
    Version(version.and_then(|text| text.parse().ok()).unwrap_or(0))
}

/// An object in the core's model.
pub fn to_object(
    kind: Kind,
    object: &DynamicObject,
    interner: &mut Interner,
) -> Result<Object, ReadError> {
    let value = serde_json::to_value(object).unwrap_or_default();
    plimsoll_api::read(kind, &value, interner, &mut |_| {}).map(|(_, object)| object)
}
