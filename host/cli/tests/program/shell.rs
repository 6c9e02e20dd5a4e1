//! Manual pages, completions, progress and digests: what surrounds the answers.

use std::process::Command;

use crate::user::{Folder, argument, fed, plimsoll, pod, snapshot};

/// Every command that there is.
const COMMANDS: [&str; 11] = [
    "plan",
    "simulate",
    "explain",
    "policy",
    "replay",
    "catalogue",
    "snapshot",
    "generate",
    "schema",
    "completions",
    "man",
];

#[test]
fn every_command_has_a_manual_page() {
    let folder = Folder::new();
    let pages = argument(&folder.path("man1"));
    plimsoll(&["man", &pages]).ok();
    for name in COMMANDS {
        let page = folder.path(&format!("man1/plimsoll-{name}.1"));
        let text = std::fs::read_to_string(&page).expect("the page is there");
        assert!(text.contains("SYNOPSIS"), "{name}");
    }
    let check = std::fs::read_to_string(folder.path("man1/plimsoll-snapshot-check.1"));
    assert!(
        check
            .expect("inner commands have pages, too")
            .contains("fails on objects that an API server would refuse")
    );
}

#[test]
fn completions_of_a_shell_are_taken_by_that_shell() {
    let folder = Folder::new();
    let script = plimsoll(&["completions", "bash"]).ok().out;
    for name in COMMANDS {
        assert!(script.contains(name), "{name}");
    }
    let file = folder.file("plimsoll.bash", script);
    let checked = Command::new("bash").args(["-n", &file]).status();
    assert!(checked.expect("bash starts").success());
    for shell in ["zsh", "fish", "elvish", "powershell"] {
        assert!(
            !plimsoll(&["completions", shell]).ok().out.is_empty(),
            "{shell}"
        );
    }
}

#[test]
fn a_plan_names_its_input_by_digest() {
    let text = snapshot(&pod("web", "1", "1Gi", ""));
    let folder = Folder::new();
    let file = folder.file("cluster.yaml", &text);
    let summed = Command::new("sha256sum")
        .arg(&file)
        .output()
        .expect("it starts")
        .stdout;
    let summed = String::from_utf8(summed).expect("it is text");
    let digest = summed
        .split_whitespace()
        .next()
        .expect("a digest stands first");
    let ran = plimsoll(&["plan", &file]).ok();
    assert!(
        ran.out.ends_with(&format!("input sha256 {digest}\n")),
        "{}",
        ran.out
    );
    let ran = fed(&["plan", "-", "-o", "json"], text.as_bytes()).ok();
    let plan: serde_json::Value = serde_json::from_str(&ran.out).expect("it is JSON");
    assert_eq!(plan["inputSha256"], digest);
    assert_eq!(plan["policy"], "list-price");
}

#[test]
fn progress_is_shown_on_terminals_only() {
    let folder = Folder::new();
    let file = folder.file("cluster.yaml", snapshot(&pod("web", "1", "1Gi", "")));
    let ran = plimsoll(&["simulate", &file]).ok();
    assert_eq!(ran.err, "", "standard error is no terminal here");
}

#[test]
fn wrong_usage_has_its_own_exit_code() {
    for arguments in [
        &["plan"][..],
        &["catalogue", "--from", "a", "--region", "b"],
        &["explain", "node", "a", "b", "c"],
    ] {
        assert_eq!(plimsoll(arguments).code, 2, "{arguments:?}");
    }
}

#[test]
fn help_names_all_that_explain_and_snapshot_do() {
    for (arguments, named) in [
        (
            &["explain", "--help"][..],
            &[
                "a pod (",
                "a node or NodeClaim (",
                "a NodeClaim of the plan (",
                "a NodePool (",
            ][..],
        ),
        (
            &["snapshot", "--help"],
            &["record", "show", "check", "convert"],
        ),
    ] {
        let help = plimsoll(arguments).ok().out;
        let lines = help.lines().map(str::trim);
        let help = lines.collect::<Vec<_>>().join(" ");
        for word in named {
            assert!(help.contains(word), "{word} in {help}");
        }
    }
}
