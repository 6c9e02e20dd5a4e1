//! `plimsoll policy`: from nothing to a module that is built, checked, packed and simulated.
//!
//! Crates are built in one target directory, so that what policies depend on is compiled once.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::user::{Folder, Ran, argument, command, plimsoll, pod, snapshot};

/// The program with arguments, in a folder, building offline.
pub(crate) fn in_folder(folder: &Path, arguments: &[&str]) -> Ran {
    author(command(arguments), folder)
}

fn author(mut command: Command, folder: &Path) -> Ran {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("policies");
    command
        .current_dir(folder)
        .env("CARGO_TARGET_DIR", target)
        .env("CARGO_NET_OFFLINE", "true");
    command.output().expect("the program starts").into()
}

/// A first policy, as `policy new` writes it.
pub(crate) fn first_policy(name: &str) -> Folder {
    let folder = Folder::new();
    let here = folder.path("");
    let ran = in_folder(&here, &["policy", "new", "rank", name]).ok();
    assert!(
        ran.out
            .contains("the checkout that this program was built from"),
        "{}",
        ran.out
    );
    folder
}

#[test]
fn a_first_policy_builds_passes_every_step_and_is_simulated() {
    let folder = first_policy("first-steps");
    let crate_folder = folder.path("first-steps");
    let built = in_folder(&crate_folder, &["policy", "build"]).ok();
    assert!(
        built.out.starts_with("./first-steps.wasm  "),
        "{}",
        built.out
    );
    let checked = in_folder(&crate_folder, &["policy", "check", "first-steps.wasm"]).ok();
    checked.prints("compiled in a process of its own");
    checked.prints("the module agrees to its settings");

    folder.file("shop.yaml", snapshot(&pod("web", "1", "1Gi", "")));
    let compared = in_folder(
        &folder.path(""),
        &[
            "simulate",
            "shop.yaml",
            "--compare",
            "rank=./first-steps,interruption_charge=0.5",
        ],
    )
    .ok();
    assert!(
        compared
            .out
            .contains("first-steps, interruption_charge=0.5"),
        "{}",
        compared.out
    );
}

