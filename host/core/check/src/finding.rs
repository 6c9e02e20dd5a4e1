//! A finding of the checker: which rule, about what, what it saw and what it expected.

use std::fmt;

use plimsoll_base::ids::{ObjectName, PoolName};

/// The rule that a plan breaks, or brushes against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    /// Rows of a plan must exist in the snapshot or in the plan.
    Rows,
    /// A pod is placed once, or listed once as going nowhere.
    Once,
    /// Every pod that waits is placed or listed.
    Complete,
    /// Only pods that wait for a place, and are valid, are placed.
    Entry,
    /// The reason given for a pod that goes nowhere is the true one.
    Reason,
    /// A pod is not left waiting while an existing node has room for it.
    RoomLeft,
    /// Remark: a pod waits although some pool could buy a node for it.
    CouldBuy,
    /// A node that is deleting takes no pods.
    NodeGoing,
    /// Taints are tolerated.
    Taints,
    /// Node selector and one required term of the node affinity hold.
    NodeLabels,
    /// Pods and daemons have the resources that they request.
    Room,
    /// A CSI driver attaches no more volumes than it can.
    VolumeLimit,
    /// A volume claim that one pod at a time may use has no other.
    OnePodVolume,
    /// A node runs the CSI drivers, and declares the features, that its pods cannot do without.
    NodeNeeds,
    /// An instance to buy attaches what its pods use, unless the plan says that this guard yields.
    AttachSlots,
    /// New nodes take no more addresses than their zone has left, unless the plan says that this guard yields.
    FreeAddresses,
    /// A new node has no larger share of its pool than guards let it, unless the plan says that this guard yields.
    NodeShare,
    /// A new node gets no more replicas of a workload than guards let it, unless the plan says that this guard yields.
    ReplicasPerNode,
    /// Two pods do not take one port of a host.
    HostPorts,
    /// Volumes can be reached.
    VolumeTopology,
    /// Hard topology spread.
    Spread,
    /// Required pod affinity.
    Affinity,
    /// Required pod anti-affinity, of this pod or of those already there.
    AntiAffinity,
    /// A claim is for a pool that can be used.
    ClaimPool,
    /// A claim follows its pool's template: class, labels, taints, lifetime.
    ClaimTemplate,
    /// Labels of a claim agree with its requirements, and custom ones are all decided.
    ClaimLabels,
    /// Requirements of a claim are no wider than its pool's.
    ClaimRequirements,
    /// Requests of a claim cover its pods and daemons.
    ClaimRequests,
    /// Annotations of a claim tell whether overlays have changed what it names.
    ClaimMarks,
    /// A claim has pods.
    ClaimPods,
    /// A claim has between one option and 600 types, none named twice.
    OptionCount,
    /// An option is in the catalogue and to be had.
    OptionSold,
    /// An option satisfies the requirements of its claim, and every type the claim names has one.
    OptionRequirements,
    /// An option's prices are those of the catalogue, with the node's own cost.
    OptionPrice,
    /// Enough distinct values are left to choose from.
    MinValues,
    /// Reservations are not promised beyond what is left of them.
    Reservation,
    /// A pool stays within its limits, with the chosen options.
    PoolLimit,
    /// Remark: a pool would exceed its limits if the largest named types came.
    PoolLimitAtWorst,
    /// A lighter pool buys no node for pods that a heavier one could all have served.
    PoolWeight,
    /// Remark: some pods of a lighter pool's node could have been served by a heavier one.
    PoolWeightShared,
    /// The cost figures add up.
    Cost,
}

impl Rule {
    /// `true` if this is worth knowing rather than wrong.
    pub const fn is_remark(self) -> bool {
        matches!(
            self,
            Self::CouldBuy | Self::PoolLimitAtWorst | Self::PoolWeightShared
        )
    }

