//! A module as ConfigMaps, for `kubectl apply --server-side` and for Git; and back.
//!
//! The name of a ConfigMap carries the digest of the module, and the object says that it does not change: another module is another
//! object, so that a name stands for one content. Compression is ours, in Rust; the frame says how large its content is, since
//! the host reads that before it inflates anything.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use plimsoll_policy::{
    Entries, INDEX, MOST_BYTES, Refusal, SHA256, assemble, digest, lay_out, part_name,
};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use serde::{Deserialize, Serialize};

/// Label of a ConfigMap: the policy that it is of.
const POLICY: &str = "plimsoll.dev/policy";
/// Digits of the digest in names.
const DIGITS: usize = 6;

/// A module, ready to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packed {
    /// SHA-256 of the component.
    pub sha256: String,
    /// Bytes of the component.
    pub size: usize,
    /// Bytes as stored.
    pub stored: usize,
    /// The objects, the one with the module or with its index first.
    pub objects: Vec<ConfigMap>,
}

/// A ConfigMap, as far as a module needs one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConfigMap {
    api_version: String,
    kind: String,
    /// Name, namespace, digest.
    pub metadata: Metadata,
    #[serde(default)]
    immutable: bool,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    data: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    binary_data: BTreeMap<String, String>,
}

/// Name and labels of an object.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Metadata {
    /// Name of the ConfigMap, a DNS subdomain.
    pub name: String,
    /// Its namespace; where absent, that of the request that applies it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    labels: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    annotations: BTreeMap<String, String>,
}

/// Packs a component.
pub fn pack(component: &[u8], policy: &str, namespace: Option<&str>) -> Packed {
    let sha256 = digest(component);
    let stored = compress(component);
    let name = format!("{policy}-{}", &sha256[..DIGITS]);
    let stored_bytes = stored.len();
    let object = |(part, mut entries): (usize, Entries)| {
        let index = entries.remove(INDEX).into_iter();
        let text = |index| String::from_utf8(index).expect("an index is JSON");
        ConfigMap {
            api_version: "v1".to_owned(),
            kind: "ConfigMap".to_owned(),
            metadata: Metadata {
                name: part_name(&name, part),
                namespace: namespace.map(str::to_owned),
                labels: BTreeMap::from([(POLICY.to_owned(), policy.to_owned())]),
                annotations: BTreeMap::from([(SHA256.to_owned(), sha256.clone())]),
            },
            immutable: true,
            data: index.map(|index| (INDEX.to_owned(), text(index))).collect(),
            binary_data: (entries.into_iter())
                .map(|(key, bytes)| (key, STANDARD.encode(bytes)))
                .collect(),
        }
    };
    let maps = lay_out(stored, &sha256).into_iter().enumerate();
    let objects = maps.map(object).collect();
    Packed {
        sha256,
        size: component.len(),
        stored: stored_bytes,
        objects,
    }
}

/// The objects as one YAML file.
pub fn yaml(objects: &[ConfigMap]) -> Result<String, serde_saphyr::ser::Error> {
    let documents = objects.iter().map(serde_saphyr::to_string);
    Ok(documents.collect::<Result<Vec<_>, _>>()?.join("---\n"))
}

/// A stored module out of ConfigMaps, and the digest that they promise for the component.
pub fn unpack(text: &str) -> Result<(Vec<u8>, Option<String>), Refusal> {
    let problem = |problem: String| Refusal::Package { problem };
    let objects: Vec<ConfigMap> = serde_saphyr::from_multiple(text).map_err(|error| {
        let said = error.to_string();
        let first = said.lines().next().unwrap_or_default();
        problem(format!("the file is no list of ConfigMaps: {first}"))
    })?;
    let mut entries = BTreeMap::new();
    let mut expected = None;
    for object in objects {
        let name = &object.metadata.name;
        if object.kind != "ConfigMap" {
            return Err(problem(format!(
                "{} {name}: expected a ConfigMap",
                object.kind
            )));
        }
        expected = expected.or_else(|| object.metadata.annotations.get(SHA256).cloned());
        let found = object.decoded()?;
        let bytes: usize = found.values().map(Vec::len).sum();
        if bytes > MOST_BYTES {
            return Err(problem(format!(
                "configmap {name} has {bytes} bytes; a server takes at most {MOST_BYTES}"
            )));
        }
        entries.extend(found);
    }
    Ok((assemble(entries)?, expected))
}

