//! Pages for authors: what takes more than a line to say. There is no code here.

#[doc = include_str!("hard_cap.md")]
pub mod hard_cap {}

#[doc = include_str!("failures.md")]
pub mod failures {}
