//! Each gate refuses with its own reason and sentence, before anything of the module runs.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests may fail loudly, as tests may"
)]

use plimsoll_guests::HOSTILE;
use plimsoll_hooks::rank::{PolicySettings, Setting};
use plimsoll_policy::{Engine, EngineSettings, Limits, Refusal, Step};

use crate::component::{RANKING, importer, promising, with_section};

fn accept(bytes: &[u8], settings: &[(&str, Setting)]) -> Result<(), Refusal> {
    let settings: PolicySettings = settings
        .iter()
        .map(|(name, value)| ((*name).to_owned(), value.clone()))
        .collect();
    Engine::new(EngineSettings::default())
        .unwrap()
        .accept(bytes, &settings)
        .map(|_| ())
}

#[track_caller]
fn check(bytes: &[u8], reason: &str, sentence: &str) {
    let refusal = accept(bytes, &[]).unwrap_err();
    assert_eq!(refusal.reason(), reason);
    assert_eq!(refusal.to_string(), sentence);
    assert!(!refusal.hint().is_empty());
}

#[test]
fn what_is_no_component_is_named() {
    let sentence = |found: &str| format!("the module is {found}, not a WebAssembly component");
    check(b"", "NotAComponent", &sentence("empty"));
    check(b"#!/bin/sh", "NotAComponent", &sentence("something else"));
    check(
        b"\0asm\x01\0\0\0",
        "NotAComponent",
        &sentence("a core module"),
    );
}

#[test]
fn a_forbidden_import_is_named() {
    check(
        &importer("wasi:cli/environment@0.2.0"),
        "ImportsForbidden",
        "the module imports wasi:cli/environment@0.2.0; a policy may import plimsoll:policy/diag only",
    );
}

#[test]
fn a_component_without_the_hook_is_refused() {
    check(
        &with_section(
            &importer("plimsoll:policy/diag@0.1.0"),
            "plimsoll.policy.manifest",
            RANKING,
        ),
        "HookMissing",
        "the module exports nothing; a ranking policy exports plimsoll:policy/ranker@0.1 and plimsoll:policy/configure@0.1",
    );
}

#[test]
fn a_module_of_a_newer_interface_is_refused_by_version() {
    check(
        &promising(&["plimsoll:policy/ranker@0.2.0"], RANKING),
        "InterfaceUnknown",
        "the module exports plimsoll:policy/ranker@0.2.0; this host speaks version 0.1 of that interface",
    );
}

#[test]
fn a_module_that_says_another_hook_than_it_exports_is_refused() {
    check(
        &promising(&["plimsoll:policy/budgeter@0.1.0"], RANKING),
        "HookMismatch",
        "the module exports the hook budget; its manifest names rank",
    );
}

#[test]
fn a_module_for_another_hook_is_refused_for_ranking() {
    let budget = br#"{"name": "p", "version": "1", "hook": "budget"}"#;
    check(
        &promising(&["plimsoll:policy/budgeter@0.1.0"], budget),
        "HookMismatch",
        "the module is for the hook budget; expected rank",
    );
}

