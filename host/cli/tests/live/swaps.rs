//! Modules exchanged under load on a real control plane: each serves soon, no decision fails or is made of two, and what is broken has no
//! effect. Ten swaps by default, a hundred with `PLIMSOLL_LIVE=full`.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use kube::api::PostParams;
use kube::runtime::wait::await_condition;
use plimsoll_encode::with_self_test;
use plimsoll_guests::{HOSTILE, HOSTILE_BUDGET, HOSTILE_CONSOLIDATION, handmade};
use plimsoll_lab::{apply, example_class, example_pool, pending_pod};
use plimsoll_policy::{INDEX, WHOLE, digest};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::PATIENCE;
use super::policies::{Entries, is, list_price, policy};
use super::served::{Asked, Served, in_full};

/// Between two pods.
const PACE: Duration = Duration::from_millis(60);

/// The hostile module as it behaves by default: it answers list prices, as the other one does.
const HONEST: &[u8] = HOSTILE;

/// A pool none of whose nodes goes: every call of a ranking policy is part of a plan.
fn steady_pool() -> Value {
    let mut pool = example_pool();
    pool["spec"]["disruption"] = json!({"consolidateAfter": "Never", "budgets": [{"nodes": "0"}]});
    pool
}

impl Served {
    /// Has a policy name another ConfigMap, and waits until that module serves; how long that took.
    async fn swap(&self, name: &str, configmap: &str, sha256: &str) -> Duration {
        let begun = Instant::now();
        let wanted = policy(name, configmap, &json!({"sha256": sha256}));
        apply(&self.client, &wanted).await.expect("applied");
        let policies = self.policies();
        let serves = await_condition(
            policies,
            name,
            |policy: Option<&kube::core::DynamicObject>| {
                policy.is_some_and(|policy| {
                    let status = &policy.data["status"];
                    status["servedDigest"] == sha256 && status["conditions"][0]["status"] == "True"
                })
            },
        );
        let served = timeout(PATIENCE, serves).await;
        served.expect("it serves in time").expect("it is watched");
        begun.elapsed()
    }
}

/// Makes pods, one after the other, until it is stopped.
async fn load(served: &Served, mut goes_on: tokio::sync::watch::Receiver<bool>) -> usize {
    let mut made = 0;
    while *goes_on.borrow_and_update() {
        let pod = pending_pod(&format!("load-{made}"), "100m", "64Mi");
        served
            .pods()
            .create(&PostParams::default(), &pod)
            .await
            .expect("a pod");
        made += 1;
        let _ = timeout(PACE, goes_on.changed()).await;
    }
    made
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn swaps_under_load_fail_no_decision_and_mix_none_and_broken_modules_change_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let records = folder.path().join("records");
    let served = Served::start(Asked {
        objects: vec![example_class(), steady_pool()],
        flags: vec![
            format!("--records={}", records.display()),
            // Shorter than the pause between two pods: most have a decision of their own.
            "--batch-idle-duration=10ms".to_owned(),
        ],
        ..Asked::default()
    })
    .await;
    let modules = [("first", list_price()), ("second", HONEST)];
    let modules = modules.map(|(name, bytes)| (name, bytes, digest(bytes)));
    for (name, bytes, _) in &modules {
        served.put_module(name, bytes).await;
    }
    let (name, _, sha256) = &modules[0];
    served.swap("swapped", name, sha256).await;

    let (goes_on, watched) = tokio::sync::watch::channel(true);
    let swaps = if in_full() { 100 } else { 10 };
    let exchange = async {
        let mut took = Vec::new();
        for number in 1..=swaps {
            let (name, _, sha256) = &modules[number % 2];
            took.push(served.swap("swapped", name, sha256).await);
        }
        let broken = refuse_all(&served, &modules[swaps % 2].2).await;
        goes_on.send_replace(false);
        (took, broken)
    };
    let ((mut took, broken), pods) = tokio::join!(exchange, load(&served, watched));
    super::served::until_bound(&served.pods()).await;
    took.sort();
    eprintln!(
        "{swaps} swaps while {pods} pods came: from the request until the status says so {:?} in the middle, {:?} at most; {broken} broken modules refused",
        took[took.len() / 2],
        took[took.len() - 1],
    );
    let played = served.end();
    assert!(played.plans > 0);
    let made = whole_decisions(&records);
    eprintln!("{made} plans, each by one module, none failed");
}

/// Reads records: every call of a plan was put to one module and answered. How many plans asked one.
fn whole_decisions(records: &std::path::Path) -> usize {
    let text = std::fs::read_to_string(records).expect("records");
    let (mut made, mut asked, mut modules) = (0, BTreeSet::new(), BTreeSet::new());
    // The last line may have been cut when the process was killed.
    for line in text.lines() {
        let Ok(line) = serde_json::from_str::<Value>(line) else {
            continue;
        };
        if let Some(call) = line.get("decision") {
            assert_eq!(call["outcome"], "ok", "{}", call["fault"]);
            asked.insert(call["module"].to_string());
        } else if line["made"]["what"] == "plan" {
            assert!(asked.len() <= 1, "a plan of two modules: {asked:?}");
            made += usize::from(!asked.is_empty());
            modules.append(&mut asked);
        }
    }
    assert_eq!(modules.len(), 2, "both modules were asked");
    made
}

/// A candidate that breaks: the reason, what carries it, and what the Policy says of it.
struct Broken {
    reason: &'static str,
    entries: Entries,
    spec: Value,
}

