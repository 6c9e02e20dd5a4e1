//! Builds a policy crate for WebAssembly: the profile and the link flags that policies need, which a crate cannot set
//! for itself.
//!
//! Cargo runs in a target directory of its own and without the environment of an outer build, so that neither its
//! flags nor a linter's wrapper reach the guest. What it says is the compiler's own word and is passed on as it is; a hint is added
//! where the cause is the target that we ask for.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs};

use thiserror::Error;

use crate::EncodeError;

/// Target that policies are compiled for.
pub const TARGET: &str = "wasm32-unknown-unknown";

/// Variables of the outer environment that the inner build sees: where programs and folders are, and how a registry is reached.
const ENVIRONMENT: [&str; 20] = [
    "PATH",
    "HOME",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "TMPDIR",
    "USERPROFILE",
    "SYSTEMROOT",
    "LANG",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "GIT_SSL_CAINFO",
];

/// Beginnings of the names of Cargo's own settings for networks and registries, which the inner build sees as well: what the outer
/// build could fetch, the inner one can, and where Cargo is told to stay offline, both do.
const NETWORK: [&str; 5] = [
    "CARGO_HTTP_",
    "CARGO_NET_",
    "CARGO_REGISTRY_",
    "CARGO_REGISTRIES_",
    "CARGO_SOURCE_",
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

/// Words of cargo and the compiler where the cause is not the author's code, and what that means for a policy.
const FOREIGN: [(&str, &str); 5] = [
    (
        "failed to get `plimsoll-sdk`",
        "the folder that Cargo.toml takes plimsoll-sdk from is not there; it is the folder sdk in a checkout of Plimsoll",
    ),
    (
        "plimsoll-sdk requires rustc",
        "the SDK wants a newer compiler; rust-toolchain.toml beside Cargo.toml names the one that it was tested with",
    ),
    (
        "targets are not supported",
        "a dependency wants an operating system, most often for randomness; a policy has none: leave it out, or switch off its default features",
    ),
    (
        "could not compile `getrandom`",
        "a dependency wants randomness; a policy has none but the seed that it is given: leave it out, or switch off its default features",
    ),
    (
        "no library targets found",
        "a policy is a library: its code stands in src/lib.rs",
    ),
];

/// A policy crate that cannot be built.
#[derive(Debug, Error)]
pub enum BuildError {
    /// The compiler has no WebAssembly target.
    #[error("policies need the target {TARGET}; hint: rustup target add {TARGET}")]
    NoTarget,
    /// A tool is not there.
    #[error("{program} cannot be started")]
    Tool {
        /// The program that was called.
        program: String,
        /// The system's error.
        #[source]
        source: std::io::Error,
    },
    /// There is no crate.
    #[error("{} is not there; expected the folder of a policy's crate", file.display())]
    NoCrate {
        /// Path of the manifest.
        file: PathBuf,
    },
    /// The compiler refused the crate; its own words follow.
    #[error("policy {package} does not build:\n{messages}")]
    Compiler {
        /// The crate.
        package: String,
        /// The compiler's messages.
        messages: String,
    },
    /// The build left no module.
    #[error("the build of policy {package} left no module")]
    NoModule {
        /// The crate.
        package: String,
    },
    /// The module is no policy.
    #[error("policy {package} is no module that a host takes")]
    Encode {
        /// The crate.
        package: String,
        /// The encoder's error.
        source: EncodeError,
    },
}

impl BuildError {
    /// The remedy, where the cause is the target or the interface and not the author's code.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Compiler { messages, .. } => {
                let known = FOREIGN.iter().find(|(said, _)| messages.contains(said));
                known.map(|(_, hint)| *hint)
            }
            Self::Encode { source, .. } => source.hint(),
            Self::NoTarget | Self::Tool { .. } | Self::NoCrate { .. } | Self::NoModule { .. } => {
                None
            }
        }
    }
}

/// A policy that was built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Built {
    /// The component.
    pub component: Vec<u8>,
    /// The compiler's messages of a build that went well, warnings for instance.
    pub messages: String,
}

/// The lock file that decides versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sources {
    /// The workspace's, as it is: a build that would change it fails.
    Workspace,
    /// The crate's own, written or mended where needed.
    Own,
}

/// Builds the policy crate `package` of the workspace at `root` and makes it a component.
///
/// The workspace's lock file decides versions. Cargo fetches what is not in its cache, unless it is told to stay offline: a policy has
/// dependencies of its own target, which no build of the host has fetched before.
///
/// The library becomes a dynamic one only here: as an ordinary one it is smaller, and its tests run natively.
pub fn build(root: &Path, package: &str, target_dir: &Path) -> Result<Vec<u8>, BuildError> {
    let mut cargo = cargo(root, target_dir, Sources::Workspace, Colour::Never);
    cargo.args(["--package", package]);
    Ok(finish(cargo, package)?.component)
}

/// Colours of the compiler's messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// For a terminal.
    Always,
    /// For a file or a program.
    Never,
}

/// Builds the policy crate in a folder and makes it a component. Cargo fetches what it needs, unless `CARGO_NET_OFFLINE` forbids it.
pub fn build_folder(folder: &Path, target_dir: &Path, colour: Colour) -> Result<Built, BuildError> {
    let file = folder.join("Cargo.toml");
    if !file.is_file() {
        return Err(BuildError::NoCrate { file });
    }
    let name = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    let name = name.file_name().unwrap_or_default().to_string_lossy();
    finish(cargo(folder, target_dir, Sources::Own, colour), &name)
}

