//! Components made byte by byte, which promise things and hold nothing.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests may fail loudly, as tests may"
)]

/// A component that imports one instance without functions.
pub(crate) fn importer(name: &str) -> Vec<u8> {
    let mut component = b"\0asm\x0d\0\x01\0".to_vec();
    // A type section with one empty instance type.
    component.extend_from_slice(&[7, 3, 1, 0x42, 0]);
    let length = u8::try_from(name.len()).unwrap();
    // An import section with one import of that type.
    component.extend_from_slice(&[10, length + 5, 1, 0, length]);
    component.extend_from_slice(name.as_bytes());
    component.extend_from_slice(&[5, 0]);
    component
}

pub(crate) fn with_section(component: &[u8], name: &str, contents: &[u8]) -> Vec<u8> {
    let mut out = component.to_vec();
    let length = u8::try_from(name.len() + contents.len() + 1).unwrap();
    assert!(length < 128);
    out.extend_from_slice(&[0, length, u8::try_from(name.len()).unwrap()]);
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(contents);
    out
}

/// A component with an instance without functions exported under each name.
fn exporter(names: &[&str]) -> Vec<u8> {
    let mut component = b"\0asm\x0d\0\x01\0".to_vec();
    // One instance of nothing, made of no exports.
    component.extend_from_slice(&[5, 3, 1, 1, 0]);
    let mut exports = vec![u8::try_from(names.len()).unwrap()];
    for name in names {
        exports.extend_from_slice(&[0, u8::try_from(name.len()).unwrap()]);
        exports.extend_from_slice(name.as_bytes());
        exports.extend_from_slice(&[5, 0, 0]);
    }
    component.extend_from_slice(&[11, u8::try_from(exports.len()).unwrap()]);
    component.extend_from_slice(&exports);
    component
}

/// Manifest of a ranking policy.
pub(crate) const RANKING: &[u8] = br#"{"name": "p", "version": "1", "hook": "rank"}"#;

pub(crate) fn promising(names: &[&str], manifest: &[u8]) -> Vec<u8> {
    with_section(&exporter(names), "plimsoll.policy.manifest", manifest)
}
