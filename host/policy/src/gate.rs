//! Reasons why a module is refused: one variant per reason, each a sentence with the module's own facts, and a hint.
//!
//! The variants stand in the order of the steps ([`Step`]). Nothing that fails here changes what is being served.

use plimsoll_base::event_reason::EventReason;
use thiserror::Error;

use crate::limits::Limits;
use crate::manifest::Hook;
use crate::step::Step;

/// A module that was not accepted.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum Refusal {
    /// The package that carries the module is not whole.
    #[error("{problem}")]
    Package {
        /// The fault, with the name of the part.
        problem: String,
    },
    /// The bytes are not those that were meant.
    #[error("{what} has the digest {found}; expected {expected}")]
    Digest {
        /// The module, or one part of it.
        what: String,
        /// SHA-256 of the bytes.
        found: String,
        /// SHA-256 that was promised.
        expected: String,
    },
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
        /// The fault in words.
        problem: String,
    },
    /// Not a component at all.
    #[error("the module is {found}, not a WebAssembly component")]
    NotAComponent {
        /// The kind of file found instead.
        found: &'static str,
    },
    /// A shape that is cheap to write and dear to compile.
    #[error("the module has {found} {what}{place}; at most {limit} are allowed")]
    Shape {
        /// The thing there is too much of.
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
        /// The validator's words.
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
    /// No manifest, two of them, or one that cannot be read.
    #[error("the module's manifest {problem}")]
    Manifest {
        /// The fault in words.
        problem: String,
    },
    /// Exports no hook that this host can call.
    #[error(
        "the module exports {found}; a {} policy exports {}@0.1 and plimsoll:policy/configure@0.1",
        hook.adjective(),
        hook.interface()
    )]
    NoHook {
        /// The exports found instead.
        found: String,
        /// The hook it should be for.
        hook: Hook,
    },
    /// Exports the interface in a version that this host does not speak.
    #[error("the module exports {found}; this host speaks version 0.1 of that interface")]
    OtherTrack {
        /// The exports found.
        found: String,
    },
    /// A policy for another decision.
    #[error("the module is for the hook {found}; expected {expected}")]
    WrongHook {
        /// The hook it is for.
        found: Hook,
        /// The hook it is used for.
        expected: Hook,
    },
    /// Its manifest names another hook than it exports.
    #[error("the module exports the hook {found}; its manifest names {named}")]
    OtherExport {
        /// The hook that it exports.
        found: Hook,
        /// The hook of the manifest.
        named: Hook,
    },
    /// Asks for more than anybody may have.
    #[error("the module asks for {asked} {what}; the ceiling is {ceiling}")]
    Asks {
        /// Of what.
        what: &'static str,
        /// How much.
        asked: u64,
        /// How much there is at most.
        ceiling: u64,
    },
    /// Needs a signal that is not provided.
    #[error("the module needs the signal {column}, which is not provided")]
    UnknownColumn {
        /// Name of the column.
        column: String,
    },
    /// A setting is missing, unknown, or breaks its rule.
    #[error("setting {path}: {problem}")]
    Setting {
        /// Name of the setting.
        path: String,
        /// The fault and the expected value, in words.
        problem: String,
    },
    /// There is no compiler: the host's fault, not the module's.
    #[error("the compiler's process {problem}")]
    NoCompiler {
        /// The end of the call, in words.
        problem: String,
    },
    /// The compiler gave up on it.
    #[error("the module cannot be compiled: {problem}")]
    Compile {
        /// The compiler's words, or the limit it hit.
        problem: String,
    },
    /// Its functions have other types than the interface.
    #[error("the module does not fit plimsoll:policy@0.1: {problem}")]
    Mismatch {
        /// The first difference, in words.
        problem: String,
    },
    /// It failed while it was asked about its settings.
    #[error("the module failed to check its settings: {problem}")]
    Start {
        /// How.
        problem: String,
    },
    /// The machine had no room or no time for asking it about its settings: the host's plight, not the module's.
    #[error("the module could not be asked about its settings: {problem}")]
    Saturated {
        /// The resource there was too little of.
        problem: String,
    },
    /// The vectors that it carries are none, or none that can be put to it.
    #[error("the module's self-test {problem}")]
    SelfTest {
        /// The fault, with the vector where it is one.
        problem: String,
    },
    /// It does not answer a vector here as it did where that was recorded.
    #[error("the module fails its self-test at {vector}: {problem}")]
    SelfTestFailed {
        /// The vector: its number and what it asks for.
        vector: String,
        /// Row, field and both values where the answers differ, or why there is no answer.
        problem: String,
    },
    /// The machine had no room or no time for a vector: the host's plight, not the module's.
    #[error("the module could not be put to its self-test at {vector}: {problem}")]
    SelfTestSaturated {
        /// The vector: its number and what it asks for.
        vector: String,
        /// The resource there was too little of.
        problem: String,
    },
}

