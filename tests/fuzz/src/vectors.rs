//! Vectors that modules carry: whatever the bytes are, they are refused with words for people, or the module answers as they say.

use std::sync::LazyLock;

use plimsoll_author::{proof, suite::Suite, vectors};
use plimsoll_hooks::hook::PolicySettings;
use plimsoll_policies::Shipped;
use plimsoll_policy::{AnyModule, Engine, EngineSettings, SelfTestLimits, Step};

use crate::Draw;
use crate::acceptance::judge;

/// Words that stand in the place of others.
const ODD: [&str; 14] = [
    "0",
    "-1",
    "inf",
    "NaN",
    "1e400",
    "4294967296",
    "18446744073709551616",
    "null",
    "trap",
    "order",
    "allow",
    "part",
    "numbers",
    "v2",
];

/// Modules of each hook, with the vectors of their suites.
static MODULES: LazyLock<Vec<(AnyModule, Vec<u8>)>> = LazyLock::new(|| {
    let engine = Engine::new(EngineSettings::default()).expect("the engine starts");
    let shipped = [
        plimsoll_policies::ranking("least-waste"),
        plimsoll_policies::ranking("list-price"),
        plimsoll_policies::consolidation("balanced"),
        plimsoll_policies::budget("rollout-guard"),
    ];
    let shipped = shipped.into_iter().flatten();
    shipped.map(|shipped| made(&engine, shipped)).collect()
});

fn made(engine: &Engine, shipped: &Shipped) -> (AnyModule, Vec<u8>) {
    let manifest = engine
        .inspect(shipped.bytes)
        .expect("it is shipped")
        .manifest;
    let suite = shipped.suite.expect("all have suites");
    let suite = Suite::read("suite.yaml", suite, &manifest).expect("it is shipped");
    let none = |_: &_| Ok(PolicySettings::new());
    let module = proof::accept(engine, shipped.bytes, Some(&suite), &none);
    let module = module.expect("it is shipped");
    let limits = SelfTestLimits::default();
    let made = vectors::of_suite(engine, &module, &suite, &limits);
    let (_, vectors) = made.expect("memory can be written");
    assert_eq!(vectors.holds.vectors, vectors.found);
    (module, vectors.bytes)
}

/// One file of vectors.
pub(crate) fn run(draw: &mut Draw) {
    let (module, whole) = draw.pick(&MODULES);
    let mut vectors = whole.clone();
    if draw.once_in(2) {
        draw.change(&mut vectors);
    } else {
        vectors = draw
            .reword(&String::from_utf8_lossy(whole), &ODD)
            .into_bytes();
    }
    let limits = SelfTestLimits::default();
    match module.hold_to(&vectors) {
        Ok(held) => assert!((1..=limits.vectors).contains(&held.vectors), "{held}"),
        Err(refusal) => {
            assert_eq!(refusal.step(), Step::SelfTest, "{refusal}");
            judge(&refusal);
        }
    }
}
