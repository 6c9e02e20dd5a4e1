//! Changes of objects by people and other controllers, behind the engine's back: an object deleted and created again under its
//! name, a claim gone with its finalizer taken off.

use plimsoll_base::ids::{ClaimName, NodeName, ObjectName};
use plimsoll_base::resources::Resources;
use plimsoll_model::{Conditions, NodeClaim, Pod, PodPhase};

use crate::planner::Planner;
use crate::run::Run;

impl<P: Planner> Run<P> {
    /// A pod is deleted without grace and comes back under its name, as those of a StatefulSet do; `false` where there is none.
    pub fn recreate_pod(&mut self, name: &ObjectName) -> bool {
        let Some(pod) = self.world.api.remove_pod(name) else {
            return false;
        };
        let now = self.world.now;
        self.world.meter.gone(&pod, now);
        self.world.scheduler.left(&pod);
        let next = Pod {
            uid: format!("{}-again", pod.uid).into(),
            created: now,
            node: None,
            nominated: None,
            phase: PodPhase::Pending,
            unschedulable: false,
            ready: None,
            deleting: None,
            started: None,
            ..Pod::clone(&pod)
        };
        self.world.meter.returns(&next);
        self.world.arrive(next);
        true
    }

    /// A claim's finalizer is taken off and the claim deleted: its instance and its node stay; `false` where there is none.
    pub fn remove_claim(&mut self, name: &ClaimName) -> bool {
        self.world.drop_claim(name).is_some()
    }

    /// The same, and its manifest is applied again: a claim of its name that has no instance yet. `false` where there is none.
    pub fn recreate_claim(&mut self, name: &ClaimName) -> bool {
        let Some(claim) = self.world.drop_claim(name) else {
            return false;
        };
        let next = NodeClaim {
            uid: self.world.api.new_uid("claim", name.as_str()),
            provider_id: None,
            node: None,
            capacity: Resources::new(),
            allocatable: Resources::new(),
            created: self.world.now,
            conditions: Conditions::default(),
            deleting: None,
            drained_by: None,
            last_pod_event: None,
            held: false,
            ..NodeClaim::clone(&claim)
        };
        self.world.api.put_claim(next);
        true
    }

    /// A node is deleted and its kubelet registers it anew, without what we wrote on it; `false` where there is none.
    pub fn recreate_node(&mut self, name: &NodeName) -> bool {
        let Some(node) = self.world.api.nodes.get(name).cloned() else {
            return false;
        };
        let Some(id) = node.provider_id.clone() else {
            return false;
        };
        self.world.remove_node(name);
        self.world.boot(&id);
        true
    }

    /// A node is asked to go by hand; `false` where there is none.
    pub fn delete_node(&mut self, name: &NodeName) -> bool {
        let is_there = self.world.api.nodes.contains_key(name);
        self.world.delete_node(name);
        is_there
    }
}