#[test]
fn a_module_that_asks_for_more_than_the_ceiling_is_refused() {
    let names = [
        "plimsoll:policy/ranker@0.1.0",
        "plimsoll:policy/configure@0.1.0",
    ];
    let asking = |limits: &str| {
        let manifest = format!(r#"{{"name":"p","version":"1","hook":"rank","limits":{limits}}}"#);
        promising(&names, manifest.as_bytes())
    };
    check(
        &asking(r#"{"memory_mib":129}"#),
        "LimitExceeded",
        "the module asks for 129 MiB of memory; the ceiling is 128",
    );
    check(
        &asking(r#"{"fuel_per_row":500000001}"#),
        "LimitExceeded",
        "the module asks for 500000001 fuel for each row; the ceiling is 500000000",
    );
}

#[test]
fn a_module_that_asks_for_more_memory_than_all_calls_have_together_is_refused() {
    let engine = Engine::new(EngineSettings {
        guest_memory: Some(65 << 20),
        concurrency: 8,
        ..EngineSettings::default()
    });
    let engine = engine.unwrap();
    assert_eq!(engine.concurrency(), 2, "as many as have 32 MiB each");
    let names = [
        "plimsoll:policy/ranker@0.1.0",
        "plimsoll:policy/configure@0.1.0",
    ];
    let manifest = br#"{"name":"p","version":"1","hook":"rank","limits":{"memory_mib":66}}"#;
    let refusal = engine.inspect(&promising(&names, manifest)).unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "the module asks for 66 MiB of memory; the ceiling is 65"
    );
}

#[test]
fn memory_for_less_than_one_call_is_refused() {
    let engine = Engine::new(EngineSettings {
        guest_memory: Some(1 << 20),
        ..EngineSettings::default()
    });
    assert_eq!(
        engine.err().unwrap().to_string(),
        "memory for policies is 1048576 bytes; expected at least 33554432, which is what one call may use"
    );
}

#[test]
fn a_module_that_needs_a_signal_that_nobody_provides_is_refused() {
    let names = [
        "plimsoll:policy/ranker@0.1.0",
        "plimsoll:policy/configure@0.1.0",
    ];
    let manifest = br#"{"name":"p","version":"1","hook":"rank","columns":{"required":["carbon"]}}"#;
    check(
        &promising(&names, manifest),
        "SignalMissing",
        "the module needs the signal carbon, which is not provided",
    );
}

#[test]
fn an_examination_tells_what_each_step_saw_up_to_the_refusal() {
    let engine = Engine::new(EngineSettings::default()).unwrap();
    let whole = engine.examine(HOSTILE, &|_| Ok(PolicySettings::new()));
    let steps: Vec<&str> = whole
        .passed
        .iter()
        .map(|passed| passed.step.name())
        .collect();
    assert_eq!(
        steps,
        [
            "size",
            "shape",
            "validation",
            "imports",
            "manifest",
            "interface",
            "limits",
            "signals",
            "settings",
            "compilation",
            "linking",
            "agreement",
            "self-test"
        ]
    );
    assert!(whole.end.is_ok());
    let newer = promising(&["plimsoll:policy/ranker@0.2.0"], RANKING);
    let refused = engine.examine(&newer, &|_| Ok(PolicySettings::new()));
    let last = refused.passed.last().unwrap();
    assert_eq!((last.step, last.seen.as_str()), (Step::Manifest, "p 1"));
    assert_eq!(refused.end.unwrap_err().step(), Step::Interface);
}

#[test]
fn a_digest_that_was_promised_is_that_of_the_component() {
    let engine = Engine::new(EngineSettings::default()).unwrap();
    let digest = engine.inspect(HOSTILE).unwrap().sha256;
    assert!(engine.verify(HOSTILE, &digest).is_ok());
    let refusal = engine.verify(HOSTILE, "00").unwrap_err();
    assert_eq!(
        refusal.to_string(),
        format!("the module has the digest {digest}; expected 00")
    );
}

#[test]
fn components_within_components_are_refused_before_they_are_compiled() {
    let empty = b"\0asm\x0d\0\x01\0";
    let nest = |inner: &[u8]| {
        let mut outer = empty.to_vec();
        outer.extend_from_slice(&[4, u8::try_from(inner.len()).unwrap()]);
        outer.extend_from_slice(inner);
        outer
    };
    check(
        &nest(&nest(empty)),
        "ShapeRefused",
        "the module has 2 levels of components; at most 1 are allowed",
    );
}

#[test]
fn a_cut_module_is_refused_wherever_it_is_cut() {
    for length in [9, 100, 1_000, 20_000, HOSTILE.len() - 1] {
        assert!(accept(&HOSTILE[..length], &[]).is_err(), "{length}");
    }
}

#[test]
fn a_second_manifest_is_refused() {
    let twice = with_section(HOSTILE, "plimsoll.policy.manifest", b"{}");
    check(
        &twice,
        "ManifestRefused",
        "the module's manifest is there more than once",
    );
}

#[test]
fn size_is_checked_before_anything_else() {
    let limits = Limits {
        module_bytes: 1_000,
        ..Limits::default()
    };
    let engine = Engine::new(EngineSettings {
        limits,
        ..EngineSettings::default()
    })
    .unwrap();
    let refusal = engine.accept(HOSTILE, &PolicySettings::new()).unwrap_err();
    assert_eq!(
        refusal.to_string(),
        format!(
            "the module has {} bytes; at most 1000 are allowed",
            HOSTILE.len()
        )
    );
}

#[test]
fn settings_are_checked_against_the_manifest() {
    let refusal =
        |name: &str, value: Setting| accept(HOSTILE, &[(name, value)]).unwrap_err().to_string();
    assert_eq!(
        refusal("behavior", Setting::Text("loop".into())),
        "setting behavior: is not a setting of this policy; did you mean behaviour?"
    );
    assert_eq!(
        refusal("behaviour", Setting::Number(3.0)),
        "setting behaviour: is 3; expected a text"
    );
    assert!(accept(HOSTILE, &[]).is_ok());
}