/// Names every broken candidate in turn: each is refused for its reason, and what serves goes on.
async fn refuse_all(served: &Served, serves: &str) -> usize {
    let broken = all_broken();
    for (number, broken) in broken.iter().enumerate() {
        let configmap = format!("broken-{number}");
        served.put_entries(&configmap, &broken.entries).await;
        let wanted = policy("swapped", &configmap, &broken.spec);
        apply(&served.client, &wanted).await.expect("applied");
        let applied = served.policies().get("swapped").await.expect("it is there");
        let generation = applied.metadata.generation;
        let what = format!("candidate {number} to be refused as {}", broken.reason);
        let said = served
            .until_said("swapped", &what, |said| {
                let is_about_it = said
                    .conditions
                    .iter()
                    .any(|own| own.kind == "Ready" && own.observed_generation == generation);
                is_about_it && is(said, "Ready", "False", broken.reason)
            })
            .await;
        assert_eq!(said.served_digest.as_deref(), Some(serves), "{what}");
        assert_eq!(said.faults, 0, "{what}");
    }
    broken.len()
}

fn all_broken() -> Vec<Broken> {
    let mut all = of_package();
    all.extend(of_bytes());
    all.extend(of_spec());
    all
}

fn whole(reason: &'static str, bytes: &[u8]) -> Broken {
    let entries = [(WHOLE[1].to_owned(), bytes.to_vec())].into();
    Broken {
        reason,
        entries,
        spec: json!({}),
    }
}

fn of_package() -> Vec<Broken> {
    let half = HOSTILE.len() / 2;
    let index = json!({
        "sha256": digest(HOSTILE), "bytes": HOSTILE.len(),
        "parts": [{"key": "part-00", "sha256": digest(&HOSTILE[..half]), "bytes": half},
                  {"key": "part-01", "sha256": digest(&HOSTILE[half..]), "bytes": HOSTILE.len() - half}],
    });
    let parts = |reason, first: &[u8], second: Option<&[u8]>| {
        let mut entries = Entries::from([
            (INDEX.to_owned(), index.to_string().into_bytes()),
            ("part-00".to_owned(), first.to_vec()),
        ]);
        entries.extend(second.map(|bytes| ("part-01".to_owned(), bytes.to_vec())));
        Broken {
            reason,
            entries,
            spec: json!({}),
        }
    };
    vec![
        Broken {
            entries: Entries::new(),
            ..whole("PackageIncomplete", b"")
        },
        parts("PackageIncomplete", &HOSTILE[..half], None),
        parts("DigestMismatch", &HOSTILE[1..half], Some(&HOSTILE[half..])),
    ]
}

fn of_bytes() -> Vec<Broken> {
    let made = |reason, name| whole(reason, handmade(name).expect("it is made"));
    // A block of 128 KiB of zeros, which takes 4 bytes; and a frame that says it has 2 MiB.
    let grows = [0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0, 0, 2, 0, 0x03, 0, 0x10, 0];
    let claims = [0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0, 0, 32, 0, 0x03, 0, 0x10, 0];
    let garbage = with_self_test(HOSTILE, b"garbage").expect("it has none");
    let twice = [HOSTILE, &custom_section("plimsoll.policy.manifest", "{}")].concat();
    let imports = importer("wasi:cli/environment@0.2.0");
    vec![
        whole("NotAComponent", b"#!/bin/sh"),
        whole("NotAComponent", b"\0asm\x01\0\0\0"),
        whole("CompressionRefused", &grows),
        whole("TooLarge", &claims),
        whole("InvalidModule", &list_price()[..list_price().len() / 2]),
        made("ShapeRefused", "many-locals"),
        made("ShapeRefused", "deep-type"),
        made("InvalidModule", "deep-lists"),
        whole("ImportsForbidden", &imports),
        whole("ManifestRefused", &twice),
        whole("HookMismatch", HOSTILE_BUDGET),
        whole("HookMismatch", HOSTILE_CONSOLIDATION),
        made("CompileFailed", "table-of-a-million"),
        made("StartFailed", "start-loops"),
        made("StartFailed", "start-traps"),
        whole("SelfTestRefused", &garbage),
    ]
}

/// Candidates whose bytes are good, and what is said of them is not.
fn of_spec() -> Vec<Broken> {
    let says = |reason, spec| Broken {
        spec,
        ..whole(reason, HOSTILE)
    };
    let behaves = |behaviour: &str| json!({"settings": {"behaviour": behaviour}});
    vec![
        says("DigestMismatch", json!({"sha256": "0".repeat(64)})),
        says("SettingsRefused", json!({"settings": {"behavior": "loop"}})),
        says("SettingsRefused", json!({"settings": {"mark": "-1"}})),
        says("SettingsRefused", behaves("validate-refuses")),
        says("StartFailed", behaves("validate-panic")),
    ]
}

/// A component that imports one instance without functions.
fn importer(name: &str) -> Vec<u8> {
    let mut component = b"\0asm\x0d\0\x01\0".to_vec();
    // A type section with one empty instance type.
    component.extend_from_slice(&[7, 3, 1, 0x42, 0]);
    let length = short(name.len());
    component.extend_from_slice(&[10, length + 5, 1, 0, length]);
    component.extend_from_slice(name.as_bytes());
    component.extend_from_slice(&[5, 0]);
    component
}

fn custom_section(name: &str, contents: &str) -> Vec<u8> {
    let head = [0, short(name.len() + contents.len() + 1), short(name.len())];
    [&head[..], name.as_bytes(), contents.as_bytes()].concat()
}

fn short(length: usize) -> u8 {
    u8::try_from(length).unwrap_or(u8::MAX)
}
