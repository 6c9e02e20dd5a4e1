//! From the core module that a compiler makes to the component that the host loads, without external tools.
//!
//! Two ways in: a module built with the SDK carries its interface and its manifest in custom sections; any other gets
//! both from the caller. Out comes a component whose manifest stands at the outermost level, once.

mod cargo;

use std::path::Path;

use thiserror::Error;
use wasmparser::{Parser, Payload};
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

pub use cargo::{BuildError, TARGET, build};

/// Name of the custom section that holds a policy's manifest.
pub const MANIFEST_SECTION: &str = "plimsoll.policy.manifest";

/// A module that cannot be made a component.
#[derive(Debug, Error)]
pub enum EncodeError {
    /// Not a core module.
    #[error("the file is not a core WebAssembly module")]
    NotAModule,
    /// Damaged before the end.
    #[error("the module cannot be read at byte {offset}: {problem}")]
    Malformed {
        /// What is wrong.
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
    /// The interface definition cannot be read.
    #[error("the interface in {folder} cannot be read: {problem}")]
    Interface {
        /// Folder of the definition.
        folder: String,
        /// What is wrong.
        problem: String,
    },
    /// Its imports and exports do not make a component of that interface.
    #[error("the module cannot be encoded: {problem}")]
    Encode {
        /// What the encoder says.
        problem: String,
    },
}

/// Makes a component of a module built with the SDK. The manifest moves from the module to the component.
pub fn encode(core: &[u8]) -> Result<Vec<u8>, EncodeError> {
    let (stripped, manifest) = take_manifest(core)?;
    component(&stripped, &manifest)
}

/// Makes a component of any core module that has the exports of `world`, as defined in `folder`, under `manifest`.
pub fn encode_with(
    core: &[u8],
    folder: &Path,
    world: &str,
    manifest: &[u8],
) -> Result<Vec<u8>, EncodeError> {
    let unreadable = |error: &dyn std::fmt::Display| EncodeError::Interface {
        folder: folder.display().to_string(),
        problem: format!("{error:#}"),
    };
    let mut resolve = Resolve::default();
    let (package, _) = resolve
        .push_dir(folder)
        .map_err(|error| unreadable(&error))?;
    let world = resolve
        .select_world(&[package], Some(world))
        .map_err(|error| unreadable(&error))?;
    let mut module = core.to_vec();
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8).map_err(
        |error| EncodeError::Encode {
            problem: format!("{error:#}"),
        },
    )?;
    component(&module, manifest)
}

fn component(core: &[u8], manifest: &[u8]) -> Result<Vec<u8>, EncodeError> {
    let refused = |problem: String| EncodeError::Encode { problem };
    let encoder = ComponentEncoder::default().validate(true).module(core);
    let mut component = encoder
        .and_then(|mut encoder| encoder.encode())
        .map_err(|error| refused(format!("{error:#}")))?;
    append_custom_section(&mut component, MANIFEST_SECTION, manifest);
    Ok(component)
}

/// The module without its manifest section, and the manifest.
fn take_manifest(core: &[u8]) -> Result<(Vec<u8>, Vec<u8>), EncodeError> {
    if !Parser::is_core_wasm(core) {
        return Err(EncodeError::NotAModule);
    }
    let mut stripped = core[..HEADER].to_vec();
    let mut copied = HEADER;
    let mut manifests = Vec::new();
    for payload in Parser::new(0).parse_all(core) {
        let payload = payload.map_err(|error| EncodeError::Malformed {
            problem: error.message().to_owned(),
            offset: error.offset(),
        })?;
        // Section headers are not part of a payload's range, so a section reaches from the end of the last one.
        let Some((_, range)) = payload.as_section() else {
            continue;
        };
        match payload {
            Payload::CustomSection(section) if section.name() == MANIFEST_SECTION => {
                manifests.push(section.data().to_vec());
            }
            _ => stripped.extend_from_slice(&core[copied..range.end]),
        }
        copied = range.end;
    }
    let count = manifests.len();
    match manifests.pop() {
        None => Err(EncodeError::NoManifest),
        Some(manifest) if count == 1 => Ok((stripped, manifest)),
        Some(_) => Err(EncodeError::SeveralManifests { count }),
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
        let (stripped, manifest) = take_manifest(&module(&[b"{}"])).unwrap();
        assert_eq!((stripped, manifest), (module(&[]), b"{}".to_vec()));
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
    fn lengths_above_127_take_more_bytes() {
        let mut out = Vec::new();
        push_length(&mut out, 300);
        assert_eq!(out, [0xac, 0x02]);
    }
}
