//! Vectors of a module, made of a small suite, and changed.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests may fail loudly, as tests may"
)]

use plimsoll_author::{proof, suite::Suite, vectors};
use plimsoll_hooks::hook::PolicySettings;
use plimsoll_policy::{Engine, SelfTestLimits};
use serde_json::Value;

/// Two questions about prices: two rows and one.
pub(crate) const SUITE: &str = "cases:
- name: two machines
  input: { offerings: { a: { type: m5.large, price: 0.096 }, b: { type: c5.large, price: 0.085 } } }
- name: one machine
  input: { offerings: { a: { type: m5.xlarge, price: 0.192 } } }
";

/// The module's answers to the suite, as vectors.
pub(crate) fn of(engine: &Engine, module: &[u8], suite: &str) -> Vec<u8> {
    let manifest = engine.inspect(module).unwrap().manifest;
    let suite = Suite::read("suite.yaml", suite, &manifest).unwrap();
    let none = |_: &_| Ok(PolicySettings::new());
    let policy = proof::accept(engine, module, Some(&suite), &none).unwrap();
    let limits = SelfTestLimits::default();
    let (_, made) = vectors::of_suite(engine, &policy, &suite, &limits).unwrap();
    made.bytes
}

/// The lines of records, to be changed.
pub(crate) fn lines(bytes: &[u8]) -> Vec<Value> {
    let lines = bytes.split(|byte| *byte == b'\n');
    let lines = lines.filter(|line| !line.is_empty());
    lines
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect()
}

pub(crate) fn file(lines: &[Value]) -> Vec<u8> {
    let lines = lines.iter().map(|line| format!("{line}\n"));
    lines.collect::<String>().into_bytes()
}

/// The vectors with the one of that number changed, whose answer stands in it and not apart.
pub(crate) fn with(bytes: &[u8], number: u64, change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let mut lines = lines(bytes);
    let parts = lines.clone();
    let parts: Vec<&Value> = parts.iter().filter_map(|line| line.get("part")).collect();
    let mut records = lines.iter_mut().filter_map(|line| line.get_mut("decision"));
    let record = records.find(|record| record["number"] == number).unwrap();
    let named = parts
        .iter()
        .find(|part| part["sha256"] == record["answer"]["part"]);
    if let Some(part) = named {
        record["answer"] = part["value"].clone();
    }
    change(record);
    file(&lines)
}

/// A vector under that behaviour of a hostile module.
pub(crate) fn behaving(bytes: &[u8], behaviour: &str) -> Vec<u8> {
    with(bytes, 1, |record| {
        record["settings"]["behaviour"] = behaviour.into();
    })
}

/// The vectors with one price another in its last bit.
pub(crate) fn off_by_a_bit(bytes: &[u8]) -> Vec<u8> {
    with(bytes, 1, |record| {
        let then = record["answer"]["then"]["numbers"].as_str().unwrap();
        let (first, last) = then.split_once(' ').unwrap();
        let price: f64 = last.parse().unwrap();
        let price = f64::from_bits(price.to_bits() ^ 1);
        record["answer"]["then"]["numbers"] = format!("{first} {price}").into();
    })
}
