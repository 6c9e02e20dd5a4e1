//! A policy's ConfigMap: entries and annotations, as they are, now and after each change.
//!
//! Which entry is the module, and what it is worth, is the policy engine's to say.

use std::collections::BTreeMap;

use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, Client};
use plimsoll_base::ids::ObjectName;
use thiserror::Error;

/// A ConfigMap that could not be read.
#[derive(Debug, Error)]
#[error("configmap {name} cannot be read")]
pub struct ModuleError {
    /// The ConfigMap.
    pub name: ObjectName,
    /// The API server's error.
    #[source]
    pub source: Box<dyn std::error::Error + Send + Sync>,
}

/// The bytes of a module in a ConfigMap, with their digest.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stored {
    /// Entries of `data` and `binaryData`, as bytes.
    pub entries: BTreeMap<String, Vec<u8>>,
    /// Annotations of the object.
    pub annotations: BTreeMap<String, String>,
}

/// A ConfigMap that is watched. A watch that breaks is begun again with growing pauses.
pub struct Watched {
    name: ObjectName,
    changes: BoxStream<'static, watcher::Result<Option<ConfigMap>>>,
}

impl Watched {
    /// Begins to watch; the first that it tells is what there is.
    pub fn start(client: &Client, name: ObjectName) -> Self {
        let api: Api<ConfigMap> = Api::namespaced(client.clone(), &name.namespace);
        let changes = watcher::watch_object(api, &name.name).default_backoff();
        Self {
            name,
            changes: changes.boxed(),
        }
    }

    /// The content of the ConfigMap after the next change, or nothing where it is gone. Changes that follow each other closely may come as
    /// one, and the same may be told twice.
    pub async fn next(&mut self) -> Option<Result<Option<Stored>, ModuleError>> {
        let changed = self.changes.next().await?;
        Some(match changed {
            Ok(map) => Ok(map.map(stored)),
            Err(source) => Err(ModuleError {
                name: self.name.clone(),
                source: Box::new(source),
            }),
        })
    }
}

/// The content of a ConfigMap as it is now; `None` where it is not there.
pub async fn read(client: &Client, name: &ObjectName) -> Result<Option<Stored>, ModuleError> {
    let api: Api<ConfigMap> = Api::namespaced(client.clone(), &name.namespace);
    let found = api.get_opt(&name.name).await;
    let found = found.map_err(|source| ModuleError {
        name: name.clone(),
        source: Box::new(source),
    });
    Ok(found?.map(stored))
}

pub(crate) fn stored(map: ConfigMap) -> Stored {
    let texts = map.data.into_iter().flatten();
    let texts = texts.map(|(key, text)| (key, text.into_bytes()));
    let bytes = map.binary_data.into_iter().flatten();
    let bytes = bytes.map(|(key, bytes)| (key, bytes.0));
    Stored {
        entries: texts.chain(bytes).collect(),
        annotations: map.metadata.annotations.unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_openapi::ByteString;

    #[test]
    fn entries_of_both_kinds_and_annotations_are_read() {
        let one = |key: &str| key.to_owned();
        let map = ConfigMap {
            data: Some([(one("policy.json"), one("{}"))].into()),
            binary_data: Some([(one("part-00"), ByteString(vec![0, 255]))].into()),
            metadata: kube::core::ObjectMeta {
                annotations: Some([(one("a"), one("b"))].into()),
                ..Default::default()
            },
            ..ConfigMap::default()
        };
        let expected = Stored {
            entries: [
                (one("policy.json"), b"{}".to_vec()),
                (one("part-00"), vec![0, 255]),
            ]
            .into(),
            annotations: [(one("a"), one("b"))].into(),
        };
        assert_eq!(stored(map), expected);
    }
}
