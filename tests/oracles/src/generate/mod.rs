//! Clusters by the dozen: random ones for property tests, and the workloads that benchmarks and comparisons run on.
//!
//! Everything is drawn from a seed, and each object from a seed of its own, so that leaving one out does not change the
//! others and a failure shrinks to what matters.

mod benchmark;
mod draw;
mod fleet;
mod packing;
mod pools;
mod random;

pub use benchmark::{benchmark_mix, diverse_pods};
pub use draw::Draw;
pub use fleet::{Waste, fragmented};
pub use packing::{memory_heavy, mixed, three_zones, two_architectures, two_shapes};
pub use pools::Teams;
pub use random::{Features, Kind, Shape, random_cluster, shapes};
