//! Imports and exports of a component, read from its own type: validation, imports, exports, its two sections.
//!
//! The exported interface version is the contract; nothing in the module is called to learn it.

use semver::Version;
use wasmparser::{Parser, Payload, Validator, WasmFeatures};

use crate::gate::Refusal;
use crate::manifest::Hook;
use crate::shape::invalid;
use crate::text;

/// Name of the manifest's custom section.
const MANIFEST: &str = "plimsoll.policy.manifest";
/// Name of the custom section with vectors.
const SELF_TEST: &str = "plimsoll.policy.self-test";
/// Most bytes of a manifest.
const MANIFEST_BYTES: usize = 64 << 10;
/// Interfaces that a policy may import. `types` has no functions.
const IMPORTS: [&str; 2] = ["plimsoll:policy/diag", "plimsoll:policy/types"];
/// Interface that every policy exports, besides that of its hook.
const CONFIGURE: &str = "plimsoll:policy/configure";

/// The proposals a policy may use: those of the engine's configuration, for the engine's own parser.
pub(crate) const FEATURES: WasmFeatures = WasmFeatures::WASM2
    .union(WasmFeatures::COMPONENT_MODEL)
    .union(WasmFeatures::TAIL_CALL)
    .union(WasmFeatures::EXTENDED_CONST);

/// WebAssembly's own rules.
pub(crate) fn validate(bytes: &[u8]) -> Result<(), Refusal> {
    let types = Validator::new_with_features(FEATURES).validate_all(bytes);
    types.map(drop).map_err(|error| invalid(&error))
}

/// The outermost level of a component.
pub(crate) struct Outline<'a> {
    pub(crate) imports: Vec<&'a str>,
    pub(crate) exports: Vec<&'a str>,
    manifests: Vec<&'a [u8]>,
    self_tests: Vec<&'a [u8]>,
}

impl<'a> Outline<'a> {
    pub(crate) fn read(bytes: &'a [u8]) -> Result<Self, Refusal> {
        let mut outline = Self {
            imports: Vec::new(),
            exports: Vec::new(),
            manifests: Vec::new(),
            self_tests: Vec::new(),
        };
        let mut depth = 0_u32;
        for payload in Parser::new(0).parse_all(bytes) {
            match payload.map_err(|error| invalid(&error))? {
                Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
                Payload::End(_) => depth = depth.saturating_sub(1),
                Payload::ComponentImportSection(section) if depth == 0 => {
                    for import in section {
                        outline
                            .imports
                            .push(import.map_err(|error| invalid(&error))?.name.name);
                    }
                }
                Payload::ComponentExportSection(section) if depth == 0 => {
                    for export in section {
                        outline
                            .exports
                            .push(export.map_err(|error| invalid(&error))?.name.name);
                    }
                }
                Payload::CustomSection(section) if depth == 0 && section.name() == MANIFEST => {
                    outline.manifests.push(section.data());
                }
                Payload::CustomSection(section) if depth == 0 && section.name() == SELF_TEST => {
                    outline.self_tests.push(section.data());
                }
                _ => {}
            }
        }
        Ok(outline)
    }

    /// Refuses every import that this host does not give.
    pub(crate) fn check_imports(&self) -> Result<(), Refusal> {
        let is_given = |name: &&str| {
            IMPORTS
                .iter()
                .any(|interface| version_of(name, interface).is_some_and(is_spoken))
        };
        match self.imports.iter().find(|name| !is_given(name)) {
            Some(import) => Err(Refusal::ImportsForbidden {
                import: text::clean(import, text::NAME),
            }),
            None => Ok(()),
        }
    }

    /// Refuses a module that this host cannot ask as a policy for `hook`.
    pub(crate) fn check_exports(&self, hook: Hook) -> Result<(), Refusal> {
        for wanted in [hook.interface(), CONFIGURE] {
            if self.exported(wanted).is_some_and(is_spoken) {
                continue;
            }
            if self.exported(wanted).is_some() {
                let of_interface = |name: &&&str| version_of(name, wanted).is_some();
                let found = self.exports.iter().find(of_interface).copied();
                return Err(Refusal::OtherTrack {
                    found: text::clean(found.unwrap_or_default(), text::NAME),
                });
            }
            let mut others = Hook::ALL.into_iter().filter(|other| *other != hook);
            let other = others.find(|other| self.exported(other.interface()).is_some());
            return Err(match other {
                Some(found) if wanted != CONFIGURE => Refusal::OtherExport { found, named: hook },
                _ => Refusal::NoHook {
                    found: listed(&self.exports),
                    hook,
                },
            });
        }
        Ok(())
    }

    /// The version in which an interface is exported.
    fn exported(&self, interface: &str) -> Option<&'a str> {
        let mut versions = self.exports.iter();
        versions.find_map(|name| version_of(name, interface))
    }

    /// The manifest section.
    pub(crate) fn manifest(&self) -> Result<&'a [u8], Refusal> {
        let refuse = |problem: &str| {
            Err(Refusal::Manifest {
                problem: problem.to_owned(),
            })
        };
        match self.manifests.as_slice() {
            [] => refuse("is missing"),
            [section] if section.len() > MANIFEST_BYTES => refuse("has more than 64 KiB"),
            [section] => Ok(section),
            _ => refuse("is there more than once"),
        }
    }

    /// The section with vectors, where there is one.
    pub(crate) fn self_test(&self) -> Result<Option<&'a [u8]>, Refusal> {
        match self.self_tests.as_slice() {
            [] => Ok(None),
            [section] => Ok(Some(section)),
            _ => Err(Refusal::SelfTest {
                problem: "is there more than once".to_owned(),
            }),
        }
    }
}

/// The version in `name`, if it names that interface.
fn version_of<'n>(name: &'n str, interface: &str) -> Option<&'n str> {
    name.strip_prefix(interface)?.strip_prefix('@')
}

/// `true` if this host speaks a version.
fn is_spoken(version: &str) -> bool {
    Version::parse(version)
        .is_ok_and(|version| version.major == 0 && version.minor == 1 && version.pre.is_empty())
}

/// Names for people.
pub(crate) fn listed(names: &[&str]) -> String {
    if names.is_empty() {
        return "nothing".to_owned();
    }
    text::clean(&names.join(", "), text::NAME)
}
