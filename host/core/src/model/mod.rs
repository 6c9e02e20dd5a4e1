//! Kubernetes objects as decisions need them: parsed, validated at the edge, and no larger than that.

mod buffer;
mod claim;
mod disruption;
mod node;
mod overlay;
mod pod;
mod pool;
mod selector;
mod spread;
mod taint;
mod volume;
mod workload;

pub use buffer::{BufferSource, BufferWindow, CapacityBuffer, PodShape, PodTemplate};
pub use claim::{ClaimPhase, ClassRef, NodeClaim};
pub use disruption::{Budget, BudgetNodes, ConsolidationPolicy, DisruptionReason, PoolDisruption};
pub use node::{Node, Readiness};
pub use overlay::{NodeOverlay, PriceChange};
pub use pod::{
    AffinityTerm, DoNotDisrupt, HostPort, NamespaceScope, NodeTerm, Owner, OwnerKind, Pod,
    PodPhase, PodSpec, PodVolume, Preferred, Protocol,
};
pub use pool::{Ceilings, NodePool, PackingMode};
pub use selector::{LabelExpression, LabelSelector, SelectorOperator};
pub use spread::{DefaultSpread, NodeInclusion, SpreadConstraint, WhenUnsatisfiable};
pub use taint::{Effect, Taint, Toleration, TolerationOperator, first_untolerated};
pub use volume::{
    BindingMode, CsiNode, PersistentVolume, StorageClass, VolumeClaim, VolumeKind, Volumes,
};
pub use workload::{
    DaemonSet, DisruptionLimit, Namespace, PodDisruptionBudget, Replicated, Service, WorkloadKind,
};