impl ConfigMap {
    /// Its entries as bytes.
    fn decoded(&self) -> Result<BTreeMap<String, Vec<u8>>, Refusal> {
        let texts = self
            .data
            .iter()
            .map(|(key, text)| (key.clone(), text.clone().into_bytes()));
        let mut entries: BTreeMap<String, Vec<u8>> = texts.collect();
        for (key, text) in &self.binary_data {
            let bytes = STANDARD
                .decode(text.trim())
                .map_err(|error| Refusal::Package {
                    problem: format!(
                        "configmap {}: binaryData.{key} is not base64: {error}",
                        self.metadata.name
                    ),
                })?;
            entries.insert(key.clone(), bytes);
        }
        Ok(entries)
    }
}

/// One zstd frame that says how large its content is.
///
/// The encoder leaves that out, so it is put in: descriptor, window and then four bytes of size (RFC 8878, section 3.1.1.1).
fn compress(component: &[u8]) -> Vec<u8> {
    const DESCRIPTOR: usize = 4;
    const WINDOW: usize = 5;
    const SIZE_IN_4_BYTES: u8 = 0b1000_0000;
    const SIZE_AND_SEGMENT: u8 = 0b1110_0000;
    let mut frame = compress_to_vec(component, CompressionLevel::Fastest);
    let Ok(size) = u32::try_from(component.len()) else {
        return frame;
    };
    if frame
        .get(DESCRIPTOR)
        .is_some_and(|flags| flags & SIZE_AND_SEGMENT == 0)
    {
        frame[DESCRIPTOR] |= SIZE_IN_4_BYTES;
        let after = WINDOW + 1;
        frame.splice(after..after, size.to_le_bytes());
    }
    frame
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use plimsoll_policy::WHOLE;

    use super::*;

    fn noise(bytes: usize) -> Vec<u8> {
        let mut state = 1_u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state.to_le_bytes()[3]
        };
        (0..bytes).map(|_| next()).collect()
    }

    #[test]
    fn a_frame_says_its_size_and_gives_the_content_again() {
        let content = b"prices ".repeat(9_000);
        let frame = compress(&content);
        assert!(frame.len() < content.len() / 10);
        assert_eq!(frame[6..10], 63_000_u32.to_le_bytes());
        let mut again = Vec::new();
        let mut decoder = ruzstd::decoding::StreamingDecoder::new(frame.as_slice()).unwrap();
        decoder.read_to_end(&mut again).unwrap();
        assert_eq!(again, content);
    }

    #[test]
    fn a_small_module_is_one_object_named_by_digest() {
        let packed = pack(b"module", "paid-first", Some("plimsoll"));
        let text = yaml(&packed.objects).unwrap();
        assert_eq!(packed.objects.len(), 1);
        assert_eq!(
            packed.objects[0].metadata.name,
            format!("paid-first-{}", &packed.sha256[..6])
        );
        assert!(text.contains("immutable: true"), "{text}");
        let (stored, expected) = unpack(&text).unwrap();
        assert_eq!(
            (stored.len(), expected),
            (packed.stored, Some(packed.sha256))
        );
    }

    #[test]
    fn a_large_module_is_cut_into_objects_that_a_server_takes() {
        let packed = pack(&noise(3 << 20), "large", None);
        assert_eq!(packed.objects.len(), 4);
        let text = yaml(&packed.objects).unwrap();
        assert_eq!(unpack(&text).unwrap().0.len(), packed.stored);
        let refusal = unpack(&yaml(&packed.objects[..3]).unwrap()).unwrap_err();
        assert_eq!(refusal.to_string(), "part-03, part 4 of 4, is missing");
    }

    #[test]
    fn an_object_that_no_server_takes_is_refused() {
        let mut packed = pack(b"module", "large", None);
        let encoded = STANDARD.encode(noise(MOST_BYTES + 1));
        packed.objects[0]
            .binary_data
            .insert(WHOLE[0].to_owned(), encoded);
        let refusal = unpack(&yaml(&packed.objects).unwrap())
            .unwrap_err()
            .to_string();
        assert!(
            refusal.ends_with("has 1048577 bytes; a server takes at most 1048576"),
            "{refusal}"
        );
    }
}
