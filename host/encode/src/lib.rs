//! From the core module that a compiler makes to the component that the host loads, without external tools.
//!
//! Ways in: a module built with the SDK carries its interface and its manifest in custom sections; any other core module gets
//! both from the caller; a component that some other tool made gets its manifest. Out comes a component whose manifest stands at the
//! outermost level, once; so does its self-test, where it has one.

mod cargo;

use std::fmt::Display;

use thiserror::Error;
use wasmparser::{BinaryReaderError, Parser, Payload};
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::{Resolve, SourceMap, WorldId};

pub use cargo::{BuildError, Built, Colour, TARGET, build, build_folder};

/// Name of the custom section that holds a policy's manifest.
pub const MANIFEST_SECTION: &str = "plimsoll.policy.manifest";

/// Name of the custom section that holds the vectors of a policy's self-test.
pub const SELF_TEST_SECTION: &str = "plimsoll.policy.self-test";

/// A module that cannot be made a component.
#[derive(Debug, Error)]
pub enum EncodeError {
    /// Not a core module.
    #[error("the file is not a core WebAssembly module")]
    NotAModule,
    /// Damaged before the end.
    #[error("the module cannot be read at byte {offset}: {problem}")]
    Malformed {
        /// The fault, in the words of its parser.
        problem: String,
        /// Where.
        offset: usize,
    },
    /// It says nothing of itself, and the caller gave nothing.
    #[error("the module has no manifest; export it with the SDK's macro, or pass a manifest")]
    NoManifest,
    /// It says two things of itself.
    #[error("the module has {count} manifests; expected one")]
    SeveralManifests {
        /// How many.
        count: usize,
    },
    /// It carries more than one self-test.
    #[error("the module has {count} self-tests; expected one at most")]
    SeveralSelfTests {
        /// How many.
        count: usize,
    },
    /// The interface that this program speaks has no such world, or cannot be read.
    #[error("this program's interface has no world {world}: {problem}")]
    Interface {
        /// The world that was asked for.
        world: String,
        /// The fault, in the words of its parser.
        problem: String,
    },
    /// Its imports and exports do not make a component of that interface.
    #[error("the module cannot be encoded: {problem}")]
    Encode {
        /// The encoder's words.
        problem: String,
    },
}

impl EncodeError {
    /// The remedy; `None` where the error itself says it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Encode { problem } if problem.contains("import") => Some(
                "the policy or a crate that it uses calls something outside of it; a policy may use its arguments and `log`, nothing else",
            ),
            _ => None,
        }
    }
}

/// Makes a component of a module built with the SDK. What it says of itself moves from the module to the component.
pub fn encode(core: &[u8]) -> Result<Vec<u8>, EncodeError> {
    let (stripped, said) = take_sections(core)?;
    let encoded = component(&stripped, &said.manifest)?;
    match said.self_test {
        Some(vectors) => with_self_test(&encoded, &vectors),
        None => Ok(encoded),
    }
}

/// Gives a component the vectors of its self-test; refused where it has some.
pub fn with_self_test(component: &[u8], vectors: &[u8]) -> Result<Vec<u8>, EncodeError> {
    let several = |count| EncodeError::SeveralSelfTests { count };
    with_section(component, SELF_TEST_SECTION, vectors, several)
}

/// The interface, as this program speaks it.
const INTERFACE: [(&str, &str); 7] = [
    (
        "budgeter.wit",
        include_str!("../../../wit/0.1/budgeter.wit"),
    ),
    (
        "configure.wit",
        include_str!("../../../wit/0.1/configure.wit"),
    ),
    (
        "consolidator.wit",
        include_str!("../../../wit/0.1/consolidator.wit"),
    ),
    ("diag.wit", include_str!("../../../wit/0.1/diag.wit")),
    ("ranker.wit", include_str!("../../../wit/0.1/ranker.wit")),
    ("types.wit", include_str!("../../../wit/0.1/types.wit")),
    ("worlds.wit", include_str!("../../../wit/0.1/worlds.wit")),
];

/// Makes a component of any core module that has the exports of `world` in the interface this program speaks, under `manifest`.
pub fn encode_as(core: &[u8], world: &str, manifest: &[u8]) -> Result<Vec<u8>, EncodeError> {
    if Parser::is_component(core) {
        return with_manifest(core, manifest);
    }
    if !Parser::is_core_wasm(core) {
        return Err(EncodeError::NotAModule);
    }
    let (resolve, world) = interface(world)?;
    let mut module = core.to_vec();
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8)
        .map_err(|error| refused(&error))?;
    component(&module, manifest)
}

