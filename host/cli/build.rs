//! The commit that the program is built of, as its log lines name it: `PLIMSOLL_COMMIT`, else the commit of the checkout, with `-dirty` behind it where
//! files differ from it, as Go and with it Karpenter write it. Sources without a checkout leave it to the program's version.
//!
//! Builds for development are of files that are being changed. They are not made again for each commit, and are always marked.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=PLIMSOLL_COMMIT");
    if let Some(commit) = commit() {
        println!("cargo::rustc-env=PLIMSOLL_COMMIT={commit}");
    }
}

fn commit() -> Option<String> {
    let given = env::var("PLIMSOLL_COMMIT").ok();
    if let Some(given) = given.filter(|text| !text.is_empty()) {
        return Some(given);
    }
    let hash = git(&["rev-parse", "--short=7", "HEAD"])?;
    if env::var("PROFILE").is_ok_and(|profile| profile != "release") {
        return Some(format!("{hash}-dirty"));
    }
    // A path that never exists, so that each build asks git: files of any crate may have been edited since the last one.
    println!("cargo::rerun-if-changed=never-there");
    let changed = git(&["status", "--porcelain", "--untracked-files=no"])?;
    Some(if changed.is_empty() {
        hash
    } else {
        format!("{hash}-dirty")
    })
}

/// What git says in this folder; `None` where there is no git, or no checkout.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