/// The command that compiles a crate; which one is for the caller to add.
fn cargo(folder: &Path, target_dir: &Path, sources: Sources, colour: Colour) -> Command {
    let program = env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let mut cargo = clean(&program);
    cargo
        .current_dir(folder)
        .args(["rustc", "--release", "--quiet"]);
    if sources == Sources::Workspace {
        cargo.arg("--locked");
    }
    cargo.args([
        "--color",
        if colour == Colour::Always {
            "always"
        } else {
            "never"
        },
    ]);
    cargo.args(["--message-format", "json-render-diagnostics"]);
    cargo.args(["--lib", "--crate-type", "cdylib", "--target", TARGET]);
    cargo.arg("--target-dir").arg(target_dir);
    for (key, value) in PROFILE {
        cargo.env(format!("CARGO_PROFILE_RELEASE_{key}"), value);
    }
    cargo
}

/// Runs the command and encodes the module it leaves.
fn finish(mut cargo: Command, package: &str) -> Result<Built, BuildError> {
    check_target(cargo.get_current_dir())?;
    cargo.args(["--", INLINE]);
    for flag in LINK {
        cargo.arg(format!("-Clink-arg={flag}"));
    }
    let output = run(&mut cargo)?;
    let package = package.to_owned();
    let messages = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() {
        return Err(BuildError::Compiler { package, messages });
    }
    let module = module_file(&output.stdout).and_then(|file| fs::read(file).ok());
    let Some(core) = module else {
        return Err(BuildError::NoModule { package });
    };
    match crate::encode(&core) {
        Ok(component) => Ok(Built {
            component,
            messages,
        }),
        Err(source) => Err(BuildError::Encode { package, source }),
    }
}

/// The last WebAssembly file that cargo reports: the crate itself, which comes after what it depends on.
///
/// Reports are JSON, a line each; the name of a file is looked for as it is quoted there, which needs no reader of JSON.
fn module_file(reports: &[u8]) -> Option<PathBuf> {
    let reports = String::from_utf8_lossy(reports);
    let quoted = reports.split('"').map(Path::new);
    let mut modules = quoted.filter(|text| text.extension().is_some_and(|known| known == "wasm"));
    modules.next_back().map(Path::to_owned)
}

/// Fails early, with the remedy, where the compiler has no WebAssembly target.
fn check_target(folder: Option<&Path>) -> Result<(), BuildError> {
    let mut rustc = clean(&env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned()));
    rustc.args(["--print", "target-libdir", "--target", TARGET]);
    if let Some(folder) = folder {
        rustc.current_dir(folder);
    }
    let output = run(&mut rustc)?;
    let folder = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
    if output.status.success() && folder.is_dir() {
        Ok(())
    } else {
        Err(BuildError::NoTarget)
    }
}

fn run(command: &mut Command) -> Result<Output, BuildError> {
    command.output().map_err(|source| BuildError::Tool {
        program: command.get_program().to_string_lossy().into_owned(),
        source,
    })
}

/// A command that knows nothing of an outer build.
fn clean(program: &str) -> Command {
    let mut command = Command::new(program);
    command.env_clear();
    command.envs(env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_passed_on)));
    command
}

/// An inner build sees the variable of this name.
fn is_passed_on(name: &str) -> bool {
    ENVIRONMENT.contains(&name) || NETWORK.iter().any(|prefix| name.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_module_is_the_last_wasm_file_reported() {
        let messages = br#"{"reason":"compiler-artifact","filenames":["/t/libdep.rlib"]}
{"reason":"compiler-artifact","filenames":["/t/a.wasm"]}
no message
{"reason":"build-finished","success":true}
"#;
        assert_eq!(module_file(messages), Some(PathBuf::from("/t/a.wasm")));
        assert_eq!(module_file(b""), None);
    }

    #[test]
    fn an_inner_build_reaches_what_the_outer_one_reached() {
        for name in [
            "CARGO_HOME",
            "CARGO_NET_OFFLINE",
            "CARGO_REGISTRIES_INNER_INDEX",
            "CARGO_SOURCE_CRATES_IO_REPLACE_WITH",
            "HTTPS_PROXY",
            "SSL_CERT_FILE",
        ] {
            assert!(is_passed_on(name), "{name}");
        }
        for name in [
            "RUSTFLAGS",
            "RUSTC_WRAPPER",
            "CARGO_ENCODED_RUSTFLAGS",
            "CARGO_TARGET_DIR",
        ] {
            assert!(!is_passed_on(name), "{name}");
        }
    }

    #[test]
    fn a_compiler_that_misses_an_operating_system_gets_a_hint() {
        let error = |messages: &str| BuildError::Compiler {
            package: "p".to_owned(),
            messages: messages.to_owned(),
        };
        let foreign =
            error("error: The wasm32-unknown-unknown targets are not supported by default");
        assert!(
            foreign
                .hint()
                .is_some_and(|hint| hint.contains("randomness"))
        );
        assert_eq!(error("error[E0425]: cannot find value `x`").hint(), None);
    }

    #[test]
    fn a_folder_without_a_crate_is_named() {
        let error = build_folder(
            Path::new("/nowhere"),
            Path::new("/nowhere/target"),
            Colour::Never,
        );
        assert_eq!(
            error.unwrap_err().to_string(),
            "/nowhere/Cargo.toml is not there; expected the folder of a policy's crate"
        );
    }
}
