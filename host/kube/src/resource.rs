//! Addresses of kinds at the API server, and conversion of its answers to the core's objects.

use kube::api::{Api, ListParams};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use kube::{Client, ResourceExt};
use plimsoll_api::{Interner, Kind, Object, ReadError, ResizeRule};
use plimsoll_model::Version;
use serde_json::Value;
use thiserror::Error;

/// Why a kind cannot be listed.
#[derive(Debug, Error)]
pub enum CheckError {
    /// The API server knows no such kind.
    #[error(
        "the API server does not serve {plural} of {api_version}; expected its definition to be installed"
    )]
    NotServed {
        /// The plural of the kind.
        plural: &'static str,
        /// Group and version.
        api_version: String,
    },
    /// There is no right to.
    #[error("no right to list {plural} of {api_version}; expected the verb list on them")]
    Forbidden {
        /// The plural of the kind.
        plural: &'static str,
        /// Group and version.
        api_version: String,
    },
    /// The API server was not reached, or gave no list.
    #[error("{plural} of {api_version} cannot be listed")]
    Unlisted {
        /// The plural of the kind.
        plural: &'static str,
        /// Group and version.
        api_version: String,
        /// The API server's error.
        #[source]
        source: Box<kube::Error>,
    },
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

/// A status in which fields that it does not say any more are to go.
pub(crate) fn with_nulls(mut status: Value, fields: &[&str]) -> Value {
    for field in fields {
        if status.get(field).is_none() {
            status[*field] = Value::Null;
        }
    }
    status
}

/// Fails for the first of these kinds that the API server does not list for us.
pub async fn check_served(client: &Client, kinds: &[Kind]) -> Result<(), CheckError> {
    for kind in kinds {
        let listed = api(client, *kind)
            .list_metadata(&ListParams::default().limit(1))
            .await;
        listed.map_err(|source| unlisted(*kind, source))?;
    }
    Ok(())
}

/// Rules of the scheduler in its version, which is taken to be that of the API server.
#[derive(Clone, Copy, Debug)]
pub struct SchedulerRules {
    /// `true` if it honours nominations that others write: from Kubernetes 1.35 on.
    pub nominations: bool,
    /// `true` if the API server serves DeviceClasses: from Kubernetes 1.34 on.
    pub device_classes: bool,
    /// The amount that it counts of pods that are being resized.
    pub resizes: ResizeRule,
}

/// The rules of a cluster's scheduler.
pub async fn scheduler_rules(client: &Client) -> Result<SchedulerRules, kube::Error> {
    let version = client.apiserver_version().await?;
    let nominations = is_at_least(&version.major, &version.minor, (1, 35));
    if !nominations {
        tracing::warn!(
            "the API server is Kubernetes {}: its scheduler honours no nominations (1.35 and later do), so that pods may be bound \
             elsewhere than they were planned",
            version.git_version
        );
    }
    let resizes = if is_at_least(&version.major, &version.minor, (1, 37)) {
        ResizeRule::ByPod
    } else {
        ResizeRule::ByContainer
    };
    Ok(SchedulerRules {
        nominations,
        device_classes: is_at_least(&version.major, &version.minor, (1, 34)),
        resizes,
    })
}

/// Providers write minor versions such as `33+`.
fn is_at_least(major: &str, minor: &str, least: (u32, u32)) -> bool {
    let number = |text: &str| {
        let digits: String = text.chars().take_while(char::is_ascii_digit).collect();
        digits.parse::<u32>().ok()
    };
    match (number(major), number(minor)) {
        (Some(major), Some(minor)) => (major, minor) >= least,
        _ => true,
    }
}

pub(crate) fn unlisted(kind: Kind, source: kube::Error) -> CheckError {
    let (plural, api_version) = (kind.plural(), kind.api_version());
    match source {
        kube::Error::Api(status) if status.code == 404 => CheckError::NotServed {
            plural,
            api_version,
        },
        kube::Error::Api(status) if status.code == 403 => CheckError::Forbidden {
            plural,
            api_version,
        },
        source => CheckError::Unlisted {
            plural,
            api_version,
            source: Box::new(source),
        },
    }
}

/// The version of an object; zero where there is none, which is older than any.
pub(crate) fn version(object: &DynamicObject) -> Version {
    parsed(object.resource_version().as_deref().unwrap_or_default())
}

/// A version as the server writes it; zero where that is no number.
pub(crate) fn parsed(version: &str) -> Version {
    Version(version.parse().unwrap_or(0))
}

/// An object in the core's model, as far as it is understood.
pub(crate) fn to_object(
    kind: Kind,
    object: DynamicObject,
    interner: &mut Interner,
) -> Result<Object, ReadError> {
    plimsoll_api::read_tolerant(kind, &to_value(object), interner).map(|(_, object)| object)
}

/// An object as the API server writes it.
pub(crate) fn to_value(object: DynamicObject) -> Value {
    let (mut metadata, mut value) = (object.metadata, object.data);
    // Managed fields are a good part of a pod, and are not read here.
    metadata.managed_fields = None;
    if let Some(fields) = value.as_object_mut() {
        if let Some(types) = object.types {
            fields.insert("apiVersion".to_owned(), types.api_version.into());
            fields.insert("kind".to_owned(), types.kind.into());
        }
        let metadata = serde_json::to_value(metadata).unwrap_or_default();
        fields.insert("metadata".to_owned(), metadata);
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use kube::core::Status;

    fn said(code: u16) -> String {
        let status = Status {
            code,
            ..Status::default()
        };
        unlisted(Kind::NodePool, kube::Error::Api(status.boxed())).to_string()
    }

    #[test]
    fn versions_are_compared_by_their_numbers() {
        let honours = |major, minor| is_at_least(major, minor, (1, 35));
        assert!(honours("1", "35"));
        assert!(honours("1", "36+"));
        assert!(honours("2", "0"));
        assert!(!honours("1", "34"));
        assert!(!honours("1", "33+"));
        assert!(honours("1", "of-a-fork"), "unknown ones are taken for new");
    }

    #[test]
    fn only_a_kind_that_is_not_found_is_not_served_and_only_without_a_right_it_is_forbidden() {
        assert_eq!(
            said(404),
            "the API server does not serve nodepools of karpenter.sh/v1; expected its definition to be installed"
        );
        assert_eq!(
            said(403),
            "no right to list nodepools of karpenter.sh/v1; expected the verb list on them"
        );
        for code in [401, 429, 500] {
            assert_eq!(said(code), "nodepools of karpenter.sh/v1 cannot be listed");
        }
    }
}