impl Refusal {
    /// The step that refused it.
    pub const fn step(&self) -> Step {
        match self {
            Self::Package { .. } | Self::Digest { .. } => Step::Package,
            Self::TooLarge { .. } | Self::Compression { .. } => Step::Size,
            Self::NotAComponent { .. } | Self::Shape { .. } => Step::Shape,
            Self::Invalid { .. } => Step::Validation,
            Self::ImportsForbidden { .. } => Step::Imports,
            Self::Manifest { .. } => Step::Manifest,
            Self::NoHook { .. }
            | Self::OtherTrack { .. }
            | Self::WrongHook { .. }
            | Self::OtherExport { .. } => Step::Interface,
            Self::Asks { .. } => Step::Limits,
            Self::UnknownColumn { .. } => Step::Signals,
            Self::Setting { .. } => Step::Settings,
            Self::NoCompiler { .. } | Self::Compile { .. } => Step::Compilation,
            Self::Mismatch { .. } => Step::Linking,
            Self::Start { .. } | Self::Saturated { .. } => Step::Agreement,
            Self::SelfTest { .. }
            | Self::SelfTestFailed { .. }
            | Self::SelfTestSaturated { .. } => Step::SelfTest,
        }
    }

    /// The reason as conditions name it.
    pub const fn reason(&self) -> &'static str {
        self.event().as_str()
    }

    /// The reason of the event, which is that of the condition.
    pub const fn event(&self) -> EventReason {
        match self {
            Self::Package { .. } => EventReason::PackageIncomplete,
            Self::Digest { .. } => EventReason::DigestMismatch,
            Self::TooLarge { .. } => EventReason::TooLarge,
            Self::Compression { .. } => EventReason::CompressionRefused,
            Self::NotAComponent { .. } => EventReason::NotAComponent,
            Self::Shape { .. } => EventReason::ShapeRefused,
            Self::Invalid { .. } => EventReason::InvalidModule,
            Self::ImportsForbidden { .. } => EventReason::ImportsForbidden,
            Self::Manifest { .. } => EventReason::ManifestRefused,
            Self::NoHook { .. } => EventReason::HookMissing,
            Self::OtherTrack { .. } => EventReason::InterfaceUnknown,
            Self::WrongHook { .. } | Self::OtherExport { .. } => EventReason::HookMismatch,
            Self::Asks { .. } => EventReason::LimitExceeded,
            Self::UnknownColumn { .. } => EventReason::SignalMissing,
            Self::Setting { .. } => EventReason::SettingsRefused,
            Self::NoCompiler { .. } => EventReason::CompilerMissing,
            Self::Compile { .. } => EventReason::CompileFailed,
            Self::Mismatch { .. } => EventReason::InterfaceMismatch,
            Self::Start { .. } => EventReason::StartFailed,
            Self::SelfTest { .. } => EventReason::SelfTestRefused,
            Self::SelfTestFailed { .. } => EventReason::SelfTestFailed,
            Self::Saturated { .. } | Self::SelfTestSaturated { .. } => EventReason::Saturated,
        }
    }

    /// The remedy, as a sentence for the owner of the policy.
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Package { .. } => "pack anew with `plimsoll policy pack`, and apply all of it",
            Self::Digest { .. } => "the bytes were changed after they were packed; pack anew",
            Self::TooLarge { size, limit } if Limits::would_be_let_in(*size, *limit) => {
                "`--large-modules` lets modules of up to 32 MiB in, such as those in JavaScript; one in Rust fits once it is built with `plimsoll policy build`"
            }
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
            Self::Manifest { .. } => {
                "`plimsoll policy build` writes the manifest; others pass it to `plimsoll policy pack`"
            }
            Self::NoHook { .. } => {
                "export the policy with the SDK's macro for the hook it is used for"
            }
            Self::OtherTrack { .. } => {
                "rebuild with an SDK of version 0.1, or use a host that speaks the newer one"
            }
            Self::WrongHook { found, .. } => match found {
                Hook::Rank => "set spec.hook to Rank, the hook of this module",
                Hook::Consolidate => "set spec.hook to Consolidate, the hook of this module",
                Hook::Budget => "set spec.hook to Budget, the hook of this module",
            },
            Self::OtherExport { .. } => {
                "name the hook that the module exports in its manifest, and pack it with `plimsoll policy pack`"
            }
            Self::Asks { .. } => "ask for no more than the ceiling, in the manifest's limits",
            Self::UnknownColumn { .. } => {
                "make the signal optional, or use a source that provides it"
            }
            Self::Setting { .. } => {
                "`plimsoll policy inspect MODULE` lists the settings with defaults and limits"
            }
            Self::NoCompiler { .. } => "the host could not start it; the module is not to blame",
            Self::Compile { .. } => {
                "split large functions; the limits of shape are far above what policies need"
            }
            Self::Mismatch { .. } => "rebuild with an SDK of this interface version",
            Self::Start { .. } => {
                "run the policy's own tests; it must not do work before it is asked"
            }
            Self::SelfTest { .. } => {
                "`plimsoll policy build --self-test` makes one of the suite; without one a module is taken in as well"
            }
            Self::SelfTestFailed { .. } => {
                "if the change is meant, build with `--self-test` anew; if not, `plimsoll policy test` shows what changed"
            }
            Self::Saturated { .. } | Self::SelfTestSaturated { .. } => {
                "the host was too busy, and the module is not to blame; it can be tried again"
            }
        }
    }

    /// `true` if the module is to blame; otherwise the host's environment is.
    pub const fn blames_module(&self) -> bool {
        !matches!(
            self,
            Self::NoCompiler { .. } | Self::Saturated { .. } | Self::SelfTestSaturated { .. }
        )
    }
}
