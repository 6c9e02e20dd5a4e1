//! From objects as they are written to the core's model, one kind per file.
//!
//! Each function takes the object and the table of shared values, and gives the model's object or the first field that
//! makes no sense. Defaults of the API server are applied here, so that a hand-written manifest and what a server
//! answers for it convert to the same value.

mod amounts;
mod buffer;
mod claim;
mod daemon;
mod metadata;
mod node;
mod overlay;
mod pod;
mod pool;
mod requirement;
mod selector;
mod storage;
mod taint;
mod workload;

pub use buffer::{capacity_buffer, pod_template};
pub use claim::node_claim;
pub use daemon::with_live_pods;
pub use node::node;
pub use overlay::node_overlay;
pub use pod::pod;
pub use pool::node_pool;
pub use storage::{csi_node, persistent_volume, storage_class, volume_claim};
pub use workload::{
    daemon_set, deployment, disruption_budget, namespace, replica_set, replication_controller,
    service, stateful_set,
};

use crate::error::{FieldError, Within};

/// The entries of a list, converted in order, or the first that makes no sense, named by its place.
fn each<Entry, Made>(
    entries: &[Entry],
    mut convert: impl FnMut(&Entry) -> Result<Made, FieldError>,
) -> Result<Vec<Made>, FieldError> {
    let one = |(at, entry)| convert(entry).within(format_args!("[{at}]"));
    entries.iter().enumerate().map(one).collect()
}
