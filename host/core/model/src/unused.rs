//! Nodes that were bought for a pod and that the scheduler does not use for it.

use std::fmt;
use std::sync::Arc;

use plimsoll_base::ids::NodeName;
use serde::{Deserialize, Serialize};

/// Nodes that were bought for a pod and its equals, came up and had room, and to which the scheduler bound none of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnusedNodes {
    /// The last of them, oldest first.
    pub nodes: Vec<NodeName>,
    /// The scheduler's reason at the time of the last one; `None` where it gave none.
    pub scheduler: Option<Arc<str>>,
}

impl fmt::Display for UnusedNodes {
    /// A clause without an end: `two nodes that were bought for it stand unused: a, b; the scheduler says: ...`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.nodes.iter().map(NodeName::as_str).collect();
        let names = names.join(", ");
        match self.nodes.len() {
            1 => f.write_str("a node that was bought for it stands unused: ")?,
            2 => f.write_str("two nodes that were bought for it stand unused: ")?,
            more => write!(f, "{more} nodes that were bought for it stand unused: ")?,
        }
        f.write_str(&names)?;
        match &self.scheduler {
            Some(words) => write!(f, "; the scheduler says: {words}"),
            None => f.write_str("; the scheduler gives no reason"),
        }
    }
}
