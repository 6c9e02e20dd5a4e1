//! Modules that misbehave, built once. What the host makes of them is in `tests/`.

/// A ranking policy that misbehaves as its setting `behaviour` says.
pub static HOSTILE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/hostile.wasm"));
