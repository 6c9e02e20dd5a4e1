//! Modules are exchanged while decisions run: no decision fails, none mixes two generations, and a candidate that breaks at whatever gate
//! leaves the one that serves, with the step, the reason and the remedy.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests may fail loudly, as tests may"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;

use plimsoll_encode::with_self_test;
use plimsoll_guests::{HOSTILE, HOSTILE_BUDGET, handmade};
use plimsoll_hooks::hook::{PolicySettings, Setting};
use plimsoll_model::snapshot::Snapshot;
use plimsoll_oracles::fixture::{Amounts, OnDemand, ZONE_1, cluster, instance_type, pod, pool};
use plimsoll_policy::{
    Candidate, Compiler, Engine, EngineSettings, Generation, Generations, Helper, Hook, INDEX,
    Module, Policies, Successor, WHOLE, digest,
};
use plimsoll_schedule::Session;

use crate::bindings::{replace, replaced};
use crate::component::{RANKING, importer, promising, with_section};
use crate::vectors;
use crate::vectors::{SUITE, behaving, off_by_a_bit};

static ENGINE: LazyLock<Engine> = LazyLock::new(|| Engine::new(EngineSettings::default()).unwrap());

/// Marks that modules leave in their numbers; the module of generation n leaves mark n modulo these.
const MARKS: u64 = 6;
const SWAPS: u64 = 1_000;

/// A module whose prices and order both show its mark.
fn marked(mark: u64) -> Module {
    let settings = PolicySettings::from([
        ("behaviour".to_owned(), Setting::Text("marks".to_owned())),
        ("mark".to_owned(), Setting::Number(mark as f64)),
    ]);
    ENGINE.accept(HOSTILE, &settings).unwrap()
}

fn ranking(module: Module) -> Policies {
    Policies {
        rank: Some(module),
        ..Policies::default()
    }
}

/// One pod, and three instances that can hold it.
fn shop() -> Snapshot {
    let sold = |name: &str, price: f64| {
        let sold = instance_type(name).cpu(4_000).memory_mib(16_384);
        sold.price(price).offered(ZONE_1, OnDemand)
    };
    cluster()
        .sells(sold("a", 0.1))
        .sells(sold("b", 0.104))
        .sells(sold("c", 0.108))
        .pool(pool("general"))
        .pod(pod("web").cpu(3_000).memory_mib(6_000))
        .snapshot()
}

/// Holds a decision of this generation to being of it wholly: its mark in every price, and its order.
#[track_caller]
fn check_whole(generation: &Generation, snapshot: &Snapshot) {
    let mark = generation.number() % MARKS;
    let decision = generation.plan(snapshot, &Session::default());
    assert_eq!(decision.faults, []);
    let options = &decision.plan.claims[0].options;
    for option in options {
        let dollars = option.list_price.dollars() * (1.0 + mark as f64 / 1_000.0);
        let off = (option.price.dollars() - dollars).abs();
        assert!(off < 1e-6, "mark {mark}: {option:?}");
    }
    let names: Vec<&str> = options
        .iter()
        .map(|option| option.instance_type.as_str())
        .collect();
    let expected = if mark % 2 == 1 {
        ["c", "b", "a"]
    } else {
        ["a", "b", "c"]
    };
    assert_eq!(names, expected, "mark {mark}");
}

#[test]
fn a_thousand_swaps_fail_no_decision_and_mix_none() {
    let modules: Vec<Module> = (0..MARKS).map(marked).collect();
    let generations = Generations::new(ranking(modules[1].clone()));
    let (snapshot, is_over) = (shop(), AtomicBool::new(false));
    let (told, decided) = mpsc::sync_channel(0);
    let decide = |told: mpsc::SyncSender<()>| {
        while !is_over.load(Ordering::Relaxed) {
            check_whole(&generations.current(), &snapshot);
            // The receiver is gone once the last swap is made.
            let _ = told.send(());
        }
    };
    thread::scope(|scope| {
        for told in [told.clone(), told] {
            scope.spawn(|| decide(told));
        }
        for swap in 0..SWAPS {
            // One decision has ended, and the other thread is in the midst of one.
            decided.recv().unwrap();
            let next = (swap + 2) % MARKS;
            let module = modules[usize::try_from(next).unwrap()].clone();
            replace(&generations, Hook::Rank, Successor::Rank(module));
        }
        is_over.store(true, Ordering::Relaxed);
        drop(decided);
    });
    assert_eq!(generations.current().number(), SWAPS + 1);
}

