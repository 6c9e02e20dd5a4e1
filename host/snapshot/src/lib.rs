//! Snapshots and recordings as files.
//!
//! A file is what `kubectl get nodes,pods,nodepools,... -A -o json` prints, as JSON or YAML, plain or compressed with zstd,
//! plus one section of ours under the key `plimsoll`: the instant, the seed, the settings, the catalogue, and for a
//! recording the changes that follow. Files are read as a stream, one object at a time straight into the core's model,
//! so that memory follows what decisions need and not the size of the text.
//!
//! [`read`] and [`read_path`] give a [`Loaded`]; everything that was assumed or skipped is in its notes.

mod decompress;
mod error;
mod gather;
mod input;
mod json;
mod limits;
mod note;
mod recording;
mod redact;
mod replicas;
mod resolve;
pub mod section;
pub mod trace;
pub mod write;
mod yaml;

pub use decompress::text;
pub use error::{LoadError, Place, Position, SnapshotError};
pub use input::{Loaded, read, read_path, read_served};
pub use limits::Limits;
pub use note::{Idle, Named, Note, PlannedWorkload};
pub use recording::{Change, TimedChange};
pub use redact::redact;
