//! Modules that misbehave, built once. What the host makes of them is in `tests/`.

/// A ranking policy that misbehaves as its setting `behaviour` says.
pub static HOSTILE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/guest-hostile.wasm"));

/// A consolidation policy that misbehaves as its setting `behaviour` says.
pub static HOSTILE_CONSOLIDATION: &[u8] = include_bytes!(concat!(
    env!("OUT_DIR"),
    "/guest-hostile-consolidation.wasm"
));

/// A budget policy that misbehaves as its setting `behaviour` says.
pub static HOSTILE_BUDGET: &[u8] =
    include_bytes!(concat!(env!("OUT_DIR"), "/guest-hostile-budget.wasm"));

include!(concat!(env!("OUT_DIR"), "/handmade.rs"));

/// A module made instruction by instruction, by its name in `build/handmade.rs`.
pub fn handmade(name: &str) -> Option<&'static [u8]> {
    let found = HANDMADE.iter().find(|(known, _)| *known == name);
    found.map(|&(_, bytes)| bytes)
}
