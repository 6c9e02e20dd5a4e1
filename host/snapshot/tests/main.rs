//! One program for all that is said of files: linking takes longer than running.

mod admission;
mod buffers;
mod manifests;
mod read;
mod refused;
mod replicas;
mod round_trip;
mod schema;
mod served;
mod streams;
