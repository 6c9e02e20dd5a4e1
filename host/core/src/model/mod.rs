//! Kubernetes objects as decisions need them: parsed, validated at the edge, and no larger than that.

mod budget_index;
mod buffer;
mod claim;
mod disruption;
mod move_cost;
mod node;
pub(crate) mod object;
mod overlay;
mod pod;
mod pool;
mod predicates;
mod selector;
mod spread;
mod taint;
mod volume;
mod workload;

pub use budget_index::BudgetIndex;
pub use buffer::{BufferSource, BufferWindow, CapacityBuffer, PodShape, PodTemplate};
pub use claim::{ClaimPhase, ClassRef, NodeClaim};
pub use disruption::{
    Budget, BudgetNodes, ConsolidationPolicy, DisruptionReason, PoolDisruption, ReasonFacts,
};
pub use move_cost::MoveCost;
pub use node::{Node, Readiness};
pub use object::{Object, Version};
pub use overlay::{NodeOverlay, PriceChange};
pub use pod::{
    AffinityTerm, DoNotDisrupt, HostPort, NamespaceScope, NodeTerm, Owner, OwnerKind, Pod,
    PodPhase, PodSpec, PodVolume, Preferred, Protocol,
};
pub use pool::{Ceilings, NodePool, PackingMode};
pub(crate) use predicates::{STUCK, is_evictable, is_waited_for};
pub use predicates::{is_displaced, is_fixed, is_reschedulable, wants_node};
pub use selector::{LabelExpression, LabelSelector, SelectorOperator};
pub use spread::{DefaultSpread, NodeInclusion, SpreadConstraint, WhenUnsatisfiable};
pub(crate) use taint::leaving_taint;
pub use taint::{
    DISRUPTED_TAINT, Effect, Taint, Toleration, TolerationOperator, first_untolerated, is_disrupted,
};
pub use volume::{
    BindingMode, CsiNode, PersistentVolume, StorageClass, VolumeClaim, VolumeKind, Volumes,
};
pub use workload::{
    DaemonSet, DisruptionLimit, Namespace, PodDisruptionBudget, Replicated, Service, WorkloadKind,
};