/// The interface, and a world of it.
fn interface(world: &str) -> Result<(Resolve, WorldId), EncodeError> {
    let missing = |error: &dyn Display| EncodeError::Interface {
        world: world.to_owned(),
        problem: format!("{error:#}"),
    };
    let mut sources = SourceMap::default();
    for (name, text) in INTERFACE {
        sources.push_str(name, text);
    }
    let group = sources.parse().map_err(|(_, error)| missing(&error))?;
    let mut resolve = Resolve::default();
    let package = resolve.push_group(group).map_err(|error| missing(&error))?;
    let world = resolve
        .select_world(&[package], Some(world))
        .map_err(|error| missing(&error))?;
    Ok((resolve, world))
}

/// Gives a component its manifest; refused where it has one.
fn with_manifest(component: &[u8], manifest: &[u8]) -> Result<Vec<u8>, EncodeError> {
    let several = |count| EncodeError::SeveralManifests { count };
    with_section(component, MANIFEST_SECTION, manifest, several)
}

/// Appends a custom section of which a component has one at most; else fails with the error for as many as there would be.
fn with_section(
    component: &[u8],
    name: &str,
    contents: &[u8],
    several: impl FnOnce(usize) -> EncodeError,
) -> Result<Vec<u8>, EncodeError> {
    let count = 1 + count(component, name)?;
    if count > 1 {
        return Err(several(count));
    }
    let mut whole = component.to_vec();
    append_custom_section(&mut whole, name, contents);
    Ok(whole)
}

/// How many custom sections of that name stand at the outermost level of a component.
fn count(component: &[u8], name: &str) -> Result<usize, EncodeError> {
    let (mut depth, mut count) = (0_u32, 0);
    for payload in Parser::new(0).parse_all(component) {
        match payload.map_err(malformed)? {
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
            Payload::End(_) => depth = depth.saturating_sub(1),
            Payload::CustomSection(section) if depth == 0 && section.name() == name => count += 1,
            _ => {}
        }
    }
    Ok(count)
}

fn component(core: &[u8], manifest: &[u8]) -> Result<Vec<u8>, EncodeError> {
    let encoder = ComponentEncoder::default().validate(true).module(core);
    let mut component = encoder
        .and_then(|mut encoder| encoder.encode())
        .map_err(|error| refused(&error))?;
    append_custom_section(&mut component, MANIFEST_SECTION, manifest);
    Ok(component)
}

fn refused(error: &dyn Display) -> EncodeError {
    EncodeError::Encode {
        problem: format!("{error:#}"),
    }
}

/// Manifest and self-test that a core module carries.
#[derive(Debug, PartialEq, Eq)]
struct Said {
    manifest: Vec<u8>,
    self_test: Option<Vec<u8>>,
}

