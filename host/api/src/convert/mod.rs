//! Conversion of objects as they are written to the core's model and back, both ways of a kind in one file.
//!
//! Who reads takes the object and the table of shared values, and gives the model's object or the first field that makes no
//! sense. Defaults of the API server are applied here, so that a hand-written manifest and what a server answers for it
//! convert to the same value. What is written (`to_value`) is read back as the same value; it is trimmed to what decisions
//! read. The table of kinds ([`crate::Kind`]) names the conversions.

mod amounts;
pub(crate) mod buffer;
pub(crate) mod claim;
mod condition;
pub(crate) mod csi;
mod daemon;
pub(crate) mod device_class;
mod label;
pub(crate) mod limit_range;
mod metadata;
pub(crate) mod node;
pub(crate) mod overlay;
mod own_annotations;
pub(crate) mod pod;
pub(crate) mod pool;
mod requirement;
mod selector;
pub(crate) mod storage;
mod taint;
mod template;
mod unread;
pub(crate) mod workload;

pub use condition::{class_status, condition, condition_value};
pub use daemon::with_live_pods;
pub use node::node;
pub use pool::budget_nodes;
pub use selector::selector;

use crate::error::{FieldError, Within};

/// The entries of a list, converted in order, or the first that makes no sense, named by its place.
fn each<Entry, Made>(
    entries: &[Entry],
    mut convert: impl FnMut(&Entry) -> Result<Made, FieldError>,
) -> Result<Vec<Made>, FieldError> {
    let one = |(at, entry)| convert(entry).within(format_args!("[{at}]"));
    entries.iter().enumerate().map(one).collect()
}
