//! A claim of nobody's, to try a class out with.

use std::sync::Arc;

use plimsoll_core::ids::{ClaimName, PoolName, Uid};
use plimsoll_core::labels::Labels;
use plimsoll_core::model::{ClassRef, Conditions, NodeClaim};
use plimsoll_core::requirement::Requirements;
use plimsoll_core::resources::Resources;
use plimsoll_core::time::Timestamp;

/// A claim of this class that asks for nothing and is of no pool.
pub(super) fn sample_claim(class: ClassRef) -> Arc<NodeClaim> {
    Arc::new(NodeClaim {
        name: ClaimName::from(""),
        uid: Uid::from(""),
        pool: PoolName::default(),
        class,
        provider_id: None,
        node: None,
        labels: Labels::new(),
        annotations: Labels::new(),
        requirements: Requirements::new(),
        requests: Resources::new(),
        taints: Vec::new(),
        startup_taints: Vec::new(),
        capacity: Resources::new(),
        allocatable: Resources::new(),
        created: Timestamp::default(),
        conditions: Conditions::default(),
        expire_after: None,
        termination_grace: None,
        deleting: None,
        drained_by: None,
        last_pod_event: None,
        held: false,
    })
}
