//! Builds a policy crate for WebAssembly: the profile and the link flags that policies need, which a crate cannot set
//! for itself.
//!
//! Cargo runs in a target directory of its own and without the environment of an outer build, so that neither its
//! flags nor a linter's wrapper reach the guest. Nothing is fetched: the workspace's lock decides.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use thiserror::Error;

use crate::EncodeError;

/// What policies are compiled for.
pub const TARGET: &str = "wasm32-unknown-unknown";

/// What the inner build may know of the outside.
const ENVIRONMENT: [&str; 9] = [
    "PATH",
    "HOME",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "TMPDIR",
    "USERPROFILE",
    "SYSTEMROOT",
    "LANG",
];

/// A small stack, because an instance clears it on each call; memory from the start for a question of some 10,000 rows,
/// because growing costs system calls on the way there and back; and a declared maximum.
const LINK: [&str; 3] = [
    "-zstack-size=65536",
    "--initial-memory=786432",
    "--max-memory=134217728",
];

/// The release profile of policies: quick, stripped and without unwinding. A policy stays far below 100 KB all the same.
const PROFILE: [(&str, &str); 5] = [
    ("OPT_LEVEL", "3"),
    ("LTO", "true"),
    ("CODEGEN_UNITS", "1"),
    ("PANIC", "abort"),
    ("STRIP", "true"),
];

/// How large a function may be that the compiler copies into its callers: less than it would by itself, because the code
/// that reads arguments is called once and would only be there several times.
const INLINE: &str = "-Cllvm-args=-inline-threshold=75";

/// A policy crate that cannot be built.
#[derive(Debug, Error)]
pub enum BuildError {
    /// The compiler has no WebAssembly target.
    #[error("policies need the target {TARGET}; hint: rustup target add {TARGET}")]
    NoTarget,
    /// A tool is not there.
    #[error("{program} cannot be started")]
    Tool {
        /// Which one.
        program: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The compiler refused the crate; its own words follow.
    #[error("policy {package} does not build:\n{messages}")]
    Compiler {
        /// The crate.
        package: String,
        /// What the compiler says.
        messages: String,
    },
    /// The build left no module.
    #[error("the build of policy {package} left no {}", file.display())]
    NoModule {
        /// The crate.
        package: String,
        /// Where it should be.
        file: PathBuf,
    },
    /// The module is no policy.
    #[error("policy {package}: {source}")]
    Encode {
        /// The crate.
        package: String,
        /// Why.
        source: EncodeError,
    },
}

/// Builds the policy crate `package` of the workspace at `root` and makes it a component.
///
/// The library becomes a dynamic one only here: as an ordinary one it is smaller, and its tests run natively.
pub fn build(root: &Path, package: &str, target_dir: &Path) -> Result<Vec<u8>, BuildError> {
    check_target()?;
    let program = env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let mut cargo = clean(&program);
    cargo.current_dir(root).args([
        "rustc",
        "--release",
        "--offline",
        "--locked",
        "--lib",
        "--crate-type",
        "cdylib",
    ]);
    cargo
        .args(["--package", package, "--target", TARGET, "--target-dir"])
        .arg(target_dir);
    for (key, value) in PROFILE {
        cargo.env(format!("CARGO_PROFILE_RELEASE_{key}"), value);
    }
    cargo.args(["--", INLINE]);
    for flag in LINK {
        cargo.arg(format!("-Clink-arg={flag}"));
    }
    let output = cargo
        .output()
        .map_err(|source| BuildError::Tool { program, source })?;
    let package = package.to_owned();
    if !output.status.success() {
        let messages = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(BuildError::Compiler { package, messages });
    }
    let file = target_dir
        .join(TARGET)
        .join("release")
        .join(format!("{}.wasm", package.replace('-', "_")));
    match fs::read(&file) {
        Ok(core) => crate::encode(&core).map_err(|source| BuildError::Encode { package, source }),
        Err(_) => Err(BuildError::NoModule { package, file }),
    }
}

/// Fails early, with the remedy, where the compiler has no WebAssembly target.
fn check_target() -> Result<(), BuildError> {
    let program = env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let asked = clean(&program)
        .args(["--print", "target-libdir", "--target", TARGET])
        .output();
    let output = asked.map_err(|source| BuildError::Tool { program, source })?;
    let folder = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
    if output.status.success() && folder.is_dir() {
        Ok(())
    } else {
        Err(BuildError::NoTarget)
    }
}

/// A command that knows nothing of an outer build.
fn clean(program: &str) -> Command {
    let mut command = Command::new(program);
    command.env_clear();
    for name in ENVIRONMENT {
        if let Some(value) = env::var_os(name) {
            command.env(name, value);
        }
    }
    command
}