#[test]
fn a_decision_keeps_the_generation_it_began_with() {
    let generations = Generations::new(ranking(marked(1)));
    let begun = generations.current();
    replace(&generations, Hook::Rank, Successor::Rank(marked(2)));
    check_whole(&begun, &shop());
    check_whole(&generations.current(), &shop());
}

/// A module's bytes as a ConfigMap carries them.
fn whole(bytes: &[u8]) -> BTreeMap<String, Vec<u8>> {
    BTreeMap::from([(WHOLE[1].to_owned(), bytes.to_vec())])
}

/// A module in two parts.
fn in_parts() -> BTreeMap<String, Vec<u8>> {
    let halves = HOSTILE.split_at(HOSTILE.len() / 2);
    let parts = [("part-00", halves.0), ("part-01", halves.1)];
    let described = parts.map(|(key, bytes)| {
        serde_json::json!({"key": key, "sha256": digest(bytes), "bytes": bytes.len()})
    });
    let index = serde_json::json!({
        "sha256": digest(HOSTILE), "bytes": HOSTILE.len(), "parts": described,
    });
    let mut entries = BTreeMap::from(parts.map(|(key, bytes)| (key.to_owned(), bytes.to_vec())));
    entries.insert(INDEX.to_owned(), serde_json::to_vec(&index).unwrap());
    entries
}

/// A candidate that breaks: the reason, what carries it, and the behaviour it is set to.
struct Broken {
    reason: &'static str,
    entries: BTreeMap<String, Vec<u8>>,
    setting: Option<(&'static str, &'static str)>,
    sha256: Option<&'static str>,
}

fn broken(reason: &'static str, bytes: &[u8]) -> Broken {
    Broken {
        reason,
        entries: whole(bytes),
        setting: None,
        sha256: None,
    }
}

fn set(reason: &'static str, name: &'static str, value: &'static str) -> Broken {
    Broken {
        setting: Some((name, value)),
        ..broken(reason, HOSTILE)
    }
}

fn of_package() -> Vec<Broken> {
    let parts = |change: fn(&mut BTreeMap<String, Vec<u8>>), reason| {
        let mut entries = in_parts();
        change(&mut entries);
        Broken {
            entries,
            ..broken(reason, b"")
        }
    };
    vec![
        parts(BTreeMap::clear, "PackageIncomplete"),
        parts(
            |entries| drop(entries.remove("part-01")),
            "PackageIncomplete",
        ),
        parts(
            |entries| entries.get_mut("part-00").unwrap().push(0),
            "DigestMismatch",
        ),
        Broken {
            sha256: Some("00"),
            ..broken("DigestMismatch", HOSTILE)
        },
    ]
}

