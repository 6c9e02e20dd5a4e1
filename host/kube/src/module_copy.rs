//! Copies of modules in ConfigMaps of our own, by the digests of the modules: found, made and deleted.
//!
//! A copy never changes, and only what bears our label is one. How a module that is too large for one ConfigMap is laid out in several is the
//! policy engine's to say; all of them are named after its digest.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{DeleteParams, ListParams, ObjectMeta, PostParams, Preconditions};
use kube::{Api, Client, Error, ResourceExt};

use crate::FIELD_MANAGER;
use crate::module::{Stored, stored};

/// Label of copies.
const LABEL: &str = "plimsoll.dev/module-copy";
/// Begin of their names; the digest follows.
const NAME: &str = "plimsoll-module-";

/// Copies in one namespace.
#[derive(Clone)]
pub struct ModuleCopies {
    maps: Api<ConfigMap>,
}

/// A ConfigMap that is there with a copy, or with part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleCopy {
    /// SHA-256 of the module, by the ConfigMap's name.
    pub sha256: String,
    name: String,
    uid: Option<String>,
}

/// Name of the ConfigMap with the copy of a module, or of the first of several.
pub fn copy_name(sha256: &str) -> String {
    format!("{NAME}{sha256}")
}

impl ModuleCopies {
    /// Copies in that namespace.
    pub fn new(client: Client, namespace: &str) -> Self {
        Self {
            maps: Api::namespaced(client, namespace),
        }
    }

    /// The entries of one of them; `None` where it is not there.
    pub async fn read(&self, name: &str) -> Result<Option<Stored>, Error> {
        // A list of one is covered by the right that finding all of them needs.
        let one = ours().fields(&format!("metadata.name={name}"));
        let found = self.maps.list(&one).await?.items;
        Ok(found.into_iter().next().map(stored))
    }

    /// Makes one of them with these entries.
    pub async fn create(
        &self,
        name: &str,
        entries: BTreeMap<String, Vec<u8>>,
    ) -> Result<(), Error> {
        let bytes = entries.into_iter();
        let map = ConfigMap {
            metadata: ObjectMeta {
                name: Some(name.to_owned()),
                labels: Some([(LABEL.to_owned(), "true".to_owned())].into()),
                ..ObjectMeta::default()
            },
            immutable: Some(true),
            binary_data: Some(bytes.map(|(key, bytes)| (key, ByteString(bytes))).collect()),
            ..ConfigMap::default()
        };
        let parameters = PostParams {
            field_manager: Some(FIELD_MANAGER.to_owned()),
            ..PostParams::default()
        };
        self.maps.create(&parameters, &map).await.map(drop)
    }

    /// All of them.
    pub async fn list(&self) -> Result<Vec<ModuleCopy>, Error> {
        let listed = self.maps.list_metadata(&ours()).await?.items;
        let copies = listed.into_iter().filter_map(|map| of(map.metadata));
        Ok(copies.collect())
    }

    /// Deletes one of them, unless it is gone or another one by now.
    pub async fn delete(&self, copy: &ModuleCopy) -> Result<(), Error> {
        let parameters = DeleteParams {
            preconditions: Some(Preconditions {
                uid: copy.uid.clone(),
                resource_version: None,
            }),
            ..DeleteParams::default()
        };
        match self.maps.delete(&copy.name, &parameters).await {
            Err(Error::Api(status)) if matches!(status.code, 404 | 409) => Ok(()),
            deleted => deleted.map(drop),
        }
    }
}

/// Namespaces in which there are copies: those of controllers.
pub async fn namespaces(client: &Client) -> Result<BTreeSet<String>, Error> {
    let maps: Api<ConfigMap> = Api::all(client.clone());
    let copies = maps.list_metadata(&ours()).await?.items;
    Ok(copies.iter().filter_map(ResourceExt::namespace).collect())
}

fn ours() -> ListParams {
    ListParams::default().labels(LABEL)
}

/// `None` for what bears our label and not a name of ours.
fn of(metadata: ObjectMeta) -> Option<ModuleCopy> {
    let name = metadata.name?;
    let of_module = name.strip_prefix(NAME)?;
    let sha256 = of_module
        .split_once('-')
        .map_or(of_module, |(first, _)| first);
    Some(ModuleCopy {
        sha256: sha256.to_owned(),
        name,
        uid: metadata.uid,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_known_by_its_name() {
        let named = |name: &str| ObjectMeta {
            name: Some(name.to_owned()),
            uid: Some("u".to_owned()),
            ..ObjectMeta::default()
        };
        for name in [copy_name("3f9a"), copy_name("3f9a") + "-01"] {
            let copy = of(named(&name)).unwrap();
            assert_eq!(
                (copy.sha256.as_str(), copy.name, copy.uid.as_deref()),
                ("3f9a", name, Some("u"))
            );
        }
        assert_eq!(of(named("settings")), None);
    }
}
