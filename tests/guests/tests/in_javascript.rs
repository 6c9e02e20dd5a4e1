//! A policy written in JavaScript passes the same gates as one of the SDK, and answers to the byte as `rank-list-price` does. It carries an
//! engine for its language, so that it is let in only where large modules are. Where there is no node, or what makes components of JavaScript
//! is not installed (`make javascript`), the tests are skipped.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests may fail loudly, as tests may"
)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use plimsoll_hooks::rank::PolicySettings;
use plimsoll_oracles::skip::not_run;
use plimsoll_policy::{Limits, Module, decide};

use crate::common;
use crate::modules::limited;

const MANIFEST: &[u8] = include_bytes!("../javascript/manifest.json");

/// The component, or what is missing to make it.
static COMPONENT: LazyLock<Result<Vec<u8>, &str>> = LazyLock::new(|| {
    let tools = tools()?;
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("policy.wasm");
    let mut node = Command::new("node");
    node.arg(here("componentize.mjs")).arg(tools);
    node.arg(here("list_price.js"))
        .arg(here("../../../wit/0.1"))
        .arg(&to);
    let output = node.current_dir(folder.path()).output().unwrap();
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words}");
    let component = std::fs::read(to).unwrap();
    Ok(plimsoll_encode::encode_as(&component, "ranking-policy", MANIFEST).unwrap())
});

/// Compiled once for all tests: it takes many seconds.
static MODULE: LazyLock<Result<Module, &str>> = LazyLock::new(|| {
    let component = COMPONENT.as_ref().map_err(|missing| *missing)?;
    let module = limited(Limits::default().with_large_modules());
    Ok(module.accept(component, &PolicySettings::new()).unwrap())
});

fn here(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("javascript")
        .join(name)
}

/// The folder of what makes components, where it is installed.
fn tools() -> Result<PathBuf, &'static str> {
    if Command::new("node").arg("--version").output().is_err() {
        return Err("there is no node");
    }
    let look = Command::new(here("install.sh")).arg("--look").output();
    match look {
        Ok(found) if found.status.success() => {
            Ok(String::from_utf8(found.stdout).unwrap().trim().into())
        }
        _ => Err("componentize-js is not installed; `make javascript` installs it"),
    }
}

/// The artefact where it was made; else `None`, and a line on stderr.
fn there<'t, T>(test: &str, made: &'t Result<T, &str>) -> Option<&'t T> {
    let missing = made.as_ref().err();
    if let Some(missing) = missing {
        not_run(test, missing);
    }
    made.as_ref().ok()
}

/// The policy in Rust that answers the same.
fn twin() -> Module {
    let twin = plimsoll_policies::ranking("list-price").unwrap();
    let engine = limited(Limits::default());
    engine.accept(twin.bytes, &PolicySettings::new()).unwrap()
}

#[test]
fn a_policy_in_javascript_answers_as_its_twin_in_rust_does() {
    let Some(module) = there(
        "a_policy_in_javascript_answers_as_its_twin_in_rust_does",
        &MODULE,
    ) else {
        return;
    };
    let twin = twin();
    let question = common::question(3, 100, 3);
    let priced = module.price(&question);
    assert_eq!(
        priced.result.unwrap().raw,
        twin.price(&question).result.unwrap().raw
    );
    let claims = common::claims(20, 60);
    let ordered = module.order(&claims).result.unwrap().raw;
    assert!(ordered == twin.order(&claims).result.unwrap().raw);
}

#[test]
fn a_plan_with_a_policy_in_javascript_is_the_one_of_its_twin() {
    let Some(module) = there(
        "a_plan_with_a_policy_in_javascript_is_the_one_of_its_twin",
        &MODULE,
    ) else {
        return;
    };
    let snapshot = plimsoll_oracles::generate::benchmark_mix(30, 20, 5);
    let (own, its) = (decide(module, &snapshot), decide(&twin(), &snapshot));
    assert_eq!(own.faults, []);
    assert_eq!(own.plan, its.plan);
}

#[test]
fn what_it_uses_stays_within_what_its_manifest_asks_for() {
    let Some(module) = there(
        "what_it_uses_stays_within_what_its_manifest_asks_for",
        &MODULE,
    ) else {
        return;
    };
    let called = module.price(&common::question(3, 800, 3));
    assert!(called.result.is_ok(), "{:?}", called.result);
    assert!(called.memory_peak <= 32 << 20, "{}", called.memory_peak);
    // Twice what it uses, so that another version of its engine does not fail by a little.
    assert!(called.fuel < 6_000 * 7_200, "{} fuel", called.fuel);
}

#[test]
fn a_policy_in_javascript_imports_nothing_but_is_let_in_only_where_large_modules_are() {
    let Some(component) = there(
        "a_policy_in_javascript_imports_nothing_but_is_let_in_only_where_large_modules_are",
        &COMPONENT,
    ) else {
        return;
    };
    let refusal = limited(Limits::default()).inspect(component).unwrap_err();
    assert_eq!(refusal.reason(), "TooLarge");
    assert!(
        refusal.hint().contains("`--large-modules`"),
        "{}",
        refusal.hint()
    );
    let large = limited(Limits::default().with_large_modules());
    let imports = large.inspect(component).unwrap().imports;
    let ours = ["plimsoll:policy/types@0.1.0", "plimsoll:policy/diag@0.1.0"];
    assert!(
        imports.iter().all(|import| ours.contains(&&**import)),
        "{imports:?}"
    );
}
