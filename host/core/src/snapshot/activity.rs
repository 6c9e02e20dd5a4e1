//! What is known beside the objects and read by decisions about disruption.
//!
//! The engine fills it when it freezes its state; read from a file it is empty, and every node counts as quiet since it
//! was initialised.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::ids::ClaimName;
use crate::time::Timestamp;

/// What has happened lately, and what is under way.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Activity {
    /// When a pod last came to a claim's node, ended there or was asked to go; daemons do not count.
    pub pod_events: BTreeMap<ClaimName, Timestamp>,
    /// Claims on whose nodes room is promised to pods on their way.
    pub promised: BTreeSet<ClaimName>,
    /// Claims that a command is moving.
    pub under_way: BTreeSet<ClaimName>,
}
