//! Rules of EC2NodeClass.

use std::collections::BTreeSet;

use serde_json::Value;

use super::super::finding::{Findings, or};
use super::{has, image, items, text};
use crate::schema::known::{CLUSTER_TAG, OWN_TAGS};

/// The rules of a class.
pub(super) fn check(spec: &Value, findings: &mut Findings) {
    identity(spec, findings);
    image::check(spec, findings);
    subnets_and_groups(spec, findings);
    reservations(spec, findings);
    own_tags(spec, findings);
    devices(spec, findings);
    interfaces(spec, findings);
    placement(spec, findings);
    let tracking = spec.get("connectionTracking");
    let timeouts = ["tcpEstablishedTimeout", "udpStreamTimeout", "udpTimeout"];
    if tracking.is_some_and(|tracking| !timeouts.iter().any(|name| has(tracking, name))) {
        findings.error(
            "spec.connectionTracking",
            format!("is empty; expected {}", or(&timeouts)),
        );
    }
}

/// Exactly one of two fields is there: else path and words of what is wrong with both, or with none.
fn one_of(
    value: &Value,
    fields: [&str; 2],
    both: (&str, &str),
    none: (&str, &str),
    findings: &mut Findings,
) {
    match fields.map(|field| has(value, field)) {
        [true, true] => findings.error(both.0, both.1),
        [false, false] => findings.error(none.0, none.1),
        _ => {}
    }
}

fn identity(spec: &Value, findings: &mut Findings) {
    let beside = (
        "spec.instanceProfile",
        "stands beside role; expected one of the two",
    );
    let missing = (
        "spec.role",
        "is missing; expected a role, or an instanceProfile in its place",
    );
    one_of(spec, ["role", "instanceProfile"], beside, missing, findings);
    for name in ["role", "instanceProfile"] {
        if has(spec, name) && text(spec, name).is_empty() {
            findings.error(format!("spec.{name}"), "is empty; expected a name");
        }
    }
}

/// A term has at least one tag, if any, with keys and values that are not empty; and no empty text by which it would choose.
pub(super) fn filled_in(path: &str, term: &Value, findings: &mut Findings) {
    for name in ["name", "owner", "ssmParameter"] {
        if has(term, name) && text(term, name).is_empty() {
            findings.error(
                format!("{path}.{name}"),
                "is empty and selects nothing; expected text",
            );
        }
    }
    let tags = term.get("tags").and_then(Value::as_object);
    if tags.is_some_and(serde_json::Map::is_empty) {
        findings.error(
            format!("{path}.tags"),
            "is empty and selects nothing; expected at least one tag",
        );
    }
    for (key, value) in tags.into_iter().flatten() {
        if key.is_empty() {
            findings.error(
                format!("{path}.tags"),
                "has an empty key; expected the name of a tag",
            );
        } else if value.as_str() == Some("") {
            findings.error(
                format!("{path}.tags.{key}"),
                "is empty; expected a value, or * for any",
            );
        }
    }
}

/// Terms of one list: each chooses something, and not all of them by two ways at once.
fn terms(
    spec: &Value,
    list: &str,
    known: &[&str],
    exclusive: &[(&str, &[&str])],
    findings: &mut Findings,
) {
    let terms = items(spec, list);
    for (at, term) in terms.iter().enumerate() {
        let path = format!("spec.{list}[{at}]");
        if !known.iter().any(|name| has(term, name)) {
            findings.error(&path, format!("chooses nothing; expected {}", or(known)));
        }
        filled_in(&path, term, findings);
    }
    for (only, others) in exclusive {
        let mixes = |term: &Value| has(term, only) && others.iter().any(|other| has(term, other));
        if !terms.is_empty() && terms.iter().all(mixes) {
            findings.error(
                format!("spec.{list}"),
                format!(
                    "has {only} beside {} in every term; {only} stands alone",
                    or(others)
                ),
            );
        }
    }
}

