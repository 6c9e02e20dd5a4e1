//! A policy written in C passes the same gates as one of the SDK, and answers to the byte as the core does. Where there is no clang for
//! WebAssembly the tests are skipped.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests may fail loudly, as tests may"
)]

use std::path::Path;
use std::process::Command;

use plimsoll_hooks::rank::{PolicySettings, list_order, list_price};
use plimsoll_oracles::skip::not_run;
use plimsoll_policy::{Engine, EngineSettings, ListPrice, Module, decide};

use crate::common;

const MANIFEST: &[u8] = br#"{
    "name": "list-price-in-c", "version": "1.0.0", "hook": "rank", "orders": true,
    "reasons": [{"name": "LIST_PRICE", "text": "list price"}]
}"#;
/// Flags of the C compiler: no library, a stack that is cheap to clear, no names.
const FLAGS: [&str; 10] = [
    "--target=wasm32",
    "-std=c17",
    "-O2",
    "-nostdlib",
    "-ffreestanding",
    "-Wall",
    "-Werror",
    "-Wl,--no-entry",
    "-Wl,--strip-all",
    "-Wl,-z,stack-size=65536",
];

/// The component, or nothing where the compiler or its linker is missing.
fn built(test: &str) -> Option<Vec<u8>> {
    for tool in ["clang", "wasm-ld"] {
        if Command::new(tool).arg("--version").output().is_err() {
            not_run(test, &format!("there is no {tool}"));
            return None;
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let core = folder.path().join("policy.wasm");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("c/list_price.c");
    let mut clang = Command::new("clang");
    let output = clang.args(FLAGS).arg("-o").arg(&core).arg(source).output();
    let output = output.unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let core = std::fs::read(core).unwrap();
    Some(plimsoll_encode::encode_as(&core, "ranking-policy", MANIFEST).unwrap())
}

fn accepted(component: &[u8]) -> Module {
    let engine = Engine::new(EngineSettings::default()).unwrap();
    engine.accept(component, &PolicySettings::new()).unwrap()
}

#[test]
fn a_policy_in_c_answers_as_the_core_does() {
    let Some(component) = built("a_policy_in_c_answers_as_the_core_does") else {
        return;
    };
    let module = accepted(&component);
    let question = common::question(3, 800, 3);
    let priced = module.price(&question).result.unwrap().raw;
    assert!(priced == list_price(&question));
    let claims = common::claims(1_000, 60);
    let ordered = module.order(&claims).result.unwrap().raw;
    assert!(ordered == list_order(&claims));
}

#[test]
fn a_plan_with_a_policy_in_c_is_the_one_at_list_prices() {
    let Some(component) = built("a_plan_with_a_policy_in_c_is_the_one_at_list_prices") else {
        return;
    };
    let snapshot = plimsoll_oracles::generate::benchmark_mix(60, 40, 5);
    let (of_c, native) = (
        decide(&accepted(&component), &snapshot),
        decide(&ListPrice, &snapshot),
    );
    assert_eq!(of_c.faults, []);
    assert_eq!(of_c.plan.claims, native.plan.claims);
}

#[test]
fn a_policy_in_c_is_small_and_imports_nothing() {
    let Some(component) = built("a_policy_in_c_is_small_and_imports_nothing") else {
        return;
    };
    let engine = Engine::new(EngineSettings::default()).unwrap();
    let seen = engine.inspect(&component).unwrap();
    let functions = |name: &&String| !name.contains("/types@");
    let imports: Vec<&String> = seen.imports.iter().filter(functions).collect();
    assert!(imports.is_empty(), "{imports:?}");
    assert!(seen.size < 16 << 10, "{} bytes", seen.size);
}
