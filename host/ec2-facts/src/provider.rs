//! Facts about EC2 as a provider: its labels, its burstable families and previous generations, the resources it reports.
//!
//! Contract: the sections on well-known labels and on instance types; the labels are those of Karpenter's provider for AWS.

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

use plimsoll_base::labels::LabelKey;
use plimsoll_base::resources::ResourceName;
use plimsoll_base::time::Span;
use plimsoll_model::ConditionStatus;
use plimsoll_model::provider::{ClassKind, MarkedValues, ProviderFacts, RepairRule, TypeMark};

/// Domain of the provider's labels, and group of its kinds.
pub const DOMAIN: &str = "karpenter.k8s.aws";
/// Kind of its classes.
pub const CLASS: &str = "EC2NodeClass";
/// Id of a zone, the same in every account.
pub const ZONE_ID: &str = "topology.k8s.aws/zone-id";
/// Id of the capacity reservation that a node draws on.
pub const RESERVATION_ID: &str = "karpenter.k8s.aws/capacity-reservation-id";
/// Family of a type, such as `m7g`.
const FAMILY: &str = "karpenter.k8s.aws/instance-family";

/// Well-known labels, without their domain.
const WELL_KNOWN: [&str; 28] = [
    "capacity-reservation-id",
    "capacity-reservation-interruptible",
    "capacity-reservation-type",
    "instance-accelerator-count",
    "instance-accelerator-manufacturer",
    "instance-accelerator-name",
    "instance-capability-flex",
    "instance-category",
    "instance-cpu",
    "instance-cpu-manufacturer",
    "instance-cpu-sustained-clock-speed-mhz",
    "instance-ebs-bandwidth",
    "instance-encryption-in-transit-supported",
    "instance-family",
    "instance-generation",
    "instance-gpu-count",
    "instance-gpu-manufacturer",
    "instance-gpu-memory",
    "instance-gpu-name",
    "instance-hypervisor",
    "instance-local-nvme",
    "instance-memory",
    "instance-network-bandwidth",
    "instance-size",
    "instance-tenancy",
    "nitro-sandbox",
    "placement-group-id",
    "placement-group-partition",
];
/// Families that share a core's time.
const BURSTABLE: [&str; 4] = ["t2", "t3", "t3a", "t4g"];
/// The last generation that counts as a previous one.
const LAST_PREVIOUS_GENERATION: i64 = 2;
/// Resources that the provider reports beside those of every node.
const REPORTED: [&str; 5] = [
    "aws.amazon.com/neuron",
    "aws.amazon.com/neuroncore",
    "habana.ai/gaudi",
    "vpc.amazonaws.com/efa",
    "vpc.amazonaws.com/pod-eni",
];
/// Resources that count as accelerators.
const ACCELERATORS: [&str; 4] = [
    "amd.com/gpu",
    "aws.amazon.com/neuron",
    "habana.ai/gaudi",
    "nvidia.com/gpu",
];

static PROVIDER: LazyLock<Arc<ProviderFacts>> = LazyLock::new(|| Arc::new(facts()));

/// Conditions of unhealthy nodes, and for how many minutes Karpenter tolerates each.
const REPAIRS: [(&str, ConditionStatus, i64); 7] = [
    ("Ready", ConditionStatus::False, 30),
    ("Ready", ConditionStatus::Unknown, 30),
    ("AcceleratedHardwareReady", ConditionStatus::False, 10),
    ("StorageReady", ConditionStatus::False, 30),
    ("NetworkingReady", ConditionStatus::False, 30),
    ("KernelReady", ConditionStatus::False, 30),
    ("ContainerRuntimeReady", ConditionStatus::False, 30),
];

/// The facts, the same value for everybody.
pub fn provider() -> Arc<ProviderFacts> {
    Arc::clone(&PROVIDER)
}

fn facts() -> ProviderFacts {
    let own = |name: &str| LabelKey::from(format!("{DOMAIN}/{name}"));
    let mark = |name: &str, values: MarkedValues| TypeMark {
        key: own(name),
        values,
        but_accelerated: false,
    };
    let metal = mark("instance-size", MarkedValues::StartsWith("metal".into()));
    let burstable = BTreeSet::from(BURSTABLE.map(Arc::<str>::from));
    ProviderFacts {
        name: "ec2".into(),
        domains: vec![DOMAIN.into()],
        well_known: WELL_KNOWN
            .into_iter()
            .map(own)
            .chain([LabelKey::from(ZONE_ID)])
            .collect(),
        of_offerings: BTreeSet::from([LabelKey::from(ZONE_ID)]),
        classes: BTreeSet::from([ClassKind {
            group: DOMAIN.into(),
            kind: CLASS.into(),
        }]),
        of_classes: BTreeSet::from([own(&CLASS.to_lowercase())]),
        reservation_id: Some(LabelKey::from(RESERVATION_ID)),
        family: Some(LabelKey::from(FAMILY)),
        naming: BTreeSet::from([LabelKey::from(FAMILY), own("instance-category")]),
        repairs: REPAIRS
            .map(|(condition, status, minutes)| RepairRule {
                condition: condition.into(),
                status,
                toleration: Span::from_secs(minutes * 60),
            })
            .into(),
        exotic: vec![
            mark("instance-family", MarkedValues::OneOf(burstable)),
            mark(
                "instance-generation",
                MarkedValues::AtMost(LAST_PREVIOUS_GENERATION),
            ),
            TypeMark {
                but_accelerated: true,
                ..metal
            },
        ],
        reported: resources(REPORTED),
        accelerators: resources(ACCELERATORS),
        ..ProviderFacts::default()
    }
}

fn resources<const N: usize>(names: [&str; N]) -> BTreeSet<ResourceName> {
    names.into_iter().map(ResourceName::from).collect()
}
