//! The Helm charts as they render, for tests: what values become, what a container is started with, which rights it has.
//!
//! [`Release`] renders a chart with helm, as a user does, or installs it into a lab. [`Container`] is what a kubelet makes of the
//! Deployment, and [`Rights`] what the API server makes of the roles. Nothing here knows what is in the charts.

mod container;
mod release;
mod rights;

pub use container::{Container, Probe};
pub use release::{ChartError, Release, folder};
pub use rights::{Right, Rights};

use serde_json::Value;

/// The objects of a kind, in their order.
pub fn of_kind<'a>(objects: &'a [Value], kind: &str) -> Vec<&'a Value> {
    let of_kind = objects.iter().filter(|object| object["kind"] == kind);
    of_kind.collect()
}
