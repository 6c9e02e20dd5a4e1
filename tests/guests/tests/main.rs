//! One program for what the host makes of modules: each file linked by itself would take longer to build than to run. The corpus stays
//! apart, since it measures the memory of its process.

#[path = "common/bindings.rs"]
mod bindings;
mod common;
#[path = "common/component.rs"]
mod component;
#[path = "common/fleet.rs"]
mod fleet;
#[path = "common/machines.rs"]
mod machines;
#[path = "common/modules.rs"]
mod modules;
#[path = "common/recorded.rs"]
mod recorded;
#[path = "common/vectors.rs"]
mod vectors;

mod bombs;
mod budget;
mod consider;
mod consolidation;
mod gates;
mod handmade;
mod hostile;
mod in_c;
mod in_javascript;
mod plans;
mod priced;
mod quarantine;
mod records;
mod replacements;
mod saturated;
mod self_test;
mod shadow;
mod signals;
mod simulated;
mod swap;
mod together;
mod twin;