    /// The rule in a few words.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Rows => "rows",
            Self::Once => "once only",
            Self::Complete => "completeness",
            Self::Entry => "entry",
            Self::Reason => "honest reasons",
            Self::RoomLeft => "room left on existing nodes",
            Self::CouldBuy => "something to buy",
            Self::NodeGoing => "no pods on nodes that go",
            Self::Taints => "taints",
            Self::NodeLabels => "node selector and affinity",
            Self::Room => "room",
            Self::VolumeLimit => "volume attach limit",
            Self::OnePodVolume => "volumes for one pod",
            Self::NodeNeeds => "needs that no label tells",
            Self::AttachSlots => "attach slots of new nodes",
            Self::FreeAddresses => "free subnet addresses",
            Self::NodeShare => "share of a new node",
            Self::ReplicasPerNode => "replicas on a new node",
            Self::HostPorts => "host ports",
            Self::VolumeTopology => "volume topology",
            Self::Spread => "topology spread",
            Self::Affinity => "pod affinity",
            Self::AntiAffinity => "pod anti-affinity",
            Self::ClaimPool => "usable pool",
            Self::ClaimTemplate => "pool template",
            Self::ClaimLabels => "claim labels",
            Self::ClaimRequirements => "claim requirements",
            Self::ClaimRequests => "claim requests",
            Self::ClaimMarks => "claim annotations",
            Self::ClaimPods => "claim with pods",
            Self::OptionCount => "number of options",
            Self::OptionSold => "option on sale",
            Self::OptionRequirements => "option within requirements",
            Self::OptionPrice => "option price",
            Self::MinValues => "minimum values",
            Self::Reservation => "reservation",
            Self::PoolLimit => "pool limit",
            Self::PoolLimitAtWorst => "pool limit at worst",
            Self::PoolWeight => "pool weight",
            Self::PoolWeightShared => "pool weight, shared node",
            Self::Cost => "cost",
        }
    }
}

/// A place that a plan gives to pods.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// A node, or a claim on its way, by name.
    Node(String),
    /// A claim of the plan.
    Claim {
        /// Its row in the plan.
        row: usize,
        /// Pool of the claim.
        pool: PoolName,
    },
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Node(name) => write!(f, "node {name}"),
            Self::Claim { row, pool } => write!(f, "claim {row} of pool {pool}"),
        }
    }
}

/// The object that a finding is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// The plan as a whole.
    Plan,
    /// A pool.
    Pool(PoolName),
    /// A node or claim.
    Place(Place),
    /// A pod that is not placed.
    Pod(ObjectName),
    /// A pod, where the plan puts it.
    Placed(ObjectName, Place),
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plan => f.write_str("the plan"),
            Self::Pool(name) => write!(f, "pool {name}"),
            Self::Place(place) => write!(f, "{place}"),
            Self::Pod(name) => write!(f, "pod {name}"),
            Self::Placed(name, place) => write!(f, "pod {name} on {place}"),
        }
    }
}

/// One contradiction, or one remark.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// The rule.
    pub rule: Rule,
    /// The object that breaks the rule.
    pub subject: Subject,
    /// The value found, in words.
    pub value: String,
    /// The value that the rule expects, in words.
    pub expected: String,
}

impl fmt::Display for Finding {
    /// `pod default/web-0 on claim 0 of pool general: host ports: takes Tcp 8080, already taken; expected a free port`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rule = self.rule.as_str();
        write!(
            f,
            "{}: {rule}: {}; expected {}",
            self.subject, self.value, self.expected
        )
    }
}

/// A broken rule before it is known whom it concerns.
#[derive(Clone, Debug)]
pub(super) struct Breach {
    pub(super) rule: Rule,
    pub(super) value: String,
    pub(super) expected: String,
}

impl Breach {
    pub(super) fn new(rule: Rule, value: impl Into<String>, expected: impl Into<String>) -> Self {
        Self {
            rule,
            value: value.into(),
            expected: expected.into(),
        }
    }

    pub(super) fn about(self, subject: Subject) -> Finding {
        Finding {
            rule: self.rule,
            subject,
            value: self.value,
            expected: self.expected,
        }
    }
}
