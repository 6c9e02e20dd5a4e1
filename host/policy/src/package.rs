//! A module as entries of ConfigMaps: whole under one key, or in parts with an index that names them and their digests.
//!
//! A ConfigMap holds at most a mebibyte of values. A module that does not fit is cut; each part has a digest of its own, so that a part
//! that is missing or was exchanged is named. The digest of the module is that of the component, whatever way it is stored.
//!
//! A reader of a module is given the name of one ConfigMap, with the module or with the index and the first part. Part `part-01` is in a
//! ConfigMap of that name with `-01` behind it, and so on, unless the first one holds it too.

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

/// Entries of a ConfigMap, by key.
pub type Entries = BTreeMap<String, Vec<u8>>;

/// Index of a module in parts: key and digest of each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Index {
    /// SHA-256 of the component.
    sha256: String,
    /// Bytes of all parts.
    bytes: usize,
    /// The parts, in their order.
    parts: Vec<Part>,
}

/// One part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Part {
    /// Key of the part in its ConfigMap.
    key: String,
    /// SHA-256 of its bytes.
    sha256: String,
    /// How many there are.
    bytes: usize,
}

/// SHA-256 as `sha256sum` prints it.
pub fn digest(bytes: &[u8]) -> String {
    format!("{:x}", Sha256::digest(bytes))
}

/// Key of a module that is stored whole, by whether its bytes are compressed.
fn whole_key(stored: &[u8]) -> &'static str {
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

/// Name of the ConfigMap with a part of a module, by its number from 0 and the name of the first.
pub fn part_name(first: &str, part: usize) -> String {
    match part {
        0 => first.to_owned(),
        _ => format!("{first}-{part:02}"),
    }
}

/// Entries of the ConfigMaps that a stored module of that component digest needs, in the order of their [`part_name`]: one where it fits,
/// else as many as it has parts, the first of them with the index.
pub fn lay_out(stored: Vec<u8>, sha256: &str) -> Vec<Entries> {
    if stored.len() <= MOST_BYTES {
        return vec![Entries::from([(whole_key(&stored).to_owned(), stored)])];
    }
    let describe = |(number, bytes): (usize, &[u8])| Part {
        key: format!("part-{number:02}"),
        sha256: digest(bytes),
        bytes: bytes.len(),
    };
    let index = Index {
        sha256: sha256.to_owned(),
        bytes: stored.len(),
        parts: (stored.chunks(PART_BYTES).enumerate())
            .map(describe)
            .collect(),
    };
    let parts = index.parts.iter().zip(stored.chunks(PART_BYTES));
    let mut maps: Vec<Entries> = parts
        .map(|(part, bytes)| Entries::from([(part.key.clone(), bytes.to_vec())]))
        .collect();
    let text = serde_json::to_vec(&index).expect("an index is plain data");
    maps[0].insert(INDEX.to_owned(), text);
    maps
}

/// Keys of the parts that are in other ConfigMaps than the one with these entries, by number; none where the module is whole, or where the
/// index cannot be read, which [`assemble`] then says.
pub fn parts_elsewhere(entries: &Entries) -> BTreeMap<usize, String> {
    if WHOLE.iter().any(|key| entries.contains_key(*key)) {
        return BTreeMap::new();
    }
    let index = entries.get(INDEX).map(|index| read_index(index));
    let Some(Ok(index)) = index else {
        return BTreeMap::new();
    };
    let parts = index.parts.into_iter().enumerate();
    parts
        .filter(|(number, part)| *number > 0 && !entries.contains_key(&part.key))
        .map(|(number, part)| (number, part.key))
        .collect()
}

fn read_index(text: &[u8]) -> Result<Index, Refusal> {
    let problem = |problem: String| Refusal::Package { problem };
    let index: Index = serde_json::from_slice(text).map_err(|error| {
        let said = crate::text::clean(&error.to_string(), crate::text::NAME);
        problem(format!("{INDEX} cannot be read: {said}"))
    })?;
    let count = index.parts.len();
    if count > MOST_PARTS {
        return Err(problem(format!(
            "{INDEX} names {count} parts; at most {MOST_PARTS} are allowed"
        )));
    }
    Ok(index)
}

/// The stored module out of the entries of one or several ConfigMaps.
pub fn assemble(mut entries: Entries) -> Result<Vec<u8>, Refusal> {
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
    let index = read_index(index)?;
    let count = index.parts.len();
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

    fn stored() -> Vec<u8> {
        (0..(2 * MOST_BYTES + 5))
            .map(|byte| u8::try_from(byte % 251).unwrap())
            .collect()
    }

    /// A module of three parts, as entries.
    fn entries() -> Entries {
        lay_out(stored(), "00").into_iter().flatten().collect()
    }

    fn refusal(change: impl FnOnce(&mut BTreeMap<String, Vec<u8>>)) -> Refusal {
        let mut entries = entries();
        change(&mut entries);
        assemble(entries).unwrap_err()
    }

    #[test]
    fn parts_give_the_module_again() {
        assert_eq!(assemble(entries()).unwrap(), stored());
        let fits = stored()[..MOST_BYTES].to_vec();
        let maps = lay_out(fits.clone(), "00");
        assert_eq!(maps, [Entries::from([(WHOLE[1].to_owned(), fits)])]);
    }

    #[test]
    fn parts_are_where_the_name_of_the_first_says_unless_they_are_there_too() {
        let maps = lay_out(stored(), "00");
        let elsewhere = |entries: &Entries| {
            let parts = parts_elsewhere(entries).into_iter();
            parts
                .map(|(part, key)| format!("{part} {key}"))
                .collect::<Vec<_>>()
        };
        assert_eq!(elsewhere(&maps[0]), ["1 part-01", "2 part-02"]);
        let mut both = maps[0].clone();
        both.extend(maps[1].clone());
        assert_eq!(elsewhere(&both), ["2 part-02"]);
        assert!(elsewhere(&entries()).is_empty());
        assert_eq!(part_name("web-3f9a1c", 0), "web-3f9a1c");
        assert_eq!(part_name("web-3f9a1c", 2), "web-3f9a1c-02");
        // A module that is there whole needs no part, and of an index that is none no part is known.
        both.insert(WHOLE[0].to_owned(), Vec::new());
        assert!(elsewhere(&both).is_empty());
        let index = Entries::from([(INDEX.to_owned(), b"[".to_vec())]);
        assert!(elsewhere(&index).is_empty());
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
