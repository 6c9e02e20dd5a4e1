//! What a component asks for and offers, read from its own type: validation, imports, exports, manifest section.
//!
//! The exported interface version is the contract; nothing in the module is called to learn it.

use semver::Version;
use wasmparser::{Parser, Payload, Validator, WasmFeatures};

use crate::gate::Refusal;
use crate::manifest::{Hook, Manifest};
use crate::shape::invalid;
use crate::text;

/// Name of the manifest's custom section.
const MANIFEST: &str = "plimsoll.policy.manifest";
/// Most bytes of a manifest.
const MANIFEST_BYTES: usize = 64 << 10;
/// Interfaces that a policy may import. `types` has no functions.
const IMPORTS: [&str; 2] = ["plimsoll:policy/diag", "plimsoll:policy/types"];
/// The interface that every policy exports, whatever its hook.
const CONFIGURE: &str = "plimsoll:policy/configure";

/// The proposals a policy may use: those of the engine's configuration, for the engine's own parser.
pub(crate) const FEATURES: WasmFeatures = WasmFeatures::WASM2
    .union(WasmFeatures::COMPONENT_MODEL)
    .union(WasmFeatures::TAIL_CALL)
    .union(WasmFeatures::EXTENDED_CONST);

/// Validates a component, checks its imports and exports, and reads its manifest.
pub(crate) fn check_world(bytes: &[u8]) -> Result<Manifest, Refusal> {
    Validator::new_with_features(FEATURES)
        .validate_all(bytes)
        .map_err(|error| invalid(&error))?;
    let outline = Outline::read(bytes)?;
    if let Some(import) = outline
        .imports
        .iter()
        .find(|name| !is_one_of(name, &IMPORTS))
    {
        return Err(Refusal::ImportsForbidden {
            import: text::clean(import, text::NAME),
        });
    }
    let exports = |wanted: &str| {
        outline
            .exports
            .iter()
            .any(|name| is_one_of(name, &[wanted]))
    };
    let mut hooks = Hook::ALL.into_iter();
    if !exports(CONFIGURE) || !hooks.any(|hook| exports(hook.interface())) {
        return Err(Refusal::NoHook {
            found: listed(&outline.exports),
        });
    }
    let manifest = Manifest::parse(outline.manifest()?)?;
    let hook = manifest.hook;
    if exports(hook.interface()) {
        return Ok(manifest);
    }
    let found = listed(&outline.exports);
    Err(refuse(&format!(
        "says {hook}, and the module exports {found}"
    )))
}

/// The outermost level of a component.
struct Outline<'a> {
    imports: Vec<&'a str>,
    exports: Vec<&'a str>,
    manifests: Vec<&'a [u8]>,
}

impl<'a> Outline<'a> {
    fn read(bytes: &'a [u8]) -> Result<Self, Refusal> {
        let mut outline = Self {
            imports: Vec::new(),
            exports: Vec::new(),
            manifests: Vec::new(),
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
                _ => {}
            }
        }
        Ok(outline)
    }

    fn manifest(&self) -> Result<&'a [u8], Refusal> {
        match self.manifests.as_slice() {
            [] => Err(refuse("is missing")),
            [section] if section.len() > MANIFEST_BYTES => Err(refuse("has more than 64 KiB")),
            [section] => Ok(section),
            _ => Err(refuse("is there more than once")),
        }
    }
}

/// Whether `name` is one of the interfaces, in a version that this host speaks.
fn is_one_of(name: &str, interfaces: &[&str]) -> bool {
    let Some((interface, version)) = name.split_once('@') else {
        return false;
    };
    let spoken =
        |version: Version| version.major == 0 && version.minor == 1 && version.pre.is_empty();
    interfaces.contains(&interface) && Version::parse(version).is_ok_and(spoken)
}

fn listed(names: &[&str]) -> String {
    if names.is_empty() {
        return "nothing".to_owned();
    }
    text::clean(&names.join(", "), text::NAME)
}

fn refuse(problem: &str) -> Refusal {
    Refusal::Manifest {
        problem: problem.to_owned(),
    }
}
