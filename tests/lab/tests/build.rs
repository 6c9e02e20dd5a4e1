//! The build of the lab's programs tells someone who has no Go toolchain what to do.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Programs that the scripts call, Go apart.
const TOOLS: [&str; 14] = [
    "bash",
    "cat",
    "cut",
    "dirname",
    "env",
    "find",
    "flock",
    "mkdir",
    "mktemp",
    "nice",
    "sha256sum",
    "sort",
    "uname",
    "xargs",
];

fn find(tool: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(tool))
        .find(|place| place.is_file())
}

#[test]
fn a_build_without_go_says_what_to_install() {
    let folder = tempfile::tempdir().expect("a folder");
    for tool in TOOLS {
        let place = find(tool).unwrap_or_else(|| panic!("no {tool} in PATH"));
        symlink(place, folder.path().join(tool)).expect("a link");
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("build.sh");
    let output = Command::new(script)
        .env("PATH", folder.path())
        .env("PLIMSOLL_CACHE", folder.path().join("cache"))
        .output()
        .expect("the script starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(
        said.contains("needs the Go toolchain") && said.contains("hint: install"),
        "{said}"
    );
    assert!(
        output.stdout.is_empty(),
        "nothing is offered that is not there"
    );
}
