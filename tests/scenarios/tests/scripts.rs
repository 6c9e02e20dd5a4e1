//! Every script plays as expected and leaves the transcript that is kept beside it.
//!
//! With `PLIMSOLL_WRITE_TRANSCRIPTS` set, transcripts are written instead of compared.

use std::fs;
use std::path::{Path, PathBuf};

use plimsoll_scenarios::{play, read};

fn scripts() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts");
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)
        .expect("the folder of scripts")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|end| end == "txt"))
        .collect();
    paths.sort();
    paths
}

#[test]
fn scripts_play_as_their_transcripts_say() {
    let mut failures = Vec::new();
    for path in scripts() {
        let text = fs::read_to_string(&path).expect("a script");
        let script = read(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let transcript = match play(&script) {
            Ok(transcript) => format!("{}\n\n{transcript}", script.title),
            Err(failure) => {
                failures.push(failure.to_string());
                continue;
            }
        };
        let kept = path.with_extension("out");
        if std::env::var_os("PLIMSOLL_WRITE_TRANSCRIPTS").is_some() {
            fs::write(&kept, transcript).expect("a transcript written");
        } else if fs::read_to_string(&kept).unwrap_or_default() != transcript {
            failures.push(format!("{} differs:\n{transcript}", kept.display()));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

#[test]
fn there_are_scripts() {
    assert!(scripts().len() >= 8);
}
