//! Scripts of what happens to a cluster, played against the simulator and written down as transcripts.
//!
//! A script is plain text, one step a line:
//!
//! ```text
//! title: an empty node goes after its quiet time
//! given  type small 2 cpu 8 GiB $0.10 in a b
//! and    pool general, consolidate after 30s
//! and    deployment web 3 replicas of 1000m 1024Mi
//! at     5m scale web to 0
//! expect 0 nodes within 2m
//! never  more than 2 nodes
//! ```
//!
//! `given` and `and` describe the world, `at` does something then, `expect ... within` waits for something, `expect ... for`
//! wants it to stay so, `never more than` holds throughout. [`read`] turns text into steps, [`play`] plays them and returns
//! the transcript, or the first expectation that failed with the transcript so far.

mod observe;
mod play;
mod read;
pub mod stage;

pub use observe::Observer;
pub use play::{Failure, play};
pub use read::{Condition, Given, Quantity, Script, ScriptError, Step, read};