/// The module without what it says of itself, and that.
fn take_sections(core: &[u8]) -> Result<(Vec<u8>, Said), EncodeError> {
    if !Parser::is_core_wasm(core) {
        return Err(EncodeError::NotAModule);
    }
    let mut stripped = core[..HEADER].to_vec();
    let mut copied = HEADER;
    let (mut manifests, mut self_tests) = (Vec::new(), Vec::new());
    for payload in Parser::new(0).parse_all(core) {
        let payload = payload.map_err(malformed)?;
        // Section headers are not part of a payload's range, so a section reaches from the end of the last one.
        let Some((_, range)) = payload.as_section() else {
            continue;
        };
        match payload {
            Payload::CustomSection(section) if section.name() == MANIFEST_SECTION => {
                manifests.push(section.data().to_vec());
            }
            Payload::CustomSection(section) if section.name() == SELF_TEST_SECTION => {
                self_tests.push(section.data().to_vec());
            }
            _ => stripped.extend_from_slice(&core[copied..range.end]),
        }
        copied = range.end;
    }
    let count = self_tests.len();
    if count > 1 {
        return Err(EncodeError::SeveralSelfTests { count });
    }
    let self_test = self_tests.pop();
    let count = manifests.len();
    match manifests.pop() {
        None => Err(EncodeError::NoManifest),
        Some(manifest) if count == 1 => Ok((
            stripped,
            Said {
                manifest,
                self_test,
            },
        )),
        Some(_) => Err(EncodeError::SeveralManifests { count }),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
fn malformed(error: BinaryReaderError) -> EncodeError {
    EncodeError::Malformed {
        problem: error.message().to_owned(),
        offset: error.offset(),
    }
}

/// Bytes of magic and version.
const HEADER: usize = 8;

/// A custom section is id 0, the length of the rest, the name with its length, and the contents (core specification,
/// binary format, 5.5.2).
fn append_custom_section(wasm: &mut Vec<u8>, name: &str, contents: &[u8]) {
    let mut section = Vec::new();
    push_length(&mut section, name.len());
    section.extend_from_slice(name.as_bytes());
    section.extend_from_slice(contents);
    wasm.push(0);
    push_length(wasm, section.len());
    wasm.append(&mut section);
}

/// Unsigned LEB128.
fn push_length(out: &mut Vec<u8>, mut length: usize) {
    loop {
        let low = u8::try_from(length & 0x7f).expect("seven bits fit");
        length >>= 7;
        out.push(if length == 0 { low } else { low | 0x80 });
        if length == 0 {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An empty core module with the manifests given.
    fn module(manifests: &[&[u8]]) -> Vec<u8> {
        let mut module = b"\0asm\x01\0\0\0".to_vec();
        append_custom_section(&mut module, "first", b"1");
        for manifest in manifests {
            append_custom_section(&mut module, MANIFEST_SECTION, manifest);
        }
        append_custom_section(&mut module, "last", &[7; 300]);
        module
    }

    #[test]
    fn the_manifest_is_taken_out_and_nothing_else() {
        let (stripped, said) = take_sections(&module(&[b"{}"])).unwrap();
        let nothing_else = Said {
            manifest: b"{}".to_vec(),
            self_test: None,
        };
        assert_eq!((stripped, said), (module(&[]), nothing_else));
    }

    #[test]
    fn vectors_are_taken_out_of_a_core_module_and_refused_twice() {
        let mut core = module(&[b"{}"]);
        append_custom_section(&mut core, SELF_TEST_SECTION, b"vectors");
        let (stripped, said) = take_sections(&core).unwrap();
        assert_eq!(stripped, module(&[]));
        assert_eq!(said.self_test, Some(b"vectors".to_vec()));
        append_custom_section(&mut core, SELF_TEST_SECTION, b"more");
        assert_eq!(
            take_sections(&core).unwrap_err().to_string(),
            "the module has 2 self-tests; expected one at most"
        );
    }

    #[test]
    fn a_component_gets_vectors_once() {
        let component = b"\0asm\x0d\0\x01\0";
        let whole = with_self_test(component, b"vectors").unwrap();
        assert!(whole.ends_with(b"vectors"));
        assert!(matches!(
            with_self_test(&whole, b"vectors"),
            Err(EncodeError::SeveralSelfTests { count: 2 })
        ));
    }

    #[test]
    fn a_module_has_exactly_one_manifest() {
        let refusal = |module: &[u8]| encode(module).unwrap_err().to_string();
        assert!(refusal(&module(&[])).starts_with("the module has no manifest"));
        assert_eq!(
            refusal(&module(&[b"{}", b"{}"])),
            "the module has 2 manifests; expected one"
        );
        assert_eq!(
            refusal(b"hello"),
            "the file is not a core WebAssembly module"
        );
    }

    #[test]
    fn a_component_gets_one_manifest_and_no_second() {
        let component = b"\0asm\x0d\0\x01\0";
        let whole = encode_as(component, "ranking-policy", b"{}").unwrap();
        assert_eq!(&whole[..8], component);
        assert_eq!(
            with_manifest(&whole, b"{}").unwrap_err().to_string(),
            "the module has 2 manifests; expected one"
        );
    }

    #[test]
    fn the_interface_of_this_program_has_a_world_for_each_hook() {
        for world in ["ranking-policy", "consolidation-policy", "budget-policy"] {
            let refused = encode_as(&module(&[]), world, b"{}").unwrap_err();
            assert!(matches!(refused, EncodeError::Encode { .. }), "{refused}");
        }
        let refused = encode_as(&module(&[]), "ordering-policy", b"{}").unwrap_err();
        let start = "this program's interface has no world ordering-policy: ";
        assert!(refused.to_string().starts_with(start), "{refused}");
    }

    #[test]
    fn lengths_above_127_take_more_bytes() {
        let mut out = Vec::new();
        push_length(&mut out, 300);
        assert_eq!(out, [0xac, 0x02]);
    }
}
