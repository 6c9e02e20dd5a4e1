//! `simulate` and `generate`: the same bytes every time, whatever runs beside, and a result that names its input.

use std::fs;
use std::path::Path;

use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

use crate::user::plimsoll;

/// A small recording in a folder of its own.
fn recording() -> (TempDir, String) {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("recording.json");
    let path = path.to_str().expect("a path of text").to_owned();
    plimsoll(&[
        "generate", "--seed", "3", "--scale", "4", "--hours", "1", "-O", &path,
    ])
    .ok();
    (folder, path)
}

/// What `simulate` prints as JSON, and the report that it writes.
fn simulated(input: &str, folder: &Path, threads: &str) -> (String, String) {
    let report = folder.join("report.html");
    let report_name = report.to_str().expect("a path of text");
    let policies = ["--compare", "compatible", "--compare", "fixed:m5.8xlarge"];
    let shown = ["--threads", threads, "-o", "json", "--report", report_name];
    let arguments = [&["simulate", input][..], &policies, &shown].concat();
    let ran = plimsoll(&arguments).ok();
    let report = fs::read_to_string(report).expect("the report is there");
    (ran.out, report)
}

#[test]
fn results_and_reports_are_the_same_bytes_whatever_the_number_of_threads() {
    let (folder, input) = recording();
    let (one, one_report) = simulated(&input, folder.path(), "1");
    let (four, four_report) = simulated(&input, folder.path(), "4");
    assert!(one == four, "cards differ");
    assert!(one_report == four_report, "reports differ");
    let names = ["list-price", "compatible", "fixed:m5.8xlarge"];
    let places = names.map(|name| one.find(name).expect("every policy is shown"));
    assert!(places.is_sorted(), "results come in the order asked for");
}

#[test]
fn a_result_names_its_input_by_digest() {
    let (folder, input) = recording();
    let digest = Sha256::digest(fs::read(&input).expect("the recording"));
    let digest = format!("{digest:x}");
    let (out, report) = simulated(&input, folder.path(), "2");
    assert!(out.contains(&digest) && report.contains(&digest));
}

#[test]
fn a_seed_gives_one_recording_and_another_another() {
    let generated = |seed| plimsoll(&["generate", "--seed", seed, "--scale", "2", "--hours", "2"]);
    assert_eq!(generated("5").ok().out, generated("5").ok().out);
    assert_ne!(generated("5").ok().out, generated("6").ok().out);
}
