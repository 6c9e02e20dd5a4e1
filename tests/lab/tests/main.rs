//! The lab: how it is built, what other tests rely on, its faults, and what its API server admits.

mod admission;
mod build;
mod control_plane;
mod faults;
