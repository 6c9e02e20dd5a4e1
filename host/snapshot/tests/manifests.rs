//! Manifests that must be taken, and manifests that must be refused or remarked on, each with its reason.
//!
//! A small set of our own stands beside this file; a large one is read where the folder of data files has it as a neighbour.

use std::path::PathBuf;

use plimsoll_snapshot::{Limits, read};

/// A section that spares the reader a region's catalogue.
const SECTION: &str = "plimsoll: {time: 2026-11-21T09:30:00Z, catalogue: {instanceTypes: [{name: m, \
    capacity: {cpu: 1, memory: 1Gi}, offerings: [{zone: a, price: 1}]}]}}\n---\n";

/// Messages about one document: the refusal, or problems and advice; without the object's place.
fn said(document: &str) -> Vec<String> {
    match read(
        format!("{SECTION}{document}").as_bytes(),
        &Limits::default(),
    ) {
        Err(error) => vec![format!("refused: {error}")],
        Ok(loaded) => {
            let notes = loaded.notes.iter();
            let told = notes.filter(|note| note.is_wrong() || note.is_advice());
            told.map(|note| {
                if note.is_advice() {
                    format!("advice: {note}")
                } else {
                    format!("warning: {note}")
                }
            })
            .collect()
        }
    }
}

/// Documents of a file with the comments that stand before them.
fn documents(text: &str) -> Vec<&str> {
    text.split("\n---\n")
        .filter(|document| document.contains("kind:"))
        .collect()
}

#[test]
fn each_manifest_is_answered_as_it_says() {
    for document in documents(include_str!("data/manifests.yaml")) {
        let wanted = document
            .lines()
            .filter_map(|line| line.strip_prefix("# SAYS "));
        assert_eq!(said(document), wanted.collect::<Vec<_>>(), "{document}");
    }
}

/// The folder of manifests beside the folder of data files, where there is one.
fn folder(name: &str) -> Option<PathBuf> {
    let data = std::env::var_os("PLIMSOLL_DATA")?;
    let folder = PathBuf::from(data)
        .join("../reference/manifests")
        .join(name);
    folder.is_dir().then_some(folder)
}

fn files(name: &str) -> Vec<(String, String)> {
    let mut files: Vec<_> = folder(name)
        .into_iter()
        .flat_map(|folder| std::fs::read_dir(folder).expect("it is there"))
        .map(|entry| entry.expect("it can be read").path())
        .map(|path| {
            (
                path.display().to_string(),
                std::fs::read_to_string(&path).expect("it is text"),
            )
        })
        .collect();
    files.sort();
    files
}

/// Values for a chart are no objects.
fn is_objects(path: &str) -> bool {
    !path.ends_with("helm-values.yaml")
}

#[test]
fn every_valid_manifest_is_taken() {
    for (path, text) in files("valid").iter().filter(|(path, _)| is_objects(path)) {
        for document in documents(text) {
            let told = said(document);
            if document.contains("{name: kubelet-expressions}") {
                continue; // Behind a gate that is off by default: expressions are not served.
            }
            let wrong: Vec<_> = told
                .iter()
                .filter(|told| !told.starts_with("advice: "))
                .collect();
            assert!(wrong.is_empty(), "{path}: {wrong:#?}\n{document}");
        }
    }
}

/// Cases that one object alone does not show: they need other objects, a server's version, or what a cloud account has.
const NOT_OF_ONE_OBJECT: [&str; 14] = [
    "RT-07", "RT-29", "RT-30", "RT-33", "RT-33b", "RT-34", "RT-35", "WN-03", "WN-10", "WN-12",
    "WN-14", "WN-17", "WN-18", "WN-18b",
];

#[test]
fn every_invalid_manifest_is_refused_or_remarked_on() {
    let mut missed = Vec::new();
    for (path, text) in files("invalid") {
        if !is_objects(&path) || path.ends_with("updates.yaml") {
            continue;
        }
        for document in documents(&text) {
            let Some(case) = document
                .lines()
                .find_map(|line| line.strip_prefix("# CASE "))
            else {
                continue;
            };
            let id = case.split(' ').next().unwrap_or_default();
            let is_refused = ["LAYER schema", "LAYER cel", "LAYER unserved"]
                .iter()
                .any(|layer| case.contains(layer));
            let told = said(document);
            let is_met = if is_refused {
                told.iter().any(|told| told.starts_with("refused: "))
            } else {
                !told.is_empty()
            };
            if !is_met && !NOT_OF_ONE_OBJECT.contains(&id) {
                missed.push(format!("{case}: {told:?}"));
            }
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}
