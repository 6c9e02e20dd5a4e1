//! Static hash of EC2NodeClasses beside the hashing module that Karpenter uses, on classes drawn at random.
//!
//! Line N of the table is the hash of the class that seed N draws, by the program in `tests/class-hashes`; `make class-hashes` writes it.

mod classes;

use std::collections::BTreeSet;

use plimsoll_api::kinds::Ec2NodeClassSpec;
use plimsoll_aws::{Family, hash};
use serde_json::Value;

const HASHES: &str = include_str!("hashes.txt");

/// Seeds, the classes that they draw, and their hashes.
fn rows() -> impl Iterator<Item = (u64, Value, &'static str)> {
    let rows = (1..).zip(HASHES.lines());
    rows.map(|(seed, hash)| (seed, drawn(seed), hash))
}

fn drawn(seed: u64) -> Value {
    serde_json::from_str(&classes::drawn(seed)).expect("JSON")
}

fn spec(class: &Value) -> Ec2NodeClassSpec {
    serde_json::from_value(class["spec"].clone()).expect("a spec")
}

fn family(class: &Value) -> Family {
    Family::of(&spec(class)).expect("a family")
}

fn hashed(class: &Value) -> String {
    let authority = class["caBundle"].as_str().unwrap_or_default();
    hash(&spec(class), family(class), authority)
}

#[test]
fn drawn_classes_have_the_hashes_of_karpenters_module() {
    let mut hashes = BTreeSet::new();
    for (seed, class, expected) in rows() {
        assert_eq!(hashed(&class), expected, "seed {seed}: {class}");
        hashes.insert(expected);
    }
    assert_eq!(HASHES.lines().count(), 1000);
    assert!(hashes.len() > 990, "{} hashes", hashes.len());
}

/// A field as it is written: not at all, as a value that stands for none, or with a value.
fn way(value: Option<&Value>) -> &'static str {
    let Some(value) = value else {
        return "absent";
    };
    let is_zero = match value {
        Value::String(text) => matches!(&**text, "" | "T" | "Ti"),
        Value::Array(entries) => entries.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::Bool(flag) => !flag,
        Value::Null => false,
    };
    if is_zero { "zero" } else { "set" }
}

#[test]
fn every_field_is_absent_and_zero_and_set_among_the_classes() {
    let mut seen = BTreeSet::new();
    let mut families = BTreeSet::new();
    for (_, class, _) in rows() {
        families.insert(family(&class).name());
        for (name, _) in classes::HASHED {
            seen.insert((*name, way(class["spec"].get(name))));
        }
        let disks = class["spec"]["blockDeviceMappings"].as_array();
        for volume in disks
            .into_iter()
            .flatten()
            .filter_map(|disk| disk.get("ebs"))
        {
            for (name, _) in classes::VOLUME {
                seen.insert((*name, way(volume.get(name))));
            }
        }
    }
    for (name, _) in classes::HASHED.iter().chain(classes::VOLUME) {
        for way in ["absent", "zero", "set"] {
            assert!(seen.contains(&(*name, way)), "{name} is never {way}");
        }
    }
    assert_eq!(families, classes::FAMILIES.map(|(name, _)| name).into());
}

#[test]
fn the_order_of_disks_and_interfaces_does_not_count() {
    for (seed, class, expected) in rows() {
        let mut other = class.clone();
        for list in ["blockDeviceMappings", "networkInterfaces"] {
            if let Some(entries) = other["spec"].get_mut(list).and_then(Value::as_array_mut) {
                entries.reverse();
            }
        }
        assert_eq!(hashed(&other), expected, "seed {seed}: {class}");
    }
}

#[test]
fn a_field_that_is_left_out_changes_the_hash_unless_it_said_nothing() {
    let mut changed = 0;
    for (seed, class, expected) in rows() {
        for (name, _) in classes::HASHED {
            let mut other = class.clone();
            let fields = other["spec"].as_object_mut().expect("an object");
            let Some(was) = fields.remove(*name) else {
                continue;
            };
            let says_nothing = matches!(*name, "role" | "kubelet") && way(Some(&was)) == "zero";
            assert_eq!(
                hashed(&other) == expected,
                says_nothing,
                "seed {seed}: {name} of {class}"
            );
            changed += usize::from(!says_nothing);
        }
    }
    assert!(changed > 5000, "{changed} changes");
}