fn subnets_and_groups(spec: &Value, findings: &mut Findings) {
    for list in ["subnetSelectorTerms", "securityGroupSelectorTerms"] {
        if has(spec, list) && items(spec, list).is_empty() {
            findings.error(
                format!("spec.{list}"),
                "is empty; expected at least one term, by tags or id",
            );
        }
    }
    terms(
        spec,
        "subnetSelectorTerms",
        &["tags", "id"],
        &[("id", &["tags"])],
        findings,
    );
    terms(
        spec,
        "securityGroupSelectorTerms",
        &["tags", "id", "name"],
        &[("id", &["tags", "name"]), ("name", &["tags", "id"])],
        findings,
    );
}

fn reservations(spec: &Value, findings: &mut Findings) {
    const LIST: &str = "capacityReservationSelectorTerms";
    if has(spec, LIST) && items(spec, LIST).is_empty() {
        findings.error(
            format!("spec.{LIST}"),
            "is empty; the API refuses an empty list here, leave the field out",
        );
    }
    terms(
        spec,
        LIST,
        &["tags", "id", "instanceMatchCriteria"],
        &[("id", &["tags", "ownerID", "instanceMatchCriteria"])],
        findings,
    );
}

fn own_tags(spec: &Value, findings: &mut Findings) {
    let tags = spec.get("tags").and_then(Value::as_object);
    for key in tags.into_iter().flatten().map(|(key, _)| key.as_str()) {
        if key.is_empty() {
            findings.error("spec.tags", "has an empty key; expected the name of a tag");
        } else if OWN_TAGS.contains(&key) || key.starts_with(CLUSTER_TAG) {
            findings.error(
                format!("spec.tags.{key}"),
                "is written by the controller itself; expected another tag",
            );
        }
    }
}

fn devices(spec: &Value, findings: &mut Findings) {
    let devices = items(spec, "blockDeviceMappings");
    let is_root = |device: &&Value| device.get("rootVolume") == Some(&Value::Bool(true));
    let roots = devices.iter().filter(is_root).count();
    if roots > 1 {
        findings.error(
            "spec.blockDeviceMappings",
            format!("has {roots} root volumes; expected at most one"),
        );
    }
    for (at, device) in devices.iter().enumerate() {
        let Some(volume) = device.get("ebs") else {
            continue;
        };
        let path = format!("spec.blockDeviceMappings[{at}].ebs");
        if !has(volume, "snapshotID") && !has(volume, "volumeSize") {
            findings.error(
                format!("{path}.volumeSize"),
                "is missing; a volume needs a size or a snapshotID",
            );
        }
        if has(volume, "volumeInitializationRate") && text(volume, "snapshotID").is_empty() {
            findings.error(
                format!("{path}.volumeInitializationRate"),
                "is given without snapshotID; only a snapshot is initialised",
            );
        }
    }
}

fn interfaces(spec: &Value, findings: &mut Findings) {
    const LIST: &str = "spec.networkInterfaces";
    let interfaces = items(spec, "networkInterfaces");
    let place = |one: &Value| {
        let number = |name: &str| one.get(name).and_then(Value::as_i64).unwrap_or(0);
        (number("networkCardIndex"), number("deviceIndex"))
    };
    let is_primary =
        |one: &Value| place(one) == (0, 0) && text(one, "interfaceType") == "interface";
    if !interfaces.is_empty() && !interfaces.iter().any(is_primary) {
        findings.error(LIST, "has no primary interface; expected one of type interface with networkCardIndex 0 and deviceIndex 0");
    }
    let mut places = BTreeSet::new();
    let mut cards = BTreeSet::new();
    for (at, one) in interfaces.iter().enumerate() {
        let (card, device) = place(one);
        if !places.insert((card, device)) {
            findings.error(format!("{LIST}[{at}]"), format!("is a second one at networkCardIndex {card} and deviceIndex {device}; expected each place once"));
        }
        if text(one, "interfaceType") == "efa-only" && !cards.insert(card) {
            findings.error(format!("{LIST}[{at}]"), format!("is a second one of type efa-only at networkCardIndex {card}; expected at most one per card"));
        }
    }
}

fn placement(spec: &Value, findings: &mut Findings) {
    let Some(group) = spec.get("placementGroupSelector") else {
        return;
    };
    let beside = (
        "spec.placementGroupSelector.id",
        "stands beside name; expected one of the two",
    );
    let missing = (
        "spec.placementGroupSelector",
        "names no group; expected name or id",
    );
    one_of(group, ["name", "id"], beside, missing, findings);
}
