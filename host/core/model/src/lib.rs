//! Kubernetes objects as decisions need them: parsed, validated at the edge, and no larger than that.
//!
//! The kinds are one table, `kinds`: each with its type, the list that keeps its objects, and what tells two of them apart.
//! [`Object`] and [`Objects`](crate::snapshot::Objects), the stores of the cluster and the text of a snapshot go by it.

pub mod action;
mod budget_index;
mod buffer;
pub mod buffers;
pub mod catalogue;
mod claim;
pub mod command;
mod condition;
mod condition_type;
mod default_spread;
mod device_class;
mod disruption;
mod move_cost;
mod node;
mod node_condition;
pub(crate) mod object;
mod overlay;
pub mod plan;
mod pod;
mod pool;
mod predicates;
pub mod provider;
mod selector;
pub mod snapshot;
mod spread;
mod status;
pub mod supply;
mod taint;
mod template;
pub mod template_hash;
mod unread;
mod unused;
mod volume;
mod workload;

pub use budget_index::BudgetIndex;
pub use buffer::{BufferSource, BufferWindow, CapacityBuffer, PodShape, PodTemplate};
pub use claim::{ClaimPhase, ClassRef, NodeClaim, class_label};
pub use condition::{Condition, ConditionStatus, Conditions, DesiredCondition, Stamp};
pub use condition_type::ConditionType;
pub use default_spread::default_constraints;
pub use device_class::DeviceClass;
pub use disruption::{
    Budget, BudgetNodes, BudgetReason, BudgetReasons, ConsolidationPolicy, DisruptionReason,
    PoolDisruption, ReasonFacts,
};
pub use move_cost::MoveCost;
pub use node::{Node, Readiness};
pub use node_condition::NodeConditions;
pub use object::{Keyed, Object, Version};
pub use overlay::{NodeOverlay, PriceChange};
pub use pod::{
    AffinityTerm, DoNotDisrupt, HostPort, NamespaceScope, NodeTerm, Owner, OwnerKind, Pod,
    PodPhase, PodSpec, PodVolume, Preferred, Protocol,
};
pub use pool::{Ceilings, NamedPolicies, NodePool, PackingMode};
pub use predicates::{STUCK, asks_budgets, is_evictable, is_left_by_drain, is_waited_for};
pub use predicates::{is_displaced, is_fixed, is_reschedulable, wants_node};
pub use selector::{LabelExpression, LabelSelector, SelectorOperator};
pub use spread::{DefaultSpread, NodeInclusion, SpreadConstraint, WhenUnsatisfiable};
pub use status::{
    ASKED_ANNOTATION, HasStatus, MEMORY, Status, UNDERSIZED_ANNOTATION, UsedTemplate,
};
pub use taint::leaving_taint;
pub use taint::{
    DISRUPTED_TAINT, Effect, Taint, Toleration, TolerationOperator, first_untolerated, is_disrupted,
};
pub use template::{TemplateField, WrittenTemplate};
pub use unread::Unread;
pub use unused::UnusedNodes;
pub use volume::{
    BindingMode, CsiDriver, CsiNode, PersistentVolume, StorageCapacity, StorageClass,
    VolumeAttachment, VolumeClaim, VolumeKind, VolumePart, Volumes,
};
pub use workload::{
    DaemonSet, DisruptionLimit, Namespace, PodDisruptionBudget, Replicated, Service, WorkloadKind,
};

/// Hands the table of kinds to a macro. Volumes, whose kinds are one value to decisions, are not in it.
#[macro_export]
macro_rules! kinds {
    ($with:ident) => {
        $with! {
            // One row of a snapshot is a node with its claim.
            joined {
                /// Nodes.
                Node(Node) in nodes by name: NodeName;
                /// NodeClaims.
                Claim(NodeClaim) in claims by name: ClaimName;
            }
            listed {
                /// NodePools.
                Pool(NodePool) in pools by name: PoolName;
                /// NodeOverlays.
                Overlay(NodeOverlay) in overlays by name: Arc<str>;
                /// CapacityBuffers.
                Buffer(CapacityBuffer) in buffers by name: ObjectName;
                /// PodTemplates, which give buffers their shape.
                Template(PodTemplate) in templates by name: ObjectName;
                /// Pods.
                Pod(Pod) in pods by name: ObjectName;
                /// DaemonSets.
                DaemonSet(DaemonSet) in daemon_sets by name: ObjectName;
                /// Deployments, ReplicaSets, ReplicationControllers and StatefulSets.
                Workload(Replicated) in workloads by kind: WorkloadKind, name: ObjectName;
                /// Services.
                Service(Service) in services by name: ObjectName;
                /// Namespaces.
                Namespace(Namespace) in namespaces by name: Arc<str>;
                /// PodDisruptionBudgets.
                DisruptionBudget(PodDisruptionBudget) in disruption_budgets by name: ObjectName;
                /// DeviceClasses.
                DeviceClass(DeviceClass) in device_classes by name: Arc<str>;
                /// VolumeAttachments.
                Attachment(VolumeAttachment) in attachments by name: Arc<str>;
            }
        }
    };
}
