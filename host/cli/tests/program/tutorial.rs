//! The tutorial does what it says: every command in it, in its order, with the policy it shows.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::user::{Folder, Ran};

const TUTORIAL: &str = include_str!("../../../../policies/README.md");

/// Fenced blocks, as the word behind the fence and the lines.
fn blocks() -> Vec<(&'static str, &'static str)> {
    let parts: Vec<&str> = TUTORIAL.split("```").collect();
    let inside = parts.iter().skip(1).step_by(2);
    inside
        .map(|block| block.split_once('\n').expect("a fence ends its line"))
        .collect()
}

#[test]
fn every_command_of_the_tutorial_works_in_its_order() {
    let folder = Folder::new();
    let mut here = folder.path("");
    let program = Path::new(env!("CARGO_BIN_EXE_plimsoll"));
    let found = program
        .parent()
        .expect("it lies in a folder")
        .display()
        .to_string();
    let path = std::env::var("PATH").expect("there are programs");
    let mut ran_commands = 0;
    for (kind, text) in blocks() {
        let file = match kind {
            "rust" => Some("src/lib.rs"),
            "yaml" => Some("suite.yaml"),
            _ => None,
        };
        if let Some(file) = file {
            std::fs::write(here.join(file), text).expect("the crate is there");
            continue;
        }
        for line in text.lines().filter_map(|line| line.strip_prefix("$ ")) {
            if let Some(into) = line.strip_prefix("cd ") {
                here = here.join(into);
                continue;
            }
            let ran: Ran = Command::new("bash")
                .args(["-c", line])
                .current_dir(&here)
                .env("PATH", format!("{found}:{path}"))
                .env(
                    "CARGO_TARGET_DIR",
                    Path::new(env!("CARGO_TARGET_TMPDIR")).join("policies"),
                )
                .env("CARGO_NET_OFFLINE", "true")
                .stdin(Stdio::null())
                .output()
                .expect("a shell starts")
                .into();
            assert_eq!(ran.code, 0, "{line}: {}{}", ran.out, ran.err);
            ran_commands += 1;
        }
    }
    assert_eq!(ran_commands, 21, "the tutorial's commands are found");
}
