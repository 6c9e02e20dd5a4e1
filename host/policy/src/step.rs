//! The steps that a module goes through before it is accepted, in their order.
//!
//! What costs little and protects the next step comes first: nothing is parsed before its size is known, nothing is compiled before
//! its shape is, and nothing of the module runs before its imports are.

use std::fmt;

/// One step of acceptance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// The bytes are put together out of what carries them, and their digests compared.
    Package,
    /// Bytes as stored and bytes as inflated.
    Size,
    /// Shapes of modules that a compiler should not be given.
    Shape,
    /// WebAssembly's own rules.
    Validation,
    /// Imports of the module.
    Imports,
    /// Manifest of the module.
    Manifest,
    /// The interface it exports, and for which hook.
    Interface,
    /// Limits that it asks for.
    Limits,
    /// Signals that it needs.
    Signals,
    /// Settings against the schema in its manifest.
    Settings,
    /// Machine code.
    Compilation,
    /// The types of its functions.
    Linking,
    /// The module's own check of its settings.
    Agreement,
    /// Answers to the questions that the module carries with their answers.
    SelfTest,
}

impl Step {
    /// Its name, one word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Package => "package",
            Self::Size => "size",
            Self::Shape => "shape",
            Self::Validation => "validation",
            Self::Imports => "imports",
            Self::Manifest => "manifest",
            Self::Interface => "interface",
            Self::Limits => "limits",
            Self::Signals => "signals",
            Self::Settings => "settings",
            Self::Compilation => "compilation",
            Self::Linking => "linking",
            Self::Agreement => "agreement",
            Self::SelfTest => "self-test",
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