fn of_bytes() -> Vec<Broken> {
    let interface = [
        "plimsoll:policy/ranker@0.1.0",
        "plimsoll:policy/configure@0.1.0",
    ];
    let saying = |manifest: &str| promising(&interface, manifest.as_bytes());
    let made = |reason, name| broken(reason, handmade(name).unwrap());
    let asks = saying(r#"{"name":"p","version":"1","hook":"rank","limits":{"memory_mib":129}}"#);
    let needs =
        saying(r#"{"name":"p","version":"1","hook":"rank","columns":{"required":["carbon"]}}"#);
    let hookless = with_section(
        &importer("plimsoll:policy/diag@0.1.0"),
        "plimsoll.policy.manifest",
        RANKING,
    );
    let twice = with_section(HOSTILE, "plimsoll.policy.manifest", b"{}");
    // A block of 128 KiB of zeros, which takes 4 bytes.
    let inflates = [0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0, 0, 2, 0, 0x03, 0, 0x10, 0];
    vec![
        broken("TooLarge", &vec![0; 2 << 20]),
        broken("CompressionRefused", &inflates),
        broken("NotAComponent", b"\0asm\x01\0\0\0"),
        made("ShapeRefused", "many-locals"),
        made("ShapeRefused", "deep-type"),
        made("InvalidModule", "deep-lists"),
        broken("ImportsForbidden", &importer("wasi:cli/environment@0.2.0")),
        broken("ManifestRefused", &twice),
        broken("HookMissing", &hookless),
        broken(
            "InterfaceUnknown",
            &promising(&["plimsoll:policy/ranker@0.2.0"], RANKING),
        ),
        broken("HookMismatch", HOSTILE_BUDGET),
        broken("LimitExceeded", &asks),
        broken("SignalMissing", &needs),
        made("CompileFailed", "table-of-a-million"),
        broken("InterfaceMismatch", &promising(&interface, RANKING)),
        made("StartFailed", "start-loops"),
        made("StartFailed", "start-traps"),
        set("SettingsRefused", "behavior", "loop"),
        set("SettingsRefused", "behaviour", "validate-refuses"),
        set("StartFailed", "behaviour", "validate-panic"),
    ]
}

/// Modules that break at the last gate: at what they carry to be tested by.
fn of_vectors() -> Vec<Broken> {
    let honest = vectors::of(&ENGINE, HOSTILE, SUITE);
    let carrying = |reason, vectors: &[u8]| {
        let module = with_self_test(HOSTILE, vectors);
        broken(reason, &module.unwrap())
    };
    vec![
        carrying("SelfTestRefused", b"garbage"),
        carrying("SelfTestFailed", &off_by_a_bit(&honest)),
        carrying("SelfTestFailed", &behaving(&honest, "loop")),
        carrying("SelfTestFailed", &behaving(&honest, "panic")),
    ]
}

#[test]
fn candidates_that_break_at_whatever_gate_never_displace_the_one_that_serves() {
    let generations = Generations::new(ranking(marked(1)));
    let (mut said, mut reasons) = (BTreeSet::new(), BTreeSet::new());
    let all = of_package().into_iter().chain(of_bytes());
    for broken in all.chain(of_vectors()) {
        let text = |(name, value): (&str, &str)| (name.to_owned(), Setting::Text(value.to_owned()));
        let settings: PolicySettings = broken.setting.map(text).into_iter().collect();
        let candidate = Candidate {
            hook: Hook::Rank,
            binding: replaced(&generations, Hook::Rank),
            entries: broken.entries,
            sha256: broken.sha256,
            settings: &|_| Ok(settings.clone()),
        };
        let finding = generations.offer(&ENGINE, candidate).unwrap_err();
        assert_eq!(finding.refusal.reason(), broken.reason, "{finding}");
        assert!(!finding.refusal.hint().is_empty());
        let words = finding.to_string();
        assert!(words.starts_with(&format!("step {}: ", finding.refusal.step())));
        assert!(words.ends_with("; generation 1 serves on"), "{words}");
        assert!(said.insert(words), "each breaks in its own way");
        reasons.insert(broken.reason);
        check_whole(&generations.current(), &shop());
    }
    assert_eq!((said.len(), reasons.len()), (28, 20));
}

#[test]
fn a_host_that_cannot_compile_keeps_the_module_that_serves_and_takes_the_blame() {
    let settings = EngineSettings {
        compiler: Compiler::Child(Helper::new("/nowhere/compiler")),
        ..EngineSettings::default()
    };
    let engine = Engine::new(settings).unwrap();
    let generations = Generations::new(ranking(marked(1)));
    let candidate = Candidate {
        hook: Hook::Rank,
        binding: replaced(&generations, Hook::Rank),
        entries: whole(HOSTILE),
        sha256: None,
        settings: &|_| Ok(PolicySettings::new()),
    };
    let finding = generations.offer(&engine, candidate).unwrap_err();
    assert!(!finding.refusal.blames_module());
    check_whole(&generations.current(), &shop());
}

#[test]
fn a_candidate_that_passes_serves_from_then_on() {
    let generations = Generations::new(ranking(marked(1)));
    let sha256 = digest(HOSTILE);
    let candidate = Candidate {
        hook: Hook::Rank,
        binding: replaced(&generations, Hook::Rank),
        entries: in_parts(),
        sha256: Some(&sha256),
        settings: &|_| {
            let text = |value: &str| Setting::Text(value.to_owned());
            let mark = ("mark".to_owned(), Setting::Number(2.0));
            Ok(PolicySettings::from([
                ("behaviour".to_owned(), text("marks")),
                mark,
            ]))
        },
    };
    let next = generations.offer(&ENGINE, candidate).unwrap();
    assert_eq!(next.number(), 2);
    check_whole(&generations.current(), &shop());
}
