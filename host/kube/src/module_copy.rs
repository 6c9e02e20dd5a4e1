//! Copies of modules in ConfigMaps of our own, one for each module, by its digest: found, made and deleted.
//!
//! A copy never changes, and only what bears our label is one. It is in one ConfigMap, since a Policy's module comes out of one.

use std::collections::BTreeMap;

use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{DeleteParams, ListParams, ObjectMeta, PostParams, Preconditions};
use kube::{Api, Client, Error};

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

/// A copy that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleCopy {
    /// SHA-256 of the module, by the copy's name.
    pub sha256: String,
    uid: Option<String>,
}

impl ModuleCopies {
    /// Copies in that namespace.
    pub fn new(client: Client, namespace: &str) -> Self {
        Self {
            maps: Api::namespaced(client, namespace),
        }
    }

    /// The copy of a module; `None` where there is none.
    pub async fn read(&self, sha256: &str) -> Result<Option<Stored>, Error> {
        // A list of one is covered by the right that finding all of them needs.
        let one = ours().fields(&format!("metadata.name={}", name(sha256)));
        let found = self.maps.list(&one).await?.items;
        Ok(found.into_iter().next().map(stored))
    }

    /// Makes the copy of a module out of its entries.
    pub async fn create(
        &self,
        sha256: &str,
        entries: BTreeMap<String, Vec<u8>>,
    ) -> Result<(), Error> {
        let bytes = entries.into_iter();
        let map = ConfigMap {
            metadata: ObjectMeta {
                name: Some(name(sha256)),
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

    /// The copies that there are.
    pub async fn list(&self) -> Result<Vec<ModuleCopy>, Error> {
        let listed = self.maps.list_metadata(&ours()).await?.items;
        let copies = listed.into_iter().filter_map(|map| of(map.metadata));
        Ok(copies.collect())
    }

    /// Deletes a copy, unless it is gone or another one by now.
    pub async fn delete(&self, copy: &ModuleCopy) -> Result<(), Error> {
        let parameters = DeleteParams {
            preconditions: Some(Preconditions {
                uid: copy.uid.clone(),
                resource_version: None,
            }),
            ..DeleteParams::default()
        };
        match self.maps.delete(&name(&copy.sha256), &parameters).await {
            Err(Error::Api(status)) if matches!(status.code, 404 | 409) => Ok(()),
            deleted => deleted.map(drop),
        }
    }
}

fn name(sha256: &str) -> String {
    format!("{NAME}{sha256}")
}

fn ours() -> ListParams {
    ListParams::default().labels(LABEL)
}

/// `None` for what bears our label and not a name of ours.
fn of(metadata: ObjectMeta) -> Option<ModuleCopy> {
    let name = metadata.name?;
    Some(ModuleCopy {
        sha256: name.strip_prefix(NAME)?.to_owned(),
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
        let copy = of(named(&name("3f9a"))).unwrap();
        assert_eq!(
            (copy.sha256.as_str(), copy.uid.as_deref()),
            ("3f9a", Some("u"))
        );
        assert_eq!(of(named("settings")), None);
    }
}
