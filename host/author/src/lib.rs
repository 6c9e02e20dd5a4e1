//! Tools for authors of policies, and the proofs that a policy owes before it is let near a cluster.
//!
//! - [`template`] writes a first crate, [`sdk`] says what it is built with.
//! - [`suite`] puts the cases of a policy to it, [`golden`] holds its answers against those recorded, [`policy`] is what both ask.
//! - [`laws`] holds a module to what every policy keeps, on the [`market`] that it is tried on, or on [`standard`] questions.
//! - [`proof`] is all of that at once, for commands and tests; [`bench`] measures fuel and holds it against a baseline.
//! - [`vectors`] makes the self-test of a module out of its suite; [`pack`] makes ConfigMaps of a module, and reads them back.
//!
//! All but [`sdk`], which looks for a folder, works on values: a module that is already accepted, texts that are already read. Other
//! files, terminals and compilers are the command line's business.

pub mod bench;
pub mod golden;
pub mod laws;
pub mod market;
pub mod pack;
pub mod proof;
pub mod sdk;
pub mod standard;
pub mod suite;
pub mod template;
pub mod vectors;
mod yaml;
