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

/// The handmade modules that are small or cheap to write and dear to parse, to check or to compile, with the reason of their refusal.
pub const BOMBS: [(&str, &str); 9] = [
    ("many-locals", "ShapeRefused"),
    ("long-function", "ShapeRefused"),
    ("many-branches", "ShapeRefused"),
    ("many-functions", "ShapeRefused"),
    ("many-instances", "ShapeRefused"),
    ("nested-components", "ShapeRefused"),
    ("deep-type", "ShapeRefused"),
    ("deep-lists", "InvalidModule"),
    ("doubling-tuples", "InvalidModule"),
];
