//! Annotations of the domain `plimsoll.dev` on NodePools. One that is not known changes nothing, and is most likely a known one misspelt.

use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use plimsoll_model::{ASKED_ANNOTATION, Ceilings, NamedPolicies, UNDERSIZED_ANNOTATION};

use crate::keys;
use crate::tolerant::ignored;
use crate::validate::nearest;

const DOMAIN: &str = "plimsoll.dev/";
/// Those that people set.
const SETTINGS: [&str; 7] = [
    keys::PACKING,
    Ceilings::NODES_IN_FLIGHT,
    Ceilings::NODES_PER_MINUTE,
    Ceilings::DOLLARS_PER_HOUR,
    NamedPolicies::RANK,
    NamedPolicies::CONSOLIDATE,
    NamedPolicies::BUDGET,
];
/// Those that programs of ours write.
const WRITTEN: [&str; 4] = [
    keys::PROBLEM,
    keys::IGNORED,
    ASKED_ANNOTATION,
    UNDERSIZED_ANNOTATION,
];

/// A remark on each annotation of the domain that is not known, with the one that was meant if its name is alike.
pub(super) fn unknown(metadata: &ObjectMeta) -> impl Iterator<Item = Arc<str>> {
    let own = metadata.annotations.iter().flatten();
    own.filter_map(|(key, _)| {
        let name = key.strip_prefix(DOMAIN)?;
        if SETTINGS.iter().chain(&WRITTEN).any(|known| known == key) {
            return None;
        }
        let names = SETTINGS.map(|known| &known[DOMAIN.len()..]);
        let hint = nearest(names, name).map(|meant| format!("; did you mean {DOMAIN}{meant}?"));
        let hint = hint.unwrap_or_default();
        let words = ignored(&format!("metadata.annotations[{key}]"));
        Some(format!("{words}{hint}").into())
    })
}
