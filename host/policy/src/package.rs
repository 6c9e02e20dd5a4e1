//! A module as entries of ConfigMaps: whole under one key, or in parts with an index that names them and their digests.
//!
//! A ConfigMap holds at most a mebibyte of values. A module that does not fit is cut; each part has a digest of its own, so that a part
//! that is missing or was exchanged is named. The digest of the module is that of the component, whatever way it is stored.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::gate::Refusal;
use crate::unpack::MAGIC;

/// Annotation of a ConfigMap: SHA-256 of the component, in hexadecimal digits.
pub const SHA256: &str = "plimsoll.dev/sha256";
/// Keys of a module that is stored whole, best first.
pub const WHOLE: [&str; 2] = ["policy.wasm.zst", "policy.wasm"];
/// Key of the index of a module in parts.
pub const INDEX: &str = "policy.json";
/// Most bytes of all values of a ConfigMap.
pub const MOST_BYTES: usize = 1 << 20;
/// Bytes of a part: what is left of a ConfigMap beside the index.
const PART_BYTES: usize = MOST_BYTES - (16 << 10);
/// Most parts: what a module of the greatest size allowed by any setting has.
const MOST_PARTS: usize = 64;

/// Index of a module in parts: key and digest of each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Index {
    /// SHA-256 of the component.
    pub sha256: String,
    /// Bytes of all parts.
    pub bytes: usize,
    /// The parts, in their order.
    pub parts: Vec<Part>,
}

/// One part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// Key of the part in its ConfigMap.
    pub key: String,
    /// SHA-256 of its bytes.
    pub sha256: String,
    /// How many there are.
    pub bytes: usize,
}

/// SHA-256 as `sha256sum` prints it.
pub fn digest(bytes: &[u8]) -> String {
    format!("{:x}", Sha256::digest(bytes))
}

/// Key of a module that is stored whole, by whether its bytes are compressed.
pub fn whole_key(stored: &[u8]) -> &'static str {
    if stored.starts_with(&MAGIC) {
        WHOLE[0]
    } else {
        WHOLE[1]
    }
}

/// Refuses bytes that are not the ones meant.
pub fn verify(what: &str, bytes: &[u8], expected: &str) -> Result<(), Refusal> {
    let found = digest(bytes);
    if found == expected.to_ascii_lowercase() {
        return Ok(());
    }
    Err(Refusal::Digest {
        what: what.to_owned(),
        found,
        expected: crate::text::clean(expected, crate::text::NAME),
    })
}

/// Cuts a stored module of that component digest into parts that each fit into a ConfigMap; `None` where it fits whole.
pub fn split<'b>(stored: &'b [u8], sha256: &str) -> Option<(Index, Vec<&'b [u8]>)> {
    if stored.len() <= MOST_BYTES {
        return None;
    }
    let parts: Vec<&[u8]> = stored.chunks(PART_BYTES).collect();
    let describe = |(number, bytes): (usize, &&[u8])| Part {
        key: format!("part-{number:02}"),
        sha256: digest(bytes),
        bytes: bytes.len(),
    };
    let index = Index {
        sha256: sha256.to_owned(),
        bytes: stored.len(),
        parts: parts.iter().enumerate().map(describe).collect(),
    };
    Some((index, parts))
}

/// The stored module out of the entries of one or several ConfigMaps.
pub fn assemble(mut entries: BTreeMap<String, Vec<u8>>) -> Result<Vec<u8>, Refusal> {
    if let Some(whole) = WHOLE.iter().find_map(|key| entries.remove(*key)) {
        return Ok(whole);
    }
    let problem = |problem: String| Refusal::Package { problem };
    let Some(index) = entries.get(INDEX) else {
        let keys: Vec<&str> = entries.keys().map(String::as_str).collect();
        return Err(problem(format!(
            "there is neither {}, {} nor {INDEX}; there is {}",
            WHOLE[0],
            WHOLE[1],
            crate::world::listed(&keys)
        )));
    };
    let index: Index = serde_json::from_slice(index).map_err(|error| {
        let said = crate::text::clean(&error.to_string(), crate::text::NAME);
        problem(format!("{INDEX} cannot be read: {said}"))
    })?;
    let count = index.parts.len();
    if count > MOST_PARTS {
        return Err(problem(format!(
            "{INDEX} names {count} parts; at most {MOST_PARTS} are allowed"
        )));
    }
    let mut stored = Vec::new();
    for (number, part) in index.parts.iter().enumerate() {
        let key = crate::text::clean(&part.key, crate::text::NAME);
        let Some(bytes) = entries.get(&part.key) else {
            return Err(problem(format!(
                "{key}, part {} of {count}, is missing",
                number + 1
            )));
        };
        verify(&key, bytes, &part.sha256)?;
        stored.extend_from_slice(bytes);
    }
    if stored.len() != index.bytes {
        return Err(problem(format!(
            "the parts have {} bytes; {INDEX} says {}",
            stored.len(),
            index.bytes
        )));
    }
    Ok(stored)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A module of three parts, as entries.
    fn entries() -> BTreeMap<String, Vec<u8>> {
        let stored: Vec<u8> = (0..(2 * MOST_BYTES + 5))
            .map(|byte| u8::try_from(byte % 251).unwrap())
            .collect();
        let (index, parts) = split(&stored, "00").unwrap();
        let mut entries = BTreeMap::new();
        for (part, bytes) in index.parts.iter().zip(parts) {
            entries.insert(part.key.clone(), bytes.to_vec());
        }
        entries.insert(INDEX.to_owned(), serde_json::to_vec(&index).unwrap());
        entries
    }

    fn refusal(change: impl FnOnce(&mut BTreeMap<String, Vec<u8>>)) -> Refusal {
        let mut entries = entries();
        change(&mut entries);
        assemble(entries).unwrap_err()
    }

    #[test]
    fn parts_give_the_module_again() {
        let stored = assemble(entries()).unwrap();
        assert_eq!(stored.len(), 2 * MOST_BYTES + 5);
        assert_eq!(stored[MOST_BYTES], u8::try_from(MOST_BYTES % 251).unwrap());
        assert!(
            split(&stored[..MOST_BYTES], "00").is_none(),
            "it fits whole"
        );
    }

    #[test]
    fn a_missing_part_is_named() {
        let refusal = refusal(|entries| drop(entries.remove("part-01")));
        assert_eq!(refusal.to_string(), "part-01, part 2 of 3, is missing");
        assert_eq!(refusal.reason(), "PackageIncomplete");
    }

    #[test]
    fn an_exchanged_part_is_named_with_both_digests() {
        let refusal = refusal(|entries| drop(entries.insert("part-00".to_owned(), vec![1])));
        assert_eq!(refusal.reason(), "DigestMismatch");
        let said = refusal.to_string();
        assert!(
            said.starts_with("part-00 has the digest 4bf5122f344554c5"),
            "{said}"
        );
    }

    #[test]
    fn entries_without_a_module_say_what_there_is() {
        let entries = BTreeMap::from([("notes.txt".to_owned(), vec![])]);
        assert_eq!(
            assemble(entries).unwrap_err().to_string(),
            "there is neither policy.wasm.zst, policy.wasm nor policy.json; there is notes.txt"
        );
    }

    #[test]
    fn a_whole_module_is_taken_as_it_is() {
        let entries = BTreeMap::from([(WHOLE[1].to_owned(), b"module".to_vec())]);
        assert_eq!(assemble(entries).unwrap(), b"module");
    }
}