#[test]
fn a_compilers_words_are_passed_on() {
    let folder = first_policy("broken");
    folder.file(
        "broken/src/lib.rs",
        "//! Broken.\nfn price() { missing() }\n",
    );
    let ran = in_folder(&folder.path("broken"), &["policy", "build"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(
        ran.err
            .contains("error[E0425]: cannot find function `missing`"),
        "{}",
        ran.err
    );
    assert!(
        ran.err
            .ends_with("error: policy broken does not build; the compiler says why\n"),
        "{}",
        ran.err
    );
    folder.file("broken/src/lib.rs", "//! Empty.\n");
    let ran = in_folder(&folder.path("broken"), &["policy", "build"]);
    assert_eq!(
        ran.error(),
        "policy broken is no module that a host takes: the module has no manifest; export it with the SDK's macro, or pass a manifest"
    );
}

#[test]
fn names_and_folders_that_cannot_be_are_refused() {
    let folder = Folder::new();
    let here = folder.path("");
    let ran = in_folder(&here, &["policy", "new", "rank", "Paid"]);
    assert_eq!(ran.code, 1);
    assert!(
        ran.error().starts_with("\"Paid\" is no name of a policy"),
        "{ran:?}"
    );
    let ran = in_folder(
        &here,
        &["policy", "new", "rank", "paid", "--sdk", "nowhere"],
    );
    assert_eq!(
        ran.error(),
        "there is no SDK in nowhere; expected the folder of the crate plimsoll-sdk"
    );
    assert!(
        ran.err.contains("\nhint: --sdk FOLDER names it"),
        "{}",
        ran.err
    );
    folder.file("paid", "");
    let ran = in_folder(&here, &["policy", "new", "rank", "paid"]);
    assert_eq!(
        ran.error(),
        "paid is there already; expected a name that nothing has"
    );
    assert_eq!(in_folder(&here, &["policy", "new", "sort", "paid"]).code, 2);
    assert_eq!(folder.names(), ["paid"]);
}

#[test]
fn a_module_is_inspected_without_being_run() {
    let ran = plimsoll(&["policy", "inspect", "spot-diversified"]).ok();
    for told in [
        "a ranking policy: prices in dollars per hour\n",
        "plimsoll:policy/ranker@0.1.0",
        "lost_hours       1        a number in 0 to 24",
        "3 INTERRUPTED   spot, interrupted lately",
    ] {
        assert!(ran.out.contains(told), "{told}: {}", ran.out);
    }
    let ran = plimsoll(&["policy", "inspect", "spot-diversified", "-o", "json"]).ok();
    let shown: Value = serde_json::from_str(&ran.out).expect("it is JSON");
    assert_eq!(
        (&shown["hook"], &shown["settings"][0]["name"]),
        (&"rank".into(), &"at_once".into())
    );
}

/// The step, the reason and the sentence of a refusal, and that it is told on every way.
fn check_refused(arguments: &[&str], step: &str, reason: &str, sentence: &str) {
    let ran = plimsoll(&[&["policy", "check"], arguments].concat());
    assert_eq!(ran.code, 1, "{ran:?}");
    let told = format!("policy {}: {reason} at {step}: {sentence}", arguments[0]);
    assert_eq!(ran.error(), told);
    assert!(ran.err.contains("\nhint: "), "{}", ran.err);
    let last = ran.out.lines().last().unwrap_or_default();
    assert!(
        last.starts_with(step) && last.ends_with(sentence),
        "{}",
        ran.out
    );
    let ran = plimsoll(&[&["policy", "check"], arguments, &["-o", "json"]].concat());
    let shown: Value = serde_json::from_str(&ran.out).expect("it is JSON");
    let steps = shown["steps"].as_array().expect("steps are a list");
    let last = steps.last().expect("the failed step is told");
    assert_eq!(
        (&shown["accepted"], &last["reason"]),
        (&false.into(), &reason.into())
    );
}

#[test]
fn a_refusal_names_step_reason_and_remedy() {
    let folder = Folder::new();
    let core = folder.file("core.wasm", b"\0asm\x01\0\0\0");
    check_refused(
        &[&core],
        "shape",
        "NotAComponent",
        "the module is a core module, not a WebAssembly component",
    );
    check_refused(
        &["spot-diversified", "lost_hours=25"],
        "settings",
        "SettingsRefused",
        "setting lost_hours: is 25; expected a number in 0 to 24",
    );
    let bomb = [
        &[0x28, 0xb5, 0x2f, 0xfd, 0b1010_0000, 0, 0, 15, 0][..],
        &[3, 0, 0, 0],
    ]
    .concat();
    let bomb = folder.file("bomb.wasm.zst", bomb);
    check_refused(
        &[&bomb],
        "size",
        "CompressionRefused",
        "the module's zstd frame grows more than 100 times when inflated, as no module does",
    );
}

#[test]
fn what_was_packed_is_accepted_again_and_what_was_changed_is_not() {
    let folder = Folder::new();
    let to = argument(&folder.path("policy.yaml"));
    let ran = plimsoll(&[
        "policy",
        "pack",
        "list-price",
        "-n",
        "plimsoll",
        "-O",
        &to,
        "-o",
        "json",
    ])
    .ok();
    let shown: Value = serde_json::from_str(&ran.out).expect("it is JSON");
    assert_eq!(
        (&shown["apiVersion"], &shown["kind"]),
        (&"v1".into(), &"List".into())
    );
    let first = &shown["items"][0]["metadata"];
    let sha256 = first["annotations"]["plimsoll.dev/sha256"].as_str();
    let sha256 = sha256.expect("a digest");
    assert_eq!(first["name"], format!("rank-list-price-{}", &sha256[..6]));
    plimsoll(&["policy", "check", &to, "--sha256", sha256]).ok();
    let text = std::fs::read_to_string(&to).expect("it is there");
    assert_eq!(
        plimsoll(&[
            "policy",
            "pack",
            "list-price",
            "-n",
            "plimsoll",
            "-o",
            "yaml"
        ])
        .ok()
        .out,
        text
    );
    let zeros = "0".repeat(64);
    let changed = folder.file("changed.yaml", text.replace(sha256, &zeros));
    check_refused(
        &[&changed],
        "package",
        "DigestMismatch",
        &format!("the module has the digest {sha256}; expected {zeros}"),
    );
    let other = folder.file("other.yaml", text.replace("policy.wasm.zst:", "notes:"));
    check_refused(
        &[&other],
        "package",
        "PackageIncomplete",
        "there is neither policy.wasm.zst, policy.wasm nor policy.json; there is notes",
    );
}

#[test]
fn a_module_of_another_toolchain_gets_its_manifest_when_it_is_packed() {
    let folder = Folder::new();
    let core = folder.file("core.wasm", b"\0asm\x01\0\0\0");
    let manifest = folder.file(
        "manifest.json",
        r#"{"name": "c", "version": "1", "hook": "rank"}"#,
    );
    let ran = plimsoll(&["policy", "pack", &core, "--manifest", &manifest]);
    assert_eq!(ran.code, 1, "it exports nothing");
    assert!(
        ran.error().contains("the module cannot be encoded"),
        "{ran:?}"
    );
    let wrong = folder.file("wrong.json", r#"{"name": "c"}"#);
    let ran = plimsoll(&["policy", "pack", &core, "--manifest", &wrong]);
    assert!(
        ran.error()
            .contains("the module's manifest cannot be read: missing field"),
        "{ran:?}"
    );
}

/// A module that is shipped, with a custom section that makes it larger than a controller takes.
fn large_module() -> Vec<u8> {
    let shipped = plimsoll_policies::shipped("list-price").expect("it is shipped");
    let mut module = shipped.bytes.to_vec();
    // Section 0; 2 MiB as a number of four bytes; its name, "a"; and what is left.
    module.extend_from_slice(&[0, 0x80, 0x80, 0x80, 0x01, 1, b'a']);
    // Something that does not compress a hundred times over, which no module does.
    let mut state = 1_u32;
    module.extend((2..2 << 20).map(|_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.to_le_bytes()[3]
    }));
    module
}

#[test]
fn shares_of_the_limits_that_a_whole_region_takes_are_shown_and_no_answer_there_is_refused() {
    let question = |out: &str| {
        let mut lines = out.lines();
        let line = lines.find(|line| line.contains(" offerings of us-east-1: "));
        line.unwrap_or_default().to_owned()
    };
    let checked = plimsoll(&["policy", "check", "spot-diversified"]).ok();
    let benched = plimsoll(&["policy", "bench", "spot-diversified", "--calls", "1"]).ok();
    benched.prints("share of a controller's limits used:\n");
    for out in [&checked.out, &benched.out] {
        let line = question(out);
        for part in [" % of ", " fuel, ", " MiB, ", " of 100 ms CPU time"] {
            assert!(line.contains(part), "{out}");
        }
    }
    let folder = Folder::new();
    let hostile = folder.file("hostile.wasm", plimsoll_guests::HOSTILE);
    let ran = plimsoll(&["policy", "check", &hostile, "behaviour=loop"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    let told = ran.error();
    assert!(
        told.contains("us-east-1: fuel: the module used up its fuel, all of the ")
            && told.ends_with(" rows; its manifest may ask for more with fuel_per_row"),
        "{told}"
    );
}

#[test]
fn a_large_module_is_used_by_commands_and_by_a_controller_only_where_that_is_asked_for() {
    let folder = Folder::new();
    let file = folder.file("large.wasm", large_module());
    let check = |flags: &[&str]| plimsoll(&[&["policy", "check", &file], flags].concat());
    let refused = check(&[]);
    assert_eq!(refused.code, 1);
    assert!(
        refused.error().contains("TooLarge at size: the module has"),
        "{refused:?}"
    );
    assert!(
        refused
            .err
            .contains("hint: `--large-modules` lets modules of up to 32 MiB in"),
        "{refused:?}"
    );
    check(&["--large-modules"]).ok();
    let shop = folder.file("shop.yaml", snapshot(&pod("web", "1", "1Gi", "")));
    let plan = |policy: &str| {
        let policy = format!("rank={policy}");
        plimsoll(&["plan", &shop, "--policy", &policy]).ok()
    };
    assert_eq!(plan(&file).out, plan("list-price").out);
    let packed = argument(&folder.path("large.yaml"));
    let ran = plimsoll(&["policy", "pack", &file, "-O", &packed]).ok();
    ran.prints(&format!("\nwritten to {packed}\n"));
    assert_eq!(plan(&packed).out, plan("list-price").out);
}

#[test]
fn a_module_that_is_packed_without_an_output_is_not_written_and_that_is_said() {
    let folder = Folder::new();
    let ran = in_folder(&folder.path(""), &["policy", "pack", "list-price"]).ok();
    ran.prints("rank-list-price  packed ");
    ran.prints(
        "\nnothing is written: -O FILE writes the ConfigMaps to a file, -o yaml prints them",
    );
    let left = std::fs::read_dir(folder.path("")).expect("a folder");
    assert_eq!(left.count(), 0);
}

#[test]
fn a_policy_that_is_named_without_its_hook_is_asked_back_with_it() {
    let folder = Folder::new();
    let shop = folder.file("shop.yaml", snapshot(&pod("web", "1", "1Gi", "")));
    let ran = plimsoll(&["plan", &shop, "--policy", "list-price"]);
    assert_eq!(ran.code, 1);
    let error = ran.error();
    assert!(
        error.ends_with("; did you mean rank=list-price?"),
        "{error}"
    );
}
