//! Why a module is refused: one variant per gate, each a sentence with the module's own facts, and a hint.
//!
//! The gates stand in the order of the variants; what costs little and protects the next gate comes first. Nothing
//! that fails here changes what is being served.

use thiserror::Error;

use crate::manifest::Hook;

/// A module that was not accepted.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum Refusal {
    /// More bytes than allowed.
    #[error("the module has {size} bytes; at most {limit} are allowed")]
    TooLarge {
        /// Bytes it has.
        size: u64,
        /// Bytes allowed.
        limit: usize,
    },
    /// The zstd frame cannot be trusted or read.
    #[error("the module's zstd frame {problem}")]
    Compression {
        /// What is wrong with it.
        problem: String,
    },
    /// Not a component at all.
    #[error("the module is {found}, not a WebAssembly component")]
    NotAComponent {
        /// What it is instead.
        found: &'static str,
    },
    /// A shape that is cheap to write and dear to compile.
    #[error("the module has {found} {what}{place}; at most {limit} are allowed")]
    Shape {
        /// What there is too much of.
        what: &'static str,
        /// Where, where that helps.
        place: String,
        /// How much of it.
        found: u64,
        /// How much is allowed.
        limit: u64,
    },
    /// Not valid WebAssembly, or of a proposal that is switched off.
    #[error("the module is not valid: {problem} (at byte {offset})")]
    Invalid {
        /// What the validator says.
        problem: String,
        /// Where.
        offset: usize,
    },
    /// Imports something besides `diag`.
    #[error("the module imports {import}; a policy may import plimsoll:policy/diag only")]
    ImportsForbidden {
        /// The import.
        import: String,
    },
    /// Exports no hook that this host can call.
    #[error(
        "the module exports {found}; a policy exports plimsoll:policy/configure@0.1 and ranker, consolidator or budgeter beside it"
    )]
    NoHook {
        /// What it exports instead.
        found: String,
    },
    /// Is for another hook than it is wanted for.
    #[error("the module is for the hook {found}; expected {expected}")]
    WrongHook {
        /// What its manifest says.
        found: Hook,
        /// What it is wanted for.
        expected: Hook,
    },
    /// No manifest, two of them, or one that cannot be read.
    #[error("the module's manifest {problem}")]
    Manifest {
        /// What is wrong with it.
        problem: String,
    },
    /// Needs a signal that nobody provides.
    #[error("the module needs the signal {column}, which nobody provides")]
    UnknownColumn {
        /// Its name.
        column: String,
    },
    /// A setting is missing, unknown, or breaks its rule.
    #[error("setting {path}: {problem}")]
    Setting {
        /// Name of the setting.
        path: String,
        /// What is wrong with it, and what was expected.
        problem: String,
    },
    /// The compiler gave up on it.
    #[error("the module cannot be compiled: {problem}")]
    Compile {
        /// What the compiler says.
        problem: String,
    },
    /// Its functions have other types than the interface.
    #[error("the module does not fit plimsoll:policy@0.1: {problem}")]
    Mismatch {
        /// What differs.
        problem: String,
    },
    /// It failed while it was asked about its settings.
    #[error("the module failed to check its settings: {problem}")]
    Start {
        /// How.
        problem: String,
    },
}

impl Refusal {
    /// The reason as conditions name it.
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::TooLarge { .. } => "TooLarge",
            Self::Compression { .. } => "CompressionRefused",
            Self::NotAComponent { .. } => "NotAComponent",
            Self::Shape { .. } => "ShapeRefused",
            Self::Invalid { .. } => "InvalidModule",
            Self::ImportsForbidden { .. } => "ImportsForbidden",
            Self::NoHook { .. } => "HookMissing",
            Self::WrongHook { .. } => "HookMismatch",
            Self::Manifest { .. } => "ManifestRefused",
            Self::UnknownColumn { .. } => "SignalMissing",
            Self::Setting { .. } => "SettingsRefused",
            Self::Compile { .. } => "CompileFailed",
            Self::Mismatch { .. } => "InterfaceMismatch",
            Self::Start { .. } => "StartFailed",
        }
    }

    /// What to do about it.
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::TooLarge { .. } => {
                "build with `plimsoll policy build`, which optimises and strips"
            }
            Self::Compression { .. } => {
                "pack with `plimsoll policy pack`, or store the module uncompressed"
            }
            Self::NotAComponent { .. } => {
                "`plimsoll policy build` makes a component of a core module"
            }
            Self::Shape { .. } => {
                "build with `plimsoll policy build`; hand-made modules have to keep to its limits"
            }
            Self::Invalid { .. } => {
                "build for wasm32-unknown-unknown without extra target features"
            }
            Self::ImportsForbidden { .. } => {
                "build for wasm32-unknown-unknown (`plimsoll policy build` does)"
            }
            Self::NoHook { .. } => {
                "rebuild with an SDK of this interface version, for the hook it is used for"
            }
            Self::WrongHook { .. } => {
                "name the module where its hook is asked for, or one of that hook here"
            }
            Self::Manifest { .. } => {
                "`plimsoll policy build` writes the manifest; others pass it to `plimsoll policy pack`"
            }
            Self::UnknownColumn { .. } => {
                "make the signal optional, or use a source that provides it"
            }
            Self::Setting { .. } => {
                "`plimsoll policy inspect` lists the settings with defaults and limits"
            }
            Self::Compile { .. } => {
                "split large functions; the limits of shape are far above what policies need"
            }
            Self::Mismatch { .. } => "rebuild with an SDK of this interface version",
            Self::Start { .. } => {
                "run the policy's own tests; it must not do work before it is asked"
            }
        }
    }
}
