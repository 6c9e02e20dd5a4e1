//! What authors of policies are given before a policy is let near a cluster.
//!
//! - [`template`] writes a first crate, [`sdk`] says what it is built with.
//! - [`pack`] makes ConfigMaps of a module, and reads them back.
//!
//! Everything here works on values: a module that is already accepted, texts that are already read. Files, terminals and compilers are
//! the command line's business.

pub mod pack;
pub mod sdk;
pub mod template;
