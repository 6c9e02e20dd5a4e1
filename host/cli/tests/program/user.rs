//! Runs the program as a user does, and files for it to read.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// Output and exit status of a run.
#[derive(Debug)]
pub(crate) struct Ran {
    /// The exit code.
    pub(crate) code: i32,
    /// Standard output.
    pub(crate) out: String,
    /// Standard error.
    pub(crate) err: String,
}

impl Ran {
    /// The error told, in one line.
    pub(crate) fn error(&self) -> &str {
        let lines: Vec<&str> = self
            .err
            .lines()
            .filter(|line| line.starts_with("error: "))
            .collect();
        assert_eq!(lines.len(), 1, "one error is told: {self:?}");
        &lines[0]["error: ".len()..]
    }

    /// Fails, with all that was printed, unless a text is part of it.
    #[track_caller]
    pub(crate) fn prints(&self, text: &str) {
        assert!(self.out.contains(text), "{text:?} in {}", self.out);
    }

    /// Fails unless the command did what it was asked.
    pub(crate) fn ok(self) -> Self {
        assert_eq!(self.code, 0, "{}{}", self.out, self.err);
        self
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("output is text");
        Self {
            code: output.status.code().expect("the program was not killed"),
            out: text(output.stdout),
            err: text(output.stderr),
        }
    }
}

/// The program with arguments.
pub(crate) fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_plimsoll"));
    command.args(arguments).stdin(Stdio::null());
    command
}

/// Runs the program.
pub(crate) fn plimsoll(arguments: &[&str]) -> Ran {
    command(arguments)
        .output()
        .expect("the program starts")
        .into()
}

/// Runs the program with a text on its standard input, as far as it wants to read it.
pub(crate) fn fed(arguments: &[&str], mut text: impl Read + Send) -> Ran {
    let mut child = command(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut input = child.stdin.take().expect("it is a pipe");
    std::thread::scope(|scope| {
        scope.spawn(move || {
            // The program may stop reading at any time.
            let _ = std::io::copy(&mut text, &mut input);
        });
        child.wait_with_output().expect("the program ends").into()
    })
}

/// A folder that goes away with the test.
pub(crate) struct Folder(TempDir);

impl Folder {
    /// An empty one.
    pub(crate) fn new() -> Self {
        Self(TempDir::new().expect("the folder can be made"))
    }

    /// The path of a file in it.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file and gives its path as an argument.
    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        std::fs::write(&path, content).expect("the file can be written");
        argument(&path)
    }

    /// Names of the files in it.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).expect("the folder is there");
        let mut names: Vec<String> = entries
            .map(|entry| {
                entry
                    .expect("it can be read")
                    .file_name()
                    .to_string_lossy()
                    .into_owned()
            })
            .collect();
        names.sort();
        names
    }
}

/// A path as an argument.
pub(crate) fn argument(path: &Path) -> String {
    path.to_str().expect("the path is text").to_owned()
}

/// A snapshot with two instances to buy, some objects (YAML documents), and nothing to remark.
pub(crate) fn snapshot(objects: &str) -> String {
    format!("{SHOP}{objects}")
}

/// A pool, two types in two zones, and an instant.
pub(crate) const SHOP: &str = include_str!("data/shop.yaml");

/// A waiting pod that asks for cpu and memory; `more` is the rest of its specification.
pub(crate) fn pod(name: &str, cpu: &str, memory: &str, more: &str) -> String {
    format!(
        "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: {name}, namespace: shop, labels: {{app: {name}}}}}\nspec:\n  \
         containers: [{{name: main, resources: {{requests: {{cpu: {cpu}, memory: {memory}}}}}}}]\n{more}"
    )
}
