//! Nodes and moves to ask about, and pools: as many as wanted, with numbers that differ.

#[allow(unused_imports, reason = "not every test asks about both")]
pub(crate) use plimsoll_author::standard::{moves as question, pools};
