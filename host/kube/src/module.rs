//! A policy's bytes out of a ConfigMap.
//!
//! The ConfigMap holds one module in `binaryData`: `policy.wasm.zst`, `policy.wasm`, or a single entry of any name. What the
//! bytes are worth is the policy engine's to say.

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Api, Client};
use plimsoll_core::ids::ObjectName;
use thiserror::Error;

/// Keys of `binaryData`, best first.
const KEYS: [&str; 2] = ["policy.wasm.zst", "policy.wasm"];

/// Why a ConfigMap gave no module.
#[derive(Debug, Error)]
pub enum ModuleError {
    /// It could not be read.
    #[error("configmap {name} cannot be read")]
    Read {
        /// The ConfigMap.
        name: ObjectName,
        /// What the API server said.
        #[source]
        source: Box<kube::Error>,
    },
    /// It has several entries and none of the known names, or none at all.
    #[error(
        "configmap {name}: binaryData has {count} entries, none of them policy.wasm.zst or policy.wasm; expected one module"
    )]
    NoModule {
        /// The ConfigMap.
        name: ObjectName,
        /// How many entries there are.
        count: usize,
    },
}

/// Reads the module of a ConfigMap.
pub async fn fetch(client: &Client, name: &ObjectName) -> Result<Vec<u8>, ModuleError> {
    let api: Api<ConfigMap> = Api::namespaced(client.clone(), &name.namespace);
    let read = api.get(&name.name).await;
    let map = read.map_err(|source| ModuleError::Read {
        name: name.clone(),
        source: Box::new(source),
    })?;
    module(name, map)
}

fn module(name: &ObjectName, map: ConfigMap) -> Result<Vec<u8>, ModuleError> {
    let mut entries = map.binary_data.unwrap_or_default();
    let count = entries.len();
    let known = KEYS.iter().find_map(|key| entries.remove(*key));
    let only = || entries.into_values().next().filter(|_| count == 1);
    known
        .or_else(only)
        .map(|bytes| bytes.0)
        .ok_or_else(|| ModuleError::NoModule {
            name: name.clone(),
            count,
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_openapi::ByteString;

    fn found(entries: &[(&str, &str)]) -> Result<String, String> {
        let entries = entries
            .iter()
            .map(|(key, bytes)| ((*key).to_owned(), ByteString(bytes.as_bytes().to_vec())));
        let map = ConfigMap {
            binary_data: Some(entries.collect()),
            ..ConfigMap::default()
        };
        module(&ObjectName::new("ns", "prices"), map)
            .map(|bytes| String::from_utf8(bytes).unwrap())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn a_known_key_is_preferred_and_a_single_entry_may_have_any_name() {
        assert_eq!(
            found(&[("a", "1"), ("policy.wasm", "2")]),
            Ok("2".to_owned())
        );
        assert_eq!(found(&[("mine.wasm", "1")]), Ok("1".to_owned()));
    }

    #[test]
    fn a_map_without_one_module_is_refused_by_name() {
        let words = "configmap ns/prices: binaryData has 2 entries, none of them policy.wasm.zst or policy.wasm; expected one module";
        assert_eq!(found(&[("a", "1"), ("b", "2")]), Err(words.to_owned()));
    }
}
